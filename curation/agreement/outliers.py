"""Outliers: annotators who are left out when other annotators are compared.

A few bad annotators make good annotators look biased. So annotators who clearly agree with nobody, give one
grade only, or grade much higher or lower are excluded from the others, the worst first. Then all annotators
are compared again, until no further annotator stands out. The outliers are always a minority, because a
majority may be right.
"""

from __future__ import annotations

import numpy as np

from curation.agreement.agreement_with_others import GradeTotals, SharedGrades, follows, test_kappa, test_mean
from curation.agreement.grades import Grades
from curation.agreement.modal_grade import compute_one_grade_p, iterate_shared_grades
from curation.core.statistics.arrays import Mask
from curation.core.statistics.multiple_tests import find_fdr_threshold

OUTLIER_BIAS = 0.25
"""An annotator whose bias reaches this many grades is an outlier."""
FALSE_OUTLIER_SHARE = 0.05
"""Maximum average share of annotators who are outliers by chance alone."""
ANNOTATORS_PER_EXCLUSION = 20
"""Each step excludes one in this many annotators, so that a large group needs few steps."""
AGREEMENT, ONE_GRADE, BIAS = "agreement", "one grade", "bias"
_TestResults = dict[int, tuple[float, float]]
"""Map from an annotator's index to p value and rank; the annotator with the lowest rank is excluded first."""


def find_outliers(grades: Grades) -> dict[str, str]:
    """Find the annotators who are left out when others are compared, with the reason for each.

    Reason 'agreement': the annotator agrees with the others clearly less than half as well as the others
    agree among themselves. Reason 'one grade': the annotator gives almost only one grade, on pairs to which
    the others gave different grades. Reason 'bias': the annotator grades much higher or lower.
    """
    graded = grades.graded_by_annotator
    is_compared = np.ones(len(grades.names), dtype=bool)
    outliers: dict[str, str] = {}
    max_outliers = (len(np.unique(graded.people)) - 1) // 2
    while len(outliers) < max_outliers:
        worst = _find_worst(graded, is_compared)
        if worst is None:
            break
        reason, annotators = worst
        batch_size = max(1, int(is_compared.sum()) // ANNOTATORS_PER_EXCLUSION)
        batch = annotators[: min(batch_size, max_outliers - len(outliers))]
        is_compared[batch] = False
        outliers |= {grades.names[annotator]: reason for annotator in batch}
    return dict(sorted(outliers.items()))


def find_uninformative(grades: Grades) -> frozenset[str]:
    """Find the annotators whose grades do not depend on the pair, so that repeated grades say nothing about
    consistency.
    """
    return frozenset(name for name, reason in find_outliers(grades).items() if reason != BIAS)


def _find_worst(graded: Grades, is_compared: Mask) -> tuple[str, list[int]] | None:
    """Find the annotators to exclude next, worst first, with the reason; None if no annotator needs
    excluding."""
    totals = GradeTotals(graded, is_compared)
    shared_of = {annotator: totals.share(annotator) for annotator in np.flatnonzero(is_compared).tolist()}
    shared_of = {annotator: shared for annotator, shared in shared_of.items() if shared.has_enough}
    agreement, followers = _test_agreement(totals, shared_of)
    one_grade: _TestResults = {}
    for annotator, (steps, other_counts) in enumerate(iterate_shared_grades(graded, is_compared)):
        if annotator in shared_of and annotator not in followers:
            p = compute_one_grade_p(steps, other_counts)
            one_grade[annotator] = (p, p)
    for reason, tests in ((AGREEMENT, agreement), (ONE_GRADE, one_grade), (BIAS, _test_bias(shared_of))):
        p_values = [p for p, _ in tests.values()]
        untested_count = len(shared_of) - len(p_values)
        threshold = find_fdr_threshold([*p_values, *[1.0] * untested_count], FALSE_OUTLIER_SHARE)
        significant = sorted((rank, annotator) for annotator, (p, rank) in tests.items() if p <= threshold)
        if significant:
            return reason, [annotator for _, annotator in significant]
    return None


def _test_agreement(totals: GradeTotals, shared_of: dict[int, SharedGrades]) -> tuple[_TestResults, set[int]]:
    """Test each annotator's agreement, and find the annotators who follow the others' grades."""
    tests, followers = {}, set()
    for annotator, shared in shared_of.items():
        others = totals.compare_others(annotator, shared)
        comparison = test_kappa(shared, others)
        if comparison is None:
            continue
        kappa, p = comparison
        if p is not None:
            tests[annotator] = (p, kappa)
        if follows(kappa, np.inf if others is None else others.kappa):
            followers.add(annotator)
    return tests, followers


def _test_bias(shared_of: dict[int, SharedGrades]) -> _TestResults:
    tests = {}
    for annotator, shared in shared_of.items():
        differences = shared.grade - shared.mean
        size = abs(differences.mean())
        if size >= OUTLIER_BIAS:
            tests[annotator] = (test_mean(differences, shared.query), -size)
    return tests
