"""The texts of items: query, document, and the part of the document that a system matched.

The excerpt is taken from the matched part. The server sends only the excerpt, without the rank and the system
that found the part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.core.spans import Span
from curation.ingest.filters import NEED
from curation.labeling.presentation.drawing import DocumentText
from curation.labeling.rounds.upcoming import QueueItems
from curation.store import Cursor
from curation.store.documents import version_texts

MAX_READ_EARLY_LENGTH = 10_000
"""Maximum size in bytes of a document that is read ahead."""
# Two queries: each finds twenty texts in some milliseconds, and a join of both takes several times as long.
_QUERIES = f"""
SELECT query_id, text, {NEED}
FROM queries q JOIN (SELECT unnest(?::TEXT[]) AS query_id) USING (query_id)
"""  # noqa: S608
# Pools and candidates are added and never removed, so counts suffice. The second hash is needed because
# DuckDB combines column hashes by XOR: equal changes of two queries would cancel out.
_TEXTS_STATE = """
SELECT (SELECT bit_xor(hash(hash(query_id, text, information_need, metadata))) FROM queries),
       (SELECT count(*) FROM pools), (SELECT count(*) FROM candidate_sources)
"""
_PAIRS = """
SELECT presentation_id, query_id, document_id, content_hash FROM presentations
WHERE presentation_id IN (SELECT unnest(?::TEXT[]))
"""
_SOURCES = """
SELECT s.query_id, s.document_id, p.snapshot_id, s.passage_start, s.passage_end
FROM candidate_sources s JOIN pools p USING (pool_id)
WHERE s.query_id IN (SELECT unnest($queries::TEXT[])) AND s.document_id IN (SELECT unnest($documents::TEXT[]))
  AND s.passage_start IS NOT NULL
ORDER BY s.rank, s.system, s.passage_start, s.pool_id
"""
_VERSIONS = """
SELECT snapshot_id, document_id, content_hash FROM snapshot_documents
WHERE document_id IN (SELECT unnest($documents::TEXT[])) AND content_hash IN (SELECT unnest($hashes::TEXT[]))
"""


class ItemText(NamedTuple):
    """The texts of one item; `matched` is the part of the document from which to take the excerpt."""

    query: str
    information_need: str | None
    document: DocumentText
    matched: Span | None


def read_texts(cursor: Cursor, needed_items: QueueItems, items_ahead: QueueItems) -> dict[str, ItemText]:
    """Read the texts of the needed items, and of those among `items_ahead` whose documents are not long, by
    presentation.

    Reading twenty texts takes hardly longer than reading three texts.
    """
    items = {item.presentation_id: item for item in [*needed_items, *items_ahead]}
    query_ids = sorted({item.query_id for item in items.values()})
    queries = {row[0]: row[1:] for row in cursor.execute(_QUERIES, [query_ids]).fetchall()}
    content_hashes = sorted({item.content_hash for item in items.values()})
    whole_hashes = sorted({item.content_hash for item in needed_items})
    documents = version_texts(cursor, content_hashes, whole_hashes, MAX_READ_EARLY_LENGTH)
    items_read = {key: item for key, item in items.items() if item.content_hash in documents}
    pairs = [(key, item.query_id, item.document_id, item.content_hash) for key, item in items_read.items()]
    matched = find_matched_parts(cursor, pairs)
    return {
        key: ItemText._make(
            (*queries[item.query_id], DocumentText(*documents[item.content_hash]), matched.get(key))
        )
        for key, item in items_read.items()
    }


def read_texts_version(cursor: Cursor) -> tuple[object, ...]:
    """Read a value that changes only if queries change, or if pools match other parts of documents."""
    return tuple(cursor.execute(_TEXTS_STATE).fetchall()[0])


def find_matched_passages(cursor: Cursor, presentation_ids: Sequence[str]) -> dict[str, Span]:
    """Find presentations' matched parts, given the presentation ids, as `find_matched_parts` does."""
    return find_matched_parts(cursor, cursor.execute(_PAIRS, [list(presentation_ids)]).fetchall())


def find_matched_parts(cursor: Cursor, pairs: Sequence[tuple[str, str, str, str]]) -> dict[str, Span]:
    """Find, for each presentation, the part of `Document.text` that the system with the best rank matched.

    A stored part belongs to the document version in the pool's snapshot, and is used only if that version is
    on screen. Ties are broken by system, position and pool. Presentations without a stored part are left out.
    """
    if not pairs:
        return {}
    _, queries, documents, hashes = map(list, zip(*pairs, strict=True))
    rows = cursor.execute(_SOURCES, {"queries": queries, "documents": documents}).fetchall()
    if not rows:
        return {}
    parts_by_pair: dict[tuple[str, str], list[tuple[str, Span]]] = {}
    for query_id, document_id, snapshot, start, end in rows:
        parts_by_pair.setdefault((query_id, document_id), []).append((snapshot, (start, end)))
    versions = set(cursor.execute(_VERSIONS, {"documents": documents, "hashes": hashes}).fetchall())
    matched: dict[str, Span] = {}
    for presentation_id, query_id, document_id, content_hash in pairs:
        for snapshot, span in parts_by_pair.get((query_id, document_id), []):
            if (snapshot, document_id, content_hash) in versions:
                matched.setdefault(presentation_id, span)
    return matched
