"""Rounds, Progress: how much of a round is answered, by whom, and when the round is expected to end."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from curation.agreement.fingerprint import read_set_fingerprint
from curation.core.text import describe_left_out
from curation.labeling.rounds.pace import AnnotatorWork, forecast_end, read_annotators_work
from curation.labeling.rounds.practice import build_practice_table, read_practice_statuses
from curation.labeling.rounds.status import RoundStatus, build_progress_table, read_round_status
from curation.store import Store

SECONDS_BETWEEN_CHECKS = 10.0
_LAST_READ = "round progress"
"""The session key of the last read progress: the version of the project, the status and the work."""


def show(store: Store, status: RoundStatus, _: Acts) -> None:
    if status.kind == "practice":
        _show_practice(store, status.round)
        return
    st.session_state.pop(_LAST_READ, None)
    st.fragment(_follow_progress, run_every=SECONDS_BETWEEN_CHECKS)(store, status)


def _follow_progress(store: Store, first_status: RoundStatus) -> None:
    """Draw the progress of a round; reread it if the project has changed."""
    with store.reading() as cursor:
        version = read_set_fingerprint(cursor)
    last_read: tuple[object, RoundStatus, list[AnnotatorWork]] | None = st.session_state.get(_LAST_READ)
    if last_read is not None and last_read[0] == version:
        _, status, work = last_read
    else:
        status = first_status if last_read is None else read_round_status(store, first_status.round)
        work = read_annotators_work(store, first_status.round)
        st.session_state[_LAST_READ] = (version, status, work)
    _show_progress(status, work)


def _show_progress(status: RoundStatus, work: list[AnnotatorWork]) -> None:
    left, middle, right = st.columns(3, gap="large")
    answered = sum(annotator.answered for annotator in status.annotators)
    presentations = sum(annotator.presentations for annotator in status.annotators)
    left.metric("Answered", f"{answered:,} of {presentations:,}")
    middle.metric("Pairs complete", f"{status.complete:,} of {status.candidates:,}")
    if status.closed_at is not None:
        right.metric("Closed", f"{status.closed_at:%d %b %Y}")
        ui.note(
            "This round is closed: annotators see no more items. Late answers are kept and marked as late."
        )
    else:
        end, basis = forecast_end(work)
        right.metric("Forecast", f"{end:%d %b %Y}" if end else "–")
        ui.note(basis)
    ui.tables(build_progress_table(status, work))
    ui.note(
        "“Answered” counts blind duplicates, too. A pair is complete once every annotator who got it has "
        "answered. “Seconds” is the median time on screen. “Hours” is working time, excluding pauses of "
        "over ten minutes. A dash means fewer than ten answers."
    )
    too_fast = [f"{person.annotator} {person.hourly:,.0f}" for person in work if person.too_fast]
    if too_fast:
        ui.note(
            f"Too fast to have read the documents: {', '.join(too_fast)}. A script sent these "
            "answers, or somebody sent many together. The forecast leaves these answers out."
        )
    ui.sentences(*describe_left_out(status.left_out))


def _show_practice(store: Store, name: str) -> None:
    with store.reading() as cursor:
        statuses = [status for status in read_practice_statuses(cursor) if status.round == name]
    passed = sum(status.waived or bool(status.state.passed) for status in statuses)
    st.metric("Ready to label", f"{passed:,} of {len(statuses):,}")
    ui.tables(build_practice_table(statuses))
    if any(status.state.passed is False for status in statuses):
        ui.note("Some people did not pass the practice round. Let them pass or practise again under Team.")
