"""Rounds, Progress and Questions: the answers so far, the forecast of the end, and items that people asked
about.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from curation.agreement.fingerprint import read_set_fingerprint
from curation.core.reports.tables import QueryName
from curation.core.text import describe_left_out
from curation.guides.questions import build_question_table, list_questions
from curation.labeling.rounds.pace import AnnotatorWork, forecast_end, read_annotators_work
from curation.labeling.rounds.practice import build_practice_table, read_practice_statuses
from curation.labeling.rounds.remarks import AnnotatorRemark, count_query_answers, list_remarks
from curation.labeling.rounds.status import RoundStatus, build_progress_table, read_round_status
from curation.people.seal_access import withheld
from curation.store import Store

EVERY = 10.0
"""Seconds between two checks whether the project has changed."""
_SHOWN = "round progress"

SHOWN = 50


def show(store: Store, status: RoundStatus, _: Acts) -> None:
    if status.kind == "practice":
        _practice(store, status.round)
        return
    st.session_state.pop(_SHOWN, None)
    st.fragment(_follow, run_every=EVERY)(store, status)


def _follow(store: Store, first: RoundStatus) -> None:
    """Draw the progress of a round; read the progress again if the project has changed."""
    with store.reading() as cursor:
        version = read_set_fingerprint(cursor)
    before: tuple[object, RoundStatus, list[AnnotatorWork]] | None = st.session_state.get(_SHOWN)
    if before is not None and before[0] == version:
        _, status, work = before
    else:
        status = first if before is None else read_round_status(store, first.round)
        work = read_annotators_work(store, first.round)
        st.session_state[_SHOWN] = (version, status, work)
    _draw(status, work)


def _draw(status: RoundStatus, work: list[AnnotatorWork]) -> None:
    left, middle, right = st.columns(3, gap="large")
    answered = sum(annotator.answered for annotator in status.annotators)
    presentations = sum(annotator.presentations for annotator in status.annotators)
    left.metric("Answered", f"{answered:,} of {presentations:,}")
    middle.metric("Pairs complete", f"{status.complete:,} of {status.candidates:,}")
    if status.closed_at is not None:
        right.metric("Closed", f"{status.closed_at:%d %b %Y}")
        ui.quiet("This round is closed and shows no more items. Late answers are kept and marked.")
    else:
        done_at, how = forecast_end(work)
        right.metric("Forecast", f"{done_at:%d %b %Y}" if done_at else "–")
        ui.quiet(how)
    ui.tables(build_progress_table(status, work))
    ui.quiet(
        "Answered includes blind duplicates. A pair is complete when all its first showings are answered. "
        "Seconds are the time on screen. Hours are hours of work without pauses over ten minutes. "
        "A dash means fewer than ten answers."
    )
    fast = [f"{person.annotator} {person.hourly:,.0f}" for person in work if person.too_fast]
    if fast:
        ui.quiet(
            f"More answers an hour than a person can read: {', '.join(fast)}. A script sent these answers, "
            "or somebody sent many at once. These answers do not count for the forecast."
        )
    ui.sentences(*describe_left_out(status.left_out))


def _practice(store: Store, name: str) -> None:
    with store.reading() as cursor:
        statuses = [status for status in read_practice_statuses(cursor) if status.round == name]
    passed = sum(status.waived or bool(status.state.passed) for status in statuses)
    st.metric("Ready to label", f"{passed:,} of {len(statuses):,}")
    ui.tables(build_practice_table(statuses))
    if any(status.state.passed is False for status in statuses):
        ui.quiet("Some people did not pass practice. Let them pass, or practise again, under Team.")


def show_questions(store: Store, status: RoundStatus, _: Acts) -> None:
    shown, sealed = list_remarks(store, status.round)
    unclear = [remark for remark in shown if remark.grade is None]
    flagged = [remark for remark in shown if remark.flagged]
    answers = count_query_answers(store, status.round)
    with store.reading() as cursor:
        questions = list_questions(cursor)
    if not (shown or sealed or answers or questions):
        st.info("Nobody has chosen “Cannot tell”, set a flag, or said whether the corpus answers a query.")
        return
    _remarks("Cannot tell", "Why", unclear)
    _remarks("Flagged", "Answer", flagged)
    ui.sentences(withheld(sealed, "remark"))
    if answers:
        rows = [(QueryName(query, query_id), *counts) for query_id, query, *counts in answers[:SHOWN]]
        columns = ["Query", "Yes", "Partly", "No"]
        ui.table(_caption("Does the corpus answer the query?", len(answers)), columns, rows, words=True)
    if questions:
        caption = _caption("The guide is unclear here", len(questions))
        ui.tables(build_question_table(caption, questions[:SHOWN]))
        ui.quiet(
            "Questions about the guide in all rounds. Answer them under Guide › Questions; annotators "
            "see the answer at once."
        )


def _remarks(what: str, column: str, shown: list[AnnotatorRemark]) -> None:
    if not shown:
        return
    rows = [
        (
            QueryName(remark.query, remark.query_id, remark.document_id),
            remark.title,
            remark.annotator,
            _answer(remark) if column == "Answer" else remark.reason or "",
            remark.note or "",
        )
        for remark in shown[:SHOWN]
    ]
    columns = ["Query", "Document", "Who", column, "Note"]
    ui.table(_caption(what, len(shown)), columns, rows, words=True)


def _answer(remark: AnnotatorRemark) -> str:
    if remark.grade is None:
        return f"cannot tell: {remark.reason or 'no reason'}"
    return f"grade {remark.grade}"


def _caption(what: str, n: int) -> str:
    return f"{what}, {n:,}" if n <= SHOWN else f"{what}, {SHOWN} of {n:,}"
