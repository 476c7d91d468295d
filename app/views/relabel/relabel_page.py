"""Re-label: what of the set went stale, the part that is judged again this quarter, and what changed."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import LEADS, RELEASE, AppPage
from app.next_step import missing_step
from app.page_context import read_context
from app.views.relabel import due, past_evaluations, plan
from app.views.relabel.quarter import OPENING
from app.views.relabel.report import show_report
from curation.operations.jobs.figures import figures_of
from curation.relabeling.staleness.staleness import staleness
from curation.store import Annotator, utc_now

PARTS = ("Due", "Plan", "Report")
JOBS = (plan.KIND, OPENING, past_evaluations.KIND)


def show(annotator: Annotator) -> None:
    ui.lead("Which labels are out of date, and the plan to renew them.")
    context = read_context(annotator, JOBS)
    figures = figures_of(context.store)
    of = figures.state()
    with st.spinner("Reading how stale the set is…"):
        found = figures.figure(of, staleness, utc_now().date())
    ui.as_of(of)
    if not found.pairs:
        st.info(
            "Nothing is judged yet. Once people have judged a round, this page shows which labels are out of "
            "date."
        )
        missing_step(context.store, annotator, "round")
        return
    part = ui.part("Part", PARTS, "of")
    if part == "Plan":
        plan.show(context, found)
    elif part == "Report":
        show_report(context)
    else:
        due.show(context.store, found)


PAGE = AppPage(44, "Re-label", "relabel", LEADS, show, group=RELEASE)
