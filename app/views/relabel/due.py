"""Re-label, what is due: the calendar, the stalest pairs, documents that changed, and traffic that moved.

Re-label, documents that changed: the text that was judged next to the text in force, word by word.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import streamlit as st

from app import ui
from curation.errors import NotFoundError
from curation.relabeling.staleness.calendar import (
    CHANGED,
    GONE,
    NOT_PLANNED,
    STEADY,
    UNKNOWN_TREND,
    CalendarQuarter,
    RelabelingCalendar,
    TrafficShare,
)
from curation.relabeling.staleness.score import STALE, WEIGHTS
from curation.relabeling.staleness.staleness import PairStaleness, QueryStaleness, SetStaleness
from curation.relabeling.staleness.text_changes import text_change
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
        ui.quiet(f"{len(gone):,} judged documents are no longer in the corpus.")
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
    ui.quiet(f"{kept}Struck: only in the text that was judged. Underlined: only in the text of now.{left}")
    ui.text_difference(change.title, change.body)


SHOWN = 20
"""Rows of each table; the command line has all."""
CALENDAR = ["Quarter", "Pairs last judged", "Re-labeling", "Pairs done"]
QUERIES = ["Query", "Type", "Pairs", "Changed", "Gone", "Stale", "Oldest (quarters)", "Traffic", "Score"]
PAIRS = ["Query", "Document id", "Grade", "Judged", "Score", *(name.capitalize() for name in WEIGHTS)]
TRAFFIC = ["Query", "Share at sampling (95 %)", "Share now (95 %)", "Trend"]


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
        st.metric("Stale pairs", f"{found.stale:,} of {len(found.pairs):,}", width="content")
        done = due.state if work is None or work.round is None else f"{work.whole:,} of {work.pairs:,}"
        st.metric("Judged again this quarter", done, width="content")
        st.metric("Renewed in four quarters", percent(calendar.renewed_share), width="content")
    ui.sentences("\n".join(_due(calendar)))
    ui.table("Calendar", CALENDAR, [_quarter(one) for one in calendar.quarters if one.judged or one.work])
    for name, count in (("before these quarters", calendar.older), ("at an unknown time", calendar.unknown)):
        if count:
            ui.quiet(f"{amount(count, 'pair was', 'pairs were')} judged {name}.")


def _due(calendar: RelabelingCalendar) -> list[str]:
    due, left = calendar.due, calendar.due.unfinished
    lines = []
    if left is not None:
        lines.append(
            f"The re-labeling of {left.quarter.name} is still open: {left.whole:,} of "
            f"{amount(left.pairs, 'pair')} "
            "are done. Finish it, or close its round under Rounds."
        )
    if not due.is_due:
        return [*lines, f"Nothing is due in {due.quarter}."]
    asked = "not planned yet" if due.state == NOT_PLANNED else due.state
    reasons = [f"{count:,} {why}" for why, count in due.reasons.items()]
    return [*lines, f"Due in {due.quarter} ({asked}):", *(reasons or ["the open work"])]


def _quarter(one: CalendarQuarter) -> tuple[object, ...]:
    work = one.work
    done = "" if work is None or work.round is None else f"{work.whole:,} of {work.pairs:,}"
    return one.quarter, one.judged, work.state if work else "", done


def _queries(found: SetStaleness) -> None:
    rows = [
        (
            *(one.text, one.type, one.pairs, one.changed, one.gone, one.stale, one.oldest),
            *(one.traffic.trend, ui.NumberCell(one.score, 2)),
        )
        for one in found.queries[:SHOWN]
    ]
    ui.heading("Stalest queries")
    ui.table(_counted("Queries by score", len(found.queries)), QUERIES, rows, words=True)
    ui.quiet(
        "A query's score is the mean of its pairs'. A dash: when some of its pairs were judged is unknown."
    )


def _pairs(found: SetStaleness) -> None:
    texts = {query.query_id: query.text for query in found.queries}
    rows = [_pair(pair, texts[pair.query_id]) for pair in found.pairs[:SHOWN]]
    ui.heading("Stalest pairs")
    ui.table(_counted("Pairs by score", len(found.pairs)), PAIRS, rows, words=True)
    weights = ", ".join(f"{name} {percent(weight)}" for name, weight in WEIGHTS.items())
    ui.quiet(
        f"The score is the weighted mean of the known parts ({weights}); a dash is unknown and has no say. "
        f"From {STALE:g} on a pair is stale."
    )


def _pair(pair: PairStaleness, query: str) -> tuple[object, ...]:
    grade = pair.how if pair.grade is None else f"{pair.grade}"
    judged = (pair.judged or "unknown").replace("-", "\u2011")
    parts = (ui.NumberCell(getattr(pair.parts, name), 2) for name in WEIGHTS)
    return query, pair.document_id, grade, judged, ui.NumberCell(pair.score, 2), *parts


def _traffic(found: SetStaleness) -> None:
    ui.heading("Traffic")
    if not found.has_new_traffic:
        ui.quiet("No log was imported since the sample was drawn, so traffic now is unknown.")
        return
    moved = [one for one in found.queries if one.traffic.trend not in (STEADY, UNKNOWN_TREND)]
    moved.sort(key=lambda one: (-(one.traffic.change or 0.0), one.query_id))
    if moved:
        rows = [_moved(one) for one in moved[:SHOWN]]
        ui.table(_counted("Queries whose share moved", len(moved)), TRAFFIC, rows, words=True)
    else:
        ui.quiet("No query's share of the traffic moved by more than noise.")
    if found.new_queries:
        new = [(one.normalised, one.searches) for one in found.new_queries[:SHOWN]]
        count = len(found.new_queries)
        ui.table(_counted("Queries that are new", count), ["Query", "Searches"], new, words=True)


def _moved(one: QueryStaleness) -> tuple[object, ...]:
    return one.text, _share(one.traffic.then), _share(one.traffic.now), one.traffic.trend


def _share(found: TrafficShare | None) -> str:
    if found is None:
        return "–"
    return f"{percent(found.share, 2)} ({percent(found.low, 2)}\u00a0to\u00a0{percent(found.high, 2)})"


def _counted(what: str, count: int) -> str:
    return f"{what}: the first {SHOWN:,} of {count:,}" if count > SHOWN else f"{what}: {count:,}"
