"""Edges: why two queries must stay on one side of a split.

Three kinds: nearly the same query text, a document that is relevant to both, and two nearly identical
documents of which one is relevant to each. Every edge carries its exact similarity and the documents that
make it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from curation.progress import Progress, silent
from curation.splits.material import Material
from curation.splits.similarity import (
    EXACT_BELOW,
    character_shingles,
    exact_pairs,
    minhash_pairs,
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
    documents: shared documents; or the two most similar ones, that of query_a first; or none.
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


def find_edges(material: Material, thresholds: Thresholds, progress: Progress = silent) -> list[Edge]:
    """All edges, ordered, at most one of a kind between two queries."""
    edges = [
        *_query_text(material, thresholds.query, progress),
        *_shared_documents(material),
        *_near_duplicates(material, thresholds.document, progress),
    ]
    return sorted(edges)


def near_duplicate_edges(
    duplicates: Sequence[tuple[str, str, float]], queries_of: Mapping[str, Sequence[str]]
) -> list[Edge]:
    """The edges that pairs of similar documents make; of several between two queries the strongest."""
    strongest: dict[tuple[str, str], Edge] = {}
    for first, second, similarity in duplicates:
        for query_a, query_b in product(queries_of[first], queries_of[second]):
            if query_a == query_b:
                continue
            documents = (first, second) if query_a < query_b else (second, first)
            a, b = min(query_a, query_b), max(query_a, query_b)
            rival = strongest.get((a, b))
            if rival is None or (-similarity, documents) < (-rival.similarity, rival.documents):
                strongest[a, b] = Edge(a, b, NEAR_DUPLICATE, similarity, documents)
    return sorted(strongest.values())


def _query_text(material: Material, threshold: float, progress: Progress) -> list[Edge]:
    ids = sorted(material.queries)
    sets = [character_shingles(material.queries[query_id]) for query_id in ids]
    search = exact_pairs if compared_exactly(len(ids)) else minhash_pairs
    return [
        Edge(ids[pair.first], ids[pair.second], QUERY_TEXT, pair.similarity)
        for pair in search(sets, threshold, progress)
    ]


def _shared_documents(material: Material) -> list[Edge]:
    shared: dict[tuple[str, str], list[str]] = defaultdict(list)
    for document_id, queries in material.queries_of.items():
        for pair in combinations(queries, 2):
            shared[pair].append(document_id)
    return [Edge(a, b, SHARED_DOCUMENT, 1.0, tuple(documents)) for (a, b), documents in shared.items()]


def _near_duplicates(material: Material, threshold: float, progress: Progress) -> list[Edge]:
    ids = sorted(material.documents)
    sets = [word_shingles(material.documents[document_id]) for document_id in ids]
    pairs = minhash_pairs(sets, threshold, progress)
    duplicates = [(ids[pair.first], ids[pair.second], pair.similarity) for pair in pairs]
    return near_duplicate_edges(duplicates, material.queries_of)
