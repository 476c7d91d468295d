"""Links into the path of a project: to where a step is done, and on an empty page to what comes first."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import LEADS
from app.components.links import is_offered
from curation.operations.jobs.figures import figures_of
from curation.operations.workflow import Action, path_of, read_state
from curation.store import Annotator, Store


def step_link(action: Action) -> None:
    """A link to the page and the part where a step is done; nothing where the navigation has no such page."""
    if is_offered(action.page):
        page = st.Page(_nothing, title=action.label, url_path=action.page)
        st.page_link(page, label=ui.plain(action.label), query_params=dict(action.parameters))


def missing_step(store: Store, annotator: Annotator, before: str) -> None:
    """On a page with nothing to show: a link to the first step of the path that is missing, for leads.

    Parameters
    ----------
    before: the step that the page needs; only it and those before it are looked at.
    """
    if annotator.role not in LEADS:
        return
    steps = path_of(figures_of(store).now(read_state)).steps
    last = [step.name for step in steps].index(before)
    step = next((step for step in steps[: last + 1] if step.state != "done"), None)
    if step is not None:
        with st.container(key="first-step"):
            ui.quiet(f"First comes {step.name}. {step.line}")
            step_link(step.action)


def _nothing() -> None:
    """Streamlit recognises a page of the navigation by its address alone."""
