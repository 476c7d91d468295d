"""Links that lead people to the next stage of a project's workflow."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import LEADS
from app.components.links import SHOWN_PAGE, is_offered
from curation.operations.jobs.figures import figures_of
from curation.operations.workflow.project_workflow import build_stages, read_state
from curation.operations.workflow.stage import Action
from curation.store import Annotator, Store


def show_action_link(action: Action) -> None:
    """Show a link to the page for a stage of the workflow, if the person may open this page."""
    if st.session_state.get(SHOWN_PAGE) == action.page:  # such a link would not choose the part
        st.button(action.label, type="primary", on_click=ui.preselect_parts, args=(action.parameters,))
    elif is_offered(action.page):
        page = st.Page(_do_nothing, title=action.label, url_path=action.page)
        st.page_link(page, label=ui.literal(action.label), query_params=dict(action.parameters))


def show_missing_stage(store: Store, annotator: Annotator, last_needed: str) -> None:
    """Show leads, on an empty page, a link to the first missing stage of the workflow.

    Parameters
    ----------
    last_needed: the name of the last stage of the workflow that the page depends on.
    """
    if annotator.role not in LEADS:
        return
    stages = build_stages(figures_of(store).now(read_state))
    last_index = [stage.name for stage in stages].index(last_needed)
    stage = next((stage for stage in stages[: last_index + 1] if stage.state != "done"), None)
    if stage is not None:
        with st.container(key="first-stage"):
            ui.note(stage.line)
            show_action_link(stage.action)


def _do_nothing() -> None:
    """Do nothing. Streamlit needs a function for each page but it recognizes a page by its address."""
