"""Labeling guides: the scale, the text, how documents are shown, where guides are stored, their versions.

A guide is one Markdown file. Its YAML front matter holds the title and the scale; each grade may have worked
examples, which the screen shows next to it. The body is shown to annotators unchanged. The hash of the whole
text identifies a guide, so every judgment can name the exact text under which it was given.

The entry `presentation:` says which fields of a document are shown, and how its body is drawn. A guide
without it shows documents as plain text with date and address.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from curation.core.digests import canonical_json
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.reports.page import Table
from curation.core.text import pluralize
from curation.store import Cursor, fetch, get_setting, put_setting, utc_now
from curation.store.documents import count_fields

_SAME_GRADES = """
SELECT detail->>'guide', detail->>'same_grades_as' FROM events
WHERE action = 'use guide' AND detail->>'same_grades_as' IS NOT NULL ORDER BY rowid
"""
BodyKind = Literal["plain", "markdown", "html", "code"]
FieldName = Annotated[str, Field(min_length=1, max_length=200)]
VERSION_LENGTH = 8
"""Characters of a hash that name a version on screen."""
_VERSIONS = """
WITH used AS (
    SELECT detail->>'guide' AS guide_hash, happened_at, actor, coalesce(detail->>'reason', '') AS reason,
           rowid AS written
    FROM events WHERE action IN ('init', 'use guide')
)
SELECT g.guide_hash, g.title, g.guide_hash = (SELECT value FROM settings WHERE name = 'guide') AS in_force,
       u.happened_at, u.actor, coalesce(u.reason, ''),
       (SELECT count(*) FROM current_judgments j WHERE j.guide_hash = g.guide_hash),
       (SELECT coalesce(list(r.name ORDER BY r.sequence), []) FROM round_states r
        WHERE r.guide_hash = g.guide_hash AND NOT r.closed AND r.kind <> 'imported')
FROM guides g
LEFT JOIN (FROM used QUALIFY row_number() OVER (PARTITION BY guide_hash ORDER BY written DESC) = 1) u
  USING (guide_hash)
ORDER BY in_force DESC, u.written DESC NULLS LAST, g.rowid DESC
"""


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


def guide_lines(cursor: Cursor, new: Guide | None = None, same_grades: bool = False) -> dict[str, str]:
    """Guide → the first one under which a grade meant the same: a label given under either stays fresh.

    Two guides are of one line where only presentation, evidence or layout differs, or where a lead said so.

    Parameters
    ----------
    new: a guide that is looked at as if it were in force, with the same grades as the one in force or not.
    """
    rows = cursor.execute("SELECT guide_hash, title, scale, body FROM guides ORDER BY rowid").fetchall()
    same = cursor.execute(_SAME_GRADES).fetchall()
    if new is not None:
        rows.append(_grading(new))
        same += [(new.guide_hash, get_setting(cursor, "guide"))] if same_grades else []
    first: dict[tuple[str, ...], str] = {}
    lines: dict[str, str] = {}
    for name, *grading in rows:
        lines.setdefault(name, first.setdefault(tuple(grading), name))
    for name, before in same:
        joined, line = lines[name], lines[before]
        lines = {
            name_of_guide: line if line_of_guide == joined else line_of_guide
            for name_of_guide, line_of_guide in lines.items()
        }
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


class TemplateField(BaseModel):
    """A field that is shown below the title, after its name, its `label`, or nothing where that is empty."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    field: FieldName
    label: Annotated[str, Field(max_length=40)] | None = None
    drawn_as: Annotated[Literal["text", "link", "image"], Field(alias="as")] = "text"

    @property
    def name(self) -> str:
        """What is before the value."""
        return self.field if self.label is None else self.label


class PresentationTemplate(BaseModel):
    """How documents are shown.

    Attributes
    ----------
    title: the field to show as title in place of the import's; a document without it keeps its own.
    fields: the facts below the title, in order.
    links: whether links within a body can be followed; else their words are text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: FieldName | None = None
    body: BodyKind = "plain"
    fields: Annotated[tuple[TemplateField, ...], Field(max_length=20)] = ()
    links: bool = False

    @property
    def names(self) -> list[str]:
        """The fields that the template shows, in order, each once."""
        title = [self.title] if self.title else []
        return list(dict.fromkeys([*title, *(field.field for field in self.fields)]))


AS_BEFORE = PresentationTemplate(
    fields=tuple(TemplateField(field=name, label="") for name in ("date", "url"))
)
"""What is shown of a document without a template."""


def field_sentences(cursor: Cursor, template: PresentationTemplate | None) -> tuple[list[str], list[str]]:
    """In how many documents each field of a template is, a sentence each; and the sentences of unused fields.

    As in: The field “price” is in 0 of 3,823 documents. Without a template or a corpus both are empty.
    """
    names = template.names if template else []
    try:
        total, counts = count_fields(cursor, names)
    except RefusedError:  # no corpus yet: it may come with these fields
        return [], []
    documents = pluralize(total, "document")
    uses = [f"The field “{name}” is in {n:,} of {documents}." for name, n in zip(names, counts, strict=True)]
    return uses, [use for use, n in zip(uses, counts, strict=True) if not n]


class GuideVersion(NamedTuple):
    """A stored guide.

    Attributes
    ----------
    since, by, reason: of when it was put in force last; None and '' where no record says so.
    answers: judgments that were given under it, those taken back left out.
    rounds: the rounds that use it now and are not closed.
    """

    guide_hash: str
    title: str
    in_force: bool
    since: datetime | None
    by: str | None
    reason: str
    answers: int
    rounds: list[str]


def guide_versions(cursor: Cursor) -> list[GuideVersion]:
    """All versions: the one in force first, then those put in force last."""
    return fetch(cursor, GuideVersion, _VERSIONS)


def find_version(cursor: Cursor, name: str) -> Guide:
    """The guide whose hash begins so.

    Raises
    ------
    InputError: several begin so.
    NotFoundError: none does.
    """
    versions = [
        guide_version
        for guide_version in guide_versions(cursor)
        if name and guide_version.guide_hash.startswith(name.lower())
    ]
    if not versions:
        raise NotFoundError(
            f"The project has no guide {name!r}.", command="goldgrade guide show --versions lists them."
        )
    if len(versions) > 1:
        names = ", ".join(version.guide_hash[: len(name) + 4] for version in versions)
        raise InputError(f"{name!r} begins several guides: {names}. Give more of it.")
    return guide_by_hash(cursor, versions[0].guide_hash)


def version_table(versions: Sequence[GuideVersion]) -> Table:
    """The versions, and the judgments that were given under each."""
    rows = (
        (
            version.guide_hash[:VERSION_LENGTH] + (", in force" if version.in_force else ""),
            *(
                version.title,
                version.since or "not recorded",
                version.by or "not recorded",
                version.reason or "–",
            ),
            *(version.answers, ", ".join(version.rounds) or "–"),
        )
        for version in versions
    )
    columns = ("Version", "Title", "In force since (UTC)", "By", "Why", "Judgments", "Open rounds")
    return Table("Versions of the guide, newest first", columns, tuple(rows), words=True)
