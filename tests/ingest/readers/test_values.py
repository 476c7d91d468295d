"""Whole numbers in files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.ingest.readers.values import parse_whole_number


@given(st.integers(-(10**18), 10**18))
def test_a_whole_number_keeps_every_digit_however_it_is_written(number: int) -> None:
    assert (
        parse_whole_number(str(number))
        == parse_whole_number(f" {number}.000 ")
        == parse_whole_number(f"{number}e0")
        == number
    )


@pytest.mark.parametrize("text", ["", "x", "1.5", "nan", "snan", "-inf", "1e19", "1e999999999", "1e-9"])
def test_what_is_no_whole_number_within_the_bounds_is_none(text: str) -> None:
    assert parse_whole_number(text) is None
