"""Row types of tables that several packages read: documents, queries, annotators, rounds, presentations."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Document(NamedTuple):
    """One version of a document, with id, title, body and metadata."""

    document_id: str
    content_hash: str
    title: str
    body: str
    url: str | None = None
    published: str | None = None
    group_key: str | None = None
    metadata: str = "{}"

    @property
    def text(self) -> str:
        """Return the document's text for retrieval and similarity: title and body."""
        return f"{self.title}\n{self.body}".strip()


class Query(NamedTuple):
    """A query of the project for which annotators judge documents."""

    query_id: str
    text: str
    normalised: str
    source: str
    information_need: str | None = None


class Annotator(NamedTuple):
    name: str
    role: str
    imported: bool
    active: bool = True


class Round(NamedTuple):
    round_id: str
    name: str
    kind: str
    guide_hash: str
    parameters: str
    opened_at: datetime


class Presentation(NamedTuple):
    """The assignment of a candidate to an annotator. This row is never sent to a browser."""

    presentation_id: str
    round_id: str
    annotator: str
    query_id: str
    document_id: str
    content_hash: str
    position: int
    duplicate_of: str | None
