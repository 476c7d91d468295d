"""Coverage, Map: the regions of the corpus on a map, and one region with its documents and queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from app import ui
from app.context import BY_PATH
from app.page_context import PageContext
from curation.core.characters import isolate
from curation.core.errors import CurationError
from curation.core.reports.tables import NumberCell, QueryName
from curation.core.text import join_names
from curation.evaluation import by_query, coverage_report, region_graph
from curation.evaluation.stored_evaluations import list_evaluations
from curation.queries.coverage.state import CoverageState
from curation.queries.coverage.stored_map import MAX_NAME_LENGTH, rename_cluster
from curation.queries.coverage.writing.tasks import open_tasks
from curation.store import Store
from curation.store.documents import snapshot_titles

MAX_CACHED_GRAPHS = 4
MAX_TOPICS = 40
MAX_DOCUMENTS = 12
MAX_QUERIES = 30
REGION_PARAMETER = "region"
"""The parameter of the page's address that names a region."""
NO_RUN = "no run"


def show(
    context: PageContext,
    state: CoverageState,
    results: Mapping[str, Mapping[str, float | None]] | None = None,
) -> None:
    """Ask for a region, and show its entities, documents and queries.

    Parameters
    ----------
    results: system → query id → value of the evaluated runs.
    """
    regions = state.map.regions
    if not regions:
        return
    ui.heading("One region")
    first_gap = state.gaps[0].number if state.gaps else regions[0]
    clicked = _read_clicked_region(regions)
    initial = first_gap if clicked is None else clicked
    number = st.selectbox(
        "Region",
        regions,
        regions.index(initial),
        format_func=lambda number: f"{number} {state.map.clusters[number].name}",
        key=f"region of {initial}",
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        _show_documents(context, state, number)
        _show_queries(state, number, results or {})
    with right:
        _show_topics(state, number)
        _ask_name(context, state, number)
        _offer_task(context, number)


def _read_clicked_region(regions: Sequence[int]) -> int | None:
    """Return the number of the region that a person clicked on the map; None without a click."""
    value = st.query_params.get(REGION_PARAMETER, "")
    return int(value) if value.isdecimal() and int(value) in regions else None


def _show_topics(state: CoverageState, number: int) -> None:
    indexes = state.map.clusters[number].entities
    names = [isolate(state.map.entities[index].name) for index in indexes]
    ui.sentences(f"Topics, the most central first: {join_names(names, MAX_TOPICS)}.")


def _show_documents(context: PageContext, state: CoverageState, number: int) -> None:
    ids = state.map.clusters[number].documents
    with context.store.reading() as cursor:
        titles = snapshot_titles(cursor, state.map.snapshot_id, ids[:MAX_DOCUMENTS])
    rows = [(document_id, titles.get(document_id) or "Untitled") for document_id in ids[:MAX_DOCUMENTS]]
    more = f", {MAX_DOCUMENTS} of {len(ids):,}" if len(ids) > MAX_DOCUMENTS else ""
    ui.table(f"Documents{more}", ["Document", "Title"], rows, words=True)


def _show_queries(
    state: CoverageState, number: int, results: Mapping[str, Mapping[str, float | None]]
) -> None:
    queries = state.queries.get(number, [])
    if not queries:
        ui.quiet("No query is about this region.")
        return
    rows: Sequence[Sequence[object]] = [
        (
            QueryName(query.text, query.query_id),
            query.source,
            *(NumberCell(values.get(query.query_id), 3) for values in results.values()),
        )
        for query in queries
    ]
    ui.table("Queries", ["Query", "Source", *results], rows, words=True, max_rows=MAX_QUERIES)


def _ask_name(context: PageContext, state: CoverageState, number: int) -> None:
    form = context.acts.form("rename region")
    with st.form("rename"):
        name = st.text_input(
            "Name of the region",
            state.map.clusters[number].name,
            max_chars=MAX_NAME_LENGTH,
            key=f"name {number} {form.key}",
        )
        submitted = st.form_submit_button("Rename", key=f"rename {number} {form.key}")
    if submitted:
        context.acts.do(form, lambda: rename_cluster(context.store, number, name, context.acts.by))


def _offer_task(context: PageContext, number: int) -> None:
    acts, by = context.acts, context.acts.by
    form = acts.form("write for region")
    if st.button("Write a query", key=f"write {number} {form.key}"):
        acts.do(form, lambda: (number, open_tasks(context.store, 1, [by], 0, author=by, region=number)))
    elif form.result and form.result[0] == number:
        st.markdown("A task is open for you on the page [Write](/write).")


@st.cache_resource(max_entries=MAX_CACHED_GRAPHS, show_spinner="Placing the regions…", hash_funcs=BY_PATH)
def _lay_out_map(store: Store, map_id: str, _state: CoverageState) -> region_graph.RegionGraph:
    """Compute the positions of the regions on a map; the positions depend only on the map."""
    return region_graph.build_region_graph(_state)


def show_map(context: PageContext, state: CoverageState) -> None:
    results = _ask_results(context)
    system = None
    if results is not None:
        system = st.selectbox("Coloured by", list(results.systems), width=320)
    graph = _lay_out_map(context.store, state.map.map_id, state)
    for section in coverage_report.build_map_sections(state, graph, results, system, _make_link):
        ui.heading(section.heading)
        ui.section(section)
    show(context, state, results.systems if results else None)
    write_page = partial(coverage_report.write_coverage_page, context.store, results)
    ui.download("Download the map", write_page, "coverage.html")


def _make_link(number: int) -> str:
    return f"?part=Coverage&of=Map&{REGION_PARAMETER}={number}"


def _ask_results(context: PageContext) -> by_query.EvaluatedValues | None:
    """Ask for the evaluation whose results color the map; sealed evaluations have no results of single
    queries.
    """
    with context.store.reading() as cursor:
        evaluations = [item for item in list_evaluations(cursor, context.annotator) if not item.sealed]
    if not evaluations:
        ui.quiet("The map has no results, because no run has been evaluated yet.")
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
