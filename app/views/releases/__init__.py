"""Releases: the page on which leads read, make and renew frozen gold sets in stages."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import LEADS, RELEASE, AppPage
from app.components.stage import draw_stage
from app.page_context import read_context
from app.views.releases import export, freezing, gate, relabel, release, rule, split
from curation.agreement.gate import compute_gate
from curation.operations.jobs.figures import figures_of
from curation.operations.jobs.files import remove_old_results
from curation.operations.workflow.project_workflow import build_release_stages, read_state
from curation.store import Annotator

FIRST, RELABEL = "Releases", "Re-label"
STAGES = {
    FIRST: release.show,
    "Rule": rule.show,
    "Gate": gate.show,
    "Split": split.show,
    "Freeze": freezing.show,
    RELABEL: relabel.show,
}
JOBS = (split.PREVIEW_JOB, split.SPLIT_JOB, freezing.FREEZE_JOB, export.EXPORT_JOB, *relabel.JOBS)


def show(annotator: Annotator) -> None:
    ui.purpose("Read frozen gold sets, prepare the next release, and have due pairs judged again.")
    context = read_context(annotator, JOBS)
    remove_old_results()
    stage = ui.choose_part("Stage", STAGES, "stage")
    if stage not in (FIRST, RELABEL):
        figures = figures_of(context.store)
        data_state = figures.state()
        ui.data_time(data_state)
        with st.spinner("Computing intervals…"):
            state, result = (figures.figure(data_state, read_state), figures.figure(data_state, compute_gate))
        rows = ""
        for number, step in enumerate(build_release_stages(context.store, state, result), 1):
            rows += draw_stage(f"{number} {step.name.capitalize()}", step.state, step.line, str(number))
        st.html(f'<div class="gs-stages">{rows}</div>')
    STAGES[stage](context)


PAGE = AppPage(40, "Releases", "releases", LEADS, show, menu=RELEASE)
