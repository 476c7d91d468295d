"""Releases, Access log: the people who exported a release or used its sealed grades."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page_context import PageContext
from curation.core.reports.tables import Table
from curation.people.seal_access import read_openings
from curation.releases import overview
from curation.releases.release_rows import ReleaseRow
from curation.releases.sealed_log import (
    make_sealed_table,
    read_monthly_limit,
    read_sealed_evaluations,
    set_monthly_limit,
)


def show(context: PageContext, release: ReleaseRow) -> None:
    """Show the people who exported a release, opened its sealed grades, or evaluated on its sealed parts."""
    with context.store.reading() as cursor:
        exports = overview.make_export_table(cursor, release.release_id)
        unsealings = read_openings(cursor, release.release_id)
        evaluations = read_sealed_evaluations(cursor, release.release_id)
    ui.note(
        "The log also lists releases with the same content under another name. Viewing a page is not "
        "logged as an export."
    )
    _show_log(exports, "Nobody has exported this release yet.")
    _show_log(overview.make_opening_table(unsealings), "Nobody has opened sealed grades.")
    _show_log(make_sealed_table(evaluations), "Nobody has evaluated on sealed parts.")
    _ask_monthly_limit(context)


def _ask_monthly_limit(context: PageContext) -> None:
    """Show a form that sets how many sealed evaluations an evaluator may start each month."""
    form = context.acts.form("sealed limit")
    with context.store.reading() as cursor:
        limit = read_monthly_limit(cursor)
    with st.form(f"sealed limit {form.key}", border=False):
        new_limit = st.number_input(
            "Sealed evaluations per month, for each evaluator and sealed part", 0, None, limit, 1, width=320
        )
        submitted = st.form_submit_button("Save the number")
    if submitted:
        context.acts.do(form, lambda: set_monthly_limit(context.store, int(new_limit), context.acts.by))


def _show_log(table: Table, empty_sentence: str) -> None:
    ui.tables(table)
    if not table.rows:
        ui.heading(table.caption)
        ui.note(empty_sentence)
