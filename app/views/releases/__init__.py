"""Releases: a page with the frozen gold sets, the steps to the next release, and re-labeling."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import LEADS, RELEASE, AppPage
from app.components.state import stage_row
from app.page_context import read_context
from app.views.releases import freezing, relabel, release, rule, split
from curation.agreement.gate import gate_now
from curation.operations.jobs.figures import figures_of
from curation.operations.jobs.files import remove_old_results
from curation.operations.workflow.project_workflow import build_release_stages, read_state
from curation.store import Annotator

RELABEL = "Re-label"
STAGES = {
    "Releases": release.show,
    "Rule": rule.show,
    "Gate": freezing.show_gate,
    "Split": split.show,
    "Freeze": freezing.show,
    RELABEL: relabel.show,
}
FIRST = "Releases"
JOBS = (split.PREVIEWING, split.STORING, freezing.KIND, release.EXPORT, *relabel.JOBS)


def show(annotator: Annotator) -> None:
    ui.lead("Read frozen gold sets, take the steps to the next release, and re-label stale pairs.")
    context = read_context(annotator, JOBS)
    remove_old_results()
    stage = ui.part("Stage", STAGES, "stage")
    if stage not in (FIRST, RELABEL):
        figures = figures_of(context.store)
        of = figures.state()
        ui.as_of(of)
        with st.spinner("Computing intervals…"):
            read = figures.figure(of, read_state), figures.figure(of, gate_now)
        steps = build_release_stages(context.store, *read)
        rows = [
            stage_row(f"{number} {step.name.capitalize()}", step.state, step.line, str(number))
            for number, step in enumerate(steps, 1)
        ]
        st.html(f'<div class="gs-stages">{"".join(rows)}</div>')
    STAGES[stage](context)


PAGE = AppPage(40, "Releases", "releases", LEADS, show, group=RELEASE)
