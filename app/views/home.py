"""Home, a lead's first page: the stages of the project's workflow with their states, and the next stage."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, time

import streamlit as st

from app import ui
from app.app_page import LEADS, AppPage
from app.components.state import daily_answers, stage_row, team, three_figures
from app.context import project_store
from app.next_stage import show_action_link
from app.page_context import read_context
from curation.operations.doctor import check_backups
from curation.operations.jobs import jobs_of
from curation.operations.jobs.figures import figures_of
from curation.operations.workflow.project_workflow import (
    WorkflowState,
    build_stages,
    read_figures,
    read_state,
)
from curation.operations.workflow.stage import Stage, next_stage
from curation.store import Annotator, Store, utc_now

EVERY = 10.0
"""Seconds between two checks whether the project has changed."""
_DRAWN, _FOLLOWS = "home", "home follows"


def show(annotator: Annotator) -> None:
    store = project_store()
    if jobs_of(store).running_jobs():  # read before the endings: a job that ends now then counts as ended
        read_context(annotator)
    st.session_state.pop(_FOLLOWS, None)
    st.fragment(_follow, run_every=EVERY)(store)
    for finding in check_backups(store):
        if finding.level == "problem":
            st.error(ui.plain(finding.sentence), icon=":material/error:")
        else:
            ui.quiet(finding.sentence)


PAGE = AppPage(5, "Home", "home", LEADS, show)


def _follow(store: Store) -> None:
    """Draw the page Home; on later calls, draw the page again only if the project has changed."""
    running, now, figures = list(jobs_of(store).running_jobs()), utc_now(), figures_of(store)
    of, day, is_first = figures.state(), datetime.combine(now, time()), _FOLLOWS not in st.session_state
    ui.data_time(of)
    area = st.empty()
    with area, st.spinner("Reading the project…") if is_first else nullcontext():
        state = replace(figures.figure(of, read_state, day), now=now)
    if is_first and st.session_state.get(_DRAWN) != of.key:
        with area.container():  # the slow figures take their time: the rest appears before them
            _draw(state, build_stages(state, None, running), waiting=True)
    slow = figures.figure(of, read_figures, day)
    st.session_state[_FOLLOWS] = st.session_state[_DRAWN] = of.key
    with area.container():
        _draw(state, build_stages(state, slow, running))
        if slow.not_computed:
            ui.sentences(*slow.not_computed)


def _draw(state: WorkflowState, stages: Sequence[Stage], waiting: bool = False) -> None:
    if state.grades.judged or state.rounds.open_rounds:
        alpha = next((stage.alpha for stage in stages if stage.alpha), None)
        st.html(three_figures(state, alpha, waiting) + team(state.answers, state.now))
    following = next_stage(stages)
    for number, stage in enumerate(stages, 1):
        left, right = st.columns([5, 1], vertical_alignment="center", gap="medium")
        figures = daily_answers(stage.answers) if stage.answers else ""
        name, is_next = stage.name.capitalize(), stage is following
        left.html(stage_row(name, stage.state, stage.line, str(number), figures=figures, is_next=is_next))
        with right:
            show_action_link(stage.action)
    if following is None:
        ui.quiet("There is no open work for anybody.")
