"""Label: the page on which an annotator grades items."""

from __future__ import annotations

import streamlit as st

from app.app_page import JUDGE, LEADS, AppPage
from app.context import project_store
from app.grading import CONSISTENCY, show_grading
from app.next_stage import show_missing_stage
from app.signin.cookies import cookie_codec
from app.views.label import consistency
from curation.labeling.rounds.upcoming import read_items, read_open_rounds
from curation.people.annotators import JUDGING_ROLES
from curation.store import Annotator


def show(annotator: Annotator) -> None:
    if st.query_params.get("show") == CONSISTENCY:
        consistency.show(annotator)
        return
    if annotator.role in LEADS:
        _show_first_stage(annotator)
    show_grading(annotator, cookie_codec().project)


PAGE = AppPage(20, "Label", "label", JUDGING_ROLES, show, shows_title=False, menu=JUDGE)


def _show_first_stage(annotator: Annotator) -> None:
    """Show leads who have no items to grade a link to the project's next stage."""
    store = project_store()
    with store.reading() as cursor:
        items = read_items(cursor, annotator.name, read_open_rounds(cursor))
    if all(item.answer_number is not None for item in items):
        show_missing_stage(store, annotator, "round")
