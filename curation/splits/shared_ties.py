"""Ties between queries that share a relevant document, or a key such as a session (`query_keys`)."""

from __future__ import annotations

from collections import defaultdict

from curation.core.similarity.pairs import EXACTLY
from curation.splits.edges import Edge, QueryPair
from curation.splits.rules import GROUP, MAX_SESSIONS, SESSION
from curation.splits.tie_search import FoundTies, TieKind, TieSearch

SHARED_DOCUMENT = "shared document"
SAME_KEY = "same key"
IN_MANY_SESSIONS = f"queries were asked in more than {MAX_SESSIONS} sessions, so sessions do not tie them"
Holders = dict[tuple[str, ...], list[str]]
"""Map from a key in words to the queries that have the key."""


def find_shared_documents(search: TieSearch) -> FoundTies:
    """Find pairs of queries that share relevant documents; an edge names all shared documents."""
    shared_documents: dict[QueryPair, list[str]] = defaultdict(list)
    n_ties = 0
    for document_id, queries in search.inputs.queries_of.items():
        n_ties += search.count_uncut_pairs(queries)
        for pair in search.connect(queries):
            shared_documents[pair].append(document_id)
    pairs = shared_documents.items()
    edges = [Edge(*pair, SHARED_DOCUMENT, 1.0, tuple(document_ids)) for pair, document_ids in pairs]
    return FoundTies(edges, n_ties, EXACTLY)


SHARED_DOCUMENT_TIE = TieKind(
    SHARED_DOCUMENT, "shared", "shared_documents", find_shared_documents, if_absent=True
)


def find_same_keys(search: TieSearch) -> FoundTies:
    """Find pairs of queries that share a key of a kind named in the rules."""
    keys, key_kinds = search.inputs.keys, search.rules.keys
    n_sessions = {query_id: sum(kind == SESSION for kind, _ in pairs) for query_id, pairs in keys.items()}
    popular_queries = {query_id for query_id, count in n_sessions.items() if count > MAX_SESSIONS}
    holders: Holders = defaultdict(list)
    for query_id in search.ids:
        for kind, value in sorted(keys.get(query_id, ())):
            if kind in key_kinds and not (kind == SESSION and query_id in popular_queries):
                holders[kind, value].append(query_id)
    ties = tie_equal_keys(search, holders, SAME_KEY)
    return ties._replace(left_out={IN_MANY_SESSIONS: len(popular_queries)}) if SESSION in key_kinds else ties


def tie_equal_keys(search: TieSearch, holders: Holders, label: str) -> FoundTies:
    """Tie all queries that share a key; `holders` maps each key, in words, to query ids."""
    edges = [
        Edge(*pair, label, 1.0, (), " ".join(key))
        for key, query_ids in sorted(holders.items())
        for pair in search.connect(query_ids)
    ]
    return FoundTies(edges, sum(map(search.count_uncut_pairs, holders.values())), EXACTLY)


SAME_KEY_TIE = TieKind(
    label=SAME_KEY,
    setting="keys",
    parameter="keys",
    find=find_same_keys,
    if_absent=(),
    make_parameters=lambda rules: {"told_apart_by": GROUP} if GROUP in rules.keys else {},
)
