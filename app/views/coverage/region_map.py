"""Coverage, the map: every region by documents, queries and results; a click shows what is known of it."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.views.coverage import region
from app.views.coverage.cached_state import kept_graph
from curation.core.errors import CurationError
from curation.evaluation.coverage_report import comparison_sections, coverage_page, map_sections
from curation.evaluation.region_values import EvaluatedValues, stored_values
from curation.evaluation.submitted import submitted_evaluations
from curation.queries.coverage.state import CoverageState

NO_RUN = "no run"


def show_map(context: PageContext, state: CoverageState) -> None:
    found = _chosen(context)
    system = None
    if found is not None:
        system = st.selectbox("Coloured by", list(found.systems), width=320)
    graph = kept_graph(context.store, state)
    for section in map_sections(state, graph, found, system, _link):
        ui.heading(section.heading)
        ui.section(section)
    region.show(context, state, found.systems if found else None)
    if found is not None:
        for section in comparison_sections(state, found):
            ui.heading(section.heading)
            ui.section(section)
    st.download_button(
        "Download the map",
        lambda: coverage_page(context.store, found),
        "coverage.html",
        "text/html",
        icon=":material/download:",
    )


def _link(number: int) -> str:
    return f"?of=Map&{region.LINKED}={number}"


def _chosen(context: PageContext) -> EvaluatedValues | None:
    """The evaluation whose results are drawn; those of sealed parts have none of single queries."""
    with context.store.reading() as cursor:
        listed = [
            submitted_evaluation
            for submitted_evaluation in submitted_evaluations(cursor, context.annotator)
            if not submitted_evaluation.sealed
        ]
    if not listed:
        ui.quiet("No run was evaluated on the page Evaluate yet, so the map has no results.")
        return None
    labels = {
        one.evaluation_id: f"{one.made_at:%d %b %Y %H:%M} UTC: {', '.join(one.systems)} on {one.name}, "
        f"{', '.join(one.parts)}"
        for one in listed
    }
    chosen = st.selectbox("Results", [*labels, NO_RUN], format_func=lambda one: labels.get(one, one))
    if chosen == NO_RUN:
        return None
    try:
        with context.store.reading() as cursor:
            return stored_values(cursor, chosen, context.annotator)
    except CurationError as error:
        ui.problem(error)
        return None
