"""Shared document: two queries to which one document is relevant."""

from __future__ import annotations

from collections import defaultdict

from curation.core.similarity.pairs import EXACTLY
from curation.splits.ties.edges import Edge, QueryPair
from curation.splits.ties.kind import FoundTies, TieKind, TieSearch

LABEL = "shared document"


def find(search: TieSearch) -> FoundTies:
    """Pairs of queries for each document that is relevant to both; an edge names all such documents."""
    shared: dict[QueryPair, list[str]] = defaultdict(list)
    ties = 0
    for document_id, queries in search.inputs.queries_of.items():
        ties += search.count_among(queries)
        for pair in search.pairs_among(queries):
            shared[pair].append(document_id)
    edges = [Edge(*pair, LABEL, 1.0, tuple(documents)) for pair, documents in shared.items()]
    return FoundTies(edges, ties, EXACTLY)


TIE = TieKind(
    label=LABEL,
    setting="shared",
    parameter="shared_documents",
    find=find,
    if_absent=True,
)
