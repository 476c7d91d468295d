"""The entity graph, in which an edge joins two entities that are close in meaning.

An edge joins two entities if at least one entity is among the `NEIGHBOURS` nearest entities of the other, and
their cosine is `MIN_COSINE` or more. The weight of an edge is the cosine. Cosines are rounded to six decimals
before they are compared, as in `retrieval.dense`, and entities with equal cosines are ordered by position, so
that the graph depends only on the vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats, Ints
from curation.retrieval.embedding_model import Vectors

NEIGHBOURS = 50
MIN_COSINE = 0.5
_MAX_COSINES = 8_000_000
"""Largest number of cosines in memory at the same time."""


class EntityGraph(NamedTuple):
    """The entity graph: undirected, weighted, and without edges from an entity to itself.

    Attributes
    ----------
    nodes: number of entities, including isolated entities.
    first, second: the two ends of each edge, first < second, in ascending order; shape (edges,).
    weights: cosine of each edge, shape (edges,).
    """

    nodes: int
    first: Ints
    second: Ints
    weights: Floats

    @property
    def degrees(self) -> Ints:
        """Return the number of neighbours of each entity, shape (nodes,); 0 for an isolated entity."""
        return np.bincount(np.concatenate([self.first, self.second]), minlength=self.nodes)

    def matrix(self) -> Any:
        """Make the symmetric adjacency matrix in CSR format, shape (nodes, nodes)."""
        from scipy.sparse import csr_array

        ends = (np.concatenate([self.first, self.second]), np.concatenate([self.second, self.first]))
        weights = np.concatenate([self.weights, self.weights])
        return csr_array((weights, ends), shape=(self.nodes, self.nodes))


def join_neighbours(vectors: Vectors, limit: int = NEIGHBOURS, progress: Progress = silent) -> EntityGraph:
    """Make the graph that joins each entity with its nearest entities.

    `vectors` are unit vectors, shape (entities, dimension).
    """
    count = len(vectors)
    firsts = [np.zeros(0, np.int64)]
    seconds = [np.zeros(0, np.int64)]
    weights = [np.zeros(0)]
    block_size = max(1, _MAX_COSINES // max(1, count))
    for start in range(0, count, block_size):
        cosines = np.round((vectors[start : start + block_size] @ vectors.T).astype(np.float64), 6)
        for entity, entity_cosines in enumerate(cosines, start):
            nearest = find_nearest(entity_cosines, limit, MIN_COSINE, excluded=entity)
            firsts.append(np.full(len(nearest), entity))
            seconds.append(nearest)
            weights.append(entity_cosines[nearest])
        progress("linking phrases", min(start + block_size, count), count)
    return _make_undirected(count, np.concatenate(firsts), np.concatenate(seconds), np.concatenate(weights))


def find_nearest(cosines: Floats, limit: int, min_cosine: float, excluded: int | None = None) -> Ints:
    """Find the positions of the `limit` highest cosines that are at least `min_cosine`, except the position
    `excluded`.

    Ties are ordered by position.
    """
    near = np.flatnonzero(cosines >= min_cosine)
    if excluded is not None:
        near = near[near != excluded]
    return near[np.lexsort((near, -cosines[near]))][:limit]


def _make_undirected(nodes: int, sources: Ints, targets: Ints, weights: Floats) -> EntityGraph:
    """Make each edge only once, with the larger of its two weights, if each of two entities is a nearest
    neighbor of the other."""
    first, second = np.minimum(sources, targets), np.maximum(sources, targets)
    order = np.lexsort((-weights, second, first))
    first, second, weights = first[order], second[order], weights[order]
    is_new = np.ones(len(first), bool)
    is_new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return EntityGraph(nodes, first[is_new], second[is_new], weights[is_new])
