"""Exact match and token F1: the values of SQuAD's own script; and when written answers agree."""

from __future__ import annotations

import re
import string
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.labeling.answer_matching import (
    answers_agree,
    decide_outcome,
    exact_match,
    find_distinct_answers,
    normalise_answer,
    token_f1,
    tokenize_answer,
)
from tests.support import examples

WORDS = st.lists(st.sampled_from("red blue kettle 5 6 the of steel".split()), min_size=1, max_size=6).map(
    " ".join
)


def squads(text: str) -> str:
    """The rules of the paper's script: lower case, no punctuation, no articles, single spaces."""
    bare = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


@pytest.mark.parametrize(
    ("answer", "reference", "match", "f1"),
    [
        ("The Eiffel Tower!", "eiffel tower", 1, 1),
        ("in Paris, France", "Paris", 0, 0.5),
        ("Paris", "Lyon", 0, 0),
        ("a the an", "", 1, 1),
        ("", "Paris", 0, 0),
        ("to be to be", "to be", 0, 2 / 3),
        ("U.S.A.", "USA", 1, 1),
    ],
)
def test_values_by_hand(answer: str, reference: str, match: float, f1: float) -> None:
    assert exact_match(answer, [reference]) == match
    assert token_f1(answer, [reference]) == pytest.approx(f1)


def test_the_best_reference_counts() -> None:
    assert exact_match("Paris", ["Lyon", "paris"]) == 1
    assert token_f1("the old city of Paris", ["Lyon", "city of Paris"]) == pytest.approx(2 * 3 / 7)
    assert exact_match("Paris", []) == 0


@settings(max_examples=examples(100))
@given(st.text(alphabet=string.ascii_letters + string.digits + string.punctuation + " \t\n"))
def test_ascii_texts_are_normalised_as_squad_does(text: str) -> None:
    assert normalise_answer(text) == squads(text)
    assert tokenize_answer(text) == squads(text).split()


@settings(max_examples=examples(50))
@given(st.text(max_size=30), st.text(max_size=30))
def test_f1_is_symmetric_within_0_and_1_and_1_for_the_text_itself(one: str, other: str) -> None:
    assert token_f1(one, [other]) == pytest.approx(token_f1(other, [one]))
    assert 0 <= token_f1(one, [other]) <= 1
    assert token_f1(one, [one]) == exact_match(one, [one]) == 1
    if exact_match(one, [other]):
        assert token_f1(one, [other]) == 1


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("東京タワー。", ["東", "京", "タ", "ワ", "ー"]),
        ("北京 2008 年", ["北", "京", "2008", "年"]),
        ("GPT模型", ["gpt", "模", "型"]),
        ("“Zürich”, 1815", ["zürich", "1815"]),
        ("الْقَاهِرَة", ["القاهرة"]),
        ("5 €", ["5", "€"]),
    ],
)
def test_scripts_without_spaces_are_cut_into_signs_and_all_punctuation_goes(
    text: str, tokens: list[str]
) -> None:
    assert tokenize_answer(text) == tokens


def test_half_of_a_chinese_answer_is_half_right() -> None:
    precision, recall = 2 / 2, 2 / 4
    assert token_f1("北京", ["北京大学"]) == pytest.approx(2 * precision * recall / (precision + recall))
    assert sum(Counter(tokenize_answer("北京大学")).values()) == 4


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The Red Kettle.", "red kettle", True),  # exact once normalised
        ("a big red steel kettle", "a big red steel pot", False),  # F1 3/4
        ("it holds two litres of hot water", "it holds two litres of water", True),  # F1 12/13
        ("uploads may have up to 5 MB each", "uploads may have up to 6 MB each", False),  # F1 7/8
        ("五公斤", "五公斤。", True),
        ("blue", "red", False),
    ],
)
def test_answers_agree_by_exact_match_or_by_f1_with_the_same_numbers(
    one: str, other: str, same: bool
) -> None:
    assert answers_agree(one, other) is same
    assert answers_agree(other, one) is same


@pytest.mark.parametrize(
    ("answers", "asked", "closed", "how", "references"),
    [
        (["red"], 2, False, "waiting", ()),
        ([], 2, True, "unwritten", ()),
        (["red"], 2, True, "disputed", ()),
        (["red"], 1, False, "single", ("red",)),
        (["red", "The red"], 2, False, "agreed", ("red",)),
        (["red", "The red", "The red"], 3, False, "agreed", ("The red",)),
        ([None, None], 2, False, "unanswerable", ()),
        ([None, "red"], 2, False, "disputed", ()),
        (["red", "blue"], 2, False, "disputed", ()),
        (["hot red steel kettle", "red hot steel kettle"], 2, False, "agreed", None),
    ],
)
def test_the_outcome_follows_the_stated_rule(
    answers: list[str | None], asked: int, closed: bool, how: str, references: tuple[str, ...] | None
) -> None:
    found = decide_outcome(answers, asked, closed)
    assert found.how == how
    assert found.answers == (tuple(sorted(filter(None, answers))) if references is None else references)
    assert bool(found.why) == (how == "disputed"), "a dispute says why"


def test_one_pair_that_differs_is_a_dispute_however_many_agree() -> None:
    found = decide_outcome(["steel", "steel", "copper"], 3)
    assert (found.how, found.why) == ("disputed", "the answers differ: token F1 0.00, below 0.8")


@given(st.lists(WORDS, min_size=1, max_size=5), st.randoms())
@settings(max_examples=examples(40))
def test_the_outcome_does_not_depend_on_who_wrote_what(texts: list[str], random: Random) -> None:
    shuffled = list(texts)
    random.shuffle(shuffled)
    assert decide_outcome(texts, len(texts)) == decide_outcome(shuffled, len(texts))


@given(st.lists(WORDS, min_size=1, max_size=5))
@settings(max_examples=examples(40))
def test_each_reference_was_written_and_no_two_are_the_same(texts: list[str]) -> None:
    found = find_distinct_answers(texts)
    assert set(found) <= set(texts)
    assert find_distinct_answers(found) == tuple(sorted(found, key=lambda text: (len(text), text)))
