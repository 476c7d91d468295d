"""Named cuts: which queries they name, and what still ties two queries after a cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from curation.core.errors import InputError
from curation.splits.cuts import find_remaining_ties, resolve_cuts
from curation.splits.groups import find_leakage_groups
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.splits.similarity_ties import QUERY_TEXT as QUERY_TEXT
from curation.splits.ties import find_edges


def test_a_cut_by_a_name_that_is_one_querys_id_and_anothers_text_is_refused() -> None:
    queries = {"501": "jeans", "q1": "501", "q2": "belt"}
    assert resolve_cuts([("jeans", "Belt")], queries) == (("501", "q2"),)
    with pytest.raises(InputError, match="'501' is the id of 'jeans' and the text of 'q1'"):
        resolve_cuts([("501", "belt")], queries)


def test_where_a_cut_does_not_part_two_queries_the_chain_that_ties_them_is_named() -> None:
    texts = {"a": "red shoe", "b": "red shoes", "c": "red shoes ", "d": "usb hub"}
    inputs = SplitInputs(texts, {"a": frozenset({"d1"}), "d": frozenset({"d1"})}, {"d1": "a document"})
    rules = Rules(query=0.8, paraphrase=None, document=None, cut=(("b", "a"),))
    ties = find_edges(inputs, rules)
    assert [edge[:3] for edge in ties.cut] == [("a", "b", QUERY_TEXT)]
    groups = find_leakage_groups(texts, ties.edges)
    remaining = find_remaining_ties(rules.cut, groups, ties.edges)
    assert [(first, second, [edge[:2] for edge in chain]) for first, second, chain in remaining] == [
        ("a", "b", [("a", "c"), ("b", "c")])
    ]
    rules = replace(rules, cut=(*rules.cut, ("a", "c")))
    edges = find_edges(inputs, rules).edges
    groups = find_leakage_groups(texts, edges)
    assert find_remaining_ties(rules.cut, groups, edges) == ()
    assert groups == {"a": "a", "b": "b", "c": "b", "d": "a"}
