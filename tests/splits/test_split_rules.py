"""What must hold for any graph: groups whole, nothing across, parts near their fractions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.splits import edges as edges_module
from curation.splits.assignment import assign_parts, shares
from curation.splits.certificate import certify
from curation.splits.edges import (
    NEAR_DUPLICATE,
    QUERY_TEXT,
    SHARED_DOCUMENT,
    Edge,
    Thresholds,
    find_edges,
)
from curation.splits.groups import chain, leakage_groups, members_of
from curation.splits.material import Material
from curation.splits.similarity import character_shingles, jaccard, word_shingles

QUERIES = [f"q{number:02}" for number in range(24)]
THRESHOLDS = Thresholds(query=0.65, document=0.8)


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


@given(graphs(), PARTS, st.integers(0, 5), st.data())
@settings(deadline=None)
def test_no_edge_crosses_a_split_and_no_part_is_further_off_than_the_largest_group(
    graph: tuple[list[str], list[Edge]], parts: dict[str, float], seed: int, data: st.DataObject
) -> None:
    queries, edges = graph
    strata = {query: data.draw(st.sampled_from(["head", "tail"])) for query in queries}
    groups = leakage_groups(queries, edges)
    assigned = assign_parts(groups, strata, parts, seed)
    assert set(assigned) == set(queries)
    assert all(assigned[edge.query_a] == assigned[edge.query_b] for edge in edges)
    assert all(len({assigned[query] for query in group}) == 1 for group in members_of(groups).values())
    largest = max(map(len, members_of(groups).values()))
    for share in shares(assigned, strata, parts):
        if share.stratum == "all":
            assert abs(share.reached - share.ideal) <= largest


@given(graphs())
@settings(deadline=None)
def test_groups_are_the_connected_components_named_after_their_smallest_query(
    graph: tuple[list[str], list[Edge]],
) -> None:
    queries, edges = graph
    groups = leakage_groups(queries, edges)
    reach = {query: {query} for query in queries}
    for edge in edges:
        joined = reach[edge.query_a] | reach[edge.query_b]
        for query in joined:
            reach[query] = joined
    assert groups == {query: min(reach[query]) for query in queries}


@given(graphs())
@settings(deadline=None)
def test_a_chain_leads_by_edges_through_its_group_without_coming_back(
    graph: tuple[list[str], list[Edge]],
) -> None:
    queries, edges = graph
    for members in members_of(leakage_groups(queries, edges)).values():
        steps = chain(members, edges)
        assert set(steps) <= set(edges)
        assert len(steps) == 0 if len(members) == 1 else len(steps) >= 1
        ends = Counter(name for step in steps for name in (step.query_a, step.query_b))
        assert all(count <= 2 for count in ends.values())
        assert sum(count == 1 for count in ends.values()) == (2 if steps else 0)


def test_equal_groups_reach_the_fractions_in_every_stratum() -> None:
    queries = [f"q{number:03}" for number in range(100)]
    strata = {query: ("head", "torso", "tail", "tail")[number % 4] for number, query in enumerate(queries)}
    groups = {query: query for query in queries}
    assigned = assign_parts(groups, strata, {"dev": 0.6, "test": 0.4}, seed=3)
    reached = {
        (share.part, share.stratum): share.reached
        for share in shares(assigned, strata, {"dev": 0.6, "test": 0.4})
    }
    assert reached == {
        ("dev", "all"): 60,
        ("dev", "head"): 15,
        ("dev", "tail"): 30,
        ("dev", "torso"): 15,
        ("test", "all"): 40,
        ("test", "head"): 10,
        ("test", "tail"): 20,
        ("test", "torso"): 10,
    }


def test_the_assignment_depends_on_the_seed_and_not_on_the_order_of_the_queries() -> None:
    groups = {query: query for query in QUERIES}
    strata = dict.fromkeys(QUERIES, "head")
    parts = {"dev": 0.5, "test": 0.5}
    first = assign_parts(groups, strata, parts, seed=1)
    backwards = assign_parts(dict(reversed(groups.items())), dict(reversed(strata.items())), parts, seed=1)
    assert first == backwards
    assert first != assign_parts(groups, strata, parts, seed=2)


def material(texts: dict[str, str], relevant: dict[str, set[str]], documents: dict[str, str]) -> Material:
    return Material(texts, {name: frozenset(ids) for name, ids in relevant.items()}, documents)


WORDS = ["blue phone", "leather tablet", "hard violin", "wooden pencil"]
LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def test_each_kind_of_edge_is_found_with_what_makes_it() -> None:
    ties = find_edges(
        material(
            {"a": "laptop", "b": "laptops", "c": "printer", "d": "scanner", "e": "ink"},
            {"c": {"d1"}, "d": {"d1", "d2"}, "e": {"d3"}},
            {"d1": "a shared one", "d2": LONG, "d3": f"{LONG} fifteen"},
        ),
        THRESHOLDS,
    )
    assert ties.edges == [
        Edge("a", "b", QUERY_TEXT, 0.8),
        Edge("c", "d", SHARED_DOCUMENT, 1.0, ("d1",)),
        Edge("d", "e", NEAR_DUPLICATE, 12 / 13, ("d2", "d3")),
    ]
    assert ties.found == {QUERY_TEXT: 1, SHARED_DOCUMENT: 1, NEAR_DUPLICATE: 1}


def test_templated_queries_and_copied_documents_keep_only_a_forest() -> None:
    names = [f"q{number:03}" for number in range(200)]
    templated = find_edges(material({name: f"query number {name}" for name in names}, {}, {}), THRESHOLDS)
    groups = leakage_groups(names, templated.edges)
    assert len(templated.edges) == len(names) - len(set(groups.values()))
    assert templated.found[QUERY_TEXT] > 10 * len(templated.edges)
    words = {name: f"{number * 7919:x} {number * 104729:x}" for number, name in enumerate(names)}
    copies = find_edges(
        material(words, {name: {f"d{name}"} for name in names}, {f"d{name}": LONG for name in names}),
        THRESHOLDS,
    )
    assert copies.found[NEAR_DUPLICATE] == 199 * 200 // 2
    assert len(copies.edges) == 199


def test_many_query_texts_are_tied_by_minhash_as_they_would_be_by_comparing_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = {
        f"q{number}": f"{word} {noun}"
        for number, (word, noun) in enumerate(product(WORDS, ["case", "cases"]))
    }
    by_comparing = find_edges(material(texts, {}, {}), THRESHOLDS)
    monkeypatch.setattr(edges_module, "EXACT_BELOW", 2)
    assert find_edges(material(texts, {}, {}), THRESHOLDS) == by_comparing
    assert len(by_comparing.edges) == len(WORDS)


TEXTS = st.lists(st.text("ab ", max_size=6), min_size=2, max_size=12)


@given(TEXTS, st.lists(st.text("xy ", max_size=12), min_size=1, max_size=6), st.data())
@settings(deadline=None)
def test_the_certificate_finds_no_leak_where_groups_are_whole_and_each_where_they_are_torn(
    queries: list[str], documents: list[str], data: st.DataObject
) -> None:
    texts = {f"q{number}": text for number, text in enumerate(queries)}
    corpus = {f"d{number}": text for number, text in enumerate(documents)}
    relevant = {
        name: ids
        for name in texts
        if (ids := data.draw(st.sets(st.sampled_from(sorted(corpus)), max_size=2)))
    }
    judged = {name: corpus[name] for name in sorted(set().union(*relevant.values()))}
    whole = material(texts, relevant, judged)
    edges = tied(whole)
    groups = leakage_groups(texts, find_edges(whole, THRESHOLDS).edges)
    assert groups == leakage_groups(texts, sorted(edges))
    parts = assign_parts(groups, dict.fromkeys(texts, "head"), {"dev": 0.5, "test": 0.5}, seed=0)
    assert certify(whole, parts, THRESHOLDS).leaks == ()

    torn = {name: data.draw(st.sampled_from(["dev", "test"])) for name in texts}
    crossing = {edge[:3] for edge in edges if torn[edge.query_a] != torn[edge.query_b]}
    leaks = {leak[:3] for leak in certify(whole, torn, THRESHOLDS).leaks}
    assert leaks <= crossing
    assert {kind for *_, kind in leaks} == {kind for *_, kind in crossing}


def tied(whole: Material) -> set[Edge]:
    """Every tie between two queries, by comparing one by one."""
    edges = set()
    for a, b in combinations(sorted(whole.queries), 2):
        one, other = whole.relevant.get(a, frozenset()), whole.relevant.get(b, frozenset())
        texts = [character_shingles(whole.queries[name]) for name in (a, b)]
        if jaccard(*texts) >= THRESHOLDS.query:
            edges.add(Edge(a, b, QUERY_TEXT, 1.0))
        if one & other:
            edges.add(Edge(a, b, SHARED_DOCUMENT, 1.0))
        for first, second in product(one, other):
            near = jaccard(word_shingles(whole.documents[first]), word_shingles(whole.documents[second]))
            if first != second and near >= THRESHOLDS.document:
                edges.add(Edge(a, b, NEAR_DUPLICATE, 1.0))
    return edges


def test_the_certificate_names_the_closest_pairs_across() -> None:
    whole = material(
        {"a": "iphone 13 case", "b": "iphone 14 case", "c": "printer ink"},
        {"a": {"d1"}, "b": {"d2"}},
        {"d1": "one two three four", "d2": "one two three five"},
    )
    found = certify(whole, {"a": "dev", "b": "test", "c": "test"}, THRESHOLDS)
    assert found.leaks == ()
    assert found.queries is not None
    assert (found.queries.first, found.queries.second, found.queries.similarity) == ("a", "b", 0.6)
    assert found.documents is not None
    assert found.documents.similarity == pytest.approx(1 / 3)
