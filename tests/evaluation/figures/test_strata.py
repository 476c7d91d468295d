"""Figures by kind of query: which are left out, and macro mean, median and worst stratum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from curation.evaluation.figures.means import mean_intervals
from curation.evaluation.figures.strata import EMPTY, FEW_SEALED, SMALL, macro_mean, median, suppressed_strata
from curation.evaluation.scoring.inputs.facets import Facet, facets_of


def facet(sizes: dict[str, int]) -> Facet:
    """Kinds of so many queries, one after another."""
    starts = np.cumsum([0, *sizes.values()])
    place = np.arange(starts[-1])
    masks = {
        name: (place >= start) & (place < start + size)
        for (name, size), start in zip(sizes.items(), starts.tolist(), strict=False)
    }
    return Facet("kind", masks)


def sealed(found: Facet, inside: bool = True) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.full(len(next(iter(found.values.values()))), inside)


def test_fewer_than_ten_queries_have_figures_where_nothing_is_sealed() -> None:
    kinds = facet({"a": 9, "b": 1, "c": 0, "d": 40})
    assert suppressed_strata(kinds, sealed(kinds, False)) == {"c": EMPTY}
    assert suppressed_strata(kinds, sealed(kinds)) == {"a": SMALL, "b": SMALL, "c": EMPTY}


def test_a_kind_with_few_sealed_queries_has_no_figures() -> None:
    kinds = facet({"a": 30, "b": 40, "c": 9, "d": 10})
    some = sealed(kinds, False)
    some[21:] = True
    assert suppressed_strata(kinds, some) == {"a": FEW_SEALED, "c": SMALL}


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
