"""The presentation template of a guide: which fields of a document are shown, and how its body is drawn.

It is the entry `presentation:` of a guide's front matter, so the guide's hash identifies it, and every
judgment names what its annotator saw. A guide without one shows documents as plain text
with date and address.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from curation.core.errors import RefusedError
from curation.core.text import amount
from curation.store import Cursor
from curation.store.documents import count_fields

BodyKind = Literal["plain", "markdown", "html", "code"]
FieldName = Annotated[str, Field(min_length=1, max_length=200)]


class TemplateField(BaseModel):
    """A field that is shown below the title; `label` is its name where nothing else is given, '' is none."""

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


AS_BEFORE = PresentationTemplate(fields=tuple(TemplateField(field=one, label="") for one in ("date", "url")))
"""What is shown of a document without a template."""


class FieldUse(NamedTuple):
    """In how many of a corpus' documents a field has a value."""

    field: str
    documents: int
    of: int

    @property
    def sentence(self) -> str:
        """As in: The field “price” is in 0 of 3,823 documents."""
        return f"The field “{self.field}” is in {self.documents:,} of {amount(self.of, 'document')}."


def field_uses(cursor: Cursor, template: PresentationTemplate | None) -> list[FieldUse]:
    """How often the corpus in force has each field of a template; [] without a template or a corpus."""
    names = template.names if template else []
    try:
        total, counts = count_fields(cursor, names)
    except RefusedError:  # no corpus yet: it may come with these fields
        return []
    return [FieldUse(name, count, total) for name, count in zip(names, counts, strict=True)]


def unused_fields(uses: Sequence[FieldUse]) -> list[str]:
    """A sentence for each field that no document has."""
    return [use.sentence for use in uses if not use.documents]
