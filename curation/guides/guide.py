"""Labeling guides: the grade scale and the text that annotators read, and where a project stores them.

A guide is one Markdown file. Its YAML front matter holds the title and the scale; each grade may have worked
examples, which the screen shows next to it. The body is shown to annotators unchanged. The hash of the whole
text identifies a guide, so every judgment can name the exact text under which it was given.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from curation.core.errors import NotFoundError
from curation.core.text import canonical_json
from curation.guides.presentation_template import PresentationTemplate
from curation.store import Cursor, get_setting, put_setting, utc_now


class WorkedExample(BaseModel):
    """A worked example of a grade: a query, what the document says, and why it gets this grade."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=500)]
    document: Annotated[str, Field(min_length=1, max_length=2_000)]
    why: Annotated[str, Field(min_length=1, max_length=1_000)]


class Grade(BaseModel):
    """One step of the scale."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Annotated[int, Field(ge=0, le=100)]
    name: Annotated[str, Field(min_length=1, max_length=40)]
    key: Annotated[str, Field(pattern=r"^[0-9a-z]$")]
    colour: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
    definition: Annotated[str, Field(min_length=1)]
    examples: Annotated[tuple[WorkedExample, ...], Field(max_length=20)] = ()


class EvidenceRule(BaseModel):
    """At which grades annotators mark where the document says it, and whether they must."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ask: Literal["required", "optional"]
    from_grade: int


class Guide(BaseModel):
    """A labeling guide; `scale` is ordered from the lowest grade to the highest.

    source: the whole text, from which the hash is; '' where the project stored the guide without it. No
        export or release has it.
    """

    model_config = ConfigDict(frozen=True)

    guide_hash: str
    title: str
    scale: tuple[Grade, ...]
    body: str
    source: Annotated[str, Field(exclude=True, repr=False)] = ""
    presentation: PresentationTemplate | None = None
    evidence: EvidenceRule | None = None

    @model_serializer(mode="wrap")
    def _without_nothing(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A guide without an entry is written as before there were any: its releases keep their ids."""
        values: dict[str, Any] = written(self)
        for name in ("presentation", "evidence"):
            if values[name] is None:
                values.pop(name)
        return values

    @property
    def values(self) -> tuple[int, ...]:
        """The grades of the scale, ascending."""
        return tuple(grade.value for grade in self.scale)

    def named(self, name: str) -> int | None:
        """The grade of that name, in any case."""
        wanted = " ".join(name.split()).casefold()
        return next((grade.value for grade in self.scale if grade.name.casefold() == wanted), None)

    def outside(self, grade: int | None) -> str:
        """The sentence for a grade that is not on the scale; '' for one that is."""
        if grade in self.values:
            return ""
        return f"grade {grade} is not on the guide's scale ({', '.join(map(str, self.values))})"

    def takes_evidence(self, grade: int | None) -> bool:
        """Whether an annotator who gives this grade may mark evidence."""
        return self.evidence is not None and grade is not None and grade >= self.evidence.from_grade

    def against_marks(self, grade: int | None, marked: bool) -> str:
        """The sentence for marks that a grade does not take, or for a grade that lacks some; else ''."""
        takes = self.takes_evidence(grade)
        if marked and not takes:
            given = "an answer without a grade" if grade is None else f"grade {grade}"
            least = f"only grades from {self.evidence.from_grade} on do" if self.evidence else "no grade does"
            return f"{given} takes no evidence; by the guide {least}"
        if takes and not marked and self.evidence is not None and self.evidence.ask == "required":
            return f"grade {grade} needs evidence: mark where the document says it"
        return ""


def store_guide(cursor: Cursor, guide: Guide) -> None:
    """Store the guide and make it the one in force."""
    cursor.execute(
        "INSERT INTO guides VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", [*_grading(guide), utc_now()]
    )
    if guide.source:
        sourced = [guide.guide_hash, guide.source]
        cursor.execute("INSERT INTO guide_sources VALUES (?, ?) ON CONFLICT DO NOTHING", sourced)
    if guide.presentation is not None:
        template = canonical_json(guide.presentation.model_dump(by_alias=True))
        cursor.execute(
            "INSERT INTO guide_templates VALUES (?, ?) ON CONFLICT DO NOTHING", [guide.guide_hash, template]
        )
    if guide.evidence is not None:
        rule = [guide.guide_hash, guide.evidence.ask, guide.evidence.from_grade]
        cursor.execute("INSERT INTO guide_evidence VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rule)
    put_setting(cursor, "guide", guide.guide_hash)


def _grading(guide: Guide) -> tuple[str, str, str, str]:
    """Its hash, and all of it that is about grades."""
    scale = canonical_json([grade.model_dump() for grade in guide.scale])
    return guide.guide_hash, guide.title, scale, guide.body


_SAME_GRADES = """
SELECT detail->>'guide', detail->>'same_grades_as' FROM events
WHERE action = 'use guide' AND detail->>'same_grades_as' IS NOT NULL ORDER BY rowid
"""


def guide_lines(cursor: Cursor, new: Guide | None = None, same_grades: bool = False) -> dict[str, str]:
    """Guide → the first one under which a grade meant the same: a label given under either stays fresh.

    Two guides are of one line where only presentation, evidence or layout differs, or where a lead said so.

    Parameters
    ----------
    new: a guide that is looked at as if it were in force, with the same grades as the one in force or not.
    """
    rows = cursor.execute("SELECT guide_hash, title, scale, body FROM guides ORDER BY rowid").fetchall()
    said = cursor.execute(_SAME_GRADES).fetchall()
    if new is not None:
        rows.append(_grading(new))
        said += [(new.guide_hash, get_setting(cursor, "guide"))] if same_grades else []
    first: dict[tuple[str, ...], str] = {}
    lines: dict[str, str] = {}
    for name, *grading in rows:
        lines.setdefault(name, first.setdefault(tuple(grading), name))
    for name, before in said:
        joined, line = lines[name], lines[before]
        lines = {one: line if held == joined else held for one, held in lines.items()}
    return lines


def guide_by_hash(cursor: Cursor, guide_hash: str) -> Guide:
    """A stored guide.

    Raises
    ------
    NotFoundError: no guide has this hash.
    """
    rows = cursor.execute(
        """
        SELECT guide_hash, title, scale, body, coalesce(source, ''), template, ask, from_grade
        FROM guides LEFT JOIN guide_sources USING (guide_hash) LEFT JOIN guide_templates USING (guide_hash)
        LEFT JOIN guide_evidence USING (guide_hash)
        WHERE guide_hash = ?
        """,
        [guide_hash],
    ).fetchall()
    if not rows:
        raise NotFoundError(f"The project holds no guide {guide_hash}.")
    row = rows[0]
    scale = tuple(Grade(**grade) for grade in json.loads(row[2]))
    template = PresentationTemplate.model_validate_json(row[5]) if row[5] else None
    evidence = EvidenceRule(ask=row[6], from_grade=row[7]) if row[6] else None
    return Guide(
        guide_hash=row[0],
        title=row[1],
        scale=scale,
        body=row[3],
        source=row[4],
        presentation=template,
        evidence=evidence,
    )


def current_guide(cursor: Cursor) -> Guide:
    """The guide in force."""
    return guide_by_hash(cursor, get_setting(cursor, "guide") or "")
