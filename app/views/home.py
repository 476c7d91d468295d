"""Home: a lead's first page. The path of the project, the state of each step, and the one that comes next."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import NamedTuple

import streamlit as st

from app import ui
from app.components.daily import daily_answers, team, three_figures
from app.components.steps import step_row
from app.context import project_store
from app.next_step import step_link
from app.page import LEADS, AppPage, read_context
from curation.jobs import jobs_of
from curation.operations.project_checks import look_at_backups
from curation.path import PathFigures, PathState, ProjectPath, path_of, read_figures, read_state
from curation.relabeling.staleness.fingerprint import set_fingerprint
from curation.store import Annotator, Store, utc_now

KEPT = 4
"""States of the project whose figures are kept."""
EVERY = 10.0
"""Seconds after which the page looks whether anything has changed."""
FRESH = 60.0
"""Seconds for which the gate's figures may be older than the rest, while the page follows by itself."""
_DRAWN, _SHOWN = "home", "home figures"


class _Shown(NamedTuple):
    """What a session shows: the state and what it is of; the gate's figures, of which version, since when."""

    of: object
    state: PathState
    version: object
    figures: PathFigures
    since: float


def show(annotator: Annotator) -> None:
    store = project_store()
    if jobs_of(store).at_work():  # read before the endings: a job that ends now then counts as ended
        read_context(annotator)
    st.session_state.pop(_SHOWN, None)
    st.fragment(_follow, run_every=EVERY)(store)
    for finding in look_at_backups(store):
        if finding.level == "problem":
            st.error(ui.plain(finding.sentence), icon=":material/error:")
        else:
            ui.quiet(finding.sentence)


PAGE = AppPage(5, "Home", "home", LEADS, show)


def _follow(store: Store) -> None:
    """Draw the page; again from the second time on, where something has changed."""
    running, now = list(jobs_of(store).at_work()), utc_now()
    with store.reading() as cursor:
        version = (str(store.path), set_fingerprint(cursor), now.date().isoformat())
    shown: _Shown | None = st.session_state.get(_SHOWN)
    of = (version, running, f"{now:%H:%M}")
    state = shown.state if shown and shown.of == of else read_state(store)
    place = st.empty()
    if shown is None or (shown.version != version and time.monotonic() - shown.since > FRESH):
        if st.session_state.get(_DRAWN) != version:  # the figures take their time: the rest is there before
            with place.container():
                _draw(state, path_of(state, None, running), waiting=True)
        shown = _Shown(of, state, version, _figures(store, version), time.monotonic())
    st.session_state[_SHOWN], st.session_state[_DRAWN] = shown._replace(of=of, state=state), version
    with place.container():
        _draw(state, path_of(state, shown.figures, running))
        if shown.figures.left_out:
            ui.sentences("\n".join(shown.figures.left_out))


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _figures(_store: Store, version: Collection[str]) -> PathFigures:
    return read_figures(_store)


def _draw(state: PathState, path: ProjectPath, waiting: bool = False) -> None:
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
