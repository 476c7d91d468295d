"""Coverage, regions: the map of all regions, and the name, entities, documents and queries of a region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app import ui
from app.context import BY_PATH
from app.page_context import PageContext
from curation.core.characters import isolate
from curation.core.errors import CurationError
from curation.core.reports.tables import NumberCell, QueryName
from curation.core.text import join_names
from curation.evaluation.coverage_report import (
    EvaluatedValues,
    RegionGraph,
    build_map_sections,
    build_region_graph,
    read_stored_values,
    write_coverage_page,
)
from curation.evaluation.stored_evaluations import list_evaluations
from curation.queries.coverage.state import CoverageState
from curation.queries.coverage.stored_map import MAX_NAME_LENGTH, rename_cluster
from curation.queries.coverage.writing.tasks import open_tasks
from curation.store import Store
from curation.store.documents import snapshot_titles

KEPT = 4
"""Maximum number of region graphs that are kept in memory."""
ENTITIES = 40
DOCUMENTS = 12
QUERIES = 30
LINKED = "region"
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
    linked = _linked(regions)
    usual = state.gaps[0].number if state.gaps else regions[0]
    first = usual if linked is None else linked
    number = st.selectbox(
        "Region",
        regions,
        regions.index(first),
        format_func=lambda at: f"{at} {state.map.clusters[at].name}",
        key=f"region of {first}",
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        _documents(context, state, number)
        _queries(state, number, results or {})
    with right:
        _entities(state, number)
        _rename(context, state, number)
        _write(context, number)


def _linked(regions: Sequence[int]) -> int | None:
    """Return the number of the region that a person clicked on the map; None without a click."""
    asked = st.query_params.get(LINKED, "")
    return int(asked) if asked.isdecimal() and int(asked) in regions else None


def _entities(state: CoverageState, number: int) -> None:
    places = state.map.clusters[number].entities
    names = [isolate(state.map.entities[entity].name) for entity in places]
    ui.sentences(f"Topics, the most central first: {join_names(names, ENTITIES)}.")


def _documents(context: PageContext, state: CoverageState, number: int) -> None:
    ids = state.map.clusters[number].documents
    with context.store.reading() as cursor:
        titles = snapshot_titles(cursor, state.map.snapshot_id, ids[:DOCUMENTS])
    rows = [(document_id, titles.get(document_id) or "Untitled") for document_id in ids[:DOCUMENTS]]
    more = f", {DOCUMENTS} of {len(ids):,}" if len(ids) > DOCUMENTS else ""
    ui.table(f"Documents{more}", ["Document", "Title"], rows, words=True)


def _queries(state: CoverageState, number: int, results: Mapping[str, Mapping[str, float | None]]) -> None:
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
    ui.table("Queries", ["Query", "Source", *results], rows, words=True, max_rows=QUERIES)


def _rename(context: PageContext, state: CoverageState, number: int) -> None:
    form = context.acts.form("rename region")
    with st.form("rename"):
        name = st.text_input(
            "Name of the region",
            state.map.clusters[number].name,
            max_chars=MAX_NAME_LENGTH,
            key=f"name {number} {form.key}",
        )
        asked = st.form_submit_button("Rename", key=f"rename {number} {form.key}")
    if asked:
        context.acts.do(form, lambda: rename_cluster(context.store, number, name, context.acts.by))


def _write(context: PageContext, number: int) -> None:
    form = context.acts.form("write for region")
    if st.button("Write a query", key=f"write {number} {form.key}"):
        by = context.acts.by
        context.acts.do(
            form, lambda: (number, open_tasks(context.store, 1, [by], 0, author=by, region=number))
        )
    elif form.result and form.result[0] == number:
        st.markdown("A task is open for you on the page [Write](/write).")


@st.cache_resource(max_entries=KEPT, show_spinner="Placing the regions…", hash_funcs=BY_PATH)
def _graph(store: Store, map_id: str, _state: CoverageState) -> RegionGraph:
    """Compute the positions of the regions on a map; the positions depend only on the map."""
    return build_region_graph(_state)


def show_map(context: PageContext, state: CoverageState) -> None:
    chosen = _chosen(context)
    system = None
    if chosen is not None:
        system = st.selectbox("Coloured by", list(chosen.systems), width=320)
    graph = _graph(context.store, state.map.map_id, state)
    for section in build_map_sections(state, graph, chosen, system, _link):
        ui.heading(section.heading)
        ui.section(section)
    show(context, state, chosen.systems if chosen else None)
    ui.download("Download the map", lambda: write_coverage_page(context.store, chosen), "coverage.html")


def _link(number: int) -> str:
    return f"?part=Coverage&of=Map&{LINKED}={number}"


def _chosen(context: PageContext) -> EvaluatedValues | None:
    """Ask for the evaluation whose results color the map; sealed evaluations have no results of single
    queries.
    """
    with context.store.reading() as cursor:
        listed = [
            submitted_evaluation
            for submitted_evaluation in list_evaluations(cursor, context.annotator)
            if not submitted_evaluation.sealed
        ]
    if not listed:
        ui.quiet("The map has no results, because no run has been evaluated yet.")
        return None
    labels = {
        evaluation.evaluation_id: f"{evaluation.made_at:%d %b %Y %H:%M} UTC: "
        f"{', '.join(evaluation.systems)} on {evaluation.name}, {', '.join(evaluation.parts)}"
        for evaluation in listed
    }
    chosen = st.selectbox(
        "Results", [*labels, NO_RUN], format_func=lambda evaluation: labels.get(evaluation, evaluation)
    )
    if chosen == NO_RUN:
        return None
    try:
        with context.store.reading() as cursor:
            return read_stored_values(cursor, chosen, context.annotator)
    except CurationError as error:
        ui.problem(error)
        return None
