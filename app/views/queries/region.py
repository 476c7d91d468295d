"""Coverage, one region: its topics, its documents and its queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app import ui
from app.page_context import PageContext
from curation.core.characters import isolate
from curation.core.reports.tables import NumberCell, QueryName
from curation.core.text import join_names
from curation.queries.coverage.state import CoverageState
from curation.queries.coverage.stored_map import MAX_NAME_LENGTH, rename_cluster
from curation.queries.coverage.writing.tasks import open_tasks
from curation.store.documents import snapshot_titles

MAX_TOPICS = 40
MAX_DOCUMENTS = 12
MAX_QUERIES = 30
REGION_PARAMETER = "region"


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
    """Return the number of the region that a person clicked on the map; None if there was no click."""
    value = st.query_params.get(REGION_PARAMETER, "")
    return int(value) if value.isdecimal() and int(value) in regions else None


def _show_topics(state: CoverageState, number: int) -> None:
    indexes = state.map.clusters[number].entities
    names = [isolate(state.map.entities[index].name) for index in indexes]
    ui.sentences(f"Topics, most central first: {join_names(names, MAX_TOPICS)}.")


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
        ui.note("No query covers this region.")
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
            "Region name",
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
        st.markdown("Write the query on the page [Write](/write).")
