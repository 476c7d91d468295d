"""Named cuts: which queries they name, and what still ties two queries after a cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from curation.core.errors import InputError
from curation.splits.cuts import cuts_by_id, remaining_ties
from curation.splits.groups import leakage_groups
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.splits.ties.query_text import LABEL as QUERY_TEXT
from curation.splits.ties.search import find_edges


def test_a_cut_by_a_name_that_is_one_querys_id_and_anothers_text_is_refused() -> None:
    queries = {"501": "jeans", "q1": "501", "q2": "belt"}
    assert cuts_by_id([("jeans", "Belt")], queries) == (("501", "q2"),)
    with pytest.raises(InputError, match="'501' is the id of 'jeans' and the text of 'q1'"):
        cuts_by_id([("501", "belt")], queries)


def test_where_a_cut_does_not_part_two_queries_the_chain_that_ties_them_is_named() -> None:
    texts = {"a": "red shoe", "b": "red shoes", "c": "red shoes ", "d": "usb hub"}
    inputs = SplitInputs(texts, {"a": frozenset({"d1"}), "d": frozenset({"d1"})}, {"d1": "a document"})
    rules = Rules(query=0.8, paraphrase=None, document=None, cut=(("b", "a"),))
    found = find_edges(inputs, rules)
    assert [edge[:3] for edge in found.cut] == [("a", "b", QUERY_TEXT)]
    groups = leakage_groups(texts, found.edges)
    held = remaining_ties(rules.cut, groups, found.edges)
    assert [(row.query_a, row.query_b, [edge[:2] for edge in row.chain]) for row in held] == [
        ("a", "b", [("a", "c"), ("b", "c")])
    ]
    rules = replace(rules, cut=(*rules.cut, ("a", "c")))
    edges = find_edges(inputs, rules).edges
    groups = leakage_groups(texts, edges)
    assert remaining_ties(rules.cut, groups, edges) == ()
    assert groups == {"a": "a", "b": "b", "c": "b", "d": "a"}
