"""Matched passages: the part of a document that a system matched, from which the excerpt is taken.

Only the excerpt leaves the server. It does not say which system found the part, or at which rank.
"""

from __future__ import annotations

from collections.abc import Sequence

from curation.core.spans import Span
from curation.store import Cursor

_PAIRS = """
SELECT presentation_id, query_id, document_id, content_hash FROM presentations
WHERE presentation_id IN (SELECT unnest(?::TEXT[]))
"""


def matched_passages(cursor: Cursor, presentation_ids: Sequence[str]) -> dict[str, Span]:
    """As `matched_parts`, by the presentations' ids."""
    return matched_parts(cursor, cursor.execute(_PAIRS, [list(presentation_ids)]).fetchall())


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


def matched_parts(cursor: Cursor, pairs: Sequence[tuple[str, str, str, str]]) -> dict[str, Span]:
    """Presentation → the part of `Document.text` that was matched at the best rank, where one is stored.

    A stored part belongs to the version of the document in the pool's snapshot. It counts only if that
    version is shown. Ties are broken by system, place and pool.
    """
    if not pairs:
        return {}
    _, queries, documents, hashes = map(list, zip(*pairs, strict=True))
    rows = cursor.execute(_SOURCES, {"queries": queries, "documents": documents}).fetchall()
    if not rows:
        return {}
    parts: dict[tuple[str, str], list[tuple[str, Span]]] = {}
    for query_id, document_id, snapshot, start, end in rows:
        parts.setdefault((query_id, document_id), []).append((snapshot, (start, end)))
    versions = set(cursor.execute(_VERSIONS, {"documents": documents, "hashes": hashes}).fetchall())
    found: dict[str, Span] = {}
    for presentation_id, query_id, document_id, content_hash in pairs:
        for snapshot, span in parts.get((query_id, document_id), []):
            if (snapshot, document_id, content_hash) in versions:
                found.setdefault(presentation_id, span)
    return found
