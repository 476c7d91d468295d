"""Exact match and token F1: the values of SQuAD's own script, and words by script beyond English."""

from __future__ import annotations

import re
import string
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.labeling.written_answers.matching import answer_tokens, exact_match, normalised_answer, token_f1
from tests.support import examples


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
    assert normalised_answer(text) == squads(text)
    assert answer_tokens(text) == squads(text).split()


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
    assert answer_tokens(text) == tokens


def test_half_of_a_chinese_answer_is_half_right() -> None:
    precision, recall = 2 / 2, 2 / 4
    assert token_f1("北京", ["北京大学"]) == pytest.approx(2 * precision * recall / (precision + recall))
    assert sum(Counter(answer_tokens("北京大学")).values()) == 4
