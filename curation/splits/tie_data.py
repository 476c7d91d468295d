"""The data of queries that ties are found by: keys, embeddings, and the times of a split by time.

A key of a query is its session, the group of one of its relevant documents, or a field of the query. A query
is looked up in the query logs by its normalised text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from curation.core.digests import json_pointer
from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.request import DEFAULT_MODEL
from curation.retrieval.embedding_model import Vectors
from curation.retrieval.embeddings import embed
from curation.retrieval.unread_texts import unread_texts
from curation.splits.inputs import SplitInputs
from curation.splits.request import GROUP, SESSION, Rules
from curation.store import Cursor, Store
from curation.store.documents import group_keys

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


_TIMES = """
    SELECT q.query_id, min(t.time)
    FROM queries q JOIN traffic t USING (normalised)
    WHERE list_contains($queries, q.query_id) AND t.time IS NOT NULL
    GROUP BY q.query_id ORDER BY q.query_id
"""


def add_tie_data(
    store: Store, inputs: SplitInputs, rules: Rules, progress: Progress = silent, with_times: bool = False
) -> SplitInputs:
    """Return the inputs with the keys and embeddings that the rules need, and with times if `with_times`.

    Raises
    ------
    InputError: no query or relevant document has a requested key.
    RefusedError: embeddings are missing and the model is not available.
    """
    if rules.keys or with_times:
        with store.reading() as cursor:
            keys = read_keys(cursor, inputs, rules.keys)
            times = read_times(cursor, list(inputs.queries)) if with_times else {}
            grouped = group_keys(cursor, list(inputs.documents)) if GROUP in rules.keys else {}
        key_sets = {query_id: frozenset(pairs) for query_id, pairs in sorted(keys.items())}
        inputs = replace(inputs, keys=key_sets, times=times, grouped=frozenset(grouped))
    if rules.paraphrase is None or inputs.grouped_queries == set(inputs.queries):
        return inputs
    return replace(inputs, vectors=embed_queries(store, inputs.queries, rules.model, progress))


def embed_queries(
    store: Store, queries: Mapping[str, str], model: str = DEFAULT_MODEL, progress: Progress = silent
) -> Vectors:
    """Return unit vectors of the query texts, shape (queries, d), ordered by query id.

    New embeddings are stored.

    A text in a language that the model cannot read has a vector of zeros.

    Parameters
    ----------
    queries: query id → text.

    Raises
    ------
    RefusedError, NotFoundError: vectors are missing and the model cannot be used.
    """
    texts = [queries[query_id] for query_id in sorted(queries)]
    try:
        vectors = embed(store, texts, "query", model, progress)
    except RefusedError as error:
        raise RefusedError(
            f"goldgrade cannot look for paraphrases among the queries: {getattr(error, 'found', error)} Or "
            "leave paraphrases out. Similar spelling finds only about a fifth of the paraphrases.",
            command="--no-paraphrase leaves paraphrases out.",
        ) from error
    vectors[unread_texts(texts, vectors, model)] = 0
    return vectors


def read_keys(cursor: Cursor, inputs: SplitInputs, kinds: Sequence[str]) -> Keys:
    """Read the keys of these kinds, as a map from query id to (kind of key, value).

    Raises
    ------
    InputError: no query, or no relevant document, has a key of one of the kinds.
    """
    keys: Keys = defaultdict(set)
    problems = []
    for kind in dict.fromkeys(kinds):
        if kind == SESSION:
            rows = _number_sessions(cursor.execute(_SESSIONS, {"queries": list(inputs.queries)}).fetchall())
            problem = "the query logs have no sessions of these queries; import a log with sessions"
        elif kind == GROUP:
            rows = _read_groups(cursor, inputs)
            problem = "no relevant document has a group; import the corpus with groups"
        else:
            values = {"queries": list(inputs.queries), "pointer": json_pointer(kind)}
            rows = cursor.execute(_FIELD, values).fetchall()
            names = ", ".join(_read_field_names(cursor)) or "(none)"
            problem = f"no query has a field {kind!r}; expected session, group or one of {names}"
        if not rows:
            problems.append(f"The same {kind}: {problem}.")
        for query_id, value in rows:
            keys[query_id].add((kind, value))
    refuse_problems(problems)
    return keys


def read_times(cursor: Cursor, queries: Sequence[str]) -> dict[str, datetime]:
    """Read when each query was first asked (UTC): query id → time. A query without a known time is absent.

    A query is looked up in the query logs by its normalised text, so other spellings do not count.
    """
    return dict(cursor.execute(_TIMES, {"queries": list(queries)}).fetchall())


def list_key_kinds(cursor: Cursor) -> list[str]:
    """List the kinds of key that can tie queries: session and group, if the project has any, and fields."""
    present = [kind for kind, sql in _ANY.items() if cursor.execute(sql).fetchall()]
    return [*present, *(name for name in _read_field_names(cursor) if name not in _ANY)]


def _number_sessions(sessions: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pairs of query id and session number. Sessions are numbered by the queries that they contain.

    Stored session names are not used, because they differ between projects and no release may hold them.
    """
    queries_by_session: dict[str, list[str]] = defaultdict(list)
    for query_id, session in sessions:
        queries_by_session[session].append(query_id)
    ordered = sorted(sorted(queries) for queries in queries_by_session.values())
    numbered = enumerate(ordered, 1)
    return sorted((query_id, str(number)) for number, queries in numbered for query_id in queries)


def _read_groups(cursor: Cursor, inputs: SplitInputs) -> list[tuple[str, str]]:
    """Return pairs of query id and group, for each relevant document that has a group."""
    group_of = group_keys(cursor, list(inputs.documents))
    return [
        (query_id, group_of[document_id])
        for query_id, documents in inputs.relevant.items()
        for document_id in sorted(documents)
        if document_id in group_of
    ]


def _read_field_names(cursor: Cursor) -> list[str]:
    sql = "SELECT DISTINCT unnest(json_keys(metadata)) AS name FROM queries ORDER BY name"
    return [name for (name,) in cursor.execute(sql).fetchall()]
