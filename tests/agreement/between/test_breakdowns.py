"""Agreement in parts: each part is what the whole would be, were there nothing but the part."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.agreement.between.breakdowns import NO_TAG, Breakdown, Part, breakdown
from curation.agreement.between.grades import Grades, Types, grades_of
from curation.agreement.between.inter_annotator import InterAgreement, inter_agreement
from tests.support import examples
from tests.support.grades import SCALE, GradeRow, judged, noisy

NO_TYPES = Types({}, {})


def parts_of(rows: list[GradeRow], types: Types = NO_TYPES, resamples: int = 20) -> Breakdown:
    return breakdown(grades_of(rows), SCALE, types, 0, resamples)


def alone(rows: list[GradeRow]) -> InterAgreement:
    return inter_agreement(grades_of(rows), SCALE, 0, 20)


def same_figures(part: Part, whole: InterAgreement) -> bool:
    sizes = (part.alpha, whole.ordinal, part.raw, whole.raw)
    assert part.alpha.undefined == whole.ordinal.undefined
    assert part.alpha.value == pytest.approx(whole.ordinal.value, abs=1e-12)
    assert part.raw.value == pytest.approx(whole.raw.value, abs=1e-12)
    assert len({(figure.units, figure.pairs) for figure in sizes}) == 1
    assert part.raw.too_few == whole.raw.too_few
    return part.queries == whole.queries


@settings(max_examples=examples(40))
@given(judged, st.sets(st.sampled_from("abcdef"), min_size=1, max_size=5))
def test_a_tags_figures_are_those_of_its_queries(rows: list[GradeRow], tagged: set[str]) -> None:
    found = {part.name: part for part in parts_of(rows, Types({"question": frozenset(tagged)}, {})).type}
    for name, queries in (("question", tagged), (NO_TAG, set("abcdef") - tagged)):
        own = [row for row in rows if row[0] in queries]
        if name in found:
            assert same_figures(found[name], alone(own))
        else:
            assert alone(own).units == 0


@settings(max_examples=examples(40))
@given(judged)
def test_a_boundary_is_a_scale_of_its_two_sides(rows: list[GradeRow]) -> None:
    parts = parts_of(rows).boundary
    assert [part.name for part in parts] in ([], ["0|1", "1|2", "2|3"])
    for upper, part in enumerate(parts, start=1):
        sides = [(*row[:3], int(row[3] >= upper)) for row in rows]
        two = inter_agreement(grades_of(sides), (0, 1), 0, 20)
        assert same_figures(part, two)
        if two.figures["nominal"].value is not None:
            assert part.alpha.value == pytest.approx(two.figures["nominal"].value, abs=1e-12)


def dated(rows: list[GradeRow], weeks: list[str]) -> Grades:
    """The rows with the week in which each was submitted; rows come ordered."""
    return grades_of(rows)._replace(at=np.array(weeks, dtype="datetime64[us]"))


def test_a_pair_belongs_to_the_week_of_its_latest_grade() -> None:
    rows = [("q", document, who, 1) for document in "xy" for who in ("ada", "ben")]
    grades = dated(rows, ["2026-05-04", "2026-05-17T23:59", "2026-05-10", "2026-05-04"])
    found = breakdown(grades, SCALE, NO_TYPES, 0, 10).week
    assert [(part.name, part.alpha.units) for part in found] == [("2026-05-04", 1), ("2026-05-11", 1)]
    assert all(date.fromisoformat(part.name).weekday() == 0 for part in found)


def test_a_weeks_figures_are_those_of_its_pairs_at_every_boundary() -> None:
    rows = sorted(noisy())
    week = {f"q{query:02}": ["2026-05-04", "2026-05-11"][query % 2] for query in range(30)}
    found = breakdown(dated(rows, [week[row[0]] for row in rows]), SCALE, NO_TYPES, 0, 100).week
    assert len(found) == 2
    for part in found:
        own = [row for row in rows if week[row[0]] == part.name]
        assert same_figures(part, alone(own))
        for mine, theirs in zip(part.boundaries, parts_of(own).boundary, strict=True):
            assert mine.alpha.value == pytest.approx(theirs.alpha.value, abs=1e-12)


def test_strata_are_parts_beside_the_tags() -> None:
    strata = {"head": frozenset(f"q{n:02}" for n in range(10)), "tail": frozenset({"q11"})}
    found = parts_of(noisy(), Types({}, strata)).type
    assert [(part.kind, part.name, part.queries) for part in found] == [
        ("stratum", "head", 10),
        ("stratum", "tail", 1),
    ]


def test_a_part_of_few_queries_has_no_interval_and_few_pairs_are_marked() -> None:
    found = parts_of(noisy(), Types({"entity": frozenset({"q01", "q02"})}, {})).type[0]
    assert (found.alpha.low, found.alpha.too_few, found.alpha.units) == (None, True, 8)
    assert "fewer than 5 queries" in found.alpha.no_interval


def test_nothing_judged_twice_has_no_parts() -> None:
    assert parts_of([("q", "d", "ada", 1)]) == Breakdown((), (), ())
