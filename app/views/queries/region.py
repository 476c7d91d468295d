"""Coverage, one region: its topics, its documents and its queries."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page_context import PageContext
from curation.core.characters import isolate
from curation.core.reports.tables import QueryName
from curation.core.text import join_names
from curation.queries.coverage.state import CoverageState
from curation.queries.coverage.stored_map import MAX_NAME_LENGTH, rename_cluster
from curation.store.documents import snapshot_titles

MAX_TOPICS = 40
MAX_DOCUMENTS = 12
MAX_QUERIES = 30


def show(context: PageContext, state: CoverageState) -> None:
    """Ask for a region, and show its entities, documents and queries."""
    regions = state.map.regions
    if not regions:
        return
    number = st.selectbox(
        "Region", regions, format_func=lambda number: f"{number} {state.map.clusters[number].name}"
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        _show_documents(context, state, number)
        _show_queries(state, number)
    with right:
        _show_topics(state, number)
        _ask_name(context, state, number)


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


def _show_queries(state: CoverageState, number: int) -> None:
    rows = [(QueryName(query.text, query.query_id), query.source) for query in state.queries.get(number, [])]
    if rows:
        ui.table("Queries", ["Query", "Source"], rows, words=True, max_rows=MAX_QUERIES)
    else:
        ui.note("No query covers this region.")


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
