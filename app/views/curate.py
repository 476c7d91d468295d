"""Curate: which queries are judged, which documents for each, and who judges them, in four steps."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views import curate_pool, curate_queries, curate_round, curate_sample
from app.views.curate_work import look
from curation.store.rows import Annotator

STEPS = {
    "Sample": curate_sample.show,
    "Queries": curate_queries.show,
    "Pool": curate_pool.show,
    "Round": curate_round.show,
}


def show(annotator: Annotator) -> None:
    ui.lead("Which queries are judged, which documents for each, and who judges them.")
    desk = look(annotator)
    step = st.segmented_control(
        "Step",
        list(STEPS),
        default="Sample",
        required=True,
        key="step",
        bind="query-params",  # so that a reload stays at the step
        label_visibility="collapsed",
    )
    STEPS[step or "Sample"](desk)
