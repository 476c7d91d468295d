"""Pace and forecast: by what was answered lately, person by person, and silent where there is too little."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.labeling.judging import Submission
from curation.labeling.rounds.pace import AnnotatorWork, forecast_end, read_annotators_work
from curation.labeling.rounds.remarks import count_query_answers, list_remarks
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.projects import grid, open_for

NOW = datetime(2026, 5, 8, 12)


def daily(name: str, left: int, each: int, days: int = 7) -> AnnotatorWork:
    """So many answers on each of the last days."""
    at = [NOW - timedelta(days=day, hours=-1) for day in range(days, 0, -1) for _ in range(each)]
    return AnnotatorWork(name, left, at, [2.0] * len(at))


def test_the_slowest_decides_when_a_round_is_done() -> None:
    done_at, how = forecast_end([daily("ada", 30, 30), daily("ben", 60, 20)], NOW)
    assert done_at is not None
    assert (done_at - NOW) / timedelta(days=1) == pytest.approx(60 / 20, rel=0.01)
    assert "ben finishes last" in how


def test_who_is_done_holds_nothing_up() -> None:
    _, how = forecast_end([daily("ada", 30, 30), AnnotatorWork("ben", 0, [], [])], NOW)
    assert "ada finishes last" in how
    assert forecast_end([daily("ada", 0, 30)], NOW)[1] == "No items are open."


def test_without_a_pace_there_is_no_forecast_but_a_reason() -> None:
    begun = AnnotatorWork("cleo", 9, [NOW - timedelta(minutes=n) for n in range(30, 0, -1)], [])
    rested = AnnotatorWork("dora", 9, [NOW - timedelta(days=20)] * 50, [])
    done_at, how = forecast_end([daily("ada", 30, 30), AnnotatorWork("ben", 5, [], []), begun, rested], NOW)
    assert (done_at, how) == (
        None,
        "No forecast: ben has not answered yet; cleo began to answer less than an hour ago; dora answered 0 "
        "items in the last 7 days; 10 are needed.",
    )


@given(left=st.integers(1, 10_000), more=st.integers(1, 1_000))
def test_more_left_is_done_later(left: int, more: int) -> None:
    one, two = (forecast_end([daily("ada", n, 20)], NOW)[0] for n in (left, left + more))
    assert one is not None
    assert two is not None
    assert NOW < one < two


def test_pauses_are_no_work() -> None:
    at = [NOW + timedelta(seconds=20 * n) for n in range(15)]
    at += [NOW + timedelta(hours=5, seconds=20 * n) for n in range(15)]
    work = AnnotatorWork("ada", 90, at, [4.0] * 29 + [400.0])
    assert (work.median_seconds, work.hourly, work.hours_left) == (4.0, 180.0, 0.5)
    few = AnnotatorWork("ada", 90, at[:5], [4.0] * 5)
    assert (few.median_seconds, few.hourly, few.hours_left) == (None, None, None)


def test_answers_that_nobody_can_have_read_make_no_forecast() -> None:
    quick = [NOW - timedelta(hours=3, milliseconds=50 * n) for n in range(40, 0, -1)]
    work = AnnotatorWork("ada", 90, quick, [4.0] * 40)
    assert work.too_fast
    assert work.hours_left is None
    assert "ada answered faster than a person can read" in forecast_end([work], NOW)[1]
    brisk = [NOW - timedelta(hours=3, seconds=1.5 * n) for n in range(40, 0, -1)]
    assert not AnnotatorWork("ada", 90, brisk, []).too_fast


def test_work_remarks_and_query_answers_of_a_round_are_read(store: Store) -> None:
    open_for(store, grid(2, 3), "ada", seed=1)
    first, second, third, *_ = read_queue(store, "ada", 10).showings
    done = submit_judgments(
        store,
        "ada",
        [
            Submission(first.presentation_id, 0, "grade", "a" * 8, 2, active_ms=1500),
            Submission(second.presentation_id, 0, "cannot_tell", "b" * 8, reason="broken", note="cut off"),
            Submission(third.presentation_id, 0, "grade", "c" * 8, 3, flagged=True),
            Submission(first.presentation_id, 1, "grade", "d" * 8, 1, active_ms=90),
        ],
    )
    assert {one.status for one in done} == {"saved"}
    answer_query(store, "ada", first.presentation_id, "partly", "key of it")
    (work,) = read_annotators_work(store, "first")
    assert (work.annotator, work.open, len(work.answered)) == ("ada", 3, 3)
    assert work.seconds == [1.5], "the time of the first answer, not of its change"
    said = list_remarks(store, "first")[0]
    assert {(one.annotator, one.grade, one.reason, one.note, one.flagged) for one in said} == {
        ("ada", None, "broken", "cut off", False),
        ("ada", 3, None, None, True),
    }
    assert count_query_answers(store, "first") == [(first.query, first.query, 0, 1, 0)]
