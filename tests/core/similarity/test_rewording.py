"""Texts compared without punctuation and order of words: what that brings together, and what it must not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.similarity.shingles import list_essentials, reworded_shingles
from curation.splits import certificate_shingles
from curation.splits.certify import certify
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.splits.ties import find_edges

RULES = Rules(paraphrase=None)
TEXT = st.text(st.one_of(st.sampled_from("ab c7+#'’-.,\n茶气กิ"), st.characters()), max_size=20)


def queries(*texts: str) -> SplitInputs:
    return SplitInputs({f"q{number}": text for number, text in enumerate(texts)}, {}, {})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("T-shirt, blue, XL", "t shirt blue xl"),
        ("usb-c hub", "usb c hub"),
        ("hotel paris", "paris hotel"),
        ("women's shoes", "shoes, womens"),
        ("iphone 14 case", "case (iphone 14)"),
        ("ホテル 東京", "東京 ホテル"),
    ],
)
def test_punctuation_and_the_order_of_words_hide_no_tie_from_either_search(first: str, second: str) -> None:
    inputs = queries(first, second)
    ties = find_edges(inputs, RULES)
    assert [edge.kind for edge in ties.edges] == ["query text"]
    assert ties.counts["query text"] == 1
    assert ties.parameters == {"query_rewording": "words in any order, same numbers"}
    leaks = certify(inputs, {"q0": "dev", "q1": "test"}, RULES).leaks
    assert [leak.kind for leak in leaks] == ["query text"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("iphone 14 case", "iphone 13 case"),
        ("iphone-14 case", "case for iphone 13"),
        ("c++ tutorial", "c tutorial"),
        ("2.5 hdd", "25 hdd"),
        ("hotel paris", "hostel berlin"),
    ],
)
def test_other_numbers_and_signs_are_tied_no_more_than_ever(first: str, second: str) -> None:
    inputs = queries(first, second)
    ties = find_edges(inputs, RULES)
    assert ties.edges == []
    assert ties.parameters == {}
    assert certify(inputs, {"q0": "dev", "q1": "test"}, RULES).leaks == ()


def test_a_pair_that_is_alike_as_it_is_written_is_one_tie_of_that_similarity() -> None:
    ties = find_edges(queries("red running shoes", "red running shoes!"), RULES)
    assert ties.counts["query text"] == 1
    assert ties.edges[0].similarity == pytest.approx(15 / 16)
    assert ties.parameters == {}


def test_cut_by_name_a_reworded_pair_is_residual_once() -> None:
    inputs = queries("hotel paris", "paris hotel")
    rules = Rules(paraphrase=None, cut=(("q0", "q1"),))
    assert find_edges(inputs, rules).edges == []
    findings = certify(inputs, {"q0": "dev", "q1": "test"}, rules)
    assert findings.leaks == ()
    assert len(findings.residual) == 1


@given(TEXT)
@settings(deadline=None)
def test_the_certificate_rewords_by_its_own_code_and_alike(text: str) -> None:
    assert certificate_shingles.sorted_shingles(text) == reworded_shingles(text)
    assert certificate_shingles.numbers_and_signs(text) == list_essentials(text)


ABSTRACT = " ".join(f"word{number}" for number in range(30))


def documents(first: str, second: str) -> SplitInputs:
    relevant = {"q0": frozenset({"d0"}), "q1": frozenset({"d1"})}
    return SplitInputs({"q0": "kettle", "q1": "saucepan"}, relevant, {"d0": first, "d1": second})


def test_an_abstract_within_a_longer_document_ties_and_leaks() -> None:
    article = f"A title\n{ABSTRACT} " + " ".join(f"more{number}" for number in range(300))
    inputs = documents(f"A title\n{ABSTRACT}", article)
    ties = find_edges(inputs, RULES)
    assert [(edge.kind, edge.documents) for edge in ties.edges] == [("near-duplicate document", ("d0", "d1"))]
    assert ties.edges[0].similarity == 1.0
    assert ties.parameters == {"document_containment": 0.9, "contained_shingles": 20}
    findings = certify(inputs, {"q0": "dev", "q1": "test"}, RULES)
    assert [leak.documents for leak in findings.leaks] == [("d0", "d1")]
    (check,) = (made for made in findings.checks if made.kind == "near-duplicate document")
    assert check.highest is not None
    assert check.highest.similarity < 0.2


def test_a_title_within_a_longer_document_is_no_copy() -> None:
    inputs = documents(
        "a plain red kettle of steel", "buy a plain red kettle of steel and many other things for tea"
    )
    assert find_edges(inputs, RULES).edges == []
    assert certify(inputs, {"q0": "dev", "q1": "test"}, RULES).leaks == ()
