"""Spanning forests: of all pairs that are tied, the strongest ones that hold each group together.

The groups are the same as with all pairs, and the weakest step between two members is as strong as it can be
(a maximum spanning forest). Pairs come as arrays and go when they are not needed, so that a million of them
costs a few megabytes. Equally strong pairs are taken in the order of their numbers, not in
that of their arrival.

J. B. Kruskal (1956), On the shortest spanning subtree of a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from curation.core.statistics.arrays import Floats, Ints

_WAITING = 1_000_000


class Links(NamedTuple):
    """Pairs by their numbers (first < second) and their similarity, all of shape (L,)."""

    first: Ints
    second: Ints
    similarity: Floats

    def at(self, places: NDArray[Any]) -> Links:
        """The links at these places, or those where a mask is true."""
        return Links(self.first[places], self.second[places], self.similarity[places])


class Forest:
    """The strongest spanning forest of all links that were added, over `size` nodes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._links: list[Links] = []

    def add(self, links: Links) -> None:
        self._links.append(links)
        if sum(len(block.first) for block in self._links) > _WAITING:
            self._links = [self.links()]

    def links(self) -> Links:
        """Ordered by first and second."""
        links = joined(self._links)
        return links.at(strongest(links, self._size))


def joined(blocks: Sequence[Links]) -> Links:
    """The links of all blocks, one block after the other."""
    if not blocks:
        return Links(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return Links(
        np.concatenate([block.first for block in blocks]),
        np.concatenate([block.second for block in blocks]),
        np.concatenate([block.similarity for block in blocks]),
    )


def strongest(links: Links, size: int) -> Ints:
    """Which of the links make the forest: their places, ordered by first and second.

    Of links between the same two nodes that are equally strong the first one counts.
    """
    order = np.lexsort((links.second, links.first, -links.similarity))
    _, seen_first = np.unique((links.first * size + links.second)[order], return_index=True)
    order = order[np.sort(seen_first)]
    ranks = np.arange(1, len(order) + 1, dtype=np.float64)  # unique weights: one forest only
    graph = coo_matrix((ranks, (links.first[order], links.second[order])), shape=(size, size))
    kept = order[minimum_spanning_tree(graph.tocsr()).data.astype(np.int64) - 1]
    ordered: Ints = kept[np.lexsort((links.second[kept], links.first[kept]))]
    return ordered
