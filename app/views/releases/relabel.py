"""Releases, Re-label: the pairs that people should judge again this quarter, and what judging them showed."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from app import ui
from app.next_stage import show_missing_stage
from app.page_context import PageContext
from app.views.releases import relabel_again, relabel_due
from curation.agreement.gate import compute_gate
from curation.core.errors import CurationError
from curation.operations.jobs.figures import figures_of
from curation.relabeling.due_list import read_due
from curation.relabeling.report import make_drift_report
from curation.relabeling.report_sections import list_drift_findings, make_drift_page, make_drift_sections
from curation.relabeling.stored_plans import list_plans
from curation.store import utc_now

OPEN_SECTION_COUNT = 2
PARTS = ("Due", "Choose pairs", "Report")
JOBS = (relabel_due.PLAN_JOB, relabel_due.OPEN_ROUND_JOB)


def show(context: PageContext) -> None:
    figures = figures_of(context.store)
    data_state = figures.state()
    with st.spinner("Finding the pairs to judge again…"):
        due = figures.figure(data_state, read_due, utc_now().date())
    ui.data_time(data_state)
    if not due.set_pairs:
        st.info("Nobody has judged a pair yet. This page shows what to judge again once a round is judged.")
        show_missing_stage(context.store, context.annotator, "round")
        return
    with suppress(CurationError):  # there is no gate if grades are off the scale
        advice = figures.figure(data_state, compute_gate).advice
        ui.sentences(f"Before you open the round, {advice[0].lower()}{advice[1:]}" if advice else "")
    part = ui.choose_part("Part", PARTS, "quarter")
    if part == "Report":
        _show_report(context)
    elif part == "Choose pairs":
        relabel_again.show(context)
    else:
        relabel_due.show(context, due)


def _show_report(context: PageContext) -> None:
    with context.store.reading() as cursor:
        names = [plan.quarter for plan in reversed(list_plans(cursor)) if plan.round_id is not None]
    if not names:
        st.info("No re-labeling has been opened yet. Its report appears here once people judge.")
        return
    name = st.selectbox("Re-labeling", names, width=320)
    report = figures_of(context.store).now(make_drift_report, name)
    ui.findings(list_drift_findings(report))
    if report.pairs:
        page_name = f"re-labeling-{report.name}.html"
        ui.download("Download the report", lambda: make_drift_page(report), page_name)
        ui.folded(make_drift_sections(report), OPEN_SECTION_COUNT, words=True)
