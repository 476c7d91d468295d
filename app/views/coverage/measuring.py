"""Coverage, measuring: the form that makes the map or matches new queries against it."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page import PageContext
from curation.coverage import CoverageRequest
from curation.coverage.writing.state import CoverageState
from curation.text import amount

KIND = "coverage"
"""The kind of job that measures."""


def show(context: PageContext, state: CoverageState | None) -> None:
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
    with st.form("measure"):
        for column, name in zip(st.columns(3), ("seed", "resolution", "least_documents"), strict=True):
            with column:
                form.ask(name)
        asked = context.submit("Measure again" if state else "Measure coverage", KIND)
    context.ending(KIND)
    if state and settings["extractor"]["name"] != "phrases":
        ui.quiet(
            "The map in force has the entities of a language model. Measuring here makes one by phrases."
        )
    if asked:
        context.start(KIND, form.request())
