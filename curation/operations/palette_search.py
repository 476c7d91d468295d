"""The command palette's search: items whose text, title, name or id contains each word of a text.

A word is found also within a longer word: "graph" finds "paragraph". Items are queries, documents that are
candidates of a query, and people.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.core.characters import normalise_query
from curation.operations.query_facts import READER_ROLES
from curation.people.annotators import require_role
from curation.store import Annotator, Cursor

MAX_HITS = 6
"""The number of items of each kind that a search finds."""
_SEARCH = """
WITH item AS (
    SELECT 'query' AS kind, text AS title, query_id, '' AS document_id, normalised AS words FROM queries
    UNION ALL
    SELECT 'document', title, '', d.document_id, lower(title)
    FROM snapshot_documents s JOIN documents d USING (content_hash)
    WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')
    UNION ALL
    SELECT 'person', name, '', '', lower(name) FROM annotators WHERE $lead),
matching AS (
    SELECT *, CASE WHEN words = $text THEN 0 WHEN starts_with(words, $text) THEN 1
                   WHEN contains(words, $text) THEN 2 ELSE 3 END AS rank
    FROM item
    WHERE list_bool_and([contains(words || ' ' || lower(query_id || document_id), word) FOR word IN $words])),
candidate AS (
    SELECT document_id, min(query_id) AS candidate_of FROM candidates SEMI JOIN matching USING (document_id)
    GROUP BY document_id)
SELECT kind, coalesce(nullif(title, ''), document_id), coalesce(candidate_of, query_id), document_id
FROM matching LEFT JOIN candidate USING (document_id)
WHERE kind <> 'document' OR candidate_of IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY kind ORDER BY rank, length(title), title, query_id, document_id) <= $limit
ORDER BY rank > 0, kind = 'document', kind, rank, length(title), title, query_id, document_id
"""


class SearchHit(NamedTuple):
    """A query, document or person that a search found; a document has the id of one of its queries."""

    kind: str
    title: str
    query_id: str
    document_id: str


def find_items(cursor: Cursor, text: str, reader: Annotator) -> list[SearchHit]:
    """Find items that contain each word as a substring; only a lead finds people.

    Titles of any kind that equal the text come first. Within each kind, titles that begin with the text come
    next, then titles that contain it. Shorter titles come before longer titles.

    Raises
    ------
    RefusedError: the reader is neither reviewer nor lead.
    """
    require_role(reader, *READER_ROLES)
    words = normalise_query(text).split()
    if not words:
        return []
    parameters = {"words": words, "text": " ".join(words), "limit": MAX_HITS, "lead": reader.role == "lead"}
    return [SearchHit(*row) for row in cursor.execute(_SEARCH, parameters).fetchall()]
