"""Coverage, measuring: the form that makes the map or matches new queries against it."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from curation.core.text import amount
from curation.pooling.pool import embedding_forecast
from curation.queries.coverage import CoverageRequest
from curation.queries.coverage.state import CoverageState

MEASURING = "coverage"
"""The kind of job that measures."""


def show_measuring(context: PageContext, state: CoverageState | None) -> None:
    """Measure with the settings of the map in force, or others."""
    settings = state.map.parameters if state else {}
    given = settings.get("resolution") if settings.get("chosen") == "given" else None
    if state and state.unmatched:
        st.warning(
            f"{amount(len(state.unmatched), 'query was', 'queries were')} added since coverage was measured. "
            "Measure again to see what is covered now.",
            icon=":material/update:",
        )
    usual = CoverageRequest()
    start = CoverageRequest(
        seed=int(settings.get("seed", usual.seed)),
        resolution=given,
        least_documents=int(settings.get("least_documents", usual.least_documents)),
        model=str(settings.get("model", usual.model)),
    )
    form = Form(CoverageRequest, start)
    with st.form("measure", width=520):
        for name in ("seed", "resolution", "least_documents"):
            form.ask(name)
        with context.store.reading() as cursor:
            forecast = None if state else embedding_forecast(cursor)
        if forecast is not None:
            ui.quiet(f"This first embeds the corpus: {forecast}.")
        asked = context.submit("Measure again" if state else "Measure coverage", MEASURING)
    context.ending(MEASURING)
    if state and (settings["extractor"]["name"] != "phrases" or "model" in settings["matching"]):
        ui.quiet("A language model took part in the current map. Measuring here makes one without.")
    if asked:
        context.start(MEASURING, form.request())
