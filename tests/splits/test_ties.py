"""Every kind of edge: what it ties, from which similarity on, and that each can be switched off."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import RefusedError
from curation.core.similarity.pairs import EXACTLY, exact_links
from curation.splits.certify import certify
from curation.splits.edges import Edge
from curation.splits.groups import find_leakage_groups
from curation.splits.inputs import SplitInputs, embed_queries, restrict_inputs
from curation.splits.rules import Rules, find_rule_problems
from curation.splits.shared_ties import SAME_KEY as SAME_KEY
from curation.splits.shared_ties import SHARED_DOCUMENT as SHARED_DOCUMENT
from curation.splits.similarity_ties import NEAR_DUPLICATE as NEAR_DUPLICATE
from curation.splits.similarity_ties import PARAPHRASE as PARAPHRASE
from curation.splits.similarity_ties import QUERY_TEXT as QUERY_TEXT
from curation.splits.similarity_ties import link_paraphrases
from curation.splits.tie_search import OFF
from curation.splits.ties import KINDS, find_edges, list_ties
from curation.store import Store
from tests.support import examples

NONE = Rules(query=None, paraphrase=None, document=None, shared=False)
BOILERPLATE = (
    "this article of our catalogue is delivered within two working days to all addresses in the country "
)
WORDS = ("red", "blue", "green")
RULES = st.builds(
    Rules,
    query=st.sampled_from([None, 0.5, 0.9]),
    paraphrase=st.sampled_from([None, 0.9]),
    document=st.sampled_from([None, 0.7]),
    shared=st.booleans(),
    keys=st.sampled_from([(), ("project",)]),
)


def ties(inputs: SplitInputs, rules: Rules) -> list[tuple[str, str, str]]:
    return [edge[:3] for edge in find_edges(inputs, rules).edges]


def texts(*queries: str) -> SplitInputs:
    return SplitInputs({f"q{number}": text for number, text in enumerate(queries)}, {}, {})


def test_query_texts_are_tied_from_the_threshold_on() -> None:
    inputs = texts("laptop", "laptops", "usb hub")
    assert ties(inputs, replace(NONE, query=0.8)) == [("q0", "q1", QUERY_TEXT)]
    assert ties(inputs, replace(NONE, query=0.81)) == []


@pytest.mark.parametrize(("cosine", "threshold", "tied"), [(0.8, 0.8, True), (0.79994, 0.8, False)])
def test_paraphrases_are_tied_by_the_cosine_rounded_to_four_decimals(
    cosine: float, threshold: float, tied: bool
) -> None:
    vectors = np.array([[1, 0], [cosine, (1 - cosine**2) ** 0.5]], np.float32)
    inputs = replace(texts("ps4", "playstation 4"), vectors=vectors)
    found = find_edges(inputs, replace(NONE, paraphrase=threshold))
    assert found.edges == ([Edge("q0", "q1", PARAPHRASE, 0.8)] if tied else [])
    assert found.methods[PARAPHRASE] == EXACTLY


def test_without_embeddings_the_report_says_that_paraphrases_were_not_looked_for() -> None:
    found = find_edges(texts("ps4", "playstation 4"), replace(NONE, paraphrase=0.8))
    assert found.methods[PARAPHRASE] == "not looked for: the queries have no embeddings"
    assert {kind: found.methods[kind] for kind in KINDS if kind != PARAPHRASE} == {
        kind: OFF for kind in KINDS if kind != PARAPHRASE
    }


def test_queries_are_tied_by_a_shared_document_and_by_documents_that_are_nearly_the_same() -> None:
    documents = {"d1": BOILERPLATE + "red", "d2": BOILERPLATE + "blue", "d3": "something else"}
    relevant = {"a": frozenset({"d1", "d3"}), "b": frozenset({"d2"}), "c": frozenset({"d3"})}
    inputs = SplitInputs({"a": "one", "b": "two", "c": "three"}, relevant, documents)
    found = find_edges(inputs, replace(NONE, shared=True, document=0.8))
    assert [(edge.query_a, edge.query_b, edge.kind, edge.documents) for edge in found.edges] == [
        ("a", "b", NEAR_DUPLICATE, ("d1", "d2")),
        ("a", "c", SHARED_DOCUMENT, ("d3",)),
    ]
    assert ties(inputs, replace(NONE, document=0.8)) == [("a", "b", NEAR_DUPLICATE)]
    assert ties(inputs, replace(NONE, shared=True)) == [("a", "c", SHARED_DOCUMENT)]


def test_near_duplicates_tie_all_queries_of_both_documents_also_when_sharing_one_ties_nothing() -> None:
    documents = {"d1": BOILERPLATE + "red", "d2": BOILERPLATE + "blue"}
    relevant = {
        name: frozenset({document}) for name, document in zip("abcd", ("d1", "d1", "d2", "d2"), strict=True)
    }
    inputs = SplitInputs({name: name for name in "abcd"}, relevant, documents)
    groups = find_leakage_groups("abcd", find_edges(inputs, replace(NONE, document=0.8)).edges)
    assert set(groups.values()) == {"a"}


def test_only_the_keys_that_are_asked_for_tie_and_say_which_they_are() -> None:
    keys = {
        "q0": frozenset({("project", "apollo"), ("session", "s1")}),
        "q1": frozenset({("project", "apollo")}),
        "q2": frozenset({("session", "s1")}),
    }
    inputs = replace(texts("one", "two", "three"), keys=keys)
    assert find_edges(inputs, replace(NONE, keys=("project",))).edges == [
        Edge("q0", "q1", SAME_KEY, 1.0, (), "project apollo")
    ]
    assert ties(inputs, replace(NONE, keys=("session",))) == [("q0", "q2", SAME_KEY)]


def test_keys_of_different_fields_that_are_written_alike_are_different_keys() -> None:
    """“a” with “b c” and “a b” with “c” are both shown as “a b c”; with a colon, two others are alike."""
    for pairs in ((("a", "b c"), ("a b", "c")), (("a", "b: c"), ("a: b", "c"))):
        first, second = map(frozenset, ([pairs[0]], [pairs[1]]))
        keys = {"q0": first, "q1": second, "q2": second, "q3": first}
        inputs = replace(texts("one", "two", "three", "four"), keys=keys)
        rules = replace(NONE, keys=("a", "a b", "a: b"))
        found = find_edges(inputs, rules)
        assert [edge[:2] for edge in found.edges] == [("q0", "q3"), ("q1", "q2")]
        assert found.counts[SAME_KEY] == 2
        groups = find_leakage_groups(sorted(keys), found.edges)
        assert certify(inputs, groups, rules).leaks == ()
        assert len(certify(inputs, {name: name for name in keys}, rules).leaks) == 2


def test_a_query_of_many_sessions_is_tied_by_none_of_them_and_the_report_says_so() -> None:
    everywhere = frozenset(("session", f"s{number}") for number in range(4))
    keys = {"q0": everywhere, "q1": frozenset({("session", "s1")}), "q2": frozenset({("session", "s1")})}
    inputs = replace(texts("head", "two", "three"), keys=keys)
    found = find_edges(inputs, replace(NONE, keys=("session",)))
    assert [edge[:2] for edge in found.edges] == [("q1", "q2")]
    assert found.left_out == {"queries were asked in more than 3 sessions, so sessions do not tie them": 1}


def test_rules_that_cannot_be_are_named_all_together() -> None:
    wrong = Rules(query=1.5, paraphrase=0.1, document=0.0, cut=(("a", "a"),))
    assert [text.partition("; expected")[0] for text in find_rule_problems(wrong)] == [
        "“Minimum similarity of query texts”: 1.5 is out of range",
        "“Minimum similarity of paraphrases”: 0.1 is out of range",
        "“Minimum similarity of documents”: 0 is out of range",
        "Cut a~a: this is one query",
    ]
    assert find_rule_problems(NONE) == [
        "every kind of tie is switched off; keep at least one kind, because otherwise no queries stay "
        "together"
    ]
    assert find_rule_problems(Rules()) == []


def test_embeddings_that_cannot_be_had_are_refused_with_the_way_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RefusedError, match=r"needs sentence-transformers.*--no-paraphrase"):
        embed_queries(store, {"a": "never embedded before"})


@st.composite
def split_inputs(draw: st.DrawFn) -> SplitInputs:
    """Few words and documents, so that much is tied by several kinds at once."""
    ids = [f"q{number}" for number in range(draw(st.integers(2, 7)))]
    documents = {f"d{number}": BOILERPLATE + draw(st.sampled_from(WORDS)) for number in range(4)}
    documents["d4"] = "nothing of the kind"
    relevant = {name: draw(st.frozensets(st.sampled_from(sorted(documents)), max_size=2)) for name in ids}
    return SplitInputs(
        {name: f"{draw(st.sampled_from(WORDS))} {draw(st.sampled_from(WORDS))} shoe" for name in ids},
        {name: found for name, found in relevant.items() if found},
        {name: text for name, text in documents.items() if any(name in found for found in relevant.values())},
        {name: frozenset({("project", draw(st.sampled_from("xyz")))}) for name in ids if draw(st.booleans())},
        vectors=np.eye(4, dtype=np.float32)[[draw(st.integers(0, 3)) for _ in ids]],
    )


@given(split_inputs(), st.frozensets(st.integers(0, 4)), st.booleans())
@settings(max_examples=examples(50))
def test_likeness_ties_no_two_that_both_have_a_group_and_the_search_finds_all_others(
    inputs: SplitInputs, numbers: frozenset[int], with_cut: bool
) -> None:
    grouped = inputs.documents.keys() & {f"d{number}" for number in numbers}
    rules = Rules(query=0.5, paraphrase=0.9, document=0.7, shared=False, cut=(("q0", "q1"),) * with_cut)
    without = list_ties(inputs, rules)
    inputs = replace(inputs, grouped=frozenset(grouped))
    inside = inputs.grouped_queries
    texts = [e for e in without if e.kind != NEAR_DUPLICATE and not inside.issuperset(e[:2])]
    every = list_ties(inputs, rules)
    assert [edge for edge in every if edge.kind != NEAR_DUPLICATE] == texts
    assert not [edge for edge in every if edge.kind == NEAR_DUPLICATE and grouped.issuperset(edge.documents)]
    ids = sorted(inputs.queries)
    parts = find_leakage_groups(ids, find_edges(inputs, rules, compare=exact_links).edges)
    assert parts == joined(ids, [edge[:2] for edge in every])
    assert certify(inputs, parts, rules).leaks == ()


def joined(ids: list[str], edges: list[tuple[str, str]]) -> dict[str, str]:
    """Query → the smallest query that it is tied to in any number of steps."""
    group = {name: name for name in ids}
    for first, second in edges:
        one, other = sorted((group[first], group[second]))
        group = {name: one if found == other else found for name, found in group.items()}
    return group


@given(split_inputs(), RULES, st.data())
@settings(max_examples=examples(50))
def test_the_kept_edges_join_what_all_ties_join_whatever_is_cut(
    inputs: SplitInputs, rules: Rules, data: st.DataObject
) -> None:
    ids = sorted(inputs.queries)
    cut = data.draw(st.lists(st.sampled_from(list(combinations(ids, 2))), max_size=4, unique=True))
    rules = replace(rules, cut=tuple(cut))
    every = list_ties(inputs, replace(rules, cut=()))
    left = [edge[:2] for edge in every if edge[:2] not in cut]
    found = find_edges(inputs, rules, compare=exact_links)
    assert not {edge[:2] for edge in found.edges} & set(cut)
    assert joined(ids, [edge[:2] for edge in found.edges]) == joined(ids, left)
    assert found.cut == [edge for edge in every if edge[:2] in cut]
    assert [edge for edge in every if edge[:2] not in cut] == list_ties(inputs, rules)


@pytest.mark.slow
@given(split_inputs(), RULES)
@settings(max_examples=examples(25))
def test_all_ties_are_what_comparing_two_queries_at_a_time_finds(inputs: SplitInputs, rules: Rules) -> None:
    by_two = [
        edge
        for pair in combinations(inputs.queries, 2)
        for edge in list_ties(restrict_inputs(inputs, pair), rules)
    ]
    assert sorted(by_two) == list_ties(inputs, rules)
    pairs = Counter(edge.kind for edge in by_two)
    counts = find_edges(inputs, rules, compare=exact_links).counts
    assert all(counts[kind] == pairs[kind] for kind in (QUERY_TEXT, PARAPHRASE, SAME_KEY))


@given(split_inputs(), RULES, st.randoms(use_true_random=False))
@settings(max_examples=examples(25))
def test_edges_do_not_depend_on_the_order_in_which_queries_and_documents_come(
    inputs: SplitInputs, rules: Rules, random: Random
) -> None:
    shuffled = {}
    for name in ("queries", "relevant", "documents", "keys"):
        items = list(getattr(inputs, name).items())
        random.shuffle(items)
        shuffled[name] = dict(items)
    assert find_edges(replace(inputs, **shuffled), rules) == find_edges(inputs, rules)


def test_cosines_are_compared_in_blocks_as_all_at_once() -> None:
    random = np.random.default_rng(5)
    vectors = random.normal(size=(600, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = np.round((vectors @ vectors.T).astype(float), 4)
    expected = {(a, b) for a, b in zip(*np.nonzero(np.triu(cosines >= 0.9, 1)), strict=True)}
    found = {
        pair
        for links in link_paraphrases(vectors, 0.9)
        for pair in zip(links.first, links.second, strict=True)
    }
    assert found == expected
    assert len(expected) > 50
