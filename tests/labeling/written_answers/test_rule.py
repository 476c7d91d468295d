"""When written answers agree, and what becomes a reference."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.labeling.written_answers.rule import WrittenAnswer, agree, distinct, outcome_of
from tests.support import examples

WORDS = st.lists(st.sampled_from("red blue kettle 5 6 the of steel".split()), min_size=1, max_size=6).map(
    " ".join
)


def said(*answers: str | None) -> list[WrittenAnswer]:
    return [WrittenAnswer(f"w{place}", answer) for place, answer in enumerate(answers)]


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
    assert agree(one, other) is same
    assert agree(other, one) is same


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
    found = outcome_of(said(*answers), asked, closed)
    assert found.how == how
    assert found.answers == (tuple(sorted(filter(None, answers))) if references is None else references)
    assert bool(found.why) == (how == "disputed"), "a dispute says why"


def test_one_pair_that_differs_is_a_dispute_however_many_agree() -> None:
    found = outcome_of(said("steel", "steel", "copper"), 3)
    assert (found.how, found.why) == ("disputed", "the answers differ: token F1 0.00, below 0.8")


@given(st.lists(WORDS, min_size=1, max_size=5), st.randoms())
@settings(max_examples=examples(40))
def test_the_outcome_does_not_depend_on_who_wrote_what(texts: list[str], random: Random) -> None:
    shuffled = list(texts)
    random.shuffle(shuffled)
    assert outcome_of(said(*texts), len(texts)) == outcome_of(said(*shuffled), len(texts))


@given(st.lists(WORDS, min_size=1, max_size=5))
@settings(max_examples=examples(40))
def test_each_reference_was_written_and_no_two_are_the_same(texts: list[str]) -> None:
    found = distinct(texts)
    assert set(found) <= set(texts)
    assert distinct(found) == tuple(sorted(found, key=lambda text: (len(text), text)))
