"""Coverage, Map: the regions of the corpus on a map, coloured by the results of an evaluation."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.views.queries import region
from curation.core.errors import CurationError
from curation.evaluation import by_query, coverage_report
from curation.evaluation.stored_evaluations import list_evaluations
from curation.queries.coverage.state import CoverageState

NO_RUN = "no run"


def show(context: PageContext, state: CoverageState) -> None:
    results = _ask_results(context)
    system = None
    if results is not None:
        system = st.selectbox("Coloured by", list(results.systems), width=320)
    section = coverage_report.build_map_section(state, results, system, _make_link)
    ui.heading(section.heading)
    ui.section(section)
    region.show(context, state, results.systems if results else None)
    write_page = partial(coverage_report.write_coverage_page, context.store, results)
    ui.download("Download the map", write_page, "coverage.html")


def _make_link(number: int) -> str:
    return f"?part=Coverage&of=Map&{region.REGION_PARAMETER}={number}"


def _ask_results(context: PageContext) -> by_query.EvaluatedValues | None:
    """Ask for the evaluation whose results colour the map; sealed evaluations cannot be chosen."""
    with context.store.reading() as cursor:
        evaluations = [item for item in list_evaluations(cursor, context.annotator) if not item.sealed]
    if not evaluations:
        ui.note("The map shows no scores, because no run has been evaluated yet.")
        return None
    labels = {
        evaluation.evaluation_id: f"{evaluation.made_at:%d %b %Y %H:%M} UTC: "
        f"{', '.join(evaluation.systems)} on {evaluation.name}, {', '.join(evaluation.parts)}"
        for evaluation in evaluations
    } | {NO_RUN: NO_RUN}
    evaluation_id = st.selectbox("Results", [*labels], format_func=labels.__getitem__)
    if evaluation_id == NO_RUN:
        return None
    try:
        with context.store.reading() as cursor:
            return by_query.read_stored_values(cursor, evaluation_id, context.annotator)
    except CurationError as error:
        ui.problem(error)
        return None
