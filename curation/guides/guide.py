"""The labeling guide: its scale of grades, its text, and how it presents documents.

A guide is one Markdown file. Its YAML front matter holds the title and the scale; each grade may have worked
examples, which the screen shows next to the grade. Annotators read the body unchanged.

The entry `presentation:` names the fields of a document that the screen shows, and the markup of the
document's body. Under a guide without this entry, documents are shown as plain text with date and address.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from curation.core.digests import canonical_json
from curation.core.errors import NotFoundError, RefusedError
from curation.core.text import pluralize
from curation.store import Cursor, get_setting, put_setting, utc_now
from curation.store.documents import count_fields

_GUIDE = """
SELECT guide_hash, title, body, coalesce(source, ''), scale, template, ask, from_grade
FROM guides LEFT JOIN guide_sources USING (guide_hash) LEFT JOIN guide_templates USING (guide_hash)
LEFT JOIN guide_evidence USING (guide_hash) WHERE guide_hash = ?
"""
BodyKind = Literal["plain", "markdown", "html", "code", "file"]
FieldName = Annotated[str, Field(min_length=1, max_length=200)]


class WorkedExample(BaseModel):
    """A worked example of a grade: a query, the content of a document, and the reason for the grade."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=500)]
    document: Annotated[str, Field(min_length=1, max_length=2_000)]
    why: Annotated[str, Field(min_length=1, max_length=1_000)]


class Grade(BaseModel):
    """One relevance grade on the scale of a labeling guide."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Annotated[int, Field(ge=0, le=100)]
    name: Annotated[str, Field(min_length=1, max_length=40)]
    key: Annotated[str, Field(pattern=r"^[0-9a-z]$")]
    colour: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
    definition: Annotated[str, Field(min_length=1)]
    examples: Annotated[tuple[WorkedExample, ...], Field(max_length=20)] = ()


class EvidenceRule(BaseModel):
    """The grades for which annotators mark passages as evidence, and whether marks are required."""

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
    def _leave_out_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave empty entries out of the JSON, so that older releases keep their ids."""
        values: dict[str, Any] = serialize(self)
        absent = {name for name in ("presentation", "evidence") if values[name] is None}
        return {name: value for name, value in values.items() if name not in absent}

    @property
    def grading(self) -> tuple[str, str, str]:
        """Return the title, scale as JSON, and body: the parts that give grades their meaning."""
        return self.title, canonical_json([grade.model_dump() for grade in self.scale]), self.body

    @property
    def values(self) -> tuple[int, ...]:
        """Return the values of the scale's grades, ascending."""
        return tuple(grade.value for grade in self.scale)

    def find_grade(self, name: str) -> int | None:
        """Return the grade with this name, ignoring case; None if no grade has it."""
        folded_name = " ".join(name.split()).casefold()
        return next((grade.value for grade in self.scale if grade.name.casefold() == folded_name), None)

    def describe_off_scale(self, grade: int | None) -> str:
        """Return the error sentence for a grade that is not on the scale; '' for a grade on the scale."""
        if grade in self.values:
            return ""
        return f"grade {grade} is not on the guide's scale ({', '.join(map(str, self.values))})"

    def takes_evidence(self, grade: int | None) -> bool:
        """Return whether an annotator who gives this grade may mark evidence."""
        return self.evidence is not None and grade is not None and grade >= self.evidence.from_grade

    def describe_evidence_problem(self, grade: int | None, has_evidence: bool) -> str:
        """Return the error sentence for missing or unwanted evidence; '' if the evidence fits the grade."""
        is_taken = self.takes_evidence(grade)
        if has_evidence and not is_taken:
            answer = "an answer without a grade" if grade is None else f"grade {grade}"
            rule = "no grade takes evidence"
            if self.evidence:
                rule = f"only grades of {self.evidence.from_grade} or more take evidence"
            return f"{answer} cannot have evidence: in this guide, {rule}"
        if is_taken and not has_evidence and self.evidence is not None and self.evidence.ask == "required":
            return f"grade {grade} needs evidence: mark the passage of the document that shows it"
        return ""


class TemplateField(BaseModel):
    """A document field that the screen shows below the title, after `label` or the field's name."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    field: FieldName
    label: Annotated[str, Field(max_length=40)] | None = None
    drawn_as: Annotated[Literal["text", "link", "image"], Field(alias="as")] = "text"

    @property
    def name(self) -> str:
        """Return the text that the screen shows before the field's value: the field's label or its name."""
        return self.field if self.label is None else self.label


class PresentationTemplate(BaseModel):
    """How documents are presented to annotators: title, markup of the body, and fields.

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
        """Return the names of the document fields that the presentation shows, without repetition."""
        title = [self.title] if self.title else []
        return list(dict.fromkeys([*title, *(field.field for field in self.fields)]))


_DEFAULT_FIELDS = tuple(TemplateField(field=name, label="") for name in ("date", "url"))
DEFAULT_PRESENTATION = PresentationTemplate(fields=_DEFAULT_FIELDS)
"""Presentation of documents for a guide without the entry `presentation:`."""


def store_guide(cursor: Cursor, guide: Guide) -> None:
    """Store a guide and make it the current guide."""
    rows: dict[str, list[Any]] = {"guides": [*guide.grading, utc_now()]}
    if guide.source:
        rows["guide_sources"] = [guide.source]
    if guide.presentation is not None:
        rows["guide_templates"] = [canonical_json(guide.presentation.model_dump(by_alias=True))]
    if guide.evidence is not None:
        rows["guide_evidence"] = [guide.evidence.ask, guide.evidence.from_grade]
    for table, row in rows.items():
        markers = ", ?" * len(row)
        insert = f"INSERT INTO {table} VALUES (?{markers}) ON CONFLICT DO NOTHING"  # noqa: S608  names from above
        cursor.execute(insert, [guide.guide_hash, *row])
    put_setting(cursor, "guide", guide.guide_hash)


def load_guide(cursor: Cursor, guide_hash: str) -> Guide:
    """Return the stored guide with this hash.

    Raises
    ------
    NotFoundError: no guide has this hash.
    """
    rows = cursor.execute(_GUIDE, [guide_hash]).fetchall()
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
    """Return the project's current labeling guide."""
    return load_guide(cursor, get_setting(cursor, "guide") or "")


def describe_fields(cursor: Cursor, template: PresentationTemplate | None) -> tuple[list[str], list[str]]:
    """Return sentences with the number of documents for each field, and about fields in no document.

    An example of a sentence: The field “price” is in 0 of 3,823 documents. Without a presentation or a
    corpus, both lists are empty.
    """
    names = template.names if template else []
    try:
        total, counts = count_fields(cursor, names)
    except RefusedError:  # a corpus that is imported later may have these fields
        return [], []
    documents = pluralize(total, "document")
    uses = [f"The field “{name}” is in {n:,} of {documents}." for name, n in zip(names, counts, strict=True)]
    return uses, [use for use, n in zip(uses, counts, strict=True) if not n]
