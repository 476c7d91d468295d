"""Home: the page on which a lead sees how far the project has come, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, time

import streamlit as st

from app import ui
from app.app_page import LEADS, AppPage
from app.components.home_figures import draw_daily_answers, draw_key_figures, draw_team
from app.components.stage import draw_stage
from app.context import project_store
from app.next_stage import show_action_link
from app.page_context import read_context
from app.views.home import first_round
from curation.operations.backup_age import check_backups
from curation.operations.jobs import jobs_of
from curation.operations.jobs.figures import figures_of
from curation.operations.start import is_new
from curation.operations.workflow import project_workflow as workflow
from curation.operations.workflow.judging import has_grades
from curation.operations.workflow.stage import Stage, find_next_stage
from curation.store import Annotator, Store, utc_now

SECONDS_BETWEEN_CHECKS = 10.0
_DRAWN_STATE, _IS_FOLLOWING = "home", "home follows"
"""Session keys: the state of the project as drawn, and whether the page already follows changes."""


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        has_no_round, is_graded = is_new(cursor), has_grades(cursor)
    if has_no_round:
        _show_new_project(annotator)
    else:
        _show_project(store, annotator)
    for finding in check_backups(store):
        if finding.level == "problem":
            st.error(ui.literal(finding.sentence), icon=":material/error:")
        elif is_graded:
            ui.note(finding.sentence)


PAGE = AppPage(5, "Home", "home", LEADS, show)


def _show_project(store: Store, annotator: Annotator) -> None:
    """Show all stages of the workflow, and draw them again when the project changes."""
    if jobs_of(store).running_jobs():  # read before the endings, so that a job that ends now counts as ended
        read_context(annotator)
    first_round.show_end(store)
    st.session_state.pop(_IS_FOLLOWING, None)
    st.fragment(_follow_project, run_every=SECONDS_BETWEEN_CHECKS)(store)


def _show_new_project(annotator: Annotator) -> None:
    """Show what a project without a round needs next, and below it all stages of the workflow."""
    context = read_context(annotator)
    state = first_round.show(context)
    stages = workflow.build_stages(state, None, context.running)
    is_urgent = any(stage.state == "needs attention" for stage in (*state.waiting, *stages))
    with st.expander("All steps", expanded=is_urgent):
        _show_stages(state, stages)


def _follow_project(store: Store) -> None:
    """Draw the page Home; on later calls, draw the page again only if the project has changed."""
    running_ids = list(jobs_of(store).running_jobs())
    figures = figures_of(store)
    data_state = figures.state()
    now = utc_now()
    day = datetime.combine(now, time())
    is_first = _IS_FOLLOWING not in st.session_state
    ui.data_time(data_state)
    area = st.empty()
    with area, st.spinner("Reading the project…") if is_first else nullcontext():
        state = replace(figures.figure(data_state, workflow.read_state, day), now=now)
    if is_first and st.session_state.get(_DRAWN_STATE) != data_state.key:
        with area.container():  # the stages appear before the slow figures
            _show_stages(state, workflow.build_stages(state, None, running_ids), is_waiting=True)
    slow_figures = figures.figure(data_state, workflow.read_figures, day)
    st.session_state[_IS_FOLLOWING] = st.session_state[_DRAWN_STATE] = data_state.key
    with area.container():
        _show_stages(state, workflow.build_stages(state, slow_figures, running_ids))
        if slow_figures.not_computed:
            ui.sentences(*slow_figures.not_computed)


def _show_stages(state: workflow.WorkflowState, stages: Sequence[Stage], is_waiting: bool = False) -> None:
    if state.grades.judged or state.rounds.open_rounds:
        alpha = next((stage.alpha for stage in stages if stage.alpha), None)
        st.html(draw_key_figures(state, alpha, is_waiting) + draw_team(state.answers, state.now))
    upcoming_stage = find_next_stage(stages)
    for stage in state.waiting:
        _show_stage(stage)
    for number, stage in enumerate(stages, 1):
        _show_stage(stage, str(number), stage is upcoming_stage)
    if upcoming_stage is None and not state.waiting:
        ui.note("No one has open items.")


def _show_stage(stage: Stage, number: str = "", is_next: bool = False) -> None:
    left, right = st.columns([5, 1], vertical_alignment="center", gap="medium")
    figures = draw_daily_answers(stage.answers) if stage.answers else ""
    name = stage.name.capitalize()
    left.html(draw_stage(name, stage.state, stage.line, number, figures=figures, is_next=is_next))
    with right:
        show_action_link(stage.action)
