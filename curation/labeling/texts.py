"""What a screen shows of an item, as the project holds it: the query, the document, and where it matched."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from curation.labeling.ahead import Item
from curation.labeling.matched import Pair, Span, matched_parts
from curation.store import Cursor

LONGEST_AHEAD = 10_000
"""Bytes of a document that is read before it is needed."""


class Text(NamedTuple):
    """What is written of one item; `matched` is the part of the document to take the excerpt from."""

    query: str
    information_need: str | None
    title: str
    body: str
    url: str | None
    published: str | None
    matched: Span | None

    @property
    def short(self) -> bool:
        """It can be kept for a while without taking much memory."""
        return len(self.body) <= LONGEST_AHEAD


def read_texts(cursor: Cursor, needed: Sequence[Item], ahead: Sequence[Item]) -> dict[str, Text]:
    """Presentation → text: of what is needed, and of what lies ahead where the document is not long.

    Twenty texts cost a turn hardly more than three.
    """
    items = {item.presentation_id: item for item in [*needed, *ahead]}
    wanted = sorted({item.query_id for item in items.values()})
    queries = {row[0]: row[1:] for row in cursor.execute(_QUERIES, [wanted]).fetchall()}
    hashes = sorted({item.content_hash for item in items.values()})
    whole = sorted({item.content_hash for item in needed})
    parameters = {"hashes": hashes, "whole": whole, "longest": LONGEST_AHEAD}
    documents = {row[0]: row[1:] for row in cursor.execute(_DOCUMENTS, parameters).fetchall()}
    read = {key: item for key, item in items.items() if documents[item.content_hash][1] is not None}
    matched = matched_parts(cursor, [_pair(item) for item in read.values()])
    return {
        key: Text._make((*queries[item.query_id], *documents[item.content_hash], matched.get(key)))
        for key, item in read.items()
    }


def kept(texts: dict[str, Text], among: Collection[str]) -> dict[str, Text]:
    """The short texts of these presentations."""
    return {key: text for key, text in texts.items() if key in among and text.short}


def _pair(item: Item) -> Pair:
    return Pair(item.presentation_id, item.query_id, item.document_id, item.content_hash)


# Apart from each other: twenty texts are found in some milliseconds, joined they cost several times that.
_QUERIES = """
SELECT query_id, text, information_need
FROM queries JOIN (SELECT unnest(?::TEXT[]) AS query_id) USING (query_id)
"""

_DOCUMENTS = """
SELECT content_hash, title,
       CASE WHEN strlen(body) <= $longest OR content_hash IN (SELECT unnest($whole::TEXT[])) THEN body END,
       url, published
FROM documents JOIN (SELECT unnest($hashes::TEXT[]) AS content_hash) USING (content_hash)
"""
