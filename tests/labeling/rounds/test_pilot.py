"""Pilots: the same queries for everyone, and what their disagreement teaches."""

from __future__ import annotations

import pytest

from curation.core.errors import RefusedError
from curation.core.statistics.estimate import Estimate
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.pilot import measure_boundaries, report_pilot
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once, grade_next, grid, open_for, rows_of

PEOPLE = ["ada", "grace", "joan"]


@built_once
def pilot(store: Store) -> Store:
    add_pairs(store, grid(15, 2))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("pilot", PEOPLE, pilot=True, seed=4))
    return store


def test_everyone_gets_the_same_ten_queries(pilot: Store) -> None:
    given = rows_of(
        pilot,
        "SELECT annotator, list(DISTINCT query_id ORDER BY query_id), count(*) FROM presentations GROUP BY 1",
    )
    assert len(given) == 3
    assert {len(queries) for _, queries, _ in given} == {10}
    assert {tuple(queries) for _, queries, _ in given} == {tuple(given[0][1])}
    assert {count for _, _, count in given} == {20}


def test_the_same_seed_takes_the_same_queries_and_says_what_it_leaves(store: Store) -> None:
    add_pairs(store, grid(15, 2))
    add_names(store, *PEOPLE)
    opened = open_round(store, RoundRequest("pilot", PEOPLE, pilot=True, seed=4, queries=3))
    assert opened.left_out == {"the query was not drawn for the pilot": 24}


def test_what_a_pilot_showed_can_be_judged_and_only_then_counts(pilot: Store) -> None:
    for who in PEOPLE:
        grade_next(pilot, who, 50)
    assert rows_of(pilot, "SELECT count(*) FROM counted_judgments") == [(0,)]
    assert open_round(pilot, RoundRequest("real", PEOPLE, overlap=3, duplicates=0)).candidates == 30


def test_another_pilot_takes_other_queries(pilot: Store) -> None:
    assert open_round(pilot, RoundRequest("pilot 2", PEOPLE, pilot=True)).candidates == 10
    with pytest.raises(RefusedError, match="No candidates are left to judge"):
        open_round(pilot, RoundRequest("pilot 3", PEOPLE, pilot=True))


def test_disagreement_is_counted_at_each_boundary() -> None:
    grades = {("q1", "a"): (0, 1), ("q1", "b"): (2, 2), ("q2", "c"): (0, 3, 3), ("q3", "d"): (1,)}
    found = measure_boundaries(grades, (0, 1, 2, 3))
    assert [(b.lower, b.upper, b.apart, b.share.n) for b in found] == [
        (0, 1, 3, 5),
        (1, 2, 2, 5),
        (2, 3, 2, 5),
    ]
    share = found[0].share
    assert share.value == pytest.approx(0.6)
    assert share.low is not None
    assert share.low <= 0.6 <= (share.high or 0)


def test_a_boundary_that_nobody_compared_has_no_share() -> None:
    assert measure_boundaries({("q", "d"): (1,)}, (0, 1)) == ((0, 1, 0, Estimate()),)
    assert measure_boundaries({}, (0, 1)) == ((0, 1, 0, Estimate()),)
    alone = measure_boundaries({("q", "d"): (0, 1)}, (0, 1))[0]
    assert alone.share == Estimate(1.0, n=1)


def test_the_report_shows_the_widest_differences_with_notes_and_without_names(pilot: Store) -> None:
    grade_next(pilot, "ada", 20, grade=0)
    item = read_queue(pilot, "grace", 1).showings[0]
    submit_judgments(
        pilot, "grace", [Submission(item.presentation_id, 0, "grade", "press-0001", 3, note="it does answer")]
    )
    grade_next(pilot, "grace", 4, grade=1)
    report = report_pilot(pilot, "pilot")
    assert (report.pairs, report.compared, report.unanswered, report.differing) == (20, 5, 35, 5)
    assert [one.grades for one in report.spreads] == [(0, 3), *[(0, 1)] * 4]
    assert report.spreads[0].notes == ("it does answer",)
    assert [(b.apart, b.share.n) for b in report.boundaries] == [(5, 5), (1, 5), (1, 5)]
    assert list(report.guide_hashes.values()) == [25]
    assert not set(PEOPLE) & set(str(report.spreads).replace("'", " ").split())


def test_only_a_pilot_has_a_pilots_report(store: Store) -> None:
    open_for(store, grid(2, 2), "ada", duplicates=0.08)
    with pytest.raises(RefusedError, match="not a pilot"):
        report_pilot(store, "first")
