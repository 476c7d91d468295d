"""Edges: why two queries must stay on one side of a split.

Three kinds: nearly the same query text, a document that is relevant to both, and two nearly identical
documents of which one is relevant to each. Every edge carries its exact similarity and the documents that
make it.

Groups need no more than a spanning forest of the strongest edges: that is what is kept, with the number of
all ties that were found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.progress import Progress, silent
from curation.splits.forest import Links, strongest
from curation.splits.material import Material
from curation.splits.similarity import (
    EXACT_BELOW,
    alike,
    character_shingles,
    exact_links,
    minhash_links,
    word_shingles,
)

QUERY_TEXT = "query text"
SHARED_DOCUMENT = "shared document"
NEAR_DUPLICATE = "near-duplicate document"
KINDS = (QUERY_TEXT, SHARED_DOCUMENT, NEAR_DUPLICATE)


class Edge(NamedTuple):
    """Two queries (query_a < query_b) that give each other away.

    Attributes
    ----------
    similarity: exact Jaccard of the query texts or documents; 1 for a shared document.
    documents: shared documents; or the two similar ones, that of query_a first; or none.
    """

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()


class Thresholds(NamedTuple):
    """Least Jaccard similarity that joins."""

    query: float
    document: float


def compared_exactly(queries: int) -> bool:
    """Whether so many query texts are compared all with all, and not by MinHash."""
    return queries < EXACT_BELOW


class Ties(NamedTuple):
    """What ties queries together.

    Attributes
    ----------
    edges: ordered; a spanning forest of the strongest.
    found: kind → number of all ties: pairs of similar query texts; pairs of queries for each document that is
        relevant to both; pairs of nearly identical relevant documents.
    """

    edges: list[Edge]
    found: dict[str, int]


def find_edges(material: Material, thresholds: Thresholds, progress: Progress = silent) -> Ties:
    """The strongest edges that hold the leakage groups together, and the number of all."""
    texts, similar_texts = _query_text(material, thresholds.query, progress)
    shared, sharing = _shared_documents(material)
    near, similar_documents = _near_duplicates(material, thresholds.document, progress)
    counts = (similar_texts, sharing, similar_documents)
    return Ties(
        _forest(sorted(material.queries), [*texts, *shared, *near]), dict(zip(KINDS, counts, strict=True))
    )


def edge_between(first: tuple[str, str], second: tuple[str, str], similarity: float) -> Edge:
    """The edge that two similar documents make; `first`, `second`: query id, document id relevant to it."""
    (query_a, document_a), (query_b, document_b) = sorted([first, second])
    return Edge(query_a, query_b, NEAR_DUPLICATE, similarity, (document_a, document_b))


def _forest(ids: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    ordered = sorted(edges)
    number = {query_id: place for place, query_id in enumerate(ids)}
    links = Links(
        np.array([number[edge.query_a] for edge in ordered], dtype=np.int64),
        np.array([number[edge.query_b] for edge in ordered], dtype=np.int64),
        np.array([edge.similarity for edge in ordered], dtype=np.float64),
    )
    return [ordered[place] for place in strongest(links, len(ids)).tolist()]


def _query_text(material: Material, threshold: float, progress: Progress) -> tuple[list[Edge], int]:
    ids = sorted(material.queries)
    sets = [character_shingles(material.queries[query_id]) for query_id in ids]
    search = exact_links if compared_exactly(len(ids)) else minhash_links
    found = alike(sets, threshold, search, progress)
    return [
        Edge(ids[a], ids[b], QUERY_TEXT, similarity) for a, b, similarity in _each(found.forest)
    ], found.pairs


def _shared_documents(material: Material) -> tuple[list[Edge], int]:
    """Each document ties its first query with the others."""
    shared: dict[tuple[str, str], list[str]] = defaultdict(list)
    pairs = 0
    for document_id, (centre, *others) in material.queries_of.items():
        pairs += len(others) * (len(others) + 1) // 2
        for other in others:
            shared[centre, other].append(document_id)
    return [Edge(a, b, SHARED_DOCUMENT, 1.0, tuple(documents)) for (a, b), documents in shared.items()], pairs


def _near_duplicates(material: Material, threshold: float, progress: Progress) -> tuple[list[Edge], int]:
    """Each two similar documents tie a query of one with a query of the other, unless they share one."""
    ids = sorted(material.documents)
    sets = [word_shingles(material.documents[document_id]) for document_id in ids]
    found = alike(sets, threshold, minhash_links, progress)
    queries_of = material.queries_of
    edges = [
        edge_between((queries_of[ids[a]][0], ids[a]), (queries_of[ids[b]][0], ids[b]), similarity)
        for a, b, similarity in _each(found.forest)
        if set(queries_of[ids[a]]).isdisjoint(queries_of[ids[b]])
    ]
    return edges, found.pairs


def _each(links: Links) -> zip[tuple[int, int, float]]:
    return zip(links.first.tolist(), links.second.tolist(), links.similarity.tolist(), strict=True)
