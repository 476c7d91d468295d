"""The entity graph and its clusters on vectors that can be checked by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.queries.coverage import entity_graph
from curation.queries.coverage.cluster_names import choose_naming_entities, compute_noun_shares
from curation.queries.coverage.clusters import make_clusters
from curation.queries.coverage.entities import Entity
from curation.queries.coverage.entity_graph import EntityGraph, find_nearest, join_neighbours
from curation.queries.coverage.partitions import (
    Partitions,
    choose_resolution,
    compute_entity_masses,
    compute_mean_rand_index,
    compute_recovered_shares,
    draw_graphs,
    find_partitions,
    partition_graph,
)
from curation.retrieval.embedding_model import Vectors
from tests.support import examples


def at_angles(*degrees: float) -> Vectors:
    """Unit vectors in the plane: the angle between two is the difference of their degrees."""
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
    graph = join_neighbours(at_angles(0, 10, 30), limit=1)
    assert edges(graph) == [(0, 1), (1, 2)]  # 2 names 1, which names 0


def test_equal_cosines_are_ordered_by_place() -> None:
    cosines = np.array([0.5, 0.9, 0.9, 0.4, 0.9])
    assert find_nearest(cosines, 2, 0.5).tolist() == [1, 2]
    assert find_nearest(cosines, 9, 0.5, excluded=1).tolist() == [2, 4, 0]


@settings(max_examples=examples(30))
@given(st.integers(0, 1000), st.integers(1, 25))
def test_blocks_change_nothing(seed: int, rows: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(23, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    whole = join_neighbours(vectors, 4)
    cells = entity_graph._MAX_COSINES
    entity_graph._MAX_COSINES = rows * 23
    try:
        parts = join_neighbours(vectors, 4)
    finally:
        entity_graph._MAX_COSINES = cells
    assert edges(parts) == edges(whole)


def test_leiden_finds_the_cliques_and_a_loner_is_alone() -> None:
    graph = cliques(4, 5)
    labels = partition_graph(graph._replace(nodes=10), 1.0, seed=3)
    assert labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1, 2]
    assert partition_graph(graph, 1.0, seed=3).tolist() == partition_graph(graph, 1.0, seed=3).tolist()


def test_a_graph_without_edges_is_loners_only() -> None:
    assert partition_graph(join_neighbours(at_angles(0, 90, 180)), 1.0, 0).tolist() == [0, 1, 2]
    assert partition_graph(join_neighbours(np.zeros((0, 2), np.float32)), 1.0, 0).tolist() == []


def test_clusters_are_ordered_by_documents_and_their_entities_by_name_and_centrality() -> None:
    star = EntityGraph(5, np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([0.6, 0.9, 0.7]))
    entities = [Entity(name, "") for name in ("hub", "hubs of iron", "thick", "middle", "lone")]
    of_documents = {"a": (0, 3), "b": (0, 1, 2, 3), "c": (4,), "d": ()}
    star_cluster, loner = make_clusters(np.array([0, 0, 0, 0, 1]), star, entities, of_documents, 2)
    assert star_cluster.name == "hub, middle, thick"  # "hubs of iron" would say "hub" twice
    assert star_cluster.entities == (0, 3, 2, 1)
    assert (star_cluster.documents, star_cluster.is_region) == (("a", "b"), True)
    assert (loner.number, loner.documents, loner.is_region) == (1, ("c",), False)


def test_names_are_noun_phrases_of_documents_about_the_cluster_and_share_no_word() -> None:
    sentences = [
        "The heart rate was measured in a dog.",
        "The rates of the heart rise with a dose, and the heart rate comes from the valve.",
        "A valve of the heart comes from the dog; comes a dose.",
        "The results of tea in a cup.",
    ]
    names = ["comes", "dog", "heart", "heart rate", "results", "valve", "tea", "cup"]
    entities = [Entity(name, next(one for one in sentences if name[:5] in one)) for name in names]
    hearts = [[0, 1, 2, 3, 5], [0, 1, 2, 3, 5], [0, 2, 3]]
    documents = {f"d{place}": held for place, held in enumerate([*hearts, [4, 6, 7], [4, 6, 7]])}
    places, _ = choose_naming_entities([range(6), [6, 7]], np.repeat([0, 1], [6, 2]), entities, documents)
    assert [names[place] for place in places] == ["heart rate", "dog", "valve"]
    assert compute_noun_shares(entities)[names.index("comes")] < min(compute_noun_shares(entities)[[1, 3, 5]])


DOCUMENTS = {f"d{place}": (place,) for place in range(9)}


def test_the_rand_index_of_seeds_leaves_loners_out() -> None:
    [found] = find_partitions(cliques(4, 5)._replace(nodes=30), DOCUMENTS, 1, 0, [1.0])
    assert found.rand_index == 1.0
    assert len(found.labels) == 3
    assert compute_mean_rand_index([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]) == pytest.approx(-0.5)
    assert compute_mean_rand_index([np.array([0])]) is None


def test_the_finest_resolution_within_a_standard_error_of_the_best_is_chosen() -> None:
    def at(resolution: float, *recovered: float) -> Partitions:
        return Partitions(resolution, [], None, recovered)

    best = at(2, 0.70, 0.74, 0.78)  # 0.74 ± 0.0231
    assert choose_resolution([at(1, 0.73), best, at(5, 0.72), at(10, 0.71)]) == 5
    assert choose_resolution([best, at(5, 0.716), at(10, 0.717)]) == 10
    assert choose_resolution([at(1), at(5)]) == 1


def test_a_region_is_recovered_by_the_cluster_that_agrees_with_it_best() -> None:
    graph = cliques(4, 5)._replace(nodes=10)
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2])
    masses = compute_entity_masses(10, {"a": (0, 1), "b": (2, 3), "c": (4, 5, 6, 7), "d": (8, 9)})
    assert masses.tolist() == [0.5] * 4 + [0.25] * 4 + [0.5, 0.5]
    whole = (np.arange(10), graph)
    part = (np.array([0, 1, 4, 5, 9]), join_neighbours(at_angles(0, 5, 90, 180, 184)))
    regions = np.array([True, True, False])
    # of the part, cluster 0 is there again; of cluster 1 one half is alone and one half is with the loner
    found = compute_recovered_shares(
        labels, regions, masses, [whole, part], [partition_graph(draw[1], 1.0, 0) for draw in (whole, part)]
    )
    assert found == [(2 + 1.5) / 4, (2 * 1 + 1.5 * 0.5) / 4]
    assert compute_recovered_shares(
        labels, ~regions, masses, [whole], [partition_graph(whole[1], 1.0, 0)]
    ) == [0.5 / 4]


def test_draws_have_the_entities_of_four_fifths_of_the_documents() -> None:
    graph = cliques(4, 5)._replace(nodes=10)
    documents = {f"d{place}": (place, 9) for place in range(5)}
    draws = draw_graphs(graph, documents, seed=1)
    assert [len(draw[0]) for draw in draws] == [5] * 5
    assert [draw[0].tolist() for draw in draws] == [d[0].tolist() for d in draw_graphs(graph, documents, 1)]
    for draw in draws:
        kept = draw[0].tolist()
        ends = {(kept[a], kept[b]) for a, b in zip(draw[1].first, draw[1].second, strict=True)}
        assert ends == {pair for pair in edges(graph) if set(pair) <= set(kept)}
    assert draw_graphs(graph, {"d": (1, 2), "e": ()}, 1) == []
