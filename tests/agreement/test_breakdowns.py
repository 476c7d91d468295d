"""Agreement in parts: each part is what the whole would be if it were all; annotator pairs by hand."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.agreement.annotator_pairs import NO_SPREAD, compare_annotator_pairs
from curation.agreement.breakdowns import NO_TAG, Breakdown, QueryTypes, compute_breakdowns
from curation.agreement.coefficients import agreement_weights, compute_cohen
from curation.agreement.grades import make_grades
from curation.agreement.inter_annotator import MINIMUM_UNITS, InterAgreement, compute_agreement
from tests.support import examples
from tests.support.grades import SCALE, GradeRow, judged, noisy
from tests.support.icecat import given_grades

Parts = tuple[Breakdown, ...]


def parts_of(rows: list[GradeRow], types: QueryTypes) -> tuple[Parts, Parts]:
    return compute_breakdowns(make_grades(rows), SCALE, types, 0, 20)


def alone(rows: list[GradeRow]) -> InterAgreement:
    return compute_agreement(make_grades(rows), SCALE, 0, 20)


def same_figures(part: Breakdown, whole: InterAgreement) -> bool:
    sizes = (part.alpha, whole.ordinal, part.raw, whole.raw)
    assert part.alpha.why == whole.ordinal.why
    assert part.alpha.value == pytest.approx(whole.ordinal.value, abs=1e-12)
    assert part.raw.value == pytest.approx(whole.raw.value, abs=1e-12)
    assert len({figure.n for figure in sizes}) == 1
    return part.queries == whole.queries


@settings(max_examples=examples(40))
@given(judged, st.sets(st.sampled_from("abcdef"), min_size=1, max_size=5))
def test_a_tags_figures_are_those_of_its_queries(rows: list[GradeRow], tagged: set[str]) -> None:
    by_type, _ = parts_of(rows, {"tag": {"question": frozenset(tagged)}})
    found = {part.name: part for part in by_type}
    for name, queries in (("question", tagged), (NO_TAG, set("abcdef") - tagged)):
        own = [row for row in rows if row[0] in queries]
        if name in found:
            assert same_figures(found[name], alone(own))
        else:
            assert alone(own).units == 0


@settings(max_examples=examples(40))
@given(judged)
def test_a_boundary_is_a_scale_of_its_two_sides(rows: list[GradeRow]) -> None:
    _, parts = parts_of(rows, {})
    assert [part.name for part in parts] in ([], ["0|1", "1|2", "2|3"])
    for upper, part in enumerate(parts, start=1):
        sides = [(*row[:3], int(row[3] >= upper)) for row in rows]
        two = compute_agreement(make_grades(sides), (0, 1), 0, 20)
        assert same_figures(part, two)
        if two.figures["nominal"].value is not None:
            assert part.alpha.value == pytest.approx(two.figures["nominal"].value, abs=1e-12)


def test_strata_are_parts_beside_the_tags() -> None:
    strata = {"head": frozenset(f"q{n:02}" for n in range(10)), "tail": frozenset({"q11"})}
    parts, _ = parts_of(noisy(), {"stratum": strata})
    assert [(part.kind, part.name, part.queries) for part in parts] == [
        ("stratum", "head", 10),
        ("stratum", "tail", 1),
    ]


def test_a_part_of_few_queries_has_no_interval_and_few_pairs_are_marked() -> None:
    (parts, _), _ = parts_of(noisy(), {"tag": {"entity": frozenset({"q01", "q02"})}})
    assert (parts.alpha.low, parts.alpha.n) == (None, 8)
    assert "fewer than 5 queries" in parts.alpha.why


def test_nothing_judged_twice_has_no_parts() -> None:
    assert parts_of([("q", "d", "ada", 1)], {}) == ((), ())


def table_of(rows: list[GradeRow], first: str, other: str) -> np.ndarray:
    given_by = {who: {row[:2]: row[3] for row in rows if row[2] == who} for who in (first, other)}
    table = np.zeros((4, 4), dtype=int)
    for pair in given_by[first].keys() & given_by[other].keys():
        table[given_by[first][pair], given_by[other][pair]] += 1
    return table


@settings(max_examples=examples(40))
@given(judged)
def test_figures_are_those_of_what_both_said_of_each_pair(rows: list[GradeRow]) -> None:
    people = sorted({row[2] for row in rows})
    expected = {two: table_of(rows, *two) for two in combinations(people, 2)}
    compared, few = compare_annotator_pairs(make_grades(rows), SCALE, 0, 20)
    enough = [two for two, table in expected.items() if table.sum() >= MINIMUM_UNITS]
    some = [two for two, table in expected.items() if table.sum() > 0]
    assert [(one.first, one.second) for one in compared] == enough
    assert few == len(some) - len(enough)
    for one in compared:
        table = expected[one.first, one.second]
        steps = np.arange(4)
        apart = (table * (steps[None, :] - steps[:, None])).sum() / table.sum()
        assert one.difference.value == pytest.approx(apart)
        assert one.raw.value == pytest.approx(np.trace(table) / table.sum())
        kappa = compute_cohen(table[None].astype(float), agreement_weights(4, "quadratic"))[0]
        assert one.kappa.value == pytest.approx(kappa) if not np.isnan(kappa) else one.kappa.value is None


def test_the_real_ratings_have_the_kappas_that_two_libraries_gave(shared: Path) -> None:
    compared, few = compare_annotator_pairs(make_grades(given_grades(shared)), SCALE, 0)
    assert {round(one.kappa.value, 4) for one in compared} == {0.7990, 0.7755, 0.7374}
    assert all(one.kappa.low < one.kappa.value < one.kappa.high for one in compared)
    assert few == 0


def test_who_grades_higher_is_told_with_an_interval() -> None:
    rows = [(f"q{n:02}", "d", "ada", n % 3) for n in range(40)]
    rows += [(f"q{n:02}", "d", "ben", n % 3 + (n % 4 > 0)) for n in range(40)]
    ((compared,), _) = compare_annotator_pairs(make_grades(rows), SCALE, 0)
    assert compared.difference.value == pytest.approx(0.75)
    assert 0.5 < compared.difference.low < 0.75 < compared.difference.high < 1


def test_two_who_always_say_the_same_one_grade_have_no_kappa_but_a_share() -> None:
    rows = [(f"q{n:02}", "d", who, 2) for n in range(20) for who in ("ada", "ben")]
    ((compared,), _) = compare_annotator_pairs(make_grades(rows), SCALE, 0)
    assert (compared.kappa.why, compared.raw.value) == (NO_SPREAD, 1)
