"""Same key: two queries with the same session, relevant document's group, or field of the query.

A query is found in the traffic by its normalised text. Other spellings that were sampled together with it add
none of their sessions. Sessions are numbered by the queries asked in them.

Where groups are a tie, the group decides: two queries that both have one are not tied by similarity, nor
are two such documents. Otherwise the words that all policies of a company share would join their groups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from curation.core.errors import refuse_problems
from curation.core.text import json_pointer
from curation.splits.inputs import SplitInputs
from curation.splits.rules import GROUP, SESSION, SESSIONS
from curation.splits.ties.kind import FoundTies, TieKind, TieSearch
from curation.store import Cursor
from curation.store.documents import group_keys

LABEL = "same key"
IN_MANY_SESSIONS = f"queries were asked in more than {SESSIONS} sessions, so that their sessions tie nothing"

Keys = dict[str, set[tuple[str, str]]]


_ANY = {
    SESSION: "SELECT 1 FROM traffic WHERE session IS NOT NULL LIMIT 1",
    GROUP: "SELECT 1 FROM documents WHERE group_key IS NOT NULL LIMIT 1",
}
_SESSIONS = """
    SELECT DISTINCT q.query_id, t.session
    FROM queries q JOIN traffic t USING (normalised)
    WHERE list_contains($queries, q.query_id) AND t.session IS NOT NULL
    ORDER BY ALL
"""
_FIELD = """
    SELECT query_id, metadata->>$pointer AS value FROM queries
    WHERE list_contains($queries, query_id) AND nullif(metadata->>$pointer, '') IS NOT NULL
    ORDER BY query_id
"""


def find(search: TieSearch) -> FoundTies:
    """Pairs of queries for each key that both have, of the kinds of key that the rules name."""
    popular = set(_in_many_sessions(search.inputs))
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in search.ids:
        for kind, value in sorted(search.inputs.keys.get(name, ())):
            if kind in search.rules.keys and not (kind == SESSION and name in popular):
                holders[kind, value].append(name)
    return search.of_equal_keys(
        {f"{kind} {value}": queries for (kind, value), queries in holders.items()},
        LABEL,
        {IN_MANY_SESSIONS: len(popular)} if SESSION in search.rules.keys else {},
    )


def read_keys(cursor: Cursor, inputs: SplitInputs, kinds: Sequence[str]) -> Keys:
    """Query id → (kind of key, value) of these kinds.

    Raises
    ------
    InputError: no query, or no relevant document, has a key of one of the kinds.
    """
    keys: Keys = defaultdict(set)
    problems = []
    for kind in dict.fromkeys(kinds):
        if kind == SESSION:
            found = _numbered(cursor.execute(_SESSIONS, {"queries": list(inputs.queries)}).fetchall())
            missing = "the traffic has no sessions of these queries; import a log that has them"
        elif kind == GROUP:
            found = _groups(cursor, inputs)
            missing = "no relevant document has a group; import the corpus with them"
        else:
            values = {"queries": list(inputs.queries), "pointer": json_pointer(kind)}
            found = cursor.execute(_FIELD, values).fetchall()
            missing = f"no query has a field {kind!r}; expected session, group or one of {_fields(cursor)}"
        if not found:
            problems.append(f"The same {kind}: {missing}.")
        for query_id, value in found:
            keys[query_id].add((kind, value))
    refuse_problems(problems)
    return keys


def groups_across(cursor: Cursor, inputs: SplitInputs, parts: Mapping[str, str]) -> int:
    """How many groups of documents are relevant to queries of different parts (query id → part)."""
    reached: dict[str, set[str]] = defaultdict(set)
    for query_id, group in _groups(cursor, inputs):
        reached[group].add(parts[query_id])
    return sum(len(found) > 1 for found in reached.values())


def _numbered(sessions: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Query id and session, the sessions numbered by the queries asked in them.

    What is stored of a session differs from project to project, and no release may have it.
    """
    asked: dict[str, list[str]] = defaultdict(list)
    for query_id, session in sessions:
        asked[session].append(query_id)
    numbers = enumerate(sorted(sorted(queries) for queries in asked.values()), 1)
    return sorted((query_id, str(number)) for number, queries in numbers for query_id in queries)


def _in_many_sessions(inputs: SplitInputs) -> list[str]:
    """Queries that were asked in so many sessions that the sessions show nothing."""
    return [name for name, keys in inputs.keys.items() if sum(kind == SESSION for kind, _ in keys) > SESSIONS]


def _groups(cursor: Cursor, inputs: SplitInputs) -> list[tuple[str, str]]:
    """Query id and group of each of its relevant documents that has one."""
    group_of = group_keys(cursor, list(inputs.documents))
    return [
        (query_id, group_of[document_id])
        for query_id, documents in inputs.relevant.items()
        for document_id in sorted(documents)
        if document_id in group_of
    ]


def known_keys(cursor: Cursor) -> list[str]:
    """By what queries could be tied: session and group, where the project has any, and fields of queries."""
    has = [kind for kind, sql in _ANY.items() if cursor.execute(sql).fetchall()]
    return [*has, *(name for name in _field_names(cursor) if name not in _ANY)]


def _fields(cursor: Cursor) -> str:
    return ", ".join(_field_names(cursor)) or "(none)"


def _field_names(cursor: Cursor) -> list[str]:
    sql = "SELECT DISTINCT unnest(json_keys(metadata)) AS name FROM queries ORDER BY name"
    return [name for (name,) in cursor.execute(sql).fetchall()]


TIE = TieKind(
    label=LABEL,
    setting="keys",
    parameter="keys",
    find=find,
    if_absent=(),
    when_on=lambda rules: {"told_apart_by": GROUP} if GROUP in rules.keys else {},
)
