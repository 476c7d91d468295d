"""How the regions of a coverage map touch, and where they are drawn.

Two regions touch where documents are about both. The weight is the Jaccard similarity of their documents, and
each region keeps its strongest `NEAREST`. Places are of a spring layout (Fruchterman and Reingold 1991).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import NamedTuple

import numpy as np

from curation.core.errors import RefusedError
from curation.queries.coverage.state import CoverageState

NEAREST = 3
"""Edges that each region keeps."""
ITERATIONS = 80


class RegionGraph(NamedTuple):
    """The regions of a map, by number, and how they touch.

    Attributes
    ----------
    edges: two regions by their place in `numbers`, and a weight from 0 to 1.
    places: x and y from 0 to 1 of each region.
    """

    numbers: list[int]
    edges: list[tuple[int, int, float]]
    places: list[tuple[float, float]]


def region_graph_of(state: CoverageState) -> RegionGraph:
    """How the regions touch, and a layout that depends on the map alone.

    Raises
    ------
    RefusedError: networkx is not installed.
    """
    numbers = state.map.regions
    edges = _edges(state, numbers)
    return RegionGraph(numbers, edges, _layout(len(numbers), edges))


def _edges(state: CoverageState, numbers: list[int]) -> list[tuple[int, int, float]]:
    place_of = {number: place for place, number in enumerate(numbers)}
    shared: Counter[tuple[int, int]] = Counter()
    for places in state.map.of_documents.values():
        held = sorted(place_of[at] for at in state.map.clusters_of(places) if at in place_of)
        shared.update(combinations(held, 2))
    sizes = [len(state.map.clusters[number].documents) for number in numbers]
    weights = {
        (one, other): count / (sizes[one] + sizes[other] - count) for (one, other), count in shared.items()
    }
    near: dict[int, list[tuple[float, tuple[int, int]]]] = {}
    for edge, weight in weights.items():
        for end in edge:
            near.setdefault(end, []).append((-weight, edge))
    kept = {edge for held in near.values() for _, edge in sorted(held)[:NEAREST]}
    return [(*edge, weights[edge]) for edge in sorted(kept)]


def _layout(count: int, edges: list[tuple[int, int, float]]) -> list[tuple[float, float]]:
    try:
        import networkx
    except ImportError as error:
        raise RefusedError("The map needs networkx: pip install networkx.") from error
    graph = networkx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_weighted_edges_from(edges)
    found = networkx.spring_layout(graph, seed=0, iterations=ITERATIONS)
    places = np.array([found[node] for node in range(count)]).reshape(count, 2)
    low, high = places.min(axis=0, initial=0), places.max(axis=0, initial=0)
    scaled = (places - low) / np.maximum(high - low, 1e-9)
    return [(round(x, 4), round(y, 4)) for x, y in scaled.tolist()]
