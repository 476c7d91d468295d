"""Re-label, what is due: the calendar, the stalest pairs, documents that changed, and traffic that moved."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.relabel.changed_documents import show_changes
from curation.core.reports.page import QueryName
from curation.core.text import percent
from curation.relabeling.staleness.score import STALE, WEIGHTS
from curation.relabeling.staleness.staleness import QueryStaleness, SetStaleness
from curation.relabeling.staleness.tables import (
    calendar_table,
    due_sentences,
    first,
    new_query_table,
    pair_table,
    query_table,
)
from curation.relabeling.staleness.traffic import STEADY, UNKNOWN_TREND
from curation.store import Store

SHOWN = 20
"""Rows of each table; the command line has all."""
TRAFFIC = ["Query", "Searches at sampling", "Expected now", "Searches now", "Trend"]


def show(store: Store, set_staleness: SetStaleness) -> None:
    _calendar(set_staleness)
    _queries(set_staleness)
    _pairs(set_staleness)
    show_changes(store, set_staleness)
    _traffic(set_staleness)


def _calendar(set_staleness: SetStaleness) -> None:
    calendar, due = set_staleness.calendar, set_staleness.calendar.due
    work = calendar.quarters[-1].work
    with st.container(horizontal=True, gap="large"):
        st.metric("Quarter", set_staleness.quarter, width="content")
        st.metric("Out of date", f"{set_staleness.stale:,} of {len(set_staleness.pairs):,}", width="content")
        done = due.state if work is None or work.round is None else f"{work.whole:,} of {work.pairs:,}"
        st.metric("Judged again this quarter", done, width="content")
        st.metric("Renewed in four quarters", percent(calendar.renewed_share), width="content")
    ui.sentences("\n".join(due_sentences(calendar)))
    ui.tables(calendar_table(calendar))


def _queries(set_staleness: SetStaleness) -> None:
    ui.heading("Stalest queries")
    ui.tables(query_table(set_staleness, SHOWN))
    ui.quiet(
        "A query's score is the mean of its pairs'. A dash: when some of its pairs were judged is unknown."
    )


def _pairs(set_staleness: SetStaleness) -> None:
    ui.heading("Stalest pairs")
    ui.tables(pair_table(set_staleness, SHOWN))
    weights = ", ".join(f"{name} {percent(weight)}" for name, weight in WEIGHTS.items())
    ui.quiet(
        f"The score is the weighted mean of the known parts ({weights}); a dash is unknown and does not "
        f"count. From {STALE:g} on a pair is stale, unless it was judged this quarter and neither its "
        "document nor the guide changed since. Sealed pairs are listed without the part of the guide, "
        "because it depends on the grade."
    )


def _traffic(set_staleness: SetStaleness) -> None:
    ui.heading("Traffic")
    if not set_staleness.has_new_traffic:
        ui.quiet("No log was imported since the sample was drawn, so traffic now is unknown.")
        return
    moved = [query for query in set_staleness.queries if query.traffic.trend not in (STEADY, UNKNOWN_TREND)]
    moved.sort(key=lambda one: (-abs((one.traffic.now or 0) - (one.traffic.expected or 0)), one.query_id))
    if moved:
        rows = [_moved(one) for one in moved[:SHOWN]]
        ui.table(first("Queries that moved", len(moved), SHOWN), TRAFFIC, rows, words=True)
        ui.quiet("Expected now: had the query done what the median query did since the sample was drawn.")
    else:
        ui.quiet("No query moved by more than noise, compared with its own past and the median query.")
    ui.tables(new_query_table(set_staleness, SHOWN))


def _moved(query_staleness: QueryStaleness) -> tuple[object, ...]:
    return (
        QueryName(query_staleness.text, query_staleness.query_id),
        query_staleness.traffic.then,
        None if query_staleness.traffic.expected is None else round(query_staleness.traffic.expected),
        *(query_staleness.traffic.now, query_staleness.traffic.trend),
    )
