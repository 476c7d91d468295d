"""Rounds, questions: what people could not tell, flagged or said of queries; where the guide is unclear."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from curation.core.reports.page import QueryName
from curation.guides.questions import guide_questions, question_table
from curation.labeling.rounds.remarks import AnnotatorRemark, query_answer_counts, remarks
from curation.labeling.rounds.status import RoundStatus
from curation.people.seal_access import withheld
from curation.store import Store

SHOWN = 50


def show_questions(store: Store, status: RoundStatus, _: Acts) -> None:
    said, sealed = remarks(store, status.round)
    unclear = [one for one in said if one.grade is None]
    flagged = [one for one in said if one.flagged]
    answers = query_answer_counts(store, status.round)
    with store.reading() as cursor:
        questions = guide_questions(cursor)
    if not (said or sealed or answers or questions):
        st.info("Nobody chose “Cannot tell”, set a flag, or said whether the corpus answers a query yet.")
        return
    _remarks("Cannot tell", "Why", unclear)
    _remarks("Flagged", "Answer", flagged)
    ui.sentences(withheld(sealed, "remark"))
    if answers:
        rows = [
            (QueryName(answer.query, answer.query_id), answer.yes, answer.partly, answer.no)
            for answer in answers[:SHOWN]
        ]
        columns = ["Query", "Yes", "Partly", "No"]
        ui.table(_caption("Does the corpus answer the query?", len(answers)), columns, rows, words=True)
    if questions:
        caption = _caption("The guide is unclear here", len(questions))
        ui.tables(question_table(caption, questions[:SHOWN]))
        ui.quiet(
            "Questions of the whole project. Answer them under Guide › Questions; annotators see the answer "
            "at once."
        )


def _remarks(what: str, column: str, found: list[AnnotatorRemark]) -> None:
    if not found:
        return
    rows = [
        (
            QueryName(one.query, one.query_id, one.document_id),
            one.title,
            one.annotator,
            _answer(one) if column == "Answer" else one.reason or "",
            one.note or "",
        )
        for one in found[:SHOWN]
    ]
    columns = ["Query", "Document", "Who", column, "Note"]
    ui.table(_caption(what, len(found)), columns, rows, words=True)


def _answer(annotator_remark: AnnotatorRemark) -> str:
    return (
        f"cannot tell: {annotator_remark.reason or 'no reason'}"
        if annotator_remark.grade is None
        else f"grade {annotator_remark.grade}"
    )


def _caption(what: str, n: int) -> str:
    return f"{what}, {n:,}" if n <= SHOWN else f"{what}, {SHOWN} of {n:,}"
