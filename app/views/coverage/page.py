"""Coverage: the regions of the corpus that no query tests, and people who write queries for them."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.next_step import missing_step
from app.page import BUILD, LEADS, AppPage, read_context
from app.views.coverage import gaps, map_part, measuring, written
from app.views.coverage.kept import kept_state
from curation.store import Annotator

PARTS = {"Gaps": gaps.show, "Map": map_part.show, "Written": written.show}


def show(annotator: Annotator) -> None:
    ui.lead("Which regions of the corpus no query tests, and who writes queries for them.")
    context = read_context(annotator, (measuring.KIND,))
    state = kept_state(context.store)
    if state is None:
        st.info(
            "There is no coverage map of this corpus yet. Measuring makes one: it finds what the documents "
            "are about and joins it by meaning. The first time it embeds every entity."
        )
        missing_step(context.store, annotator, "import")
        measuring.show(context, None)
        return
    PARTS[ui.part("Part", PARTS, "of")](context, state)


PAGE = AppPage(45, "Coverage", "coverage", LEADS, show, group=BUILD)
