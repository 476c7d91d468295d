"""Labeling guides: scale of grades, text, presentation of documents on screen, storage, and versions.

A guide is one Markdown file. Its YAML front matter holds the title and the scale; each grade may have worked
examples, which the screen shows next to the grade. Annotators read the body unchanged. The hash of the whole
text identifies a guide, so every judgment can refer to the exact text that the annotator followed.

The entry `presentation:` names the fields of a document that the screen shows, and the markup of the
document's body. Under a guide without this entry, documents are shown as plain text with date and address.
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
"""Number of characters of a guide's hash that identify a version on screen."""
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
    """A worked example of a grade: a query, the content of a document, and the reason for the grade."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=500)]
    document: Annotated[str, Field(min_length=1, max_length=2_000)]
    why: Annotated[str, Field(min_length=1, max_length=1_000)]


class Grade(BaseModel):
    """One relevance grade of the guide's scale."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Annotated[int, Field(ge=0, le=100)]
    name: Annotated[str, Field(min_length=1, max_length=40)]
    key: Annotated[str, Field(pattern=r"^[0-9a-z]$")]
    colour: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
    definition: Annotated[str, Field(min_length=1)]
    examples: Annotated[tuple[WorkedExample, ...], Field(max_length=20)] = ()


class EvidenceRule(BaseModel):
    """Rule for evidence: the grades for which annotators mark passages in the document, and whether marks are
    required.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ask: Literal["required", "optional"]
    from_grade: int


class Guide(BaseModel):
    """A labeling guide; `scale` is ordered from the lowest grade to the highest.

    source: the whole text of the guide, whose hash is `guide_hash`; '' if an older project stored the guide
    without its text. Exports and releases do not contain this field.
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
        """Leave empty entries out of the JSON, so that releases that were frozen before these entries existed
        keep their ids.
        """
        values: dict[str, Any] = written(self)
        absent = {name for name in ("presentation", "evidence") if values[name] is None}
        return {name: value for name, value in values.items() if name not in absent}

    @property
    def values(self) -> tuple[int, ...]:
        """Return the values of the scale's grades, ascending."""
        return tuple(grade.value for grade in self.scale)

    def named(self, name: str) -> int | None:
        """Return the grade with this name, ignoring case; None if no grade has the name."""
        wanted = " ".join(name.split()).casefold()
        return next((grade.value for grade in self.scale if grade.name.casefold() == wanted), None)

    def outside(self, grade: int | None) -> str:
        """Return the error sentence for a grade that is not on the scale; '' for a grade on the scale."""
        if grade in self.values:
            return ""
        return f"grade {grade} is not on the guide's scale ({', '.join(map(str, self.values))})"

    def takes_evidence(self, grade: int | None) -> bool:
        """Return whether an annotator who gives this grade may mark evidence."""
        return self.evidence is not None and grade is not None and grade >= self.evidence.from_grade

    def against_marks(self, grade: int | None, marked: bool) -> str:
        """Return the error sentence for marked evidence at a grade that takes no evidence, or for missing
        evidence; else ''.
        """
        takes = self.takes_evidence(grade)
        if marked and not takes:
            given = "an answer without a grade" if grade is None else f"grade {grade}"
            least = (
                f"only grades from {self.evidence.from_grade} on take evidence"
                if self.evidence
                else "no grade does"
            )
            return f"{given} takes no evidence; by the guide {least}"
        if takes and not marked and self.evidence is not None and self.evidence.ask == "required":
            return f"grade {grade} needs evidence: mark the passage in the document"
        return ""


class TemplateField(BaseModel):
    """A field of documents that the screen shows below the title, with the field's name or `label` before the
    value; a `label` of '' shows only the value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    field: FieldName
    label: Annotated[str, Field(max_length=40)] | None = None
    drawn_as: Annotated[Literal["text", "link", "image"], Field(alias="as")] = "text"

    @property
    def name(self) -> str:
        """Return the label that the screen shows before the field's value."""
        return self.field if self.label is None else self.label


