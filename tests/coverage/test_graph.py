"""The entity graph and its clusters on vectors that can be checked by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.coverage import graph as graph_module
from curation.coverage.clusters import make_clusters, partition
from curation.coverage.entities import Entity
from curation.coverage.graph import EntityGraph, join_neighbours, nearest
from curation.coverage.resolution import (
    Partitions,
    choose_resolution,
    find_partitions,
    mean_rand_index,
)
from curation.retrieval.embeddings import Vectors
from tests.support import examples


def at_angles(*degrees: float) -> Vectors:
    """Unit vectors in the plane: the cosine of two is that of the difference of their angles."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def edges(graph: EntityGraph) -> list[tuple[int, int]]:
    return list(zip(graph.first.tolist(), graph.second.tolist(), strict=True))


def cliques(*sizes: int, weight: float = 0.9) -> EntityGraph:
    """Complete graphs in a row, each joined to the next by one weak edge."""
    found, start = [], 0
    for size in sizes:
        found += [(a, b, weight) for a, b in combinations(range(start, start + size), 2)]
        if start:
            found.append((start - 1, start, 0.5))
        start += size
    first, second, weights = (np.array(column) for column in zip(*sorted(found), strict=True))
    return EntityGraph(start, first, second, weights)


def test_entities_are_joined_from_a_cosine_of_one_half() -> None:
    graph = join_neighbours(at_angles(0, 45, 105, 200))
    assert edges(graph) == [(0, 1), (1, 2)]  # 45° and 60° apart: cosines .71 and .50
    assert graph.weights == pytest.approx([np.sqrt(0.5), 0.5], abs=1e-6)
    assert graph.degrees.tolist() == [1, 2, 1, 0]
    assert graph.matrix().toarray().tolist() == graph.matrix().toarray().T.tolist()


def test_an_edge_needs_one_of_its_ends_to_name_the_other() -> None:
    graph = join_neighbours(at_angles(0, 10, 30), neighbours=1)
    assert edges(graph) == [(0, 1), (1, 2)]  # 2 names 1, which names 0


def test_equal_cosines_are_ordered_by_place() -> None:
    cosines = np.array([0.5, 0.9, 0.9, 0.4, 0.9])
    assert nearest(cosines, 2, 0.5).tolist() == [1, 2]
    assert nearest(cosines, 9, 0.5, without=1).tolist() == [2, 4, 0]


@settings(max_examples=examples(30))
@given(st.integers(0, 1000), st.integers(1, 25))
def test_blocks_change_nothing(seed: int, rows: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(23, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    whole = join_neighbours(vectors, 4)
    cells = graph_module._CELLS
    graph_module._CELLS = rows * 23
    try:
        parts = join_neighbours(vectors, 4)
    finally:
        graph_module._CELLS = cells
    assert edges(parts) == edges(whole)


def test_leiden_finds_the_cliques_and_a_loner_is_alone() -> None:
    graph = cliques(4, 5)
    labels = partition(graph._replace(nodes=10), 1.0, seed=3)
    assert labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1, 2]
    assert partition(graph, 1.0, seed=3).tolist() == partition(graph, 1.0, seed=3).tolist()


def test_a_graph_without_edges_is_loners_only() -> None:
    assert partition(join_neighbours(at_angles(0, 90, 180)), 1.0, 0).tolist() == [0, 1, 2]
    assert partition(join_neighbours(np.zeros((0, 2), np.float32)), 1.0, 0).tolist() == []


def test_clusters_are_named_by_their_most_central_entities_and_ordered_by_documents() -> None:
    star = EntityGraph(5, np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([0.6, 0.9, 0.7]))
    entities = [Entity(name, "") for name in ("hub", "thin", "thick", "middle", "lone")]
    of_documents = {"a": (0,), "b": (1, 2), "c": (4,), "d": ()}
    star_cluster, loner = make_clusters(np.array([0, 0, 0, 0, 1]), star, entities, of_documents, 2)
    assert star_cluster.name == "hub, thick, middle"
    assert star_cluster.entities == (0, 2, 3, 1)
    assert (star_cluster.documents, star_cluster.is_region) == (("a", "b"), True)
    assert (loner.number, loner.documents, loner.is_region) == (1, ("c",), False)


def test_the_rand_index_of_seeds_leaves_loners_out() -> None:
    [found] = find_partitions(cliques(4, 5)._replace(nodes=30), 0, [1.0])
    assert found.rand_index == 1.0
    assert len(found.labels) == 3
    assert mean_rand_index([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]) == pytest.approx(-0.5)
    assert mean_rand_index([np.array([0])]) is None


def test_the_resolution_with_most_regions_among_stable_ones_is_chosen() -> None:
    def at(resolution: float, index: float | None) -> Partitions:
        return Partitions(resolution, [], index)

    tried = [at(1, 0.9), at(5, 0.85), at(10, 0.85), at(40, 0.7)]
    assert choose_resolution(tried, [3, 9, 9, 20]) == 5
    assert choose_resolution([at(1, 0.3), at(5, 0.6), at(9, None)], [3, 9, 9]) == 5
