"""The figure of evaluators: a mean that is rounded to its standard error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.evaluation.rounded_figures import RoundedFigure, round_mean
from tests.support import examples

VALUES = st.lists(st.floats(0, 1), min_size=10, max_size=400)


def test_a_figure_is_a_multiple_of_its_standard_error_rounded_up_to_one_digit() -> None:
    values = np.tile([0.2, 0.4, 0.9, 1.0], 100)  # sd .335, error .0168
    assert round_mean(values) == RoundedFigure(0.62, 0.02, 400)
    assert round_mean(values).text == "0.62 (rounded to 0.02, 400 queries)"


@pytest.mark.parametrize("queries", [10, 11, 38, 99, 100, 1000])
def test_a_run_that_finds_something_for_one_query_alone_shows_0(queries: int) -> None:
    for value in (0, 0.3, 1):
        values = np.zeros(queries)
        values[0] = value
        assert round_mean(values).value == 0


def test_fewer_than_ten_values_have_no_figure() -> None:
    values = np.array([*[1.0] * 9, *[np.nan] * 40])
    assert round_mean(values) == RoundedFigure(None, None, 9)
    assert round_mean(values).text == "no figure: fewer than 10 queries have a value"


@given(VALUES)
@settings(max_examples=examples(200))
def test_a_figure_is_between_0_and_1_and_at_most_half_a_step_off(values: list[float]) -> None:
    array = np.array(values)
    figure = round_mean(array)
    error = array.std(ddof=1) / np.sqrt(len(array))
    assert figure.step >= max(error, 2 / len(array)) - 1e-9
    assert figure.step <= 2 * max(error, 2 / len(array)) + 1e-9
    assert 0 <= figure.value <= 1
    assert abs(figure.value - array.mean()) <= figure.step / 2 + 1e-9
