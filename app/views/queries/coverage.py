"""Queries, Coverage: which regions of the corpus have no query, and tasks to write queries for them.

The app keeps the state of coverage in memory until the project has new rows.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import ui
from app.acts import submit_button
from app.components.forms import Form
from app.context import BY_PATH
from app.next_stage import show_missing_stage
from app.page_context import PageContext
from app.views.queries import region
from app.views.queries.region import show_map
from curation.core.errors import RefusedError
from curation.core.reports.tables import QueryName
from curation.core.text import percent, pluralize
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.pooling.operations import forecast_embedding
from curation.queries.coverage.state import CoverageState, compute_state_fingerprint, read_state
from curation.queries.coverage.writing import tasks as writing_tasks
from curation.queries.coverage.writing.coverage_queries import GAP, UNANSWERABLE, list_queries
from curation.queries.requests import CoverageRequest
from curation.queries.unanswerable import UnanswerableCheck, check_written_queries
from curation.store import Store

MAX_CACHED = 4
MEASURING = "coverage"
"""The kind of background job that measures coverage."""
MAX_GAPS = 25
FILL_FEW = "Few: regions of 1 to 4 queries, up to 5"
TASK_KINDS = {
    "Gaps: regions without a query": GAP,
    FILL_FEW: GAP,
    "Unanswerable: what the corpus lacks": UNANSWERABLE,
}
GAP_COLUMNS = ["Region", "Name", "Documents", "Searches", "To write", "Written"]
MAX_QUERIES = 100
SOURCES = {"written": "person", "synthetic": "model"}
CHECK_RESULTS = {
    "not pooled": "not pooled yet",
    "not judged": "nobody has answered yet",
    "confirmed": "the corpus does not answer the query",
    "answered": "the corpus answers the query",
    "undecided": "people disagree",
}


def show(context: PageContext) -> None:
    with context.store.reading() as cursor:
        fingerprint = compute_state_fingerprint(cursor)
    state = read_cached_state(context.store, fingerprint)
    if state is None:
        st.info(
            "There is no coverage map of this corpus yet. A measurement finds topics in the documents and "
            "groups them by meaning. The first measurement reads the whole corpus and can take minutes."
        )
        show_missing_stage(context.store, context.annotator, "import")
        _ask_measuring(context, None)
        return
    PARTS[ui.choose_part("Part", PARTS, "of")](context, state)


@st.cache_resource(max_entries=MAX_CACHED, show_spinner="Reading the coverage map…", hash_funcs=BY_PATH)
def read_cached_state(store: Store, fingerprint: str) -> CoverageState | None:
    """Read the state of coverage, cached until its fingerprint changes; None without a coverage map of the
    corpus.
    """
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
        _ask_tasks(context, state)
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
    ui.quiet(
        f"{pluralize(regions.documents, 'document')} in {pluralize(regions.clusters, 'region')}; "
        f"{pluralize(small_count, 'cluster')} with fewer than {state.map.parameters['least_documents']:,} "
        f"documents are not counted. {pluralize(regions.queries, 'query is', 'queries are')} about a region, "
        f"{len(state.unassigned):,} about topics that the corpus does not have."
    )
    ui.sentences(state.reliability.sentence)
    ui.folded([replace(state.reliability, sentence="")])


def _list_gaps(context: PageContext, state: CoverageState) -> None:
    if not state.gaps:
        st.info("Every region has a query.")
        return
    with context.store.reading() as cursor:
        tasks = writing_tasks.count_tasks_by_cluster(cursor, state.map.map_id)
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


def _ask_tasks(context: PageContext, state: CoverageState) -> None:
    with context.store.reading() as cursor:
        people = list_eligible_annotators(cursor)
    form = context.acts.form("writing tasks")
    with st.form("writing tasks"):
        kind = st.selectbox("For", list(TASK_KINDS))
        queries = st.number_input("Queries", 1, writing_tasks.MAX_AT_ONCE, min(12, max(1, len(state.gaps))))
        writers = st.multiselect(
            "Writers", [person.name for person in people], default=select_default_names(people)
        )
        seed = st.number_input("Seed of documents and styles", value=0, step=1)
        submitted = submit_button("Open the tasks", "open tasks", form, state.map.map_id)
    result: writing_tasks.OpenedTasks | None = form.result
    if submitted:
        values = (int(queries), writers, int(seed), TASK_KINDS[kind], context.acts.by)
        context.acts.do(form, lambda: writing_tasks.open_tasks(context.store, *values, fill=kind == FILL_FEW))
    elif result is not None:
        first_sentence, *sentences = result.sentences
        ui.confirmation(f"{first_sentence} The tasks are on the page Write.")
        ui.sentences(*sentences)


def _ask_measuring(context: PageContext, state: CoverageState | None) -> None:
    """Show a form that measures coverage; its initial values are the settings of the current map."""
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
    with st.form("measure", width=520):
        form.ask("seed")
        with context.store.reading() as cursor:
            forecast = None if state else forecast_embedding(cursor)
        if forecast is not None:
            ui.quiet(f"This first embeds the corpus: {forecast}.")
        submitted = context.submit_button("Measure again" if state else "Measure coverage", MEASURING)
    context.show_result(MEASURING)
    if state and (settings["extractor"]["name"] != "phrases" or "model" in settings["matching"]):
        ui.quiet("A language model helped to make the current map. This page measures without one.")
    if submitted:
        context.start(MEASURING, form.request())


def _show_written(context: PageContext, state: CoverageState) -> None:
    with context.store.reading() as cursor:
        tasks, queries = writing_tasks.read_batches(cursor), list_queries(cursor)
        checks = check_written_queries(cursor)
    if not tasks and not queries:
        st.info("There are no writing tasks yet. Open tasks under Gaps.")
        return
    ui.tables(writing_tasks.build_batch_table(tasks))
    names = {cluster.number: cluster.name for cluster in state.map.clusters}
    rows = [
        (
            QueryName(query.text, query.query_id),
            f"{query.writer} ({SOURCES[query.source]})",
            names.get(query.cluster, "") if query.map_id == state.map.map_id else "of another map",
            query.document_id,
            query.style,
        )
        for query in reversed(queries)
    ]
    if not rows:
        ui.quiet("Nobody has written a query yet.")
        return
    columns = ["Query", "By", "Region", "Document", "Style"]
    ui.table("Written queries, newest first", columns, rows, words=True, max_rows=MAX_QUERIES)
    if checks:
        ui.table(
            "Written as unanswerable",
            ["Query", "Candidates", "Answered: yes, partly, no", "So far"],
            [_make_check_row(check) for check in checks],
            words=True,
        )
    ui.quiet(
        "People judge written queries like other queries: build the pool again, then open a round. After the "
        "last document of each query, people say whether the corpus answers the query."
    )


def _make_check_row(check: UnanswerableCheck) -> tuple[object, ...]:
    answers = f"{check.yes}, {check.partly}, {check.no}"
    return QueryName(check.text, check.query_id), check.candidates, answers, CHECK_RESULTS[check.verdict]


PARTS = {"Gaps": _show_gaps, "Map": show_map, "Written": _show_written}
