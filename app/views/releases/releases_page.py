"""Releases: the way to the next one, rule, gate, split and freeze; and the frozen gold sets."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import LEADS, RELEASE, AppPage
from app.components.steps import step_row
from app.page_context import read_context
from app.views.releases import exporting, freezing, gate, release, rule, split
from curation.agreement.gate import gate_now
from curation.operations.jobs.figures import figures_of
from curation.operations.jobs.results import remove_old_results
from curation.operations.workflow import read_state, release_steps
from curation.store import Annotator

STAGES = {
    "Releases": release.show,
    "Rule": rule.show,
    "Gate": gate.show,
    "Split": split.show,
    "Freeze": freezing.show,
}
FIRST = "Releases"
JOBS = (split.PREVIEWING, split.STORING, freezing.KIND, exporting.KIND)


def show(annotator: Annotator) -> None:
    ui.lead("The frozen gold sets, and the steps to the next one: rule, gate, split, freeze.")
    context = read_context(annotator, JOBS)
    remove_old_results()
    name = st.session_state.pop(freezing.OPENED, None)
    if name is not None:
        st.session_state["stage"], st.session_state["release"] = FIRST, name
    stage = ui.part("Stage", STAGES, "stage", chosen=name is not None)
    if stage != FIRST:
        figures = figures_of(context.store)
        of = figures.state()
        ui.as_of(of)
        with st.spinner("Computing intervals…"):
            found = figures.figure(of, read_state), figures.figure(of, gate_now)
        steps = release_steps(context.store, *found)
        rows = [
            step_row(f"{number} {step.name.capitalize()}", step.state, step.line, str(number))
            for number, step in enumerate(steps, 1)
        ]
        st.html(f'<div class="gs-stages">{"".join(rows)}</div>')
    STAGES[stage](context)


PAGE = AppPage(40, "Releases", "releases", LEADS, show, group=RELEASE)
