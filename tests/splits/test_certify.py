"""The certificate: it finds what crosses whoever made the split, and shares nothing with the grouping."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.similarity import shingles as similarity
from curation.core.similarity.pairs import exact_links
from curation.splits import certificate_shingles
from curation.splits.assignment import assign_parts
from curation.splits.certify import certify
from curation.splits.findings import ClosestPair, Crossing, Findings, TieCheck
from curation.splits.groups import find_leakage_groups
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.splits.ties import KINDS, find_edges, list_ties

RULES = Rules(paraphrase=None)
BY_MEANING = Rules(query=None, paraphrase=0.8)
TEXT = st.text(
    st.one_of(st.sampled_from("ab 7ß_'-\ni\u0307\u0301電気กิ한한हि\u200d"), st.characters()), max_size=30
)
JAPANESE = "この電気ケトルは一リットルのお湯を三分で沸かします。自動で電源が切れるので安心です。"


def words(*queries: str) -> SplitInputs:
    """Queries q0, q1, … with these texts, and nothing else."""
    return SplitInputs({f"q{number}": text for number, text in enumerate(queries)}, {}, {})


def checked(findings: Findings, kind: str) -> tuple[TieCheck, ClosestPair]:
    """The check of a kind of tie, and the most similar pair that it met."""
    (check,) = (check for check in findings.checks if check.kind == kind)
    assert check.highest is not None
    return check, check.highest


def test_the_certificate_imports_nothing_that_looks_for_ties() -> None:
    """In a process of its own, so that only what the module itself needs is imported."""
    code = """
import sys
import curation.splits.certify
print(*sorted(name for name in sys.modules if name.startswith("curation.splits.")))
print("datasketch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported, searches = done.stdout.splitlines()
    modules = (
        "certificate_shingles",
        "certify",
        "comparison",
        "findings",
        "shared_checks",
        "similarity_checks",
    )
    own = {f"curation.splits.{name}" for name in modules}
    assert set(imported.split()) - own == {"curation.splits.rules"}
    assert searches == "False"


@given(TEXT)
@settings(deadline=None)
def test_both_definitions_of_a_shingle_agree_on_any_text(text: str) -> None:
    assert certificate_shingles.character_shingles(text) == similarity.character_shingles(text)
    assert certificate_shingles.word_shingles(text) == similarity.word_shingles(text)


def test_both_definitions_tell_the_letters_of_all_scripts_alike() -> None:
    letters = [chr(code) for code in (*range(0x80, 0x3400), *range(0xA000, 0xABFF), *range(0xF900, 0x10000))]
    for start in range(0, len(letters), 64):
        for between in ("a", "電", " "):
            text = between.join(letters[start : start + 64])
            assert certificate_shingles.word_shingles(text) == similarity.word_shingles(text), ascii(text)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (JAPANESE, JAPANESE.replace("三分", "四分")),
        ("กาต้มน้ำไฟฟ้ารุ่นนี้จุได้สองลิตรและตัดไฟอัตโนมัติ", "กาต้มน้ำไฟฟ้ารุ่นนี้จุได้สามลิตรและตัดไฟอัตโนมัติ"),
    ],
)
def test_documents_a_letter_apart_leak_in_scripts_without_spaces(first: str, second: str) -> None:
    inputs = SplitInputs(
        {"q0": "kettle", "q1": "teapot"},
        {"q0": frozenset({"d0"}), "q1": frozenset({"d1"})},
        {"d0": first, "d1": second},
    )
    rules = Rules(paraphrase=None, document=0.6)
    findings = certify(inputs, {"q0": "dev", "q1": "test"}, rules)
    assert [leak.kind for leak in findings.leaks] == ["near-duplicate document"]
    assert [edge.kind for edge in find_edges(inputs, rules).edges] == ["near-duplicate document"]


