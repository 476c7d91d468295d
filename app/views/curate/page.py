"""Curate: which queries are judged, which documents for each, and who judges them, in four steps."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page import BUILD, LEADS, AppPage, read_context
from app.views.curate import opening, pool, queries, sample
from curation.store import Annotator

STEPS = {
    "Sample": sample.show,
    "Queries": queries.show,
    "Pool": pool.show,
    "Round": opening.show,
}


def show(annotator: Annotator) -> None:
    ui.lead("Which queries are judged, which documents for each, and who judges them.")
    context = read_context(annotator)
    step = st.segmented_control(
        "Step",
        list(STEPS),
        default="Sample",
        required=True,
        key="step",
        bind="query-params",  # so that a reload stays at the step
        label_visibility="collapsed",
    )
    STEPS[step or "Sample"](context)


PAGE = AppPage(40, "Curate", "curate", LEADS, show, group=BUILD)
