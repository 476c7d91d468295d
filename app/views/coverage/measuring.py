"""Coverage, measuring: the form that makes the map or matches new queries against it."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.curate.jobs import CurateContext
from curation.coverage.clusters import LEAST_DOCUMENTS
from curation.coverage.writing.state import CoverageState
from curation.retrieval import DEFAULT_MODEL
from curation.text import amount

KIND = "coverage"
"""The kind of job that measures."""


def show(context: CurateContext, state: CoverageState | None) -> None:
    """Measure with the settings of the map in force, or others."""
    settings = state.map.parameters if state else {}
    given = settings.get("resolution") if settings.get("chosen") == "given" else None
    if state and state.unmatched:
        st.warning(
            f"{amount(len(state.unmatched), 'query was', 'queries were')} added since coverage was measured. "
            "Measure again to see what is covered now.",
            icon=":material/update:",
        )
    with st.form("measure"):
        one, two, three = st.columns(3)
        seed = one.number_input("Seed", value=int(settings.get("seed", 0)), step=1)
        resolution = two.number_input(
            "Resolution",
            min_value=0.1,
            value=given,
            placeholder="by rule",
            help="Higher is finer. Without one, a rule chooses it.",
        )
        least = three.number_input(
            "Documents of a region",
            min_value=1,
            value=int(settings.get("least_documents", LEAST_DOCUMENTS)),
            help="Clusters with fewer are counted apart.",
        )
        asked = context.submit("Measure again" if state else "Measure coverage", KIND)
    context.ending(KIND)
    if state and settings["extractor"]["name"] != "phrases":
        ui.quiet(
            "The map in force has the entities of a language model. Measuring here makes one by phrases."
        )
    if asked:
        context.start(
            KIND,
            {
                "seed": int(seed),
                "resolution": None if resolution is None else float(resolution),
                "least_documents": int(least),
                "model": str(settings.get("model", DEFAULT_MODEL)),
            },
        )