class PresentationTemplate(BaseModel):
    """Presentation of documents on screen for annotators.

    Attributes
    ----------
    title: field to show as the title; a document without this field is shown with its imported title. fields:
    fields to show below the title, in order. links: whether links in a body can be followed; otherwise links
    are shown as plain text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: FieldName | None = None
    body: BodyKind = "plain"
    fields: Annotated[tuple[TemplateField, ...], Field(max_length=20)] = ()
    links: bool = False

    @property
    def names(self) -> list[str]:
        """Return the names of the fields that the presentation shows, in order, without repetition."""
        title = [self.title] if self.title else []
        return list(dict.fromkeys([*title, *(field.field for field in self.fields)]))


AS_BEFORE = PresentationTemplate(
    fields=tuple(TemplateField(field=name, label="") for name in ("date", "url"))
)
"""Presentation of documents for a guide without the entry `presentation:`."""


class GuideVersion(NamedTuple):
    """A stored version of the labeling guide.

    Attributes
    ----------
    in_force: whether the version is the current guide.
    since, by, reason: time, author and reason of the last change that made the version the current guide;
    None and '' if nothing is recorded. answers: number of judgments given under the version, without
    withdrawn judgments. rounds: rounds that use the version and are not closed.
    """

    guide_hash: str
    title: str
    in_force: bool
    since: datetime | None
    by: str | None
    reason: str
    answers: int
    rounds: list[str]


def store_guide(cursor: Cursor, guide: Guide) -> None:
    """Store a guide and make it the current guide."""
    rows: dict[str, list[Any]] = {"guides": [*_grading_columns(guide)[1:], utc_now()]}
    if guide.source:
        rows["guide_sources"] = [guide.source]
    if guide.presentation is not None:
        rows["guide_templates"] = [canonical_json(guide.presentation.model_dump(by_alias=True))]
    if guide.evidence is not None:
        rows["guide_evidence"] = [guide.evidence.ask, guide.evidence.from_grade]
    for table, row in rows.items():
        places = ", ?" * len(row)
        insert = f"INSERT INTO {table} VALUES (?{places}) ON CONFLICT DO NOTHING"  # noqa: S608  names from above
        cursor.execute(insert, [guide.guide_hash, *row])
    put_setting(cursor, "guide", guide.guide_hash)


def group_equivalent_guides(
    cursor: Cursor, new: Guide | None = None, same_grades: bool = False
) -> dict[str, str]:
    """Return for each guide's hash the hash of the first guide in the same line.

    Two guides belong to one line if their grades mean the same: only presentation, evidence or layout
    differs, or a lead declared that the grades mean the same. Labels that were given under a guide remain
    valid under all guides in the same line.

    Parameters
    ----------
    new: a guide that is treated as the current guide. same_grades: whether the grades of `new` mean the same
    as the grades of the current guide.
    """
    rows = cursor.execute("SELECT guide_hash, title, scale, body FROM guides ORDER BY rowid").fetchall()
    same = cursor.execute(_SAME_GRADES).fetchall()
    if new is not None:
        rows.append(_grading_columns(new))
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


def load_guide(cursor: Cursor, guide_hash: str) -> Guide:
    """Return the stored guide with this hash.

    Raises
    ------
    NotFoundError: no guide has this hash.
    """
    rows = cursor.execute(
        """
        SELECT guide_hash, title, body, coalesce(source, ''), scale, template, ask, from_grade
        FROM guides LEFT JOIN guide_sources USING (guide_hash) LEFT JOIN guide_templates USING (guide_hash)
        LEFT JOIN guide_evidence USING (guide_hash)
        WHERE guide_hash = ?
        """,
        [guide_hash],
    ).fetchall()
    if not rows:
        raise NotFoundError(f"The project has no guide {guide_hash}.")
    *texts, scale, template, ask, from_grade = rows[0]
    return Guide(
        **dict(zip(("guide_hash", "title", "body", "source"), texts, strict=True)),
        scale=tuple(Grade(**grade) for grade in json.loads(scale)),
        presentation=PresentationTemplate.model_validate_json(template) if template else None,
        evidence=EvidenceRule(ask=ask, from_grade=from_grade) if ask else None,
    )


def current_guide(cursor: Cursor) -> Guide:
    """Return the current labeling guide of the project."""
    return load_guide(cursor, get_setting(cursor, "guide") or "")


def describe_fields(cursor: Cursor, template: PresentationTemplate | None) -> tuple[list[str], list[str]]:
    """Return a sentence for each field of a presentation, with the number of documents that have the field,
    and the sentences about fields in no document.

    An example of a sentence: The field “price” is in 0 of 3,823 documents. Without a presentation or a
    corpus, both lists are empty.
    """
    names = template.names if template else []
    try:
        total, counts = count_fields(cursor, names)
    except RefusedError:  # no corpus yet: it may come with these fields
        return [], []
    documents = pluralize(total, "document")
    uses = [f"The field “{name}” is in {n:,} of {documents}." for name, n in zip(names, counts, strict=True)]
    return uses, [use for use, n in zip(uses, counts, strict=True) if not n]


def list_versions(cursor: Cursor) -> list[GuideVersion]:
    """Return all versions of the guide: the current guide first, then earlier guides, latest first."""
    return fetch(cursor, GuideVersion, _VERSIONS)


def find_version(cursor: Cursor, name: str) -> Guide:
    """Return the guide whose hash begins with the given characters.

    Raises
    ------
    InputError: the hashes of several guides begin with these characters. NotFoundError: no hash begins with
    these characters.
    """
    versions = [
        version for version in list_versions(cursor) if name and version.guide_hash.startswith(name.lower())
    ]
    if not versions:
        raise NotFoundError(
            f"The project has no guide {name!r}.", command="goldgrade guide show --versions lists all guides."
        )
    if len(versions) > 1:
        names = ", ".join(version.guide_hash[: len(name) + 4] for version in versions)
        raise InputError(f"{name!r} begins several guides: {names}. Give more characters of the hash.")
    return load_guide(cursor, versions[0].guide_hash)


def build_version_table(versions: Sequence[GuideVersion]) -> Table:
    """Return the table of the guide's versions, with the number of judgments that were given under each
    version.
    """
    rows = []
    for version in versions:
        name = version.guide_hash[:VERSION_LENGTH] + (", current" if version.in_force else "")
        since, by = version.since or "not recorded", version.by or "not recorded"
        rounds = ", ".join(version.rounds) or "–"
        rows.append((name, version.title, since, by, version.reason or "–", version.answers, rounds))
    columns = ("Version", "Title", "Current since (UTC)", "By", "Why", "Judgments", "Open rounds")
    return Table("Versions of the guide, newest first", columns, tuple(rows), words=True)


def _grading_columns(guide: Guide) -> tuple[str, str, str, str]:
    """Return the hash of a guide, and the parts of the guide about grades: title, scale and body."""
    scale = canonical_json([grade.model_dump() for grade in guide.scale])
    return guide.guide_hash, guide.title, scale, guide.body
