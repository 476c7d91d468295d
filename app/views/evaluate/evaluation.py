"""Evaluate, an evaluation: the report of an evaluation, with its results query by query."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.views.evaluate import by_query
from curation.evaluation.evaluable_release import EvaluableRelease
from curation.evaluation.report.query_sections import QUERY_BY_QUERY
from curation.evaluation.report.run_sections import SYSTEMS
from curation.evaluation.stored_evaluations import SubmittedEvaluation, read_report, read_result
from curation.store import Annotator, Store

MAX_NAMED_SYSTEMS = 4


def ask_evaluation(
    release: EvaluableRelease,
    part: str,
    on_part: Sequence[SubmittedEvaluation],
    on_others: Sequence[SubmittedEvaluation],
    newest_id: str | None,
) -> SubmittedEvaluation | None:
    """Ask for an evaluation; None if this part has none and the person chooses no other.

    Parameters
    ----------
    on_part, on_others: the evaluations on this part of the release, and all other evaluations.
    newest_id: the id of the evaluation that this person has just made; None if the person has not made one.
    """
    ids = [item.evaluation_id for item in on_part]
    index = ids.index(newest_id) if newest_id in ids else 0
    return st.selectbox(
        "Evaluation",
        [*on_part, *on_others],
        index if on_part else None,
        format_func=_describe_evaluation,
        key=f"evaluation {release.row.release_id} {part} {newest_id}",
        placeholder=f"No evaluation on {part} of {release.row.name} yet. Choose another evaluation",
    )


def show(
    store: Store,
    annotator: Annotator,
    evaluation: SubmittedEvaluation,
    peers: Sequence[SubmittedEvaluation],
    page_warnings: Sequence[str],
) -> None:
    """Show the report of an evaluation, with its figures as downloads.

    Parameters
    ----------
    peers: other evaluations on the same part, whose runs can be compared with the runs of `evaluation`.
    page_warnings: the warnings that the page shows already; the report leaves these warnings out.
    """
    with store.reading() as cursor:
        report = read_report(cursor, evaluation.evaluation_id, annotator)
        figures_json = read_result(cursor, evaluation.evaluation_id, annotator)
    shown = [section.tables[0] for section in report.sections if section.heading == SYSTEMS]
    ui.tables(*shown)
    known = (*page_warnings, *(f"{row[0]}: {table.columns[1]} " for table in shown for row in table.rows))
    ui.sentences(*(line for line in (*report.findings, report.lead) if not line.startswith(known)))
    by_query.show(store, annotator, evaluation, peers)
    ui.folded((section for section in report.sections if section.heading != QUERY_BY_QUERY), words=True)
    ui.note(report.remark)
    with st.container(horizontal=True):
        ui.download("Download the report", report.html, "report.html")
        ui.download("Download the tables", report.markdown, "tables.md")
        ui.download("Download all figures", figures_json, "evaluation.json")


def _describe_evaluation(evaluation: SubmittedEvaluation) -> str:
    more = " …" if len(evaluation.systems) > MAX_NAMED_SYSTEMS else ""
    systems = ", ".join(evaluation.systems[:MAX_NAMED_SYSTEMS]) + more
    made = f"{evaluation.made_at:%d %b %Y %H:%M} UTC, {evaluation.author}"
    return f"{made}: {systems} on {evaluation.name}, {', '.join(evaluation.parts)}"
