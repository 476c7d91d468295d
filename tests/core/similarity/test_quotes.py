"""Quotes are found again as they are, but for white space, and nearly; each with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.similarity.quotes import FoundQuote, find_quote, relocate_quote

THAI = "ประเทศไทยเป็นประเทศที่สวยงามมากในเอเชียตะวันออกเฉียงใต้และมีอาหารอร่อย"
HEBREW = "העיר נבנתה לפני מאות שנים על גדות הנהר הגדול"
ENGLISH = "A refund is paid within fourteen days after the parcel has come back to us, to the same card."


@pytest.mark.parametrize("text", [THAI, HEBREW, ENGLISH, "😀 smile " * 4])
def test_a_quote_that_moved_is_found_word_by_word(text: str) -> None:
    moved = f"😀 before. {text} after."
    assert relocate_quote(text, moved, 0) == FoundQuote((10, 10 + len(text)), 1.0)
    spaced = moved.replace(" ", "\n  ")
    place = relocate_quote(text, spaced, 0)
    assert place is not None
    assert spaced[slice(*place.span)].split() == text.split()


def test_of_several_places_the_one_nearest_to_the_old_place_counts() -> None:
    text = "one two. " * 4
    assert find_quote("one two.", text) == [(at, at + 8) for at in (0, 9, 18, 27)]
    assert relocate_quote("one two.", text, 20) == FoundQuote((18, 26), 1.0)


@pytest.mark.parametrize(
    ("quote", "now", "score"),
    [
        (ENGLISH, ENGLISH.replace("fourteen", "thirty"), 0.947),
        (THAI, THAI.replace("สวยงาม", "งดงาม"), 0.95),
        (HEBREW, HEBREW.replace("הגדול", "הרחב ביותר"), 0.941),
    ],
)
def test_a_quote_that_was_reworded_is_found_with_its_score(quote: str, now: str, score: float) -> None:
    text = f"{'Other sentences of the document. ' * 50}{now} {'And more of the same days. ' * 50}"
    place = relocate_quote(quote, text, 0)
    assert place is not None
    assert place.score == pytest.approx(score, abs=0.03)
    assert now.startswith(text[slice(*place.span)][:-20])


@pytest.mark.parametrize(
    "text", ["", "Nothing of it.", "A refund is paid. " * 30, " ".join(reversed(ENGLISH.split()))]
)
def test_a_quote_of_which_little_is_left_is_not_found(text: str) -> None:
    assert relocate_quote(ENGLISH, text, 0) is None


def test_words_that_a_text_has_again_and_again_do_not_hold_up_the_search() -> None:
    assert relocate_quote("a b " * 500, "a a " * 20_000, 0) is None


@given(st.text("ab ", min_size=1, max_size=6), st.text("ab ", max_size=24))
def test_every_place_counts_also_where_two_overlap_in_part(quote: str, text: str) -> None:
    """As "aba" in "ababa", which is no repetition of one piece."""
    exact = [(at, at + len(quote)) for at in range(len(text)) if text.startswith(quote, at)]
    if exact:
        assert find_quote(quote, text) == exact
    assert find_quote("aba", "ababa") == [(0, 3), (2, 5)]
