"""Re-label: what of the set went stale, the part that is judged again this quarter, and what changed."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.next_step import missing_step
from app.page import LEADS, RELEASE, AppPage, PageContext, read_context
from app.views.relabel import due, opening, past_evaluations, plan, report
from app.views.relabel.kept import kept_staleness
from curation.relabeling.staleness.staleness import SetStaleness
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
    part = st.segmented_control(
        "Part",
        PARTS,
        default=PARTS[0],
        required=True,
        key="of",
        bind="query-params",  # so that a reload stays there
        label_visibility="collapsed",
    )
    _show(part or PARTS[0], context, found)


PAGE = AppPage(78, "Re-label", "relabel", LEADS, show, group=RELEASE)


def _show(part: str, context: PageContext, found: SetStaleness) -> None:
    if part == "Plan":
        plan.show(context)
    elif part == "Report":
        report.show(context)
    else:
        due.show(context.store, found)
