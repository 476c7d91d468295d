"""Re-label: what of the set went stale, the part that is judged again this quarter, and what changed."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.next_step import missing_step
from app.page import LEADS, RELEASE, AppPage, read_context
from app.views.relabel import due, opening, past_evaluations, plan, report
from app.views.relabel.kept import kept_staleness
from curation.store import Annotator

PARTS = ("Due", "Plan", "Report")
JOBS = (plan.KIND, opening.KIND, past_evaluations.KIND)


def show(annotator: Annotator) -> None:
    ui.lead("What of the set went stale, what is judged again this quarter, and what the new grades say.")
    context = read_context(annotator, JOBS)
    found = kept_staleness(context.store)
    if not found.pairs:
        st.info(
            "Nothing is judged yet. Once people have judged a round, this page says what of it goes stale."
        )
        missing_step(context.store, annotator, "round")
        return
    part = ui.part("Part", PARTS, "of")
    if part == "Plan":
        plan.show(context)
    elif part == "Report":
        report.show(context)
    else:
        due.show(context.store, found)


PAGE = AppPage(78, "Re-label", "relabel", LEADS, show, group=RELEASE)
