"""MSC, SCC, ZQC, dispersion, alignment and the grid: by hand, and what holds whatever the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.queries.coverage.coverage_map import CoverageMap, make_parameters
from curation.queries.coverage.entities import normalise_singular
from curation.queries.coverage.matching import (
    ALTERNATIVES,
    TWO_ENTITIES,
    EntityMatch,
    find_named_entities,
    match_entities,
)
from curation.queries.coverage.measures import Clusters, measure_coverage
from curation.queries.coverage.query_shapes import (
    Cell,
    QueryShape,
    compute_alignment,
    compute_dispersion,
    find_cell,
    find_cuts,
    list_possible_cells,
    measure_shape,
)
from curation.queries.requests import CoverageRequest
from tests.support import examples

CLUSTERS = st.frozensets(st.integers(0, 7), max_size=4)
MANY = st.lists(CLUSTERS, max_size=12)


def of(*numbers: int) -> Clusters:
    return frozenset(numbers)


DOCUMENTS = [of(0), of(0, 1), of(1), of(2), of()]
"""Masses: cluster 0 has 1.5, cluster 1 has 1.5, cluster 2 has 1, cluster 3 none."""


def test_a_corpus_of_five_documents_by_hand() -> None:
    queries = [of(0)] * 5 + [of(1, 0), of()]
    traffic = [(of(0), 6), (of(0, 2), 4), (of(), 90)]
    found = measure_coverage(range(4), DOCUMENTS, queries, traffic)
    assert (found.clusters, found.documents, found.queries) == (4, 4, 6)
    assert found.msc == 2 / 4
    assert found.msc_by_mass == 3 / 4
    assert found.msc_by_traffic == 8 / 10
    assert found.scc == 2 / 4  # cluster 0 has six queries, cluster 1 has one
    assert found.zqc == 2


def test_counted_apart_what_is_no_region_changes_the_shares() -> None:
    found = measure_coverage([0, 1], DOCUMENTS, [of(0), of(3)])
    assert (found.clusters, found.documents, found.queries, found.msc, found.zqc) == (2, 3, 1, 0.5, 1)


def test_shares_of_nothing_are_unknown() -> None:
    found = measure_coverage([], [], [])
    assert (found.msc, found.msc_by_mass, found.msc_by_traffic, found.scc, found.zqc) == (*[None] * 4, 0)


@settings(max_examples=examples(100))
@given(MANY, MANY, CLUSTERS)
def test_one_more_query_lowers_no_coverage(
    documents: list[Clusters], queries: list[Clusters], one: Clusters
) -> None:
    traffic = [(held, 2) for held in documents]
    before = measure_coverage(range(8), documents, queries, traffic)
    after = measure_coverage(range(8), documents, [*queries, one], traffic)
    for name in ("msc", "msc_by_mass", "msc_by_traffic", "scc"):
        low, high = getattr(before, name), getattr(after, name)
        assert low is high is None or 0 <= low <= high + 1e-12 <= 1 + 2e-12
    assert after.zqc <= before.zqc
    assert before.msc == 1 - before.zqc / 8


def test_dispersion_and_alignment_by_hand() -> None:
    relevant = [of(0, 1), of(1, 2), of()]
    assert compute_dispersion(relevant) == 3 / 4
    assert compute_alignment(of(1, 5), relevant) == 1 / 4
    assert compute_dispersion([of(3), of(4)]) == compute_alignment(of(3), [of(3)]) == 1
    assert compute_dispersion([of(3), of()]) is None  # of one document Δ is 1 whatever it is about
    assert measure_shape(of(3), [of()]) is None
    assert measure_shape(of(), []) is None


@settings(max_examples=examples(100))
@given(CLUSTERS, MANY)
def test_dispersion_is_above_zero_and_alignment_between_zero_and_one(
    query: Clusters, relevant: list[Clusters]
):
    shape = measure_shape(query, relevant)
    if shape is None:
        assert not any(relevant)
    else:
        assert 0 <= shape.alignment <= 1
        assert (shape.dispersion is None) == (sum(map(bool, relevant)) < 2)
        assert shape.dispersion is None or 0 < shape.dispersion <= 1


def cells_of(shapes: list[QueryShape]) -> list[Cell | None]:
    return [find_cell(shape, *find_cuts([*shapes, None])) for shape in shapes]


def test_tertiles_make_nine_cells() -> None:
    places = [(a, b) for a in range(3) for b in range(3)]
    assert cells_of([QueryShape((a + 1) / 3, b / 2) for a, b in places]) == places
    assert find_cuts([None]) == (None, None)


def test_where_most_queries_have_one_relevant_document_alignment_alone_makes_the_cells() -> None:
    lone = [QueryShape(None, n / 9) for n in range(9)]
    same = [QueryShape(1.0, n / 9) for n in range(9)]
    thirds: list[Cell | None] = [(None, n) for n in range(3)]
    for shapes in (lone, lone + same):
        cells = set(filter(None, cells_of(shapes)))
        assert sorted(cells) == list_possible_cells(cells) == thirds
    assert cells_of([QueryShape(None, 0.5)] * 2) == [None, None]
    mixed = cells_of(lone + [QueryShape(n / 9 + 0.1, n / 9) for n in range(9)])
    assert list_possible_cells(set(filter(None, mixed)))[9:] == thirds


def test_a_query_names_the_longest_entities_it_holds() -> None:
    names = ["green", "green tea", "leaves", "tea", "tea leaves"]
    places = {normalise_singular(name): place for place, name in enumerate(names)}
    assert find_named_entities("Green-Teas, please", places) == (1,)
    assert find_named_entities("green tea leaves", places) == (
        1,
        4,
    )  # they overlap: neither is inside the other
    assert find_named_entities("tea for green", places) == (0, 3)
    assert find_named_entities("coffee", places) == ()


def test_a_query_matches_by_meaning_where_it_names_nothing() -> None:
    angles = np.radians([0, 30, 59, 61, 5, 10, 15])
    entities = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    names = list("abcdefg")
    x_axis = np.array([[1, 0], [1, 0]], np.float32)
    found = match_entities(["brew c", "?"], names, x_axis, entities, max_by_meaning=5)
    assert found == [EntityMatch((2,), (0, 4, 5, 6, 1)), EntityMatch((), ())]
    assert found[0].entities == (0, 1, 2, 4, 5, 6)


def test_a_query_is_about_clusters_with_two_of_its_entities_else_about_those_it_names() -> None:
    cluster_of = [0, 0, 1, 2, 3]
    assert TWO_ENTITIES.find_clusters(EntityMatch((2,), (0, 1, 3)), cluster_of) == of(0)
    assert TWO_ENTITIES.find_clusters(EntityMatch((2,), (2, 3, 0)), cluster_of) == of(1)
    assert TWO_ENTITIES.find_clusters(EntityMatch((), (0, 3)), cluster_of) == of()
    named, _, ten, every = ALTERNATIVES
    far = EntityMatch((4,), (*[0] * 10, 3))
    assert [rule.find_clusters(far, cluster_of) for rule in (named, ten, every)] == [
        of(3),
        of(0, 3),
        of(0, 2, 3),
    ]


def test_a_map_of_before_counts_every_matched_entity() -> None:
    of_before = CoverageMap("", "", {"matching": {"most_by_meaning": 50}}, [], [], {}, [], [], {})
    assert of_before.rule.find_clusters(EntityMatch((), (0, 1)), [0, 1]) == of(0, 1)
    assert replace(of_before, parameters=make_parameters(CoverageRequest(seed=0))).rule is TWO_ENTITIES


def test_traffic_without_a_counted_cluster_weighs_nothing() -> None:
    found = measure_coverage([0], [of(0)], [], [(of(1), 3)])
    assert found.msc_by_traffic is None
    assert found.msc == pytest.approx(0)
