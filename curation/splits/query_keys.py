"""Query keys: sessions, document groups or metadata fields; an equal key ties two queries.

The sessions of a query are the sessions of its normalised text in the query logs. Its groups are the groups
of its relevant documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from curation.core.digests import json_pointer
from curation.core.errors import refuse_problems
from curation.splits.rules import GROUP, SESSION
from curation.store import Cursor
from curation.store.documents import group_keys

Keys = dict[str, set[tuple[str, str]]]
Relevant = Mapping[str, frozenset[str]]
_ANY_KEY = {
    SESSION: "SELECT 1 FROM traffic WHERE session IS NOT NULL LIMIT 1",
    GROUP: "SELECT 1 FROM documents WHERE group_key IS NOT NULL LIMIT 1",
}
_QUERY_SESSIONS = """
    SELECT DISTINCT q.query_id, t.session
    FROM queries q JOIN traffic t USING (normalised)
    WHERE list_contains($queries, q.query_id) AND t.session IS NOT NULL
    ORDER BY ALL
"""
_FIELD_VALUES = """
    SELECT query_id, metadata->>$pointer AS value FROM queries
    WHERE list_contains($queries, query_id) AND nullif(metadata->>$pointer, '') IS NOT NULL
    ORDER BY query_id
"""


def read_keys(cursor: Cursor, query_ids: Sequence[str], relevant: Relevant, kinds: Sequence[str]) -> Keys:
    """Read the keys (sessions, document groups or fields) of each query, for these kinds of keys.

    Parameters
    ----------
    relevant: query id → ids of its relevant documents.
    kinds: 'session', 'group', or names of metadata fields of queries.

    Returns
    -------
    Query id → (kind of key, value).

    Raises
    ------
    InputError: no query, or no relevant document, has a key of one of the kinds.
    """
    keys: Keys = defaultdict(set)
    problems = []
    for kind in dict.fromkeys(kinds):
        if kind == SESSION:
            rows = _number_sessions(cursor.execute(_QUERY_SESSIONS, {"queries": query_ids}).fetchall())
            problem = "the query logs have no sessions of these queries; import a log with sessions"
        elif kind == GROUP:
            rows = _read_groups(cursor, relevant)
            problem = "no relevant document has a group; import the corpus with groups"
        else:
            values = {"queries": query_ids, "pointer": json_pointer(kind)}
            rows = cursor.execute(_FIELD_VALUES, values).fetchall()
            names = ", ".join(_read_field_names(cursor)) or "(none)"
            problem = f"no query has a field {kind!r}; expected session, group or one of {names}"
        if not rows:
            problems.append(f"The same {kind}: {problem}.")
        for query_id, value in rows:
            keys[query_id].add((kind, value))
    refuse_problems(problems)
    return keys


def list_key_kinds(cursor: Cursor) -> list[str]:
    """List the kinds of keys that can tie queries: session and group if the project has any, and fields."""
    present = [kind for kind, sql in _ANY_KEY.items() if cursor.execute(sql).fetchall()]
    return [*present, *(name for name in _read_field_names(cursor) if name not in _ANY_KEY)]


def _number_sessions(sessions: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """List pairs of query id and session number; sessions are numbered by the queries that they contain.

    Stored session names are not used, because they differ between projects and no release may hold them.
    """
    queries_by_session: dict[str, list[str]] = defaultdict(list)
    for query_id, session in sessions:
        queries_by_session[session].append(query_id)
    ordered = sorted(sorted(queries) for queries in queries_by_session.values())
    numbered = enumerate(ordered, 1)
    return sorted((query_id, str(number)) for number, queries in numbered for query_id in queries)


def _read_groups(cursor: Cursor, relevant: Relevant) -> list[tuple[str, str]]:
    """List pairs of query id and group, for each relevant document that has a group."""
    group_of = group_keys(cursor, sorted(set().union(*relevant.values())))
    return [
        (query_id, group_of[document_id])
        for query_id, documents in relevant.items()
        for document_id in sorted(documents)
        if document_id in group_of
    ]


def _read_field_names(cursor: Cursor) -> list[str]:
    sql = "SELECT DISTINCT unnest(json_keys(metadata)) AS name FROM queries ORDER BY name"
    return [name for (name,) in cursor.execute(sql).fetchall()]
