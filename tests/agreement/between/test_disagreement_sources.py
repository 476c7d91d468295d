"""Where the disagreement comes from, and which grades were taken for which: parts add up to the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from curation.agreement.between.disagreement_sources import (
    NO_REASON,
    SHOWN,
    ConfusedGrades,
    DisagreementSources,
    MetPair,
    PairRemark,
    Unjudged,
    Words,
    disagreement_sources,
)
from curation.agreement.between.grade_confusion import confusion
from curation.agreement.between.grades import Grades, JudgmentWords, grades_of, value_counts
from curation.agreement.between.inter_annotator import Basis, basis_of, inter_agreement
from curation.people.seal_access import SealAccess
from tests.support import examples
from tests.support.grades import SCALE, GradeRow, judged, noisy

NO_WORDS = Words({}, (), ())


def basis(grades: Grades) -> Basis:
    return basis_of(value_counts(grades, SCALE), grades.unit_queries)


def found_in(grades: Grades, words: Words = NO_WORDS) -> DisagreementSources:
    return disagreement_sources(basis(grades), grades, SCALE, words, SealAccess(frozenset()))


@settings(max_examples=examples(40))
@given(judged)
def test_lines_and_queries_add_up_to_all_disagreement(rows: list[GradeRow]) -> None:
    found = found_in(grades_of(rows))
    whole = inter_agreement(grades_of(rows), SCALE, 0, 10)
    assert sum(line.disagreement for line in found.lines) == pytest.approx(float(found.disagreeing > 0))
    assert sum(line.met for line in found.lines) == round((1 - (whole.raw.value or 0)) * whole.raw.pairs)
    if found.disagreeing <= SHOWN:
        assert sum(one.disagreement for one in found.queries) == pytest.approx(float(found.disagreeing > 0))
    shares = [one.disagreement for one in found.queries]
    assert shares == sorted(shares, reverse=True)


@settings(max_examples=examples(40))
@given(judged)
def test_the_confusion_table_is_symmetric_and_its_rows_are_shares(rows: list[GradeRow]) -> None:
    grades = grades_of(rows)
    table, whole = confusion(basis(grades), SCALE), inter_agreement(grades, SCALE, 0, 10)
    pairs = np.array(table.pairs)
    assert (pairs == pairs.T).all()
    assert (pairs.sum() + np.trace(pairs)) // 2 == whole.raw.pairs
    assert np.array(table.coincidences).sum(axis=1) == pytest.approx(whole.marginals)
    for row, given_times in zip(table.shares, whole.marginals, strict=True):
        assert (row is None) == (given_times == 0)
        assert row is None or sum(row) == pytest.approx(1)


def test_the_query_with_all_disagreement_holds_half_of_it_alone() -> None:
    rows = [(f"q{n}", "d", who, n % 4) for n in range(20) for who in ("ada", "ben")]
    rows += [("zz", "d", "ada", 0), ("zz", "d", "ben", 3)]
    found = found_in(grades_of(rows), Words({"zz": "cheap phone"}, (), ()))
    assert (found.half, found.disagreeing) == (1, 1)
    (one,) = found.queries
    assert (one.query_id, one.text, one.disagreement, one.units, one.disputed) == (
        "zz",
        "cheap phone",
        1,
        1,
        1,
    )
    assert one.pairs == pytest.approx(1 / 21)


def test_a_cell_of_the_confusion_table_has_its_pairs_and_names_no_sealed_one() -> None:
    rows = [("q", "d", "ada", 0), ("q", "d", "ben", 3), ("z", "e", "ada", 0), ("z", "e", "ben", 3)]
    found = disagreement_sources(
        basis(grades_of(rows)), grades_of(rows), SCALE, NO_WORDS, SealAccess(frozenset("z"))
    )
    assert found.met == (ConfusedGrades(0, 3, 2, (MetPair("q", "q", "d"),)),)


def test_a_jump_over_the_scale_weighs_more_than_a_step() -> None:
    rows = [(f"q{n}", "d", who, n % 4) for n in range(20) for who in ("ada", "ben")]
    rows += [("y", "d", "ada", 1), ("y", "d", "ben", 2), ("z", "d", "ada", 0), ("z", "d", "ben", 3)]
    wide, narrow = found_in(grades_of(rows)).lines
    assert ((wide.lower, wide.upper), (narrow.lower, narrow.upper)) == ((0, 3), (1, 2))
    assert wide.disagreement > 5 * narrow.disagreement


def test_words_stand_at_the_line_that_their_pair_crosses() -> None:
    rows = [(f"q{n}", "d", who, 1 + (who == "ben")) for n in range(3) for who in ("ada", "ben")]
    rows += [("same", "d", "ada", 2), ("same", "d", "ben", 2)]
    grades = grades_of(rows)._replace(
        said=[JudgmentWords(0, "note", "an accessory"), JudgmentWords(3, "note", "fine")]
    )
    decisions = [
        ("q0", "d", 2, "fits"),
        ("q1", "d", 1, "no"),
        ("q2", "d", 2, "fits"),
    ]
    unseen = [("same", "d", 2, "clear"), ("elsewhere", "d", 0, "gone")]
    words = Words({}, [*decisions, *unseen], [("q1", "d", "Are accessories useful?")])
    (line,) = found_in(grades, words).lines
    assert (line.units, line.decided, line.towards_lower, line.towards_upper) == (3, 3, 1, 2)
    assert line.remarks == (
        PairRemark("decision", "fits", 2),
        PairRemark("decision", "no", 1),
        PairRemark("note", "an accessory", 1),
        PairRemark("question", "Are accessories useful?", 1),
    )
    assert line.unshown == 0


def test_reasons_for_cannot_tell_say_whether_others_could() -> None:
    rows = [("q", "d", "ada", None), ("q", "d", "ben", 2), ("r", "d", "ada", None), ("s", "d", "ada", None)]
    grades = grades_of(rows)._replace(
        said=[JudgmentWords(0, "cannot tell", "broken"), JudgmentWords(1, "cannot tell", "broken")]
    )
    assert found_in(grades).unjudged == (Unjudged("broken", 2, 1), Unjudged(NO_REASON, 1, 0))


def test_without_disagreement_nothing_is_shared_out() -> None:
    rows = [(f"q{n}", "d", who, n % 2) for n in range(12) for who in ("ada", "ben")]
    found = found_in(grades_of(rows))
    assert (found.queries, found.lines, found.half, found.disagreeing) == ((), (), 0, 0)


def test_at_most_ten_queries_are_told_and_all_are_counted() -> None:
    found = found_in(grades_of(noisy(40)))
    assert len(found.queries) == SHOWN
    assert found.disagreeing > SHOWN
    assert 1 <= found.half < found.disagreeing
