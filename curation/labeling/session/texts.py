"""The texts of items: the query, the document, and the part of the document that matched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.core.spans import Span
from curation.ingest.filters.stored import NEED
from curation.labeling.presentation.drawing import ReadDocument
from curation.labeling.rounds.upcoming import QueueItem
from curation.labeling.session.matched_passages import matched_parts
from curation.store import Cursor
from curation.store.documents import version_texts

LONGEST_READ_EARLY = 10_000
"""Bytes of the longest document that is read before it is needed."""


class Text(NamedTuple):
    """The texts of one item; `matched` is the part of the document to take the excerpt from."""

    query: str
    information_need: str | None
    document: ReadDocument
    matched: Span | None


# Two queries: each finds twenty texts in some milliseconds, and a join of both takes several times as long.
_QUERIES = f"""
SELECT query_id, text, {NEED}
FROM queries q JOIN (SELECT unnest(?::TEXT[]) AS query_id) USING (query_id)
"""  # noqa: S608


def read_texts(cursor: Cursor, needed: Sequence[QueueItem], early: Sequence[QueueItem]) -> dict[str, Text]:
    """Presentation → text: of the needed items, and of `early` ones whose document is not long.

    Reading twenty texts costs hardly more than reading three.
    """
    items = {item.presentation_id: item for item in [*needed, *early]}
    wanted = sorted({item.query_id for item in items.values()})
    queries = {row[0]: row[1:] for row in cursor.execute(_QUERIES, [wanted]).fetchall()}
    hashes = sorted({item.content_hash for item in items.values()})
    whole = sorted({item.content_hash for item in needed})
    documents = version_texts(cursor, hashes, whole, LONGEST_READ_EARLY)
    read = {key: item for key, item in items.items() if item.content_hash in documents}
    pairs = [(key, item.query_id, item.document_id, item.content_hash) for key, item in read.items()]
    matched = matched_parts(cursor, pairs)
    return {
        key: Text._make(
            (*queries[item.query_id], ReadDocument(*documents[item.content_hash]), matched.get(key))
        )
        for key, item in read.items()
    }


# Pools and their candidates are only ever added. DuckDB's hash of several columns is the exclusive or of
# theirs: were it not hashed again, one need that is given to two queries would leave no trace.
_TEXTS_STATE = """
SELECT (SELECT bit_xor(hash(hash(query_id, text, information_need, metadata))) FROM queries),
       (SELECT count(*) FROM pools), (SELECT count(*) FROM candidate_sources)
"""


def texts_state(cursor: Cursor) -> tuple[object, ...]:
    """Equal as long as the queries, and the parts of documents that pools have matched, are the same."""
    return tuple(cursor.execute(_TEXTS_STATE).fetchall()[0])
