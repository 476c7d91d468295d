"""Near-duplicate document: two queries to which nearly identical documents are relevant.

Documents are compared by the Jaccard similarity of their word 3-shingles. A document that holds another one
nearly whole, such as its abstract, is its near-duplicate too, unless the smaller one is very short. Pairs of
documents are counted, not pairs of queries, also where a cut leaves out the edge.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from curation.core.similarity.forest import joined
from curation.core.similarity.pairs import PairCollector, alike, contained_links
from curation.core.similarity.shingles import WORDS, distinct, word_shingles
from curation.splits.rules import CONTAINED, LEAST_SHINGLES
from curation.splits.ties.edges import Edge, QueryPair
from curation.splits.ties.kind import FoundTies, TieKind, TieSearch, each_link

LABEL = "near-duplicate document"


def find(search: TieSearch) -> FoundTies:
    """Each two similar documents tie the queries of one with those of the other; where a shared document ties
    them anyway, only those that a cut names."""
    assert search.rules.document is not None
    inputs = search.inputs
    ids, queries_of = sorted(inputs.documents), inputs.queries_of
    named = {place for place, name in enumerate(ids) if not search.named.isdisjoint(queries_of[name])}
    shingles = (word_shingles(inputs.documents[name]) for name in ids)
    found = alike(
        shingles,
        search.rules.document,
        search.compare,
        progress=search.progress,
        single=named,
        apart=_grouped(search, ids),
    )
    held = _contained(search, ids, named)
    edges = []
    for a, b, similarity in each_link(joined([found.links, held.links()])):
        left, right = queries_of[ids[a]], queries_of[ids[b]]
        if search.rules.shared and not ({a, b} & named) and not set(left).isdisjoint(right):
            continue
        for one, other in search.pairs_between(left, right):
            edges.append(edge_between((one, ids[a]), (other, ids[b]), similarity))
    further = {"document_containment": CONTAINED, "contained_shingles": LEAST_SHINGLES} if held.pairs else {}
    return FoundTies(edges, found.pairs + held.pairs, found.method, {}, further)


def _contained(search: TieSearch, ids: Sequence[str], named: Collection[int]) -> PairCollector:
    """Documents of which one holds the other, and which are less similar than the threshold."""
    assert search.rules.document is not None
    shingles = (word_shingles(search.inputs.documents[name]) for name in ids)
    sets, class_of = distinct(shingles, single=range(len(ids)))
    place_of = np.flatnonzero(class_of >= 0)
    collected = PairCollector(len(ids), named, _grouped(search, ids))
    for links in contained_links(sets, CONTAINED, LEAST_SHINGLES, search.rules.document, search.progress):
        collected.add(links._replace(first=place_of[links.first], second=place_of[links.second]))
    return collected


def _grouped(search: TieSearch, ids: Sequence[str]) -> list[int]:
    return [place for place, name in enumerate(ids) if name in search.inputs.grouped]


def edge_between(first: QueryPair, second: QueryPair, similarity: float) -> Edge:
    """The edge that two similar documents make; `first`, `second`: query id, document id relevant to it."""
    (query_a, document_a), (query_b, document_b) = sorted([first, second])
    return Edge(query_a, query_b, LABEL, similarity, (document_a, document_b))


TIE = TieKind(
    label=LABEL,
    setting="document",
    parameter="document_threshold",
    find=find,
    is_threshold=True,
    fixed={"document_shingles": f"{WORDS} words"},
    minhashed=True,
)
