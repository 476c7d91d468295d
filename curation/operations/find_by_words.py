"""The search of the palette by words: for queries, for documents that are a query's candidates, and for
people.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.core.characters import normalise_query
from curation.operations.query_facts import READERS
from curation.people.annotators import require_role
from curation.store import Annotator, Cursor

MAX_HITS = 6
"""The number of items of each kind that a search finds."""
_FIND = """
WITH item AS (
    SELECT 'query' AS kind, text AS title, query_id, '' AS document_id, normalised AS words FROM queries
    UNION ALL
    SELECT 'document', title, '', d.document_id, lower(title)
    FROM snapshot_documents s JOIN documents d USING (content_hash)
    WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')
    UNION ALL
    SELECT 'person', name, '', '', lower(name) FROM annotators WHERE $lead),
found AS (
    SELECT * FROM item
    WHERE list_bool_and([contains(words || ' ' || lower(query_id || document_id), word) FOR word IN $words])),
asked AS (
    SELECT document_id, min(query_id) AS asked_by FROM candidates SEMI JOIN found USING (document_id)
    GROUP BY document_id)
SELECT kind, coalesce(nullif(title, ''), document_id), coalesce(asked_by, query_id), document_id
FROM found LEFT JOIN asked USING (document_id)
WHERE kind <> 'document' OR asked_by IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY kind ORDER BY length(title), title, query_id, document_id) <= $most
ORDER BY kind = 'document', kind, length(title), title, query_id, document_id
"""


class FoundItem(NamedTuple):
    """A query, a document or a person that a search found; a document has the id of a query that it is a
    candidate of.
    """

    kind: str
    title: str
    query_id: str
    document_id: str


def find_by_words(cursor: Cursor, text: str, reader: Annotator) -> list[FoundItem]:
    """Find items with all words of the text in their text, title, name or id, the shortest first.

    Only a lead finds people.

    Raises
    ------
    RefusedError: the reader is neither reviewer nor lead.
    """
    require_role(reader, *READERS)
    words = normalise_query(text).split()
    if not words:
        return []
    values = {"words": words, "most": MAX_HITS, "lead": reader.role == "lead"}
    return [FoundItem(*row) for row in cursor.execute(_FIND, values).fetchall()]
