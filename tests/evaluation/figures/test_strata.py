"""Figures by kind of query: which are left out, and macro mean, median and worst stratum."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from curation.evaluation.figures.means import (
    GIVES_AWAY,
    SMALL,
    hidden_values,
    left_out,
    macro_mean,
    mean_intervals,
    median,
)
from curation.scoring.inputs.release import LEAST, Facet, facets_of
from tests.support import examples


def facet(sizes: dict[str, int], apart: bool = True) -> Facet:
    """Kinds of so many queries, one after another."""
    starts = np.cumsum([0, *sizes.values()])
    place = np.arange(starts[-1])
    masks = {
        name: (place >= start) & (place < start + size)
        for (name, size), start in zip(sizes.items(), starts.tolist(), strict=False)
    }
    return Facet("kind", masks, apart)


def sealed(found: Facet, inside: bool = True) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.full(len(next(iter(found.values.values()))), inside)


def test_fewer_than_ten_queries_are_counts() -> None:
    kinds = facet({"a": 9, "b": 10, "c": 40})
    assert left_out(kinds, sealed(kinds, False)) == {"a": SMALL}


def test_of_a_sealed_part_what_is_left_over_is_not_given_away_either() -> None:
    kinds = facet({"a": 9, "b": 10, "c": 40})
    assert left_out(kinds, sealed(kinds)) == {"a": SMALL, "b": GIVES_AWAY}
    kinds = facet({"a": 5, "b": 5, "c": 40})
    assert left_out(kinds, sealed(kinds)) == {"a": SMALL, "b": SMALL}
    tags = facet({"question": 45, "no tag": 5}, apart=False)
    assert left_out(tags, sealed(tags)) == {"no tag": SMALL, "question": GIVES_AWAY}


def test_of_a_kind_only_its_sealed_queries_are_hidden() -> None:
    kinds = facet({"a": 30, "b": 40, "c": 50})
    some = sealed(kinds, False)
    some[:5] = True
    assert left_out(kinds, some) == {"a": SMALL}


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 30), min_size=1))
@settings(max_examples=examples(100))
def test_no_difference_of_shown_sums_is_about_fewer_than_ten_sealed_queries(sizes: dict[str, int]) -> None:
    hidden = left_out(facet(sizes), sealed(facet(sizes)))
    rest = sum(size for name, size in sizes.items() if name in hidden)
    assert rest == 0 or rest >= LEAST or len(hidden) == len(sizes)


def test_the_macro_mean_counts_each_stratum_the_same() -> None:
    found = macro_mean([np.array([0.0, 0.2]), np.array([0.8, 1.0, np.nan, 0.9]), np.array([np.nan])])
    assert found.value == pytest.approx(0.5)
    assert found.strata == 2
    # Of two strata it is half the sum, whose error is half that of Welch's difference.
    welch = ttest_ind([0.8, 1.0, 0.9], [0.0, 0.2], equal_var=False).confidence_interval()
    assert found.low == pytest.approx(0.5 - (welch.high - welch.low) / 4)


def test_the_macro_mean_of_one_stratum_is_the_mean_with_its_interval() -> None:
    values = np.array([0.0, 0.1, 0.9, 0.4, 0.35, np.nan, 0.5, 0.2, 0.7, 0.3, 0.1])
    (((low, high), _),) = mean_intervals(values[:, None])
    found = macro_mean([values, np.array([np.nan])])
    assert (found.low, found.high, found.strata) == (low, high, 1)


def test_the_median_has_the_interval_of_order_statistics() -> None:
    """Conover 1999: of 16 values the 4th and the 13th hold the median with 97.9 %."""
    found = median(np.arange(16) / 16)
    assert (found.value, found.low, found.high) == (7.5 / 16, 3 / 16, 12 / 16)
    assert median(np.array([0.1, 0.9])).low is None


def test_facets_are_those_that_the_release_has() -> None:
    about = {"source": "sampled", "part": "dev", "inclusion_probability": 0.5}
    rows = [
        {**about, "stratum": "head · short", "segment": "docs", "tags": ["question", "entity"]},
        {**about, "stratum": "tail · long", "segment": None, "tags": []},
        {**about, "stratum": "imported", "segment": None, "tags": ["entity"], "inclusion_probability": None},
    ]
    found = facets_of(rows, ["band", "length"])
    values = {name: {v: mask.tolist() for v, mask in one.values.items()} for name, one in found.items()}
    assert list(values) == ["stratum", "band", "length", "segment", "source", "part", "tag"]
    assert list(values["band"]) == ["head", "not sampled", "tail"]
    assert values["segment"]["no segment"] == [False, True, True]
    assert values["tag"] == {
        **{"entity": [True, False, True], "no tag": [False, True, False]},
        "question": [True, False, False],
    }
    assert not found["tag"].apart


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=40, max_size=40), min_size=1, max_size=6))
def test_overlapping_kinds_that_are_shown_differ_in_ten_sealed_queries_or_none(
    kinds: list[list[bool]],
) -> None:
    values = {str(number): np.array(one) for number, one in enumerate(kinds)}
    values["all but two"] = np.arange(40) >= 2
    sealed = np.arange(40) < 35
    hidden = left_out(Facet("cluster", values, apart=False), sealed)
    shown = [mask & sealed for value, mask in values.items() if value not in hidden]
    for one, other in combinations([sealed, *shown], 2):
        assert (one ^ other).sum() == 0 or (one ^ other).sum() >= LEAST
    assert "all but two" in hidden


def test_a_facet_that_rests_on_grades_is_shown_alike_for_every_run_or_not_at_all() -> None:
    """What is hidden would else say in which cell the few queries are that a run answers."""
    sealed, first = np.ones(40, bool), np.arange(40) < 20
    grid = Facet("grid", {"low": first, "high": ~first}, apart=True, by_grades=True)
    assert hidden_values(grid, [sealed]) == {}
    assert set(hidden_values(grid, [sealed, np.arange(40) < 25])) == {"low", "high"}
    plain = replace(grid, values={**grid.values, "third": np.zeros(40, bool)}, by_grades=False)
    assert set(hidden_values(plain, [sealed])) == {"third"}
