"""Queries, Coverage: the page part that measures which regions of the corpus have queries.

The app keeps the state of coverage in memory until the project has new rows.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import ui
from app.components.forms import Form
from app.context import BY_PATH
from app.next_stage import show_missing_stage
from app.page_context import PageContext
from app.views.queries import coverage_map, region
from app.views.queries.writing_tasks import ask_tasks, show_written
from curation.core.errors import RefusedError
from curation.core.text import percent, pluralize
from curation.queries.coverage.coverage_map import forecast_map
from curation.queries.coverage.state import CoverageState, compute_state_fingerprint, read_state
from curation.queries.coverage.writing import task_progress
from curation.queries.requests import CoverageRequest
from curation.store import Store

MAX_CACHED = 4
MEASURE_JOB = "coverage"
MAX_GAPS = 25
GAP_COLUMNS = ["Region", "Name", "Documents", "Searches", "To write", "Written"]


def show(context: PageContext) -> None:
    with context.store.reading() as cursor:
        fingerprint = compute_state_fingerprint(cursor)
    state = read_cached_state(context.store, fingerprint)
    if state is None:
        st.info(
            "Coverage has not been measured yet. Measuring finds topics in the documents and groups them by "
            "meaning into regions. The first measurement reads the whole corpus and takes minutes."
        )
        show_missing_stage(context.store, context.annotator, "import")
        _ask_measuring(context, None)
        return
    PARTS[ui.choose_part("Part", PARTS, "of")](context, state)


@st.cache_resource(max_entries=MAX_CACHED, show_spinner="Reading the coverage map…", hash_funcs=BY_PATH)
def read_cached_state(store: Store, fingerprint: str) -> CoverageState | None:
    """Read the state of coverage, cached until its fingerprint changes; None without a coverage map."""
    try:
        with store.reading() as cursor:
            return read_state(cursor)
    except RefusedError:
        return None


def _show_gaps(context: PageContext, state: CoverageState) -> None:
    _show_figures(state)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _list_gaps(context, state)
    with right:
        ui.heading("Ask for queries")
        ask_tasks(context, state)
        ui.heading("Measure")
        _ask_measuring(context, state)
    region.show(context, state)


def _show_figures(state: CoverageState) -> None:
    regions = state.regions
    ui.metrics(
        {
            "Regions with a query": percent(regions.msc),
            "Regions without": f"{regions.zqc:,} of {regions.clusters:,}",
            "Documents in regions with 5 queries": percent(regions.scc),
            "Searches in regions with a query": percent(regions.msc_by_traffic),
        }
    )
    small_count = len(state.clusters) - regions.clusters
    ui.note(
        f"{pluralize(regions.documents, 'document')} in {pluralize(regions.clusters, 'region')}; "
        f"{pluralize(small_count, 'cluster')} with fewer than {state.map.parameters['least_documents']:,} "
        f"documents are not counted. {pluralize(regions.queries, 'query is', 'queries are')} about a region, "
        f"{len(state.unassigned):,} about topics that are not in the corpus."
    )
    ui.sentences(state.reliability.sentence)
    ui.folded([replace(state.reliability, sentence="")])


def _list_gaps(context: PageContext, state: CoverageState) -> None:
    if not state.gaps:
        st.info("Every region has a query.")
        return
    with context.store.reading() as cursor:
        tasks = task_progress.count_tasks_by_cluster(cursor, state.map.map_id)
    rows = [
        (
            gap.number,
            gap.name,
            len(gap.documents),
            None if gap.searches is None else round(gap.searches),
            *tasks.get(gap.number, (0, 0))[:2],
        )
        for gap in state.gaps
    ]
    order = "searches × documents" if state.gaps[0].searches is not None else "documents"
    ui.table(f"Regions without a query, by {order}", GAP_COLUMNS, rows, words=True, max_rows=MAX_GAPS)


def _ask_measuring(context: PageContext, state: CoverageState | None) -> None:
    """Show a form that measures coverage; its initial values are the current map's settings."""
    settings = state.map.parameters if state else {}
    if state and state.unmatched:
        st.warning(
            f"{pluralize(len(state.unmatched), 'query was', 'queries were')} added since coverage was "
            "measured. Measure again to include new queries.",
            icon=":material/update:",
        )
    defaults = CoverageRequest()
    start = CoverageRequest(
        seed=int(settings.get("seed", defaults.seed)), model=str(settings.get("model", defaults.model))
    )
    form = Form(CoverageRequest, start)
    if state is None:
        _forecast_time(context)
    with st.form("measure", width=520):
        with st.expander("More options"):
            form.ask("seed")
        submitted = context.submit_button("Measure again" if state else "Measure coverage", MEASURE_JOB)
    context.show_result(MEASURE_JOB)
    if state and (settings["extractor"]["name"] != "phrases" or "model" in settings["matching"]):
        ui.note(
            "The current map was made with the help of a language model. Measuring on "
            "this page uses no language model."
        )
    if submitted:
        context.request_job(MEASURE_JOB, form.request())


def _forecast_time(context: PageContext) -> None:
    """Say how long measuring takes, if the speed of this machine is known."""
    with context.store.reading() as cursor:
        forecast = forecast_map(cursor)
    time = forecast or "the page shows the minutes left once it has begun. You can stop it at any time"
    ui.note(f"Measuring embeds phrases of the documents: {time}.")


PARTS = {"Gaps": _show_gaps, "Map": coverage_map.show, "Written": show_written}
