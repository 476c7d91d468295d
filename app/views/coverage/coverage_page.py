"""Coverage: the regions of the corpus that no query tests, and people who write queries for them."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import DATA, LEADS, AppPage
from app.next_step import missing_step
from app.page_context import read_context
from app.views.coverage import gaps
from app.views.coverage.cached_state import kept_state
from app.views.coverage.measuring import MEASURING, show_measuring
from app.views.coverage.region_map import show_map
from app.views.coverage.written import show_written
from curation.store import Annotator

PARTS = {"Gaps": gaps.show, "Map": show_map, "Written": show_written}


def show(annotator: Annotator) -> None:
    ui.lead("Which regions of the corpus no query tests, and who writes queries for them.")
    context = read_context(annotator, (MEASURING,))
    state = kept_state(context.store)
    if state is None:
        st.info(
            "There is no coverage map of this corpus yet. Measuring makes one: it finds topics in the "
            "documents and groups them by meaning. The first run reads the whole corpus and can take minutes."
        )
        missing_step(context.store, annotator, "import")
        show_measuring(context, None)
        return
    PARTS[ui.part("Part", PARTS, "of")](context, state)


PAGE = AppPage(16, "Coverage", "coverage", LEADS, show, group=DATA)