def test_every_kind_of_tie_has_a_check_with_the_same_name_in_the_same_order() -> None:
    inputs = replace(words("one", "two"), vectors=np.eye(2, dtype=np.float32))
    rules = Rules(keys=("project",))
    findings = certify(inputs, {"q0": "dev", "q1": "test"}, rules)
    assert all(kind.is_on(rules) for kind in KINDS.values())
    assert [check.kind for check in findings.checks] == list(KINDS)


def test_the_closest_pairs_are_named_with_their_texts() -> None:
    whole = SplitInputs(
        {"a": "iphone 13 case", "b": "iphone 14 case", "c": "printer ink"},
        {"a": frozenset({"d1"}), "b": frozenset({"d2"})},
        {"d1": "one two three four", "d2": "one two three five"},
    )
    findings = certify(whole, {"a": "dev", "b": "test", "c": "test"}, RULES)
    assert findings.leaks == ()
    check, queries = checked(findings, "query text")
    _, documents = checked(findings, "near-duplicate document")
    assert (queries.first_text, queries.second_text) == ("iphone 13 case", "iphone 14 case")
    assert (queries.similarity, check.compared) == (0.6, 2)
    assert (documents.first, documents.second) == ("d1", "d2")
    assert documents.similarity == pytest.approx(1 / 3)


def test_a_pair_that_is_not_looked_for_is_shown_and_no_leak() -> None:
    findings = certify(
        words("laptop", "laptop"), {"q0": "dev", "q1": "test"}, Rules(query=None, paraphrase=None)
    )
    check, pair = checked(findings, "query text")
    assert (findings.leaks, pair.similarity, check.looked_for) == ((), 1.0, False)


@st.composite
def split_inputs(draw: st.DrawFn) -> SplitInputs:
    """Short texts of few letters, documents of few words, keys and vectors of few directions."""
    queries = draw(st.lists(st.text("ab 12", max_size=6), min_size=2, max_size=9))
    names = [f"q{number}" for number in range(len(queries))]
    corpus = draw(st.lists(st.text("xy ", max_size=12), min_size=1, max_size=5))
    relevant = {name: draw(st.frozensets(st.integers(0, len(corpus) - 1), max_size=2)) for name in names}
    kept = {name: frozenset(f"d{number}" for number in ids) for name, ids in relevant.items() if ids}
    keys = st.frozensets(
        st.tuples(st.sampled_from(["session", "project"]), st.sampled_from("123456")), max_size=5
    )
    angles = np.array([draw(st.sampled_from([0.0, 0.3, 0.9, 1.5])) for _ in names])
    return SplitInputs(
        dict(zip(names, queries, strict=True)),
        kept,
        {name: corpus[int(name[1:])] for name in sorted(frozenset[str]().union(*kept.values()))},
        {name: draw(keys) for name in names},
        vectors=np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32),
    )


@st.composite
def rules_with_cuts(draw: st.DrawFn, names: list[str]) -> Rules:
    pairs = list(combinations(sorted(names), 2))
    return Rules(
        query=draw(st.sampled_from([None, 0.3, 0.65])),
        paraphrase=draw(st.sampled_from([None, 0.8, 0.95])),
        document=draw(st.sampled_from([None, 0.5, 0.8])),
        shared=draw(st.booleans()),
        keys=tuple(draw(st.sets(st.sampled_from(["session", "project"])))),
        cut=tuple(draw(st.lists(st.sampled_from(pairs), max_size=4, unique=True))),
    )


@pytest.mark.slow
@given(split_inputs(), st.data())
@settings(deadline=None)
def test_the_exhaustive_maximum_never_exceeds_a_threshold_except_on_cut_ties(
    inputs: SplitInputs, data: st.DataObject
) -> None:
    rules = data.draw(rules_with_cuts(list(inputs.queries)))
    groups = find_leakage_groups(inputs.queries, find_edges(inputs, rules, compare=exact_links).edges)
    parts = assign_parts(groups, dict.fromkeys(groups, ()), {"dev": 0.5, "test": 0.5}, seed=0)
    findings = certify(inputs, parts, rules)
    assert findings.leaks == ()
    for check in findings.checks:
        assert check.crossing == 0 or not check.looked_for
        if check.looked_for and check.threshold is not None and check.highest is not None:
            assert check.highest.similarity < check.threshold
    cut = {tuple(sorted(pair)) for pair in rules.cut}
    assert {(tie.query_a, tie.query_b) for tie in findings.residual} <= cut


