"""Re-label, what is due: the calendar, the stalest pairs, documents that changed, and traffic that moved.

Re-label, documents that changed: the text that was judged next to the text in force, word by word.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import streamlit as st

from app import ui
from curation.errors import NotFoundError
from curation.relabeling.staleness.calendar import CHANGED, GONE
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
from curation.relabeling.staleness.text_changes import text_change
from curation.relabeling.staleness.traffic import STEADY, UNKNOWN_TREND
from curation.reports.page import QueryName
from curation.store import Store
from curation.text import amount, percent


class ChangedDocument(NamedTuple):
    """A document with the version that was judged and the one in force."""

    document_id: str
    read_hash: str
    now_hash: str


def show_changes(store: Store, found: SetStaleness) -> None:
    ui.heading("Documents that changed")
    changed = Counter(
        ChangedDocument(pair.document_id, pair.read_hash, pair.now_hash)
        for pair in found.pairs
        if pair.document == CHANGED and pair.read_hash and pair.now_hash
    )
    if gone := {pair.document_id for pair in found.pairs if pair.document == GONE}:
        ui.quiet(
            f"{amount(len(gone), 'judged document is', 'judged documents are')} no longer in the corpus."
        )
    if not changed:
        ui.quiet("No judged document has another text in the newest corpus.")
        return
    chosen = st.selectbox(
        f"Changed document ({len(changed):,})",
        sorted(changed, key=lambda one: (-changed[one], one)),
        format_func=lambda one: f"{one.document_id} (pairs: {changed[one]:,})",
    )
    _difference(store, chosen)


def _difference(store: Store, chosen: ChangedDocument) -> None:
    try:
        change = text_change(store, chosen.read_hash, chosen.now_hash)
    except NotFoundError as error:
        ui.problem(error)
        return
    kept = "" if change.kept is None else f"{percent(change.kept)} of the words are in both. "
    left = f" {change.words_left_out:,} more words are not shown." if change.words_left_out else ""
    ui.quiet(f"{kept}Struck: only in the text that was judged. Underlined: only in the current text.{left}")
    ui.text_difference(change.title, change.body)


SHOWN = 20
"""Rows of each table; the command line has all."""
TRAFFIC = ["Query", "Searches at sampling", "Expected now", "Searches now", "Trend"]


def show(store: Store, found: SetStaleness) -> None:
    _calendar(found)
    _queries(found)
    _pairs(found)
    show_changes(store, found)
    _traffic(found)


def _calendar(found: SetStaleness) -> None:
    calendar, due = found.calendar, found.calendar.due
    work = calendar.quarters[-1].work
    with st.container(horizontal=True, gap="large"):
        st.metric("Quarter", found.quarter, width="content")
        st.metric("Out of date", f"{found.stale:,} of {len(found.pairs):,}", width="content")
        done = due.state if work is None or work.round is None else f"{work.whole:,} of {work.pairs:,}"
        st.metric("Judged again this quarter", done, width="content")
        st.metric("Renewed in four quarters", percent(calendar.renewed_share), width="content")
    ui.sentences("\n".join(due_sentences(calendar)))
    ui.tables(calendar_table(calendar))


def _queries(found: SetStaleness) -> None:
    ui.heading("Stalest queries")
    ui.tables(query_table(found, SHOWN))
    ui.quiet(
        "A query's score is the mean of its pairs'. A dash: when some of its pairs were judged is unknown."
    )


def _pairs(found: SetStaleness) -> None:
    ui.heading("Stalest pairs")
    ui.tables(pair_table(found, SHOWN))
    weights = ", ".join(f"{name} {percent(weight)}" for name, weight in WEIGHTS.items())
    ui.quiet(
        f"The score is the weighted mean of the known parts ({weights}); a dash is unknown and does not "
        f"count. From {STALE:g} on a pair is stale, unless it was judged this quarter and neither its "
        "document nor the guide changed since. Sealed pairs are listed without the part of the guide, "
        "because it depends on the grade."
    )


def _traffic(found: SetStaleness) -> None:
    ui.heading("Traffic")
    if not found.has_new_traffic:
        ui.quiet("No log was imported since the sample was drawn, so traffic now is unknown.")
        return
    moved = [one for one in found.queries if one.traffic.trend not in (STEADY, UNKNOWN_TREND)]
    moved.sort(key=lambda one: (-abs((one.traffic.now or 0) - (one.traffic.expected or 0)), one.query_id))
    if moved:
        rows = [_moved(one) for one in moved[:SHOWN]]
        ui.table(first("Queries that moved", len(moved), SHOWN), TRAFFIC, rows, words=True)
        ui.quiet("Expected now: had the query done what the median query did since the sample was drawn.")
    else:
        ui.quiet("No query moved by more than noise, compared with its own past and the median query.")
    ui.tables(new_query_table(found, SHOWN))


def _moved(one: QueryStaleness) -> tuple[object, ...]:
    return (
        QueryName(one.text, one.query_id),
        one.traffic.then,
        None if one.traffic.expected is None else round(one.traffic.expected),
        *(one.traffic.now, one.traffic.trend),
    )
