"""One annotator against the others: bias, drift, and the feedback that comes of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from curation.agreement.annotator_metrics import AnnotatorMetrics
from curation.agreement.bias import ONE_TIME, AnnotatorBias, compute_biases
from curation.agreement.feedback import compute_annotator_details, find_feedback
from curation.agreement.grades import Grades, make_grades
from curation.store import Store
from tests.support.grades import import_grades

START = datetime(2026, 3, 2)


def graded(off: np.ndarray, each: int = 5, at: np.ndarray | None = None) -> Grades:
    """Ada's grades above (or below) ben's 3; `each` a query, two queries a day."""
    number = len(off)
    days = np.arange(number) // each
    own = np.asarray([START + timedelta(hours=12 * int(q)) for q in days], dtype="datetime64[us]")
    rows = [
        (f"q{pair // each:03}", f"d{pair:04}", who, 3) for pair in range(number) for who in ("ada", "ben")
    ]
    grades = make_grades(rows)
    value = grades.grades.copy()
    value[::2] += (off * 10).astype(np.int64)  # tenths of a grade, to be told apart
    when = own if at is None else at
    return grades._replace(grades=value, at=np.repeat(when, 2))


def bias_of(off: np.ndarray, **more: Any) -> AnnotatorBias:
    return compute_biases(graded(off, **more), {})["ada"]


def noise(number: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).choice([-1, 0, 0, 0, 1], size=number).astype(np.float64)


def abouts(bias: AnnotatorBias) -> set[str]:
    return {row.about for row in find_feedback(AnnotatorMetrics("ada", bias=bias))}


def test_where_nothing_is_the_matter_there_is_nothing_to_talk_about() -> None:
    bias = bias_of(noise(300))
    assert bias.low < 0 < bias.high
    assert bias.trend_p > 0.05
    assert abouts(bias) == set()


def test_a_bias_is_told_in_grades_with_its_interval() -> None:
    bias = bias_of(noise(300) + 0.5)
    assert bias.bias == pytest.approx(5, abs=1)
    assert 3.5 < bias.low < bias.bias < bias.high < 6.5
    assert abouts(bias) == {"bias"}


def test_a_drift_is_a_move_from_the_first_query_to_the_last() -> None:
    bias = bias_of(noise(400) + np.linspace(-0.6, 0.6, 400))
    assert bias.trend == pytest.approx(12, abs=4)
    assert bias.trend_p <= 0.002
    assert "drift" in abouts(bias)


def test_too_little_is_said_to_be_too_little() -> None:
    few = bias_of(noise(29))
    assert (few.bias, few.grades) == (None, 29)
    assert "29 grades" in few.undefined
    assert "1 query " in bias_of(noise(100), each=100).undefined


def test_grades_that_came_at_one_time_have_no_order() -> None:
    bias = bias_of(noise(100), at=np.full(100, np.datetime64("2026-03-02", "us")))
    assert bias.bias is not None
    assert (bias.trend, bias.no_trend) == (None, ONE_TIME)


@pytest.mark.slow
def test_an_import_without_times_has_no_order_and_so_no_drift(store: Store) -> None:
    """Sorted by grade in the file, everybody would drift, and every pair would be of one week."""
    rows = [
        (f"q{n // 6}", f"d{n}", who, min(3, n // 15 + (who == "ben" and n > 30)))
        for who in ("ada", "ben")
        for n in range(60)
    ]
    import_grades(store, rows)
    ada, ben = compute_annotator_details(store)
    for one in (ada, ben):
        assert one.bias.bias is not None
        assert one.bias.trend is None
        assert one.bias.no_trend == "60 of 60 grades were imported without a time, so their order is unknown"


def test_grades_with_a_time_keep_their_order_beside_imported_ones_without() -> None:
    off = noise(400) + np.linspace(-0.6, 0.6, 400)
    at = np.asarray([START + timedelta(hours=n) for n in range(400)], dtype="datetime64[us]")
    rest = bias_of(off[40:], at=at[40:])
    at[:40] = np.datetime64("NaT")
    bias = bias_of(off, at=at)
    assert bias.grades == 400
    assert (bias.trend, bias.trend_p) == (rest.trend, rest.trend_p)


def test_a_grade_is_never_compared_with_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curation.agreement.bias.MINIMUM_GRADES", 1)
    monkeypatch.setattr("curation.agreement.bias.MINIMUM_QUERIES", 2)
    rows = {"a": {"ada": 3, "ben": 1}, "b": {"ada": 2, "ben": 1, "cyd": 1}, "c": {"ada": 0}, "d": {"ada": 3}}
    grades = make_grades((f"q{d}", d, who, grade) for d, said in rows.items() for who, grade in said.items())
    biases = compute_biases(grades, {("qd", "d"): 1, ("qa", "a"): None})
    assert (biases["ada"].bias, biases["ada"].grades) == (1.5, 2)  # b: 2 - 1; d: 3 - the decision
    assert biases["cyd"].grades == 1  # b: 1 - the mean of 2 and 1
    assert compute_biases(grades, {})["ada"].bias == (2 + 1) / 2  # a: 3 - 1; b: 2 - 1; c, d: nobody else
