"""Rounds, progress: how far each annotator is, how fast, and when the round will be done."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from app import ui
from app.acts import Acts
from curation.labeling.practice.status import practice_statuses, practice_table
from curation.labeling.rounds.forecast import AnnotatorWork, Forecast, annotators_work, forecast, pace
from curation.labeling.rounds.round_tables import progress_table
from curation.labeling.rounds.status import RoundStatus, round_status
from curation.relabeling.staleness.fingerprint import set_fingerprint
from curation.store import Store

EVERY = 10.0
"""Seconds after which the page looks whether anything has changed."""
_SHOWN = "round progress"


def show(store: Store, status: RoundStatus, _: Acts) -> None:
    if status.kind == "practice":
        _practice(store, status.round)
        return
    st.session_state.pop(_SHOWN, None)
    st.fragment(_follow, run_every=EVERY)(store, status)


def _follow(store: Store, first: RoundStatus) -> None:
    """Draw the progress; read again where something has changed."""
    with store.reading() as cursor:
        version = set_fingerprint(cursor)
    before: tuple[object, RoundStatus, list[AnnotatorWork]] | None = st.session_state.get(_SHOWN)
    if before is not None and before[0] == version:
        _, status, work = before
    else:
        status = first if before is None else round_status(store, first.round)
        work = annotators_work(store, first.round)
        st.session_state[_SHOWN] = (version, status, work)
    _draw(status, work)


def _draw(status: RoundStatus, work: list[AnnotatorWork]) -> None:
    left, middle, right = st.columns(3, gap="large")
    answered, of = (
        sum(getattr(annotator, name) for annotator in status.annotators)
        for name in ("answered", "presentations")
    )
    left.metric("Answered", f"{answered:,} of {of:,}")
    middle.metric("Pairs complete", f"{status.complete:,} of {status.candidates:,}")
    if status.closed_at is not None:
        right.metric("Closed", _day(status.closed_at))
        ui.quiet("This round is closed and shows no more items. Late answers are kept and marked.")
    else:
        seen = forecast(work)
        right.metric("Forecast", _day(seen.done_at) if seen.done_at else "–")
        ui.quiet(_range(seen))
    paces = [pace(one) for one in work]
    ui.tables(progress_table(status, paces))
    ui.quiet(
        "Answered includes blind duplicates. A pair is complete when all its first showings are answered. "
        "Seconds are on screen; an hour is one of work, without pauses of more than ten minutes. "
        "A dash: fewer than ten answers."
    )
    fast = [f"{one.annotator} {one.hourly:,.0f}" for one in paces if one.too_fast]
    if fast:
        ui.quiet(
            f"More answers an hour than a person can read: {', '.join(fast)}. They came from a script, or "
            "many were sent at once; no pace is taken from them."
        )
    if status.left_out:
        ui.sentences("\n".join(f"Left out: {count:,} ({why})." for why, count in status.left_out.items()))


def _range(seen: Forecast) -> str:
    if seen.low is None or seen.high is None:
        return seen.how
    return f"Between {_day(seen.low)} and {_day(seen.high)} (80 %). {seen.how}"


def _day(at: datetime) -> str:
    return f"{at:%d %b %Y}"


def _practice(store: Store, name: str) -> None:
    with store.reading() as cursor:
        found = [
            practice_status for practice_status in practice_statuses(cursor) if practice_status.round == name
        ]
    passed = sum(one.waived or bool(one.state.passed) for one in found)
    st.metric("Ready to label", f"{passed:,} of {len(found):,}")
    ui.tables(practice_table(found))
    if any(one.state.passed is False for one in found):
        ui.quiet("Some people did not pass: under People, let them practise again or let them pass.")
