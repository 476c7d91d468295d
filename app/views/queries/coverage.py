"""Queries, Coverage: the regions of the corpus that no query tests, and what a lead does about them.

The app keeps the state of coverage in memory until the project has new rows.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.components.widgets import show_drawing
from app.context import BY_PATH
from app.next_stage import show_missing_stage
from app.page_context import PageContext
from app.views.queries import gap_list, region
from app.views.queries.writing_tasks import ask_tasks, show_written
from curation.core.errors import RefusedError
from curation.core.reports.charts import draw_bars
from curation.core.text import percent, pluralize
from curation.queries.coverage.coverage_map import forecast_map
from curation.queries.coverage.state import CoverageState, compute_state_fingerprint, read_state
from curation.queries.requests import CoverageRequest
from curation.store import Store

MAX_CACHED = 4
MEASURE_JOB = "coverage"


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
    ui.verdict(f"{len(state.gaps):,}", "regions without a query", state.sentence)
    ui.note("A region is a cluster of similar documents.")
    title = "Regions and their documents, by number of queries"
    show_drawing(draw_bars(title, title, ("share of the regions", "share of the documents"), state.shares))
    left, right = st.columns([3, 2], gap="large")
    with left:
        gap_list.show(context, state)
    with right:
        ui.heading("Ask people for queries")
        ask_tasks(context, state)
        ui.heading("Measure")
        _ask_measuring(context, state)


def _show_method(context: PageContext, state: CoverageState) -> None:
    regions = state.regions
    has_log = all(cluster.searches is not None for cluster in state.clusters)
    figures = {
        "Regions with a query": percent(regions.msc),
        "Regions without a query": f"{regions.zqc:,} of {regions.clusters:,}",
        "Documents in regions with 5 or more queries": percent(regions.scc),
        "Searches in regions with a query": percent(regions.msc_by_traffic) if has_log else "no log imported",
    }
    ui.metrics(figures, "MSC", "ZQC", "SCC")
    small_count = len(state.clusters) - regions.clusters
    ui.note(
        f"{pluralize(regions.documents, 'document')} in {pluralize(regions.clusters, 'region')}; "
        f"{pluralize(small_count, 'cluster')} with fewer than {state.map.parameters['least_documents']:,} "
        f"documents are not counted. {pluralize(regions.queries, 'query is', 'queries are')} about a region, "
        f"{len(state.unassigned):,} about topics that are not in the corpus."
    )
    ui.section(state.reliability)


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


PARTS = {"Gaps": _show_gaps, "Regions": region.show, "Written": show_written, "Method": _show_method}
