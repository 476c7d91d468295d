"""What must hold for any graph: groups whole, nothing across, parts near their fractions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from curation.core.errors import RefusedError
from curation.core.similarity.pairs import exact_links
from curation.core.similarity.shingles import character_shingles, jaccard, reworded_shingles, word_shingles
from curation.splits.assignment import ALL, assign_parts, compute_distances, count_shares, list_members
from curation.splits.carried_over import map_carried_groups
from curation.splits.certify import certify
from curation.splits.chains import find_longest_chain
from curation.splits.edges import Edge
from curation.splits.groups import find_leakage_groups
from curation.splits.inputs import SplitInputs
from curation.splits.refusals import refuse_part_conflicts
from curation.splits.rules import Rules
from curation.splits.shared_ties import SHARED_DOCUMENT as SHARED_DOCUMENT
from curation.splits.similarity_ties import NEAR_DUPLICATE as NEAR_DUPLICATE
from curation.splits.similarity_ties import QUERY_TEXT as QUERY_TEXT
from curation.splits.ties import find_edges
from tests.support import examples

pytestmark = pytest.mark.slow

QUERIES = [f"q{number:02}" for number in range(24)]
RULES = Rules(paraphrase=None)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[Edge]]:
    queries = QUERIES[: draw(st.integers(1, len(QUERIES)))]
    pairs = st.tuples(st.sampled_from(queries), st.sampled_from(queries)).filter(
        lambda pair: pair[0] < pair[1]
    )
    edges = draw(st.lists(pairs, max_size=20, unique=True)) if len(queries) > 1 else []
    return queries, [Edge(a, b, QUERY_TEXT, 0.7) for a, b in sorted(edges)]


PARTS = st.sampled_from(
    [
        {"dev": 0.7, "test": 0.3},
        {"test": 1.0},
        {"train": 0.6, "dev": 0.2, "test": 0.2},
        {"a": 0.05, "b": 0.95},
    ]
)


LEVELS = st.frozensets(
    st.sampled_from([("band", "head"), ("band", "tail"), ("source", "traffic"), ("tag", "question")]),
    max_size=3,
)


@given(graphs(), PARTS, st.integers(0, 5), st.data())
def test_no_edge_crosses_a_split_and_no_part_is_further_off_than_the_largest_group(
    graph: tuple[list[str], list[Edge]], parts: dict[str, float], seed: int, data: st.DataObject
) -> None:
    queries, edges = graph
    levels = {query: data.draw(LEVELS) for query in queries}
    groups = find_leakage_groups(queries, edges)
    assigned = assign_parts(groups, levels, parts, seed)
    assert set(assigned) == set(queries)
    assert all(assigned[edge.query_a] == assigned[edge.query_b] for edge in edges)
    assert all(len({assigned[query] for query in group}) == 1 for group in list_members(groups).values())
    largest = max(map(len, list_members(groups).values()))
    for share in count_shares(assigned, levels, parts):
        if share.dimension == ALL:
            assert abs(share.reached - share.ideal) <= largest + 1e-9


@given(graphs(), PARTS, st.data())
@settings(max_examples=examples(15))
def test_no_dimension_is_nearer_than_its_bound_and_a_small_assignment_is_near_the_nearest(
    graph: tuple[list[str], list[Edge]], parts: dict[str, float], data: st.DataObject
) -> None:
    queries, edges = graph
    groups = find_leakage_groups(queries, edges)
    names = sorted(set(groups.values()))
    assume(len(parts) ** len(names) <= 300)
    levels = {query: data.draw(LEVELS) for query in queries}
    nearest = assign_parts(groups, levels, parts, seed=1)
    reached = compute_distances(nearest, levels, parts)
    assert all(distance.queries >= distance.least - 1e-6 for distance in reached)
    weight = max(1, len({dimension for level in levels.values() for dimension, _ in level}))

    def cost(assigned: dict[str, str]) -> float:
        gaps = compute_distances(assigned, levels, parts)
        return sum(gap.queries * (weight if gap.dimension == ALL else 1) for gap in gaps)

    largest = max(map(len, list_members(groups).values()))
    every = [
        {query: dict(zip(names, choice, strict=True))[groups[query]] for query in queries}
        for choice in product(parts, repeat=len(names))
    ]
    allowed = [
        assigned
        for assigned in every
        if all(
            abs(share.reached - share.ideal) <= largest + 1e-9
            for share in count_shares(assigned, levels, parts)
            if share.dimension == ALL
        )
    ]
    assert cost(nearest) <= min(map(cost, allowed)) + 2


@given(
    graphs(), st.integers(1, 23), st.sampled_from([{"dev": 0.7, "test": 0.3}, {"a": 0.3, "b": 0.3, "c": 0.4}])
)
def test_growing_the_set_never_moves_a_released_query(
    graph: tuple[list[str], list[Edge]], size: int, parts: dict[str, float]
) -> None:
    """A part of the graph is split and released; then the other queries and all other edges come."""
    queries, edges = graph
    early = set(queries[:size])
    first = find_leakage_groups(early, [edge for edge in edges if early.issuperset(edge[:2])])
    released = assign_parts(first, dict.fromkeys(early, ()), parts, seed=0)
    groups = find_leakage_groups(queries, edges)
    sides, chains = map_carried_groups(groups, released, edges)
    for steps in chains:
        ends = Counter(name for step in steps for name in step[:2])
        inside = {released[name] for name, times in ends.items() if times == 1}
        assert set(steps) <= set(edges)
        assert len(inside) == 2, "a chain leads from a released query to one of another part"
    if chains:
        with pytest.raises(RefusedError, match="A released query never changes its part"):
            refuse_part_conflicts(chains, released, SplitInputs({name: name for name in queries}, {}, {}))
        return
    grown = assign_parts(groups, dict.fromkeys(queries, ()), parts, 1, sides)
    assert {query: grown[query] for query in released} == released
    assert all(grown[edge.query_a] == grown[edge.query_b] for edge in edges)


@given(graphs())
def test_groups_are_the_connected_components_named_after_their_smallest_query(
    graph: tuple[list[str], list[Edge]],
) -> None:
    queries, edges = graph
    groups = find_leakage_groups(queries, edges)
    reach = {query: {query} for query in queries}
    for edge in edges:
        joined = reach[edge.query_a] | reach[edge.query_b]
        for query in joined:
            reach[query] = joined
    assert groups == {query: min(reach[query]) for query in queries}


@given(graphs())
def test_a_chain_leads_by_edges_through_its_group_without_coming_back(
    graph: tuple[list[str], list[Edge]],
) -> None:
    queries, edges = graph
    for members in list_members(find_leakage_groups(queries, edges)).values():
        steps = find_longest_chain(members, edges)
        assert set(steps) <= set(edges)
        assert len(steps) == 0 if len(members) == 1 else len(steps) >= 1
        ends = Counter(name for step in steps for name in (step.query_a, step.query_b))
        assert all(count <= 2 for count in ends.values())
        assert sum(count == 1 for count in ends.values()) == (2 if steps else 0)


def test_several_dimensions_are_balanced_together_and_not_only_crossed() -> None:
    queries = [f"q{number:03}" for number in range(100)]
    levels = {
        query: {("band", ("head", "torso", "tail", "tail")[number % 4]), ("segment", "ab"[number % 10 < 3])}
        | ({("tag", "question")} if number % 5 == 0 else set())
        for number, query in enumerate(queries)
    }
    parts = {"dev": 0.6, "test": 0.4}
    assigned = assign_parts({query: query for query in queries}, levels, parts, seed=3)
    reached = {(row.part, row.level): row.reached for row in count_shares(assigned, levels, parts)}
    assert {key: count for key, count in reached.items() if key[0] == "dev"} == {
        **{("dev", "all"): 60, ("dev", "head"): 15, ("dev", "tail"): 30, ("dev", "torso"): 15},
        **{("dev", "a"): 42, ("dev", "b"): 18, ("dev", "question"): 12},
    }
    gaps = compute_distances(assigned, levels, parts)
    assert {distance.dimension: distance.queries for distance in gaps} == dict.fromkeys(
        ("all", "band", "segment", "tag"), 0.0
    )


def test_the_assignment_depends_on_the_seed_and_not_on_the_order_of_the_queries() -> None:
    groups = {query: query for query in QUERIES}
    levels = dict.fromkeys(QUERIES, frozenset({("stratum", "head")}))
    parts = {"dev": 0.5, "test": 0.5}
    first = assign_parts(groups, levels, parts, seed=1)
    backwards = assign_parts(dict(reversed(groups.items())), dict(reversed(levels.items())), parts, seed=1)
    assert first == backwards
    assert first != assign_parts(groups, levels, parts, seed=2)


TEXTS = st.lists(st.text("ab ", max_size=6), min_size=2, max_size=12)


@given(TEXTS, st.lists(st.text("xy ", max_size=12), min_size=1, max_size=6), st.data())
def test_the_certificate_finds_no_leak_where_groups_are_whole_and_each_where_they_are_torn(
    queries: list[str], documents: list[str], data: st.DataObject
) -> None:
    texts = {f"q{number}": text for number, text in enumerate(queries)}
    corpus = {f"d{number}": text for number, text in enumerate(documents)}
    relevant = {
        name: ids
        for name in texts
        if (ids := data.draw(st.frozensets(st.sampled_from(sorted(corpus)), max_size=2)))
    }
    judged = {name: corpus[name] for name in sorted(set().union(*relevant.values()))}
    whole = SplitInputs(texts, relevant, judged)
    edges = tied(whole)
    groups = find_leakage_groups(texts, find_edges(whole, RULES, compare=exact_links).edges)
    assert groups == find_leakage_groups(texts, sorted(edges))
    parts = assign_parts(groups, dict.fromkeys(texts, ()), {"dev": 0.5, "test": 0.5}, seed=0)
    assert certify(whole, parts, RULES).leaks == ()

    torn = {name: data.draw(st.sampled_from(["dev", "test"])) for name in texts}
    crossing = {edge[:3] for edge in edges if torn[edge.query_a] != torn[edge.query_b]}
    leaks = {(leak.query_a, leak.query_b, leak.kind) for leak in certify(whole, torn, RULES).leaks}
    assert leaks <= crossing
    assert {kind for *_, kind in leaks} == {kind for *_, kind in crossing}


def tied(whole: SplitInputs) -> set[Edge]:
    """Every tie between two queries, by comparing one by one."""
    edges = set()
    for a, b in combinations(sorted(whole.queries), 2):
        left, other = whole.relevant.get(a, frozenset()), whole.relevant.get(b, frozenset())
        pair = [whole.queries[name] for name in (a, b)]
        if any(jaccard(*map(shingles, pair)) >= 0.65 for shingles in (character_shingles, reworded_shingles)):
            edges.add(Edge(a, b, QUERY_TEXT, 1.0))
        if left & other:
            edges.add(Edge(a, b, SHARED_DOCUMENT, 1.0))
        for first, second in product(left, other):
            near = jaccard(word_shingles(whole.documents[first]), word_shingles(whole.documents[second]))
            if first != second and near >= 0.8:
                edges.add(Edge(a, b, NEAR_DUPLICATE, 1.0))
    return edges
