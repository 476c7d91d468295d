"""Home: a lead's first page. The path of the project, the state of each step, and the one that comes next."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, time

import streamlit as st

from app import ui
from app.app_page import LEADS, AppPage
from app.components.daily import daily_answers, team, three_figures
from app.components.steps import step_row
from app.context import project_store
from app.next_step import step_link
from app.page_context import read_context
from curation.operations.doctor.project_checks import look_at_backups
from curation.operations.jobs import jobs_of
from curation.operations.jobs.figures import figures_of
from curation.operations.workflow import ProjectPath, WorkflowState, path_of, read_figures, read_state
from curation.store import Annotator, Store, utc_now

EVERY = 10.0
"""Seconds after which the page looks whether anything has changed."""
_DRAWN, _FOLLOWS = "home", "home follows"


def show(annotator: Annotator) -> None:
    store = project_store()
    if jobs_of(store).at_work():  # read before the endings: a job that ends now then counts as ended
        read_context(annotator)
    st.session_state.pop(_FOLLOWS, None)
    st.fragment(_follow, run_every=EVERY)(store)
    for finding in look_at_backups(store):
        if finding.level == "problem":
            st.error(ui.plain(finding.sentence), icon=":material/error:")
        else:
            ui.quiet(finding.sentence)


PAGE = AppPage(5, "Home", "home", LEADS, show)


def _follow(store: Store) -> None:
    """Draw the page; again from the second time on, where something has changed."""
    running, now, figures = list(jobs_of(store).at_work()), utc_now(), figures_of(store)
    of, day, is_first = figures.state(), datetime.combine(now, time()), _FOLLOWS not in st.session_state
    ui.as_of(of)
    place = st.empty()
    with place, st.spinner("Reading the project…") if is_first else nullcontext():
        state = replace(figures.figure(of, read_state, day), now=now)
    if is_first and st.session_state.get(_DRAWN) != of.key:
        with place.container():  # the slow figures take their time: the rest is there before
            _draw(state, path_of(state, None, running), waiting=True)
    slow = figures.figure(of, read_figures, day)
    st.session_state[_FOLLOWS] = st.session_state[_DRAWN] = of.key
    with place.container():
        _draw(state, path_of(state, slow, running))
        if slow.left_out:
            ui.sentences("\n".join(slow.left_out))


def _draw(state: WorkflowState, path: ProjectPath, waiting: bool = False) -> None:
    if state.grades.judged or state.rounds.open:
        st.html(three_figures(state, path.alpha, waiting) + team(state.answers, state.now))
    for number, step in enumerate(path.steps, 1):
        is_next = step.name == path.next
        left, right = st.columns([5, 1], vertical_alignment="center", gap="medium")
        figures = daily_answers(step.answers) if step.answers else ""
        name = step.name.capitalize()
        left.html(step_row(name, step.state, step.line, str(number), figures=figures, is_next=is_next))
        with right:
            step_link(step.action)
    if path.next is None:
        ui.quiet("Nothing waits for anybody.")
