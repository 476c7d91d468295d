"""Near-duplicate document: two queries to which nearly identical documents are relevant.

Documents are compared by the Jaccard similarity of their word 3-shingles. Pairs of documents are counted, not
pairs of queries, also where a cut leaves out the edge.
"""

from __future__ import annotations

from curation.similarity.pairs import alike
from curation.similarity.shingles import WORDS, word_shingles
from curation.splits.rules import LEAST_THRESHOLD
from curation.splits.ties.edges import Edge, QueryPair
from curation.splits.ties.kind import FoundTies, Threshold, TieKind, TieSearch, each_link

LABEL = "near-duplicate document"


def find(search: TieSearch) -> FoundTies:
    """Each two similar documents tie the queries of one with those of the other; where a shared document ties
    them anyway, only those that a cut names."""
    assert search.rules.document is not None
    inputs = search.inputs
    ids, queries_of = sorted(inputs.documents), inputs.queries_of
    named = {place for place, name in enumerate(ids) if not search.named.isdisjoint(queries_of[name])}
    shingles = (word_shingles(inputs.documents[name]) for name in ids)
    found = alike(shingles, search.rules.document, progress=search.progress, single=named)
    edges = []
    for a, b, similarity in each_link(found.links):
        left, right = queries_of[ids[a]], queries_of[ids[b]]
        if search.rules.shared and not ({a, b} & named) and not set(left).isdisjoint(right):
            continue
        for one, other in search.pairs_between(left, right):
            edges.append(edge_between((one, ids[a]), (other, ids[b]), similarity))
    return FoundTies(edges, found.pairs, found.method)


def edge_between(first: QueryPair, second: QueryPair, similarity: float) -> Edge:
    """The edge that two similar documents make; `first`, `second`: query id, document id relevant to it."""
    (query_a, document_a), (query_b, document_b) = sorted([first, second])
    return Edge(query_a, query_b, LABEL, similarity, (document_a, document_b))


TIE = TieKind(
    label=LABEL,
    setting="document",
    parameter="document_threshold",
    find=find,
    threshold=Threshold(LEAST_THRESHOLD, "a Jaccard similarity"),
    fixed={"document_shingles": f"{WORDS} words"},
    minhashed=lambda inputs: len(inputs.documents),
    counts_on=("shared",),
)
