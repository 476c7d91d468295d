"""Each two annotators: figures against those counted one by one."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from curation.agreement.between.annotator_pairs import NO_SPREAD, annotator_pairs
from curation.agreement.between.coefficients import cohen_of, weights_of
from curation.agreement.between.grades import grades_of
from curation.agreement.between.inter_annotator import MINIMUM_UNITS
from tests.support import examples
from tests.support.grades import SCALE, GradeRow, judged


def table_of(rows: list[GradeRow], one: str, other: str) -> np.ndarray:
    given_by = {who: {row[:2]: row[3] for row in rows if row[2] == who} for who in (one, other)}
    table = np.zeros((4, 4), dtype=int)
    for pair in given_by[one].keys() & given_by[other].keys():
        table[given_by[one][pair], given_by[other][pair]] += 1
    return table


@settings(max_examples=examples(40))
@given(judged)
def test_figures_are_those_of_what_both_said_of_each_pair(rows: list[GradeRow]) -> None:
    people = sorted({row[2] for row in rows})
    expected = {two: table_of(rows, *two) for two in combinations(people, 2)}
    found, few = annotator_pairs(grades_of(rows), SCALE, 0, 20)
    enough = [two for two, table in expected.items() if table.sum() >= MINIMUM_UNITS]
    some = [two for two, table in expected.items() if table.sum() > 0]
    assert [(one.first, one.second) for one in found] == enough
    assert few == len(some) - len(enough)
    for one in found:
        table = expected[one.first, one.second]
        steps = np.arange(4)
        apart = (table * (steps[None, :] - steps[:, None])).sum() / table.sum()
        assert one.difference.value == pytest.approx(apart)
        assert one.raw.value == pytest.approx(np.trace(table) / table.sum())
        kappa = cohen_of(table[None].astype(float), weights_of(4, "quadratic"))[0]
        assert one.kappa.value == pytest.approx(kappa) if not np.isnan(kappa) else one.kappa.value is None


def test_the_real_ratings_have_the_kappas_that_two_libraries_gave(shared: Path) -> None:
    with (shared / "chorus_icecat/Broad_Query_Set_individual_ratings.csv").open(encoding="utf-8") as file:
        rows = [
            (row["query"], row["docid"], who, int(row[f"{who}_rating"]))
            for row in csv.DictReader(file)
            for who in ("agent_1", "agent_2", "agent_3")
        ]
    found, few = annotator_pairs(grades_of(rows), SCALE, 0)
    assert {round(one.kappa.value, 4) for one in found} == {0.7990, 0.7755, 0.7374}
    assert all(one.kappa.low < one.kappa.value < one.kappa.high for one in found)
    assert few == 0


def test_who_grades_higher_is_told_with_an_interval() -> None:
    rows = [(f"q{n:02}", "d", "ada", n % 3) for n in range(40)]
    rows += [(f"q{n:02}", "d", "ben", n % 3 + (n % 4 > 0)) for n in range(40)]
    ((one,), _) = annotator_pairs(grades_of(rows), SCALE, 0)
    assert one.difference.value == pytest.approx(0.75)
    assert 0.5 < one.difference.low < 0.75 < one.difference.high < 1


def test_two_who_always_say_the_same_one_grade_have_no_kappa_but_a_share() -> None:
    rows = [(f"q{n:02}", "d", who, 2) for n in range(20) for who in ("ada", "ben")]
    ((one,), _) = annotator_pairs(grades_of(rows), SCALE, 0)
    assert (one.kappa.undefined, one.raw.value) == (NO_SPREAD, 1)
