"""Home: a lead's first page. The path of the project, the state of each step, and the one that comes next."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

import streamlit as st

from app import ui
from app.components.daily import daily_answers, interval
from app.context import project_store
from app.next_step import step_link
from app.page import LEADS, AppPage, read_context
from curation.jobs import jobs_of
from curation.operations.project_checks import look_at_backups
from curation.path import PathFigures, PathStep, ProjectPath, path_of, read_figures, read_state
from curation.relabeling.staleness.fingerprint import set_fingerprint
from curation.store import Annotator, Store, utc_now

MARKS = {"not begun": "", "at work": "…", "done": "✓", "needs attention": "!"}
KEPT = 4
"""States of the project whose figures are kept."""
COMPUTING = '<div class="gs-alpha"></div><p class="gs-quiet">Ordinal alpha is being computed…</p>'
_DRAWN = "home"


def show(annotator: Annotator) -> None:
    store = project_store()
    found = jobs_of(store).at_work()  # read before the endings: a job that ends now then counts as ended
    if found:
        read_context(annotator)
    running = list(found)
    with store.reading() as cursor:
        version = (str(store.path), set_fingerprint(cursor), utc_now().date().isoformat())
    state = read_state(store)
    place = st.empty()
    if st.session_state.get(_DRAWN) != version:  # the figures take their time: the rest is there before
        with place.container():
            _draw(path_of(state, None, running), waiting=True)
    figures = _figures(store, version)
    st.session_state[_DRAWN] = version
    with place.container():
        _draw(path_of(state, figures, running))
    for finding in look_at_backups(store):
        if finding.level == "problem":
            st.error(ui.plain(finding.sentence), icon=":material/error:")
        else:
            ui.quiet(finding.sentence)
    if figures.left_out:
        ui.sentences("\n".join(figures.left_out))


PAGE = AppPage(5, "Home", "home", LEADS, show)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _figures(_store: Store, version: Collection[str]) -> PathFigures:
    return read_figures(_store)


def _draw(path: ProjectPath, waiting: bool = False) -> None:
    for number, step in enumerate(path.steps, 1):
        is_next = step.name == path.next
        left, right = st.columns([5, 1], vertical_alignment="center", gap="medium")
        left.html(_row(step, number, is_next, waiting))
        with right:
            step_link(step.action)
    if path.next is None:
        ui.quiet("Nothing waits for anybody.")


def _row(step: PathStep, number: int, is_next: bool, waiting: bool) -> str:
    kind = step.state.replace(" ", "-")
    mark = MARKS[step.state] or str(number)
    figures = daily_answers(step.answers) if step.answers else ""
    figures += interval(step.alpha) if step.alpha else ""
    if waiting and step.name == "adjudicate" and step.state != "not begun":
        figures += COMPUTING  # of the height of what comes
    return (
        f'<section class="gs-step gs-is-{kind}{" gs-next" if is_next else ""}">'
        f'<span class="gs-mark" aria-hidden="true">{mark}</span>'
        f"<h2>{escape(step.name.capitalize())}<small>{escape(step.state)}</small></h2>"
        f'<div><p dir="auto">{escape(step.line)}</p>{figures}</div></section>'
    )
