"""Evaluate, a report: the sections of an evaluation as the HTML page has them, and downloads."""

from __future__ import annotations

import streamlit as st

from app import ui
from curation.evaluation.report.page import EvaluationReport
from curation.evaluation.submitted import SubmittedEvaluation, submitted_report
from curation.store import Annotator, Store

OPEN = 2
"""Sections that are open when a report is shown."""


def show(store: Store, annotator: Annotator, found: list[SubmittedEvaluation], newest: str | None) -> None:
    """Choose one of the evaluations that this person may see, and show it."""
    ui.heading("Evaluations")
    ids = [one.evaluation_id for one in found]
    labels = {one.evaluation_id: _label(one) for one in found}
    chosen = st.selectbox(
        "Evaluation",
        ids,
        ids.index(newest) if newest in ids else 0,
        format_func=labels.__getitem__,
        key=f"of {newest}",
    )
    with store.reading() as cursor:
        report, result = submitted_report(cursor, chosen, annotator)
    _report(report)
    with st.container(horizontal=True):
        icon = ":material/download:"
        st.download_button("Download the report", report.html, "report.html", "text/html", icon=icon)
        st.download_button("Download the tables", report.markdown, "tables.md", "text/markdown", icon=icon)
        st.download_button("Download all figures", result, "evaluation.json", "application/json", icon=icon)


def _label(one: SubmittedEvaluation) -> str:
    systems = ", ".join(one.systems[:4]) + (" …" if len(one.systems) > 4 else "")
    return f"{one.made_at:%d %b %Y %H:%M} UTC, {one.author}: {systems} on {one.name}, {', '.join(one.parts)}"


def _report(report: EvaluationReport) -> None:
    ui.sentences("\n".join([report.lead, *report.findings]))
    for number, section in enumerate(report.sections):
        with st.expander(section.heading, expanded=number < OPEN):
            ui.section(section, words=True)
    ui.quiet(report.remark)
