"""The coefficients against the figures that their authors and standard works print."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.agreement.coefficients import (
    agreement_weights,
    compute_alpha,
    compute_cohen,
    compute_gwet,
    compute_raw,
    count_coincidences,
)
from curation.core.statistics.arrays import Floats, Ints
from tests.support import examples

# K. Krippendorff (2011): twelve units of four observers, as counts of the values 1 to 5. K. L. Gwet (2014),
# Handbook of Inter-Rater Reliability, 4th ed., uses them too; the figures are from his package irrCAC 1.0
# (cac.raw4raters). The last unit has one grade, which counts for chance in his formulas.
GWET_2014 = "30000 03100 00400 00400 04000 11110 00040 31000 04000 00003 20000 00100"
# J. Cohen (1968), Weighted kappa, Psychological Bulletin 70, Table 1: 200 cases, weights of disagreement.
COHEN_1968 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
COHEN_WEIGHTS = [[0, 1, 3], [1, 0, 6], [3, 6, 0]]
# K. L. Gwet (2014), the three diagnoses of two abstractors (irrCAC 1.0, cont3x3abstractors).
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
counted = st.lists(
    st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(lambda row: sum(row) >= 2),
    min_size=2,
    max_size=12,
)
tables = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3)


def counts_of(text: str) -> Ints:
    return np.array([[int(digit) for digit in row] for row in text.split()])


def matrices(counts: Ints):
    return count_coincidences(counts, np.zeros(len(counts), dtype=np.int64), 1)


def stacked(table: list[list[int]]) -> Floats:
    return np.array([table], dtype=np.float64)


def identity(values: int) -> Floats:
    return agreement_weights(values, "identity")


def test_gwets_example_has_the_published_coefficients() -> None:
    counts = counts_of(GWET_2014)
    shares = matrices(counts).shares
    grades = (counts / counts.sum(axis=1, keepdims=True)).sum(axis=0)[None]
    assert compute_raw(shares)[0] == pytest.approx(0.8181818, abs=5e-8)
    assert compute_gwet(shares, identity(5), grades)[0] == pytest.approx(0.77544, abs=5e-6)
    assert compute_gwet(shares, agreement_weights(5, "quadratic"), grades)[0] == pytest.approx(
        0.914, abs=5e-4
    )


def test_gwets_table_of_two_annotators_has_the_published_coefficients() -> None:
    table = stacked(ABSTRACTORS)
    both = (table + table.transpose(0, 2, 1)) / 2
    assert compute_raw(both)[0] == pytest.approx(0.89, abs=1e-9)
    assert compute_cohen(table, identity(3))[0] == pytest.approx(0.7964094, abs=5e-8)
    assert compute_gwet(both, identity(3))[0] == pytest.approx(0.8493305, abs=5e-8)


def test_cohens_tables_have_the_published_kappas() -> None:
    """Cohen (1960) prints .492 for the same 200 cases, Cohen (1968) .348 with his weights."""
    assert compute_cohen(stacked(COHEN_1968), identity(3))[0] == pytest.approx(0.492, abs=5e-4)
    weights = 1 - np.array(COHEN_WEIGHTS) / 6
    assert compute_cohen(stacked(COHEN_1968), weights)[0] == pytest.approx(0.348, abs=5e-4)


def test_kappa_is_the_one_that_sas_prints() -> None:
    """SAS/STAT, PROC FREQ, Agreement Study: .3449 on 88 patients of two dermatologists."""
    skin = stacked([[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]])
    assert compute_cohen(skin, identity(4))[0] == pytest.approx(0.3449, abs=5e-5)


def test_weights_are_those_of_gwets_package() -> None:
    """irrCAC 1.0, vignette on weighting: three categories."""
    weights = agreement_weights(3, "quadratic")
    assert weights[0] == pytest.approx([1, 0.75, 0])
    assert (weights == weights.T).all()


@settings(max_examples=examples(50))
@given(counted)
def test_every_two_grades_of_a_unit_meet_once(rows: list[list[int]]) -> None:
    """The matrices against a list of all pairs of grades, unit by unit."""
    expected = np.zeros((3, 3, 3))
    for row in rows:
        given_grades = [value for value, times in enumerate(row) for _ in range(times)]
        many = len(given_grades)
        for one, other in combinations(given_grades, 2):
            for place, weight in enumerate((1, 1 / (many - 1), 1 / (many * (many - 1)))):
                expected[place, one, other] += weight
                expected[place, other, one] += weight
    met = matrices(np.array(rows))
    for place in range(3):
        assert met[place][0] == pytest.approx(expected[place])


@settings(max_examples=examples(50))
@given(counted)
def test_units_with_one_grade_add_nothing(rows: list[list[int]]) -> None:
    with_single = matrices(np.array([*rows, [0, 1, 0], [0, 0, 0]]))
    for before, after in zip(matrices(np.array(rows)), with_single, strict=True):
        assert (before == after).all()


@settings(max_examples=examples(50))
@given(tables)
def test_kappa_does_not_care_who_is_first(table: list[list[int]]) -> None:
    swapped = np.array(table).T.tolist()
    for weighting in ("identity", "quadratic"):
        weights = agreement_weights(3, weighting)
        one, other = (compute_cohen(stacked(table), weights), compute_cohen(stacked(swapped), weights))
        assert one == pytest.approx(other, nan_ok=True)


def test_a_stack_is_computed_each_for_itself() -> None:
    random = np.random.default_rng(3)
    counts = random.multinomial(3, [0.5, 0.3, 0.2], size=40)
    groups = np.repeat(np.arange(4), 10)
    together = count_coincidences(counts, groups, 4)
    for group in range(4):
        alone = matrices(counts[groups == group])
        for level in ("nominal", "ordinal"):
            one = compute_alpha(alone.coincidences, level)[0]
            assert one == compute_alpha(together.coincidences, level)[group]
