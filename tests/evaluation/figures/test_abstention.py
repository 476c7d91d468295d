"""What a run's confidence says about queries that the corpus does not answer."""

from __future__ import annotations

import numpy as np
import pytest

from curation.evaluation.figures.abstention import (
    WHY_CONSTANT,
    WHY_TOO_FEW,
    compute_abstention_figures,
    find_confidences,
    find_threshold,
)

NOTHING = -np.inf


def classes(answerable: int, unanswerable: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    relevant = np.repeat([1, 0], [answerable, unanswerable])
    return relevant, np.ones(len(relevant), np.int64), np.zeros(len(relevant), bool)


def test_the_grades_decide_and_a_tag_against_them_leaves_a_query_out() -> None:
    """Queries: relevant; relevant but tagged; nothing relevant; the same, tagged; not judged, tagged."""
    tagged = np.array([False, True, False, True, True])
    relevant, judged = np.array([2, 1, 0, 0, 0]), np.array([5, 5, 5, 5, 0])
    confidence = np.array([1.0, NOTHING, NOTHING, 1, NOTHING])
    figures = compute_abstention_figures(confidence, relevant, judged, tagged, seed=0)
    assert (figures.answerable, figures.unanswerable) == (1, 2)
    assert (figures.empty_answerable.value, figures.empty_unanswerable.value) == (0, 0.5)
    assert (figures.tagged, figures.contradictory, figures.unjudged) == (1, 1, 1)


def test_a_confidence_that_separates_refuses_all_and_keeps_nearly_all() -> None:
    figures = compute_abstention_figures(
        np.concatenate([np.arange(21.0, 61), np.arange(1.0, 11)]), *classes(40, 10), seed=0
    )
    assert figures.area.value == figures.area.high == 1
    assert 0.8 < figures.area.low < 1
    assert figures.threshold == 23
    assert (figures.refused.value, figures.refused.high, figures.refused.n) == (1, 1, 10)
    assert figures.refused.low == pytest.approx(0.722, abs=1e-3)


def test_a_threshold_keeps_at_least_its_share_and_ties_are_kept() -> None:
    assert find_threshold(np.arange(1.0, 101)) == 6
    assert find_threshold(np.arange(1.0, 20)) == 1  # 18 of 19 would be 94.7 %
    assert find_threshold(np.array([1.0, 1, 1, 5] * 10)) == 1
    assert find_threshold(np.arange(1.0, 101), 0.5) == 51


def test_the_confidence_is_the_highest_score_in_any_order_of_lines() -> None:
    found = find_confidences(np.array([2, 0, 2, 0]), np.array([1.0, -3, 4, -2]), 3)
    assert found.tolist() == [-2, NOTHING, 4]


def test_the_refusal_rate_is_worked_out_by_hand() -> None:
    """20 answerable with 1..20: the threshold is 2. Three of 8 unanswerable ones are below, one is at it."""
    figures = compute_abstention_figures(
        np.array([*range(1, 21), 0.5, 1, 1.5, 2, 7, 8, 9, 10], float), *classes(20, 8), seed=1
    )
    assert figures.threshold == 2
    assert figures.refused.value == 3 / 8
    assert 0 <= figures.refused.low < 3 / 8 < figures.refused.high < 1


def test_queries_without_a_document_count_as_refused_and_are_counted() -> None:
    confidence = np.array([3.0, 4, 5, 6, NOTHING, NOTHING, NOTHING, 2, 1, 1])
    figures = compute_abstention_figures(confidence, *classes(5, 5), seed=0)
    assert figures.empty_unanswerable.value == 2 / 5
    assert figures.empty_answerable.value == 1 / 5
    assert figures.note.startswith(
        "2 of the 5 unanswerable queries have no row in the file. They count as refused"
    )
    assert figures.threshold is None  # an answerable query without a document: nothing keeps 95 %
    assert figures.refused.value == 0
    assert figures.area.value == pytest.approx((4 * 5 + 2 * 0.5) / 25)


def test_few_queries_and_constant_scores_have_no_area_and_say_why() -> None:
    few = compute_abstention_figures(np.arange(20.0), *classes(16, 4), seed=0)
    assert (few.area.value, few.refused.value, few.area.why) == (None, None, WHY_TOO_FEW)
    assert few.empty_unanswerable[::3] == (0, 4)
    constant = compute_abstention_figures(np.full(20, -1.0), *classes(10, 10), seed=0)
    assert (constant.area.value, constant.area.why) == (None, WHY_CONSTANT)


def test_random_confidence_has_an_area_around_a_half() -> None:
    random = np.random.default_rng(0)
    areas = [
        compute_abstention_figures(random.normal(size=60), *classes(40, 20), seed=0).area for _ in range(100)
    ]
    assert np.mean([one.value for one in areas]) == pytest.approx(0.5, abs=0.03)
    inside = [one.low <= 0.5 <= one.high for one in areas if one.low is not None and one.high is not None]
    assert np.mean(inside) >= 0.9
