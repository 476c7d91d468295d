"""The graph of the corpus's regions, in which an edge joins two regions with shared documents."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from curation.core.errors import RefusedError
from curation.queries.coverage.state import CoverageState

EDGES_PER_REGION = 3
"""Number of edges that each region keeps."""
LAYOUT_ITERATIONS = 80
RegionGraph = tuple[list[tuple[int, int, float]], list[tuple[float, float]]]
"""Edges (two region indexes and a weight from 0 to 1) and points (x and y from 0 to 1 for each region)."""


def build_region_graph(state: CoverageState) -> RegionGraph:
    """Find corpus regions that share documents, and place the regions in a layout that depends only on the
    coverage map.

    Raises
    ------
    RefusedError: networkx is not installed.
    """
    numbers = state.map.regions
    edges = _find_edges(state, numbers)
    return edges, _lay_out_regions(len(numbers), edges)


def _find_edges(state: CoverageState, numbers: list[int]) -> list[tuple[int, int, float]]:
    """Weight each pair of regions by their shared documents, and keep each region's heaviest edges."""
    index_of = {number: index for index, number in enumerate(numbers)}
    overlaps: Counter[tuple[int, int]] = Counter()
    for entities in state.map.document_entities.values():
        clusters = state.map.find_clusters(entities)
        indexes = sorted(index_of[number] for number in clusters if number in index_of)
        overlaps.update(combinations(indexes, 2))
    sizes = [len(state.map.clusters[number].documents) for number in numbers]
    weights = {pair: count / (sizes[pair[0]] + sizes[pair[1]] - count) for pair, count in overlaps.items()}
    edges_of: dict[int, list[tuple[float, tuple[int, int]]]] = {}
    for edge, weight in weights.items():
        for region in edge:
            edges_of.setdefault(region, []).append((-weight, edge))
    heaviest = {edge for edges in edges_of.values() for _, edge in sorted(edges)[:EDGES_PER_REGION]}
    return [(*edge, weights[edge]) for edge in sorted(heaviest)]


def _lay_out_regions(count: int, edges: list[tuple[int, int, float]]) -> list[tuple[float, float]]:
    """Place the regions with a spring layout along the edges, scaled to the range from 0 to 1."""
    try:
        import networkx
    except ImportError as error:
        raise RefusedError("The map needs networkx: pip install networkx.") from error
    graph = networkx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_weighted_edges_from(edges)
    layout = networkx.spring_layout(graph, seed=0, iterations=LAYOUT_ITERATIONS)
    points = np.array([layout[node] for node in range(count)]).reshape(count, 2)
    low, high = points.min(axis=0, initial=0), points.max(axis=0, initial=0)
    scaled = (points - low) / np.maximum(high - low, 1e-9)
    return [(round(x, 4), round(y, 4)) for x, y in scaled.tolist()]
