"""Rounds, progress: how far each annotator is, how fast, and when the round will be done."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from app import ui
from app.acts import Acts
from curation.labeling.practice.status import practice_statuses, practice_table
from curation.labeling.rounds.forecast import AnnotatorPace, Forecast, annotators_work, forecast, pace
from curation.labeling.rounds.status import RoundStatus
from curation.labeling.rounds.tables import progress_table
from curation.reports.page import NumberCell
from curation.store import Store

PACE = ["Annotator", "Open", "Median seconds", "Answers an hour of work", "Hours of work left"]


def show(store: Store, status: RoundStatus, _: Acts) -> None:
    if status.kind == "practice":
        _practice(store, status.round)
        return
    work = annotators_work(store, status.round)
    left, middle, right = st.columns(3, gap="large")
    answered, of = (
        sum(getattr(one, name) for one in status.annotators) for name in ("answered", "presentations")
    )
    left.metric("Answered", f"{answered:,} of {of:,}")
    middle.metric("Pairs complete", f"{status.complete:,} of {status.candidates:,}")
    if status.closed_at is not None:
        right.metric("Closed", _day(status.closed_at))
        ui.quiet("Nobody is shown more of this round. An answer that still arrives is kept and marked late.")
    else:
        seen = forecast(work)
        right.metric("Done, as it goes now", _day(seen.done_at) if seen.done_at else "–")
        ui.quiet(_range(seen))
    ui.tables(progress_table(status))
    ui.quiet(
        "Blind duplicates are counted here. A pair is complete when all its first showings are answered."
    )
    if status.left_out:
        ui.sentences("\n".join(f"Left out: {count:,} {why}." for why, count in status.left_out.items()))
    _paces([pace(one) for one in work], status.closed)


def _paces(paces: list[AnnotatorPace], closed: bool) -> None:
    shown = [0, 2, 3] if closed else range(len(PACE))  # of a closed round nothing is left to do
    rows = [_pace(one) for one in paces]
    ui.table("Pace", [PACE[place] for place in shown], [[row[place] for place in shown] for row in rows])
    ui.quiet(
        "Seconds are those on screen. An hour of work leaves out pauses of more than ten minutes. A dash: "
        "fewer than ten answers, or a pace that is no person's."
    )
    fast = [f"{one.annotator} {one.hourly:,.0f}" for one in paces if one.too_fast]
    if fast:
        ui.quiet(
            f"More answers an hour than a person can read: {', '.join(fast)}. They came from a script, or "
            "many were sent at once; no pace is taken from them."
        )


def _pace(found: AnnotatorPace) -> tuple[object, ...]:
    hourly = None if found.too_fast else found.hourly
    figures = (found.seconds, 1), (hourly, 0), (found.hours_left, 1)
    return (found.annotator, found.open, *(NumberCell(*figure) for figure in figures))


def _range(seen: Forecast) -> str:
    if seen.low is None or seen.high is None:
        return seen.how
    return f"Between {_day(seen.low)} and {_day(seen.high)} in four of five cases. {seen.how}"


def _day(at: datetime) -> str:
    return f"{at:%d %b %Y}"


def _practice(store: Store, name: str) -> None:
    with store.reading() as cursor:
        found = [one for one in practice_statuses(cursor) if one.round == name]
    passed = sum(one.waived or bool(one.state.passed) for one in found)
    st.metric("May begin to label", f"{passed:,} of {len(found):,}")
    ui.tables(practice_table(found))
    if any(one.state.passed is False for one in found):
        ui.quiet("Who has not passed waits for you: under People, let them practise again or let them pass.")
