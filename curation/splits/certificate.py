"""The certificate: an exhaustive look for what crosses a split, after the fact.

It shares the definition of a shingle with the grouping, and nothing of its search: every text of one part is
compared with every text of the others by counting, along posting lists, how many shingles they share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.splits.edges import (
    QUERY_TEXT,
    SHARED_DOCUMENT,
    Edge,
    Thresholds,
    near_duplicate_edges,
)
from curation.splits.material import Material
from curation.splits.similarity import Shingles, character_shingles, word_shingles


@dataclass(frozen=True)
class Closest:
    """The two most similar texts on different sides, by query or document id."""

    first: str
    second: str
    similarity: float


@dataclass(frozen=True)
class Certificate:
    """What was found across the split.

    Attributes
    ----------
    queries, documents: the closest pair of query texts and of relevant documents that lie in different parts;
        None where no two share a shingle.
    leaks: what crosses and must not: shared relevant documents, and pairs at or above the thresholds.
    """

    queries: Closest | None
    documents: Closest | None
    leaks: tuple[Edge, ...]


def certify(
    material: Material, parts: Mapping[str, str], thresholds: Thresholds, progress: Progress = silent
) -> Certificate:
    """Compare everything on one side with everything on the others.

    Parameters
    ----------
    parts: query id → part, for every query of the material.
    """
    crossing = _shared_across(material, parts)
    queries = [
        (query_id, parts[query_id], character_shingles(text)) for query_id, text in material.queries.items()
    ]
    nearest_query, close_queries = _across(sorted(queries), thresholds.query, progress)
    crossing += [Edge(first, second, QUERY_TEXT, similarity) for first, second, similarity in close_queries]
    queries_of = material.queries_of
    documents = [
        (document_id, part, word_shingles(text))
        for document_id, text in material.documents.items()
        for part in sorted({parts[query_id] for query_id in queries_of[document_id]})
    ]
    nearest_document, close_documents = _across(sorted(documents), thresholds.document, progress)
    edges = near_duplicate_edges([pair for pair in close_documents if pair[0] != pair[1]], queries_of)
    crossing += [edge for edge in edges if parts[edge.query_a] != parts[edge.query_b]]
    return Certificate(nearest_query, nearest_document, tuple(sorted(crossing)))


def _shared_across(material: Material, parts: Mapping[str, str]) -> list[Edge]:
    """One edge for each document and each two parts in which it is relevant."""
    found = []
    for document_id, queries in material.queries_of.items():
        first_of: dict[str, str] = {}
        for query_id in queries:
            first_of.setdefault(parts[query_id], query_id)
        names = sorted(first_of.values())
        found += [Edge(a, b, SHARED_DOCUMENT, 1.0, (document_id,)) for a in names for b in names if a < b]
    return found


def _across(
    texts: Sequence[tuple[str, str, Shingles]], threshold: float, progress: Progress
) -> tuple[Closest | None, list[tuple[str, str, float]]]:
    """The closest pair across parts, and all with at least the threshold. `texts`: id, part, shingles."""
    names = sorted({part for _, part, _ in texts})
    part_of = np.array([names.index(part) for _, part, _ in texts], dtype=np.int64)
    sizes = np.array([len(shingles) for *_, shingles in texts], dtype=np.int64)
    postings = _postings([shingles for *_, shingles in texts])
    closest: Closest | None = None
    close: list[tuple[str, str, float]] = []
    for number, (name, _, shingles) in enumerate(texts):
        if not shingles:
            continue
        holders = np.concatenate([postings[shingle] for shingle in shingles])
        shared = np.bincount(holders, minlength=len(texts))
        shared[: number + 1] = 0
        shared[part_of == part_of[number]] = 0
        similarity = shared / (sizes + sizes[number] - shared)
        best = int(similarity.argmax())
        if similarity[best] > (closest.similarity if closest else 0.0):
            closest = Closest(name, texts[best][0], float(similarity[best]))
        over = np.flatnonzero((similarity >= threshold) & (shared > 0))
        close += [(name, texts[other][0], float(similarity[other])) for other in over.tolist()]
        progress("checking across the parts", number + 1, len(texts))
    return closest, close


def _postings(sets: Sequence[Shingles]) -> dict[str, NDArray[np.int64]]:
    """Shingle → numbers of the texts that have it."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number, shingles in enumerate(sets):
        for shingle in shingles:
            holders[shingle].append(number)
    return {shingle: np.array(numbers, dtype=np.int64) for shingle, numbers in holders.items()}
