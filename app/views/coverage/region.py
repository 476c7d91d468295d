"""Coverage, one region: its name, entities, documents and queries, and a task to write one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app import ui
from app.page_context import PageContext
from curation.core.reports.page import NumberCell, QueryName
from curation.core.text import isolated, listed
from curation.queries.coverage.state import CoverageState
from curation.queries.coverage.stored_map import LONGEST_NAME, rename_cluster
from curation.queries.coverage.writing.tasks import open_tasks
from curation.store.documents import snapshot_titles

ENTITIES = 40
DOCUMENTS = 12
QUERIES = 30
LINKED = "region"
"""The parameter of the address that names a region."""


def show(
    context: PageContext,
    state: CoverageState,
    results: Mapping[str, Mapping[str, float | None]] | None = None,
) -> None:
    """Choose a region and show what is known of it.

    Parameters
    ----------
    results: system → query id → value, where runs were evaluated.
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
    """The region that a click on the map asked for."""
    asked = st.query_params.get(LINKED, "")
    return int(asked) if asked.isdecimal() and int(asked) in regions else None


def _entities(state: CoverageState, number: int) -> None:
    places = state.map.clusters[number].entities
    names = [isolated(state.map.entities[place].name) for place in places]
    ui.sentences(f"What it is about, the most central first: {listed(names, ENTITIES)}.")


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
        for query in queries[:QUERIES]
    ]
    more = f", {QUERIES} of {len(queries):,}" if len(queries) > QUERIES else ""
    ui.table(f"Queries{more}", ["Query", "Source", *results], rows, words=True)


def _rename(context: PageContext, state: CoverageState, number: int) -> None:
    form = context.acts.form("rename region")
    with st.form("rename"):
        name = st.text_input(
            "Name of the region",
            state.map.clusters[number].name,
            max_chars=LONGEST_NAME,
            key=f"name {number} {form.key}",
        )
        asked = st.form_submit_button("Rename", key=f"rename {number} {form.key}")
    if asked:
        store, by = context.store, context.annotator.name
        context.acts.do(form, lambda: rename_cluster(store, number, name, by))


def _write(context: PageContext, number: int) -> None:
    form = context.acts.form("write for region")
    if st.button("Write a query", key=f"write {number} {form.key}"):
        store, by = context.store, context.annotator.name
        context.acts.do(form, lambda: (number, open_tasks(store, 1, [by], 0, author=by, region=number)))
    elif form.result and form.result[0] == number:
        st.markdown("A task is open for you on the page [Write](/write).")
