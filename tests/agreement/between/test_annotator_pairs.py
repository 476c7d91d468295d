"""Each two annotators: tables and kappas against those counted one by one."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from curation.agreement.between import annotator_pairs
from curation.agreement.between.annotator_pairs import FEW_SHARED, NO_PAIR, NO_SPREAD, cohen
from curation.agreement.between.coefficients import cohen_of, weights_of
from curation.agreement.between.grades import Grades, grades_of
from curation.agreement.between.inter_annotator import inter_agreement
from tests.support import examples
from tests.support.grades import SCALE, GradeRow, judged, noisy


def table_of(rows: list[GradeRow], one: str, other: str) -> np.ndarray:
    given_by = {who: {row[:2]: row[3] for row in rows if row[2] == who} for who in (one, other)}
    table = np.zeros((4, 4), dtype=int)
    for pair in given_by[one].keys() & given_by[other].keys():
        table[given_by[one][pair], given_by[other][pair]] += 1
    return table


@settings(max_examples=examples(40))
@given(judged)
def test_a_couples_table_is_what_both_said_of_each_pair(rows: list[GradeRow]) -> None:
    people = sorted({row[2] for row in rows})
    expected = {two: table_of(rows, *two) for two in combinations(people, 2)}
    found = cohen(grades_of(rows), SCALE, 0, 20)
    enough = [two for two, table in expected.items() if table.sum() >= annotator_pairs.MINIMUM_UNITS]
    some = [two for two, table in expected.items() if table.sum() > 0]
    assert [(one.first, one.second) for one in found.annotator_pairs] == enough
    assert sum(found.left_out.values()) == len(some) - len(enough)
    for one in found.annotator_pairs:
        table = expected[one.first, one.second]
        assert np.array_equal(one.table, table)
        steps = np.arange(4)
        apart = (table * (steps[None, :] - steps[:, None])).sum() / table.sum()
        assert one.difference.value == pytest.approx(apart)
        for name, weighting in (("plain", "identity"), ("linear", "linear"), ("quadratic", "quadratic")):
            kappa = cohen_of(table[None].astype(float), weights_of(4, weighting))[0]
            value = getattr(one, name).value
            assert value == pytest.approx(kappa) if not np.isnan(kappa) else value is None
        both = grades_of(row for row in rows if row[2] in (one.first, one.second))
        whole = inter_agreement(both, SCALE, 0, 20).ordinal.alpha
        assert one.alpha.value == (None if whole is None else pytest.approx(whole))


def test_the_real_ratings_have_the_kappas_that_two_libraries_gave(shared: Path) -> None:
    with (shared / "chorus_icecat/Broad_Query_Set_individual_ratings.csv").open(encoding="utf-8") as file:
        rows = [
            (row["query"], row["docid"], who, int(row[f"{who}_rating"]))
            for row in csv.DictReader(file)
            for who in ("agent_1", "agent_2", "agent_3")
        ]
    found = cohen(grades_of(rows), SCALE, 0)
    plain = {round(one.plain.value, 4) for one in found.annotator_pairs}
    assert plain == {0.6820, 0.6458, 0.6013}
    assert {round(one.quadratic.value, 4) for one in found.annotator_pairs} == {0.7990, 0.7755, 0.7374}
    assert found.plain.value == pytest.approx(sum(plain) / 3, abs=5e-5)
    assert found.quadratic.low < found.quadratic.value < found.quadratic.high


def test_the_mean_weighs_a_couple_by_the_pairs_that_it_shares() -> None:
    rows = noisy(20) + [(f"r{n:02}", "d", who, n % 4) for n in range(40) for who in ("x", "y")]
    found = cohen(grades_of(rows), SCALE, 0, 50)
    expected = sum(one.plain.value * one.raw.units for one in found.annotator_pairs) / found.plain.units
    assert found.plain.value == pytest.approx(expected)
    assert found.plain.units == 3 * 80 + 40


def alike(random: np.random.Generator, queries: int, people: int, each: int = 4) -> Grades:
    """Two of so many people grade each query's documents; a true grade is hit in three of four cases."""
    rows = []
    for query in range(queries):
        judges = random.choice(people, 2, replace=False)
        for document, true in enumerate(random.integers(4, size=each)):
            said = np.where(random.random(2) < 0.75, true, random.integers(4, size=2))
            rows += [
                (f"q{query:03}", f"d{document}", f"a{who:02}", int(g))
                for who, g in zip(judges, said, strict=True)
            ]
    return grades_of(rows)


@pytest.mark.slow
def test_the_interval_of_the_mean_makes_up_for_couples_that_share_few_pairs() -> None:
    """True kappa is .75² = .5625: both know the grade, or they agree by chance; grades are even."""
    random = np.random.default_rng(4)
    found = [cohen(alike(random, 330, 12, each=3), SCALE, run, 200).plain for run in range(16)]
    held = sum(one.low <= 0.5625 <= one.high for one in found)
    percentile = [(one.low - 2 * one.too_low_by, one.high - 2 * one.too_low_by) for one in found]
    assert held >= 14, f"{held} of 16"
    assert sum(low <= 0.5625 <= high for low, high in percentile) <= 11


def test_couples_that_share_few_queries_have_a_mean_without_an_interval() -> None:
    found = cohen(alike(np.random.default_rng(0), 60, 6, each=12), SCALE, 0, 100)
    assert found.shared_queries < 5
    assert found.plain.value is not None
    assert (found.plain.low, found.plain.high, found.plain.no_interval) == (None, None, FEW_SHARED)


def test_who_grades_higher_is_told_with_an_interval() -> None:
    rows = [(f"q{n:02}", "d", "ada", n % 3) for n in range(40)]
    rows += [(f"q{n:02}", "d", "ben", n % 3 + (n % 4 > 0)) for n in range(40)]
    (one,) = cohen(grades_of(rows), SCALE, 0).annotator_pairs
    assert one.difference.value == pytest.approx(0.75)
    assert 0.5 < one.difference.low < 0.75 < one.difference.high < 1


def test_two_who_always_say_the_same_one_grade_have_no_kappa_but_a_share() -> None:
    rows = [(f"q{n:02}", "d", who, 2) for n in range(20) for who in ("ada", "ben")]
    found = cohen(grades_of(rows), SCALE, 0)
    assert found.annotator_pairs[0].plain.undefined == found.plain.undefined == NO_SPREAD
    assert found.annotator_pairs[0].raw.value == 1


def test_without_a_couple_kappa_is_undefined_with_a_reason() -> None:
    found = cohen(grades_of([("q", "d", "ada", 1), ("q", "d", "ben", 1)]), SCALE, 0)
    assert found.plain.undefined == NO_PAIR
    assert (found.annotator_pairs, found.left_out) == ((), {"fewer than 10 shared pairs": 1})


def test_one_couple_has_one_interval() -> None:
    """The mean over annotator pairs of one pair is that pair's kappa, with its interval."""
    found = cohen(alike(np.random.default_rng(3), 20, 2), SCALE, 1)
    (couple,) = found.annotator_pairs
    assert (found.quadratic.low, found.quadratic.high) == (couple.quadratic.low, couple.quadratic.high)
    assert found.quadratic.too_low_by is None
