"""Rounds, Questions: the remarks and questions of a round's annotators."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from curation.core.reports.tables import QueryName
from curation.guides.questions import build_question_table, list_questions
from curation.labeling.rounds.remarks import AnnotatorRemark, count_query_answers, list_remarks
from curation.labeling.rounds.status import RoundStatus
from curation.people.seal_access import describe_withheld_pairs
from curation.store import Store

MAX_ROWS = 50


def show(store: Store, status: RoundStatus, _: Acts) -> None:
    all_remarks, sealed = list_remarks(store, status.round)
    unclear = [remark for remark in all_remarks if remark.grade is None]
    flagged = [remark for remark in all_remarks if remark.flagged]
    answers = count_query_answers(store, status.round)
    with store.reading() as cursor:
        questions = list_questions(cursor)
    if not (all_remarks or sealed or answers or questions):
        st.info("Nobody has answered “Cannot tell”, set a flag, or said whether the corpus answers a query.")
        return
    _show_remarks("Cannot tell", "Why", unclear)
    _show_remarks("Flagged", "Answer", flagged)
    ui.sentences(describe_withheld_pairs(sealed, "remark"))
    if answers:
        rows = [(QueryName(query, query_id), *counts) for query_id, query, *counts in answers[:MAX_ROWS]]
        columns = ["Query", "Yes", "Partly", "No"]
        ui.table(_write_caption("Does the corpus answer the query?", len(answers)), columns, rows, words=True)
    if questions:
        caption = _write_caption("The guide is unclear here", len(questions))
        ui.tables(build_question_table(caption, questions[:MAX_ROWS]))
        ui.note(
            "Questions about the guide in all rounds. Answer them under Guide › Questions; annotators "
            "see the answer at once."
        )


def _show_remarks(title: str, column: str, remarks: list[AnnotatorRemark]) -> None:
    if not remarks:
        return
    rows = [
        (
            QueryName(remark.query, remark.query_id, remark.document_id),
            remark.title,
            remark.annotator,
            _describe_answer(remark) if column == "Answer" else remark.reason or "",
            remark.note or "",
        )
        for remark in remarks[:MAX_ROWS]
    ]
    columns = ["Query", "Document", "Who", column, "Note"]
    ui.table(_write_caption(title, len(remarks)), columns, rows, words=True)


def _describe_answer(remark: AnnotatorRemark) -> str:
    if remark.grade is None:
        return f"cannot tell: {remark.reason or 'no reason'}"
    return f"grade {remark.grade}"


def _write_caption(title: str, count: int) -> str:
    shown = f"{count:,}" if count <= MAX_ROWS else f"{MAX_ROWS} of {count:,}"
    return f"{title}, {shown}"
