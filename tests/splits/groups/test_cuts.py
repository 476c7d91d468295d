"""Cutting groups: the weakest links really part them, and what still holds is named."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.errors import InputError
from curation.splits.groups import cuts
from curation.splits.groups.cuts import (
    StillTied,
    WeakLink,
    cuts_by_id,
    further_ties,
    still_tied,
    ties_within,
    weakest_links,
)
from curation.splits.groups.groups import leakage_groups
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.splits.ties.edges import Edge
from curation.splits.ties.paraphrase import LABEL as PARAPHRASE
from curation.splits.ties.query_text import LABEL as QUERY_TEXT
from curation.splits.ties.search import all_ties, find_edges
from curation.splits.ties.shared_document import LABEL as SHARED_DOCUMENT
from tests.support import examples


def clique(names: str, similarity: float = 0.9) -> list[Edge]:
    return [Edge(a, b, QUERY_TEXT, similarity) for a, b in combinations(names, 2)]


def test_a_cut_by_a_name_that_is_one_querys_id_and_anothers_text_is_refused() -> None:
    queries = {"501": "jeans", "q1": "501", "q2": "belt"}
    assert cuts_by_id([("jeans", "Belt")], queries) == (("501", "q2"),)
    with pytest.raises(InputError, match="'501' is the id of 'jeans' and the text of 'q1'"):
        cuts_by_id([("501", "belt")], queries)


def test_the_bridge_between_two_clusters_is_the_weakest_link_and_says_what_it_would_leave() -> None:
    bridge = Edge("c", "d", QUERY_TEXT, 0.95)
    assert weakest_links("abcdefg", sorted([*clique("abc"), *clique("defg"), bridge])) == (
        WeakLink(bridge, 3, 4),
    )


def test_a_bridge_of_a_forest_that_is_none_among_all_ties_is_not_named_alone() -> None:
    between = [Edge("a", "d", QUERY_TEXT, 0.7), Edge("b", "e", SHARED_DOCUMENT, 1.0, ("d1",))]
    edges = sorted([*clique("abc", 1.0), *clique("def", 1.0), *between])
    assert weakest_links("abcdef", edges) == (WeakLink(between[0], 3, 3), WeakLink(between[1], 3, 3))


def test_two_queries_tied_twice_are_one_link_named_by_its_strongest_tie() -> None:
    strong = Edge("a", "b", PARAPHRASE, 0.9)
    assert weakest_links("ab", [strong, Edge("a", "b", QUERY_TEXT, 0.7)]) == (WeakLink(strong, 1, 1),)


def test_a_group_that_no_few_ties_hold_together_has_no_weak_links() -> None:
    assert weakest_links("abcdefghijkl", clique("abcdefghijkl"), number=8) == ()
    assert weakest_links("a", []) == ()


def test_of_two_bridges_the_one_that_sets_more_queries_free_is_named() -> None:
    path = [Edge(a, b, QUERY_TEXT, 0.8) for a, b in zip("abcdef", "bcdefg", strict=True)]
    assert weakest_links("abcdefg", path)[0].edge in (path[2], path[3])
    weak_end = [path[0]._replace(similarity=0.7), *path[1:]]
    assert weakest_links("abcdefg", weak_end)[0].edge != weak_end[0]


NAMES = "abcdefghij"


@st.composite
def graphs(draw: st.DrawFn) -> tuple[str, list[Edge]]:
    names = NAMES[: draw(st.integers(2, len(NAMES)))]
    pairs = draw(
        st.lists(st.sampled_from(list(combinations(names, 2))), min_size=1, max_size=25, unique=True)
    )
    return names, [Edge(a, b, QUERY_TEXT, draw(st.sampled_from([0.65, 0.8, 1.0]))) for a, b in sorted(pairs)]


@given(graphs(), st.integers(1, 6))
@settings(max_examples=examples(80))
def test_cutting_all_links_that_are_named_splits_the_group_into_what_they_say(
    graph: tuple[str, list[Edge]], number: int
) -> None:
    names, edges = graph
    groups = leakage_groups(names, edges)
    for group in set(groups.values()):
        members = [name for name in names if groups[name] == group]
        links = weakest_links(members, edges, number)
        assert len(links) <= number
        if not links:
            assert all(
                len(bridge_sides(members, edges, edge)) == 1 for edge in edges if edge.query_a in members
            )
            continue
        left = leakage_groups(
            members,
            [edge for edge in edges if edge.query_a in members and edge not in [link.edge for link in links]],
        )
        assert len(set(left.values())) >= 2
        for link in links:
            assert link.left + link.right == len(members)
            assert left[link.edge.query_a] != left[link.edge.query_b]


def bridge_sides(members: list[str], edges: list[Edge], without: Edge) -> set[str]:
    kept = [edge for edge in edges if edge.query_a in members and edge != without]
    return set(leakage_groups(members, kept).values())


@given(graphs())
@settings(max_examples=examples(80))
def test_the_further_ties_part_two_queries_and_none_of_them_is_too_many(
    graph: tuple[str, list[Edge]],
) -> None:
    names, edges = graph
    first, second = names[0], names[-1]
    named = further_ties(first, second, edges)
    left = leakage_groups(names, [edge for edge in edges if edge not in named])
    assert left[first] != left[second]
    for one in named:
        again = leakage_groups(names, [edge for edge in edges if edge not in named or edge == one])
        assert again[first] == again[second]
    fewer = combinations(edges, len(named) - 1) if 0 < len(named) <= 3 else []
    for some in fewer:
        groups = leakage_groups(names, [edge for edge in edges if edge not in some])
        assert groups[first] == groups[second]


def test_where_a_cut_does_not_part_two_queries_the_ties_that_hold_them_are_named() -> None:
    texts = {"a": "red shoe", "b": "red shoes", "c": "red shoes ", "d": "usb hub"}
    inputs = SplitInputs(texts, {"a": frozenset({"d1"}), "d": frozenset({"d1"})}, {"d1": "a document"})
    rules = Rules(query=0.8, paraphrase=None, document=None, cut=(("b", "a"),))
    found = find_edges(inputs, rules)
    assert [edge[:3] for edge in found.cut] == [("a", "b", QUERY_TEXT)]
    groups = leakage_groups(texts, found.edges)
    held = still_tied(inputs, rules, groups)
    assert [(row.query_a, row.query_b, [edge[:2] for edge in row.further]) for row in held] == [
        ("a", "b", [("a", "c")])
    ]
    rules = replace(rules, cut=(*rules.cut, ("a", "c")))
    groups = leakage_groups(texts, find_edges(inputs, rules).edges)
    assert still_tied(inputs, rules, groups) == ()
    assert groups == {"a": "a", "b": "b", "c": "b", "d": "a"}


def test_cutting_every_link_that_is_named_splits_templated_queries_for_good() -> None:
    texts = {f"a{number}": f"red running shoe size {number}" for number in range(6)} | {
        f"b{number}": f"blue garden hose {number} metres" for number in range(6)
    }
    documents = {"d": "what both are about"}
    inputs = SplitInputs(texts, {"a3": frozenset({"d"}), "b4": frozenset({"d"})}, documents)
    rules = Rules(query=0.65, paraphrase=None)
    assert set(leakage_groups(texts, find_edges(inputs, rules).edges).values()) == {"a0"}
    links = weakest_links(texts, all_ties(inputs, rules))
    assert [(link.edge[:3], link.left, link.right) for link in links] == [
        (("a3", "b4", SHARED_DOCUMENT), 6, 6)
    ]
    cut = replace(rules, cut=tuple(link.edge[:2] for link in links))
    assert set(leakage_groups(texts, find_edges(inputs, cut).edges).values()) == {"a0", "b0"}
    assert np.array_equal([edge.kind for edge in find_edges(inputs, cut).cut], [SHARED_DOCUMENT])
    assert not [
        held
        for held in still_tied(inputs, cut, leakage_groups(texts, find_edges(inputs, cut).edges))
        if isinstance(held, StillTied)
    ]


def test_a_group_of_more_ties_than_can_be_listed_is_counted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand queries with one key have 50 million ties."""
    names = [f"q{number:03}" for number in range(40)]
    inputs = SplitInputs(
        {name: hex(place * 7919) for place, name in enumerate(names)},
        dict.fromkeys(names, frozenset({"d"})),
        {"d": "one page"},
    )
    rules = Rules(query=None, paraphrase=None, cut=(("q000", "q001"),))
    monkeypatch.setattr(cuts, "FEW_QUERIES", 10)
    monkeypatch.setattr(cuts, "MOST_TIES", 40 * 39 // 2)
    assert len(ties_within(inputs, names, rules) or ()) == 40 * 39 // 2 - 1
    assert still_tied(inputs, rules, dict.fromkeys(names, "q000"))[0].further
    monkeypatch.setattr(cuts, "MOST_TIES", 40 * 39 // 2 - 1)
    assert ties_within(inputs, names, rules) is None
    assert still_tied(inputs, rules, dict.fromkeys(names, "q000")) == (StillTied("q000", "q001", ()),)
