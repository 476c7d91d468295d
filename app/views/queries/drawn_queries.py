"""Queries, Sample: the list of the drawn queries, from which leads leave queries out."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.links import query_address
from app.components.widgets import PickerRow, pick_rows, show_drawing
from app.page_context import PageContext
from curation.core.reports.table_files import format_csv
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.queries.retired_queries import leave_out, put_back
from curation.queries.sampling.stored_sample import QUERY_COLUMNS, SampleReport, list_drawn_queries
from curation.queries.sampling.strata import build_strata_table, make_sample_chart

COLUMNS = ["Query", "Asked", "Stratum"]


def show_drawn_queries(context: PageContext, sample: SampleReport) -> None:
    """Show the queries of the current sample, and its strata."""
    with context.store.reading() as cursor:
        queries = list_drawn_queries(cursor, sample.sample_id)
    ui.heading(f"{pluralize(sample.size, 'query', 'queries')}, drawn with seed {sample.seed}")
    form = context.acts.form("leave out")
    rows = [
        PickerRow(
            query_id,
            [text, f"{asked:,}", f"{stratum}, left out: {reason}" if reason else stratum],
            query_address(query_id),
        )
        for query_id, text, asked, stratum, _, reason in queries
    ]
    chosen = pick_rows("drawn queries", COLUMNS, rows, [], form.submission_count)
    if chosen:
        _ask_leaving(context, chosen)
    else:
        ui.note("Choose queries to leave them out.")
    with st.container(horizontal=True):
        ui.download("Download", format_csv(Table("", QUERY_COLUMNS, tuple(queries))), "queries.csv")
        st.button("Next: pool", on_click=ui.preselect_parts, args=({"part": "Pool"},))
    ui.sentences(*sample.warnings)
    with st.expander("Strata"):
        show_drawing(make_sample_chart(sample.strata))
        ui.tables(build_strata_table(sample.sample_id, sample.strata))


def _ask_leaving(context: PageContext, chosen: list[str]) -> None:
    """Ask for the reason to leave the chosen queries out."""
    acts, store = context.acts, context.store
    form = acts.form("leave out")
    with st.form("leave out"):
        reason = st.text_input("Reason to leave the chosen queries out", key=f"reason {form.key}")
        ui.note("No new round shows them. Other queries of their stratum stand for them in estimates.")
        with st.container(horizontal=True):
            leaves = st.form_submit_button("Leave out", key=f"leave {form.key}")
            returns = st.form_submit_button("Put back", key=f"put back {form.key}")
    if leaves:
        acts.do(form, lambda: leave_out(store, chosen, reason, acts.by))
    elif returns:
        acts.do(form, lambda: put_back(store, chosen, acts.by))
