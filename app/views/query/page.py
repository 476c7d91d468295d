"""Query: all that is known of one query. Rows of other pages that name a query open it."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.links import QUERY
from app.context import project_store
from app.page import REVIEWERS, AppPage
from curation.queries.facts import read_facts
from curation.store import Annotator

NONE = "No query is named. Open one from a row of another page that names it."


def show(annotator: Annotator) -> None:
    query_id = st.query_params.get("id", "")
    if not query_id:
        st.info(NONE)
        return
    with project_store().reading() as cursor:
        facts = read_facts(cursor, query_id, annotator)
    ui.query(facts.text, facts.words.need)


PAGE = AppPage(98, "Query", QUERY, REVIEWERS, show, shows_title=False, listed=None)
