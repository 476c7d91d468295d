"""Re-label, Due: how stale the grades are, and why, for example because documents have changed."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from app import ui
from curation.core.errors import NotFoundError
from curation.core.text import percent, pluralize
from curation.relabeling.judged_pairs import CHANGED, GONE, MIN_STALE_SCORE, SCORE_WEIGHTS
from curation.relabeling.planning_sections import list_due, make_calendar_table, make_stale_pair_table
from curation.relabeling.staleness import SetStaleness
from curation.relabeling.text_changes import compare_texts
from curation.store import Store

MAX_ROWS = 20
"""Maximum number of rows of each table; the command line shows all rows."""


def show(store: Store, set_staleness: SetStaleness) -> None:
    _show_calendar(set_staleness)
    _show_pairs(set_staleness)
    _show_changes(store, set_staleness)


def _show_calendar(set_staleness: SetStaleness) -> None:
    calendar = set_staleness.calendar
    work = calendar.quarters[-1][2]
    progress = calendar.state if work is None or work.round is None else f"{work.whole:,} of {work.pairs:,}"
    ui.metrics(
        {
            "Quarter": set_staleness.quarter,
            "Out of date": f"{set_staleness.stale:,} of {len(set_staleness.pairs):,}",
            "Judged again this quarter": progress,
            "Renewed in four quarters": percent(calendar.renewed_share),
        }
    )
    ui.sentences(*list_due(calendar))
    ui.tables(make_calendar_table(calendar))


def _show_pairs(set_staleness: SetStaleness) -> None:
    ui.heading("Stalest pairs")
    ui.tables(make_stale_pair_table(set_staleness, MAX_ROWS))
    weights = ", ".join(f"{name} {percent(weight)}" for name, weight in SCORE_WEIGHTS.items())
    ui.note(
        f"The score is the weighted mean of its known components ({weights}); a dash marks an unknown "
        "component, which is left out. A pair with a score of "
        f"{MIN_STALE_SCORE:g} or more is stale, unless it was judged this quarter and its document and the "
        "guide have not changed since. For sealed pairs, the guide component is hidden, because it "
        "depends on the grade."
    )


def _show_changes(store: Store, set_staleness: SetStaleness) -> None:
    ui.heading("Documents that changed")
    pairs_by_version = Counter(
        (pair.document_id, pair.read_hash, pair.now_hash)
        for pair in set_staleness.pairs
        if pair.document == CHANGED and pair.read_hash and pair.now_hash
    )
    if missing := {pair.document_id for pair in set_staleness.pairs if pair.document == GONE}:
        documents_are = pluralize(len(missing), "judged document is", "judged documents are")
        ui.note(f"{documents_are} no longer in the corpus.")
    if not pairs_by_version:
        ui.note("No judged document has changed in the newest corpus.")
        return
    version = st.selectbox(
        f"Changed document ({len(pairs_by_version):,})",
        sorted(pairs_by_version, key=lambda version: (-pairs_by_version[version], version)),
        format_func=lambda version: f"{version[0]} (pairs: {pairs_by_version[version]:,})",
    )
    _, judged_hash, current_hash = version
    _show_difference(store, judged_hash, current_hash)


def _show_difference(store: Store, judged_hash: str, current_hash: str) -> None:
    """Show the differences between a document's judged text and its current text."""
    try:
        change = compare_texts(store, judged_hash, current_hash)
    except NotFoundError as error:
        ui.problem(error)
        return
    common = "" if change.kept is None else f"{percent(change.kept)} of the words are in both. "
    left_out = f" {change.words_left_out:,} more words are not shown." if change.words_left_out else ""
    legend = "Struck through: removed since it was judged. Underlined: added since."
    ui.note(f"{common}{legend}{left_out}")
    ui.text_difference(change.title, change.body)