@pytest.mark.slow
@given(split_inputs(), st.data())
@settings(deadline=None)
def test_whatever_ties_two_parts_is_a_leak_however_the_parts_were_made(
    inputs: SplitInputs, data: st.DataObject
) -> None:
    rules = data.draw(rules_with_cuts(list(inputs.queries)))
    torn = {name: data.draw(st.sampled_from(["dev", "test"])) for name in inputs.queries}
    ties = list_ties(inputs, rules)
    crossing = {edge[:3] for edge in ties if torn[edge.query_a] != torn[edge.query_b]}
    leaks = {(leak.query_a, leak.query_b, leak.kind) for leak in certify(inputs, torn, rules).leaks}
    assert leaks <= crossing
    assert {kind for *_, kind in leaks} == {kind for *_, kind in crossing}


def test_what_was_cut_by_name_is_residual_and_no_leak() -> None:
    inputs = words("laptop", "laptops", "laptop bag")
    parts = {"q0": "dev", "q1": "test", "q2": "test"}
    cut = Rules(paraphrase=None, cut=(("q0", "q1"),))
    findings = certify(inputs, parts, cut)
    assert findings.residual == (Crossing("q0", "q1", "query text", 0.8),)
    assert [leak.query_b for leak in findings.leaks] == []
    check, pair = checked(findings, "query text")
    assert (check.cut, pair.second) == (1, "q2")


def test_a_document_of_several_queries_is_residual_only_where_all_of_them_are_cut() -> None:
    text = "one two three four"
    inputs = SplitInputs(
        {"a": "alpha", "b": "beta", "c": "gamma"},
        {"a": frozenset({"d1"}), "b": frozenset({"d1"}), "c": frozenset({"d2"})},
        {"d1": text, "d2": text},
    )
    parts = {"a": "dev", "b": "dev", "c": "test"}
    findings = certify(inputs, parts, Rules(paraphrase=None, cut=(("a", "c"),)))
    assert [(leak.query_a, leak.query_b) for leak in findings.leaks] == [("b", "c")]
    both = certify(inputs, parts, Rules(paraphrase=None, cut=(("a", "c"), ("b", "c"))))
    assert both.leaks == ()
    assert {(tie.query_a, tie.query_b, tie.documents) for tie in both.residual} == {
        ("a", "c", ("d1", "d2")),
        ("b", "c", ("d1", "d2")),
    }


def test_a_cosine_is_rounded_before_it_is_compared() -> None:
    angle = np.arccos(0.80004)
    vectors = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]], dtype=np.float32)
    inputs = SplitInputs({"q0": "a", "q1": "b"}, {}, {}, vectors=vectors)
    findings = certify(inputs, {"q0": "dev", "q1": "test"}, BY_MEANING)
    assert findings.leaks == (Crossing("q0", "q1", "paraphrase", 0.8),)


def test_of_a_document_across_the_parts_one_pair_is_a_leak_and_each_cut_pair_residual() -> None:
    names = ("a", "b", "c", "d")
    inputs = SplitInputs(dict.fromkeys(names, ""), dict.fromkeys(names, frozenset({"x"})), {"x": "one page"})
    parts = {"a": "dev", "b": "test", "c": "dev", "d": "test"}
    rules = Rules(query=None, paraphrase=None, document=None, cut=(("a", "b"), ("a", "c"), ("a", "d")))
    findings = certify(inputs, parts, rules)
    assert [(leak.query_a, leak.query_b) for leak in findings.leaks] == [("b", "c")]
    assert [(tie.query_a, tie.query_b) for tie in findings.residual] == [("a", "b"), ("a", "d")]
