"""Where the disagreement comes from, and which grades were taken for which: parts add up to the whole."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings

from curation.agreement.bias import Decisions
from curation.agreement.disagreement_sources import (
    NO_REASON,
    SHOWN,
    DisagreementSources,
    count_grade_confusion,
    find_sources,
)
from curation.agreement.grades import Grades, count_values, make_grades
from curation.agreement.inter_annotator import Overlap, compute_agreement, find_overlap
from curation.people.seal_access import SealAccess
from tests.support import examples
from tests.support.grades import SCALE, GradeRow, judged, noisy


def basis(grades: Grades) -> Overlap:
    return find_overlap(count_values(grades, SCALE), grades.unit_queries)


def found_in(
    grades: Grades,
    texts: Mapping[str, str] = MappingProxyType({}),
    decisions: Decisions = MappingProxyType({}),
    sealed: str = "",
) -> DisagreementSources:
    access = SealAccess(frozenset(sealed))
    return find_sources(basis(grades), grades, SCALE, texts, decisions, access)


@settings(max_examples=examples(40))
@given(judged)
def test_lines_and_queries_add_up_to_all_disagreement(rows: list[GradeRow]) -> None:
    sources = found_in(make_grades(rows))
    whole = compute_agreement(make_grades(rows), SCALE, 0, 10)
    assert sum(line.disagreement for line in sources.lines) == pytest.approx(float(sources.disagreeing > 0))
    assert sum(line.met for line in sources.lines) == round((1 - (whole.raw.value or 0)) * whole.pairs)
    if sources.disagreeing <= SHOWN:
        assert sum(query.disagreement for query in sources.queries) == pytest.approx(
            float(sources.disagreeing > 0)
        )
    shares = [query.disagreement for query in sources.queries]
    assert shares == sorted(shares, reverse=True)


@settings(max_examples=examples(40))
@given(judged)
def test_the_confusion_table_is_symmetric_and_its_rows_are_shares(rows: list[GradeRow]) -> None:
    grades = make_grades(rows)
    table, whole = count_grade_confusion(basis(grades), SCALE), compute_agreement(grades, SCALE, 0, 10)
    pairs = np.array(table.pairs)
    assert (pairs == pairs.T).all()
    assert (pairs.sum() + np.trace(pairs)) // 2 == whole.pairs
    for row, given_times in zip(table.shares, whole.marginals, strict=True):
        assert (row is None) == (given_times == 0)
        assert row is None or sum(row) == pytest.approx(1)


def test_the_query_with_all_disagreement_holds_half_of_it_alone() -> None:
    rows = [(f"q{n}", "d", who, n % 4) for n in range(20) for who in ("ada", "ben")]
    rows += [("zz", "d", "ada", 0), ("zz", "d", "ben", 3)]
    sources = found_in(make_grades(rows), {"zz": "cheap phone"})
    assert (sources.half, sources.disagreeing) == (1, 1)
    (one,) = sources.queries
    assert (one.query_id, one.text) == ("zz", "cheap phone")
    assert (one.disagreement, one.units, one.disputed) == (1, 1, 1)
    assert one.pairs == pytest.approx(1 / 21)


def test_a_cell_of_the_confusion_table_has_its_pairs_and_names_no_sealed_one() -> None:
    rows = [("q", "d", "ada", 0), ("q", "d", "ben", 3), ("z", "e", "ada", 0), ("z", "e", "ben", 3)]
    (line,) = found_in(make_grades(rows), sealed="z").lines
    assert (line.lower, line.upper, line.pairs) == (0, 3, 2)
    assert line.named == (("q", "q", "d"),)


def test_a_jump_over_the_scale_weighs_more_than_a_step() -> None:
    rows = [(f"q{n}", "d", who, n % 4) for n in range(20) for who in ("ada", "ben")]
    rows += [("y", "d", "ada", 1), ("y", "d", "ben", 2), ("z", "d", "ada", 0), ("z", "d", "ben", 3)]
    wide, narrow = found_in(make_grades(rows)).lines
    assert ((wide.lower, wide.upper), (narrow.lower, narrow.upper)) == ((0, 3), (1, 2))
    assert wide.disagreement > 5 * narrow.disagreement


def test_decisions_count_at_the_line_that_their_pair_crosses() -> None:
    rows = [(f"q{n}", "d", who, 1 + (who == "ben")) for n in range(3) for who in ("ada", "ben")]
    rows += [("same", "d", "ada", 2), ("same", "d", "ben", 2)]
    decisions = {("q0", "d"): 2, ("q1", "d"): 1, ("q2", "d"): 2, ("same", "d"): 2, ("elsewhere", "d"): 0}
    (line,) = found_in(make_grades(rows), decisions=decisions).lines
    assert (line.units, line.decided, line.towards_lower, line.towards_upper) == (3, 3, 1, 2)


def test_reasons_for_cannot_tell_say_whether_others_could() -> None:
    rows = [("q", "d", "ada", None), ("q", "d", "ben", 2), ("r", "d", "ada", None), ("s", "d", "ada", None)]
    grades = make_grades(rows)._replace(reasons=[(0, "broken"), (1, "broken")])
    assert found_in(grades).unjudged == (("broken", 2, 1), (NO_REASON, 1, 0))


def test_at_most_ten_queries_are_told_and_all_are_counted() -> None:
    sources = found_in(make_grades(noisy(40)))
    assert len(sources.queries) == SHOWN
    assert sources.disagreeing > SHOWN
    assert 1 <= sources.half < sources.disagreeing
