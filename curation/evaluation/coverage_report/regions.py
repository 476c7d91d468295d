"""The regions of a map as they are drawn: what systems reach in each, which touch, and where each is.

Two regions touch where documents are about both. The weight is the Jaccard similarity of their documents, and
each region keeps its strongest `NEAREST`. Places are of a spring layout (Fruchterman and Reingold 1991).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations
from math import fsum
from typing import NamedTuple

import numpy as np

from curation.coverage.writing.state import CoverageState
from curation.errors import RefusedError
from curation.evaluation.coverage_report.values import QueryValues
from curation.evaluation.inputs.facets import CLUSTER, Facet
from curation.reports.regions import RegionMark

NEAREST = 3
"""Edges that each region keeps."""
ITERATIONS = 80
Link = Callable[[int], str]


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


def region_values(state: CoverageState, values: QueryValues) -> dict[int, list[float]]:
    """Number of a region → the values of its queries that have one, by query id."""
    found = {}
    for number in state.map.regions:
        known = [values.get(query.query_id) for query in state.queries.get(number, [])]
        found[number] = [value for value in known if value is not None]
    return found


def region_means(state: CoverageState, values: QueryValues) -> dict[int, float | None]:
    """Number of a region → the mean of its queries' values; None where none has one."""
    return {
        number: fsum(held) / len(held) if held else None
        for number, held in region_values(state, values).items()
    }


def region_marks(state: CoverageState, means: Mapping[int, float | None], link: Link) -> list[RegionMark]:
    """The regions to draw, by number."""
    return [
        RegionMark(
            state.map.clusters[number].name,
            state.clusters[number].documents,
            state.clusters[number].queries,
            means.get(number),
            link(number),
        )
        for number in state.map.regions
    ]


def region_facet(state: CoverageState, query_ids: list[str]) -> Facet:
    """The regions as strata of queries; those without a query are values too."""
    held = {
        number: {query.query_id for query in state.queries.get(number, [])} for number in state.map.regions
    }
    values = {
        f"{number} {state.map.clusters[number].name}": np.array([one in own for one in query_ids], bool)
        for number, own in held.items()
    }
    return Facet(CLUSTER, values, apart=False)


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
        raise RefusedError("The map needs networkx: pip install 'goldset[dense]'.") from error
    graph = networkx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_weighted_edges_from(edges)
    found = networkx.spring_layout(graph, seed=0, iterations=ITERATIONS)
    places = np.array([found[node] for node in range(count)]).reshape(count, 2)
    low, high = places.min(axis=0, initial=0), places.max(axis=0, initial=0)
    scaled = (places - low) / np.maximum(high - low, 1e-9)
    return [(round(x, 4), round(y, 4)) for x, y in scaled.tolist()]
