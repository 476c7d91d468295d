"""Re-label, due pairs: the calendar of quarters, the stalest pairs, and judged documents that have
changed.
"""

from __future__ import annotations

from collections import Counter

import streamlit as st

from app import ui
from curation.core.errors import NotFoundError
from curation.core.text import percent, pluralize
from curation.relabeling.judged_pairs import CHANGED, GONE, STALE, WEIGHTS
from curation.relabeling.sections import calendar_table, due_sentences, stale_pair_table
from curation.relabeling.staleness import SetStaleness
from curation.relabeling.text_changes import text_change
from curation.store import Store

SHOWN = 20
"""Maximum number of rows of each table; the command line shows all rows."""


def show(store: Store, set_staleness: SetStaleness) -> None:
    _calendar(set_staleness)
    _pairs(set_staleness)
    show_changes(store, set_staleness)


def _calendar(set_staleness: SetStaleness) -> None:
    calendar = set_staleness.calendar
    work = calendar.quarters[-1][2]
    done = calendar.state if work is None or work.round is None else f"{work.whole:,} of {work.pairs:,}"
    ui.metrics(
        {
            "Quarter": set_staleness.quarter,
            "Out of date": f"{set_staleness.stale:,} of {len(set_staleness.pairs):,}",
            "Judged again this quarter": done,
            "Renewed in four quarters": percent(calendar.renewed_share),
        }
    )
    ui.sentences(*due_sentences(calendar))
    ui.tables(calendar_table(calendar))


def _pairs(set_staleness: SetStaleness) -> None:
    ui.heading("Stalest pairs")
    ui.tables(stale_pair_table(set_staleness, SHOWN))
    weights = ", ".join(f"{name} {percent(weight)}" for name, weight in WEIGHTS.items())
    ui.quiet(
        f"The score is the weighted mean of the known components ({weights}); a dash marks an unknown "
        f"component, which does not count. A pair with a score of {STALE:g} or more is stale, unless it was "
        "judged this quarter and its document and the guide are unchanged since. Sealed pairs are listed "
        "without the component of the guide, because it depends on the grade."
    )


def show_changes(store: Store, set_staleness: SetStaleness) -> None:
    ui.heading("Documents that changed")
    changed = Counter(
        (pair.document_id, pair.read_hash, pair.now_hash)
        for pair in set_staleness.pairs
        if pair.document == CHANGED and pair.read_hash and pair.now_hash
    )
    if gone := {pair.document_id for pair in set_staleness.pairs if pair.document == GONE}:
        ui.quiet(
            f"{pluralize(len(gone), 'judged document is', 'judged documents are')} no longer in the corpus."
        )
    if not changed:
        ui.quiet("No judged document has a different text in the newest corpus.")
        return
    chosen = st.selectbox(
        f"Changed document ({len(changed):,})",
        sorted(changed, key=lambda version: (-changed[version], version)),
        format_func=lambda version: f"{version[0]} (pairs: {changed[version]:,})",
    )
    _, judged, current = chosen
    _difference(store, judged, current)


def _difference(store: Store, judged: str, current: str) -> None:
    """Show the differences between the judged text and the current text of a document, given the hashes of
    both.
    """
    try:
        change = text_change(store, judged, current)
    except NotFoundError as error:
        ui.problem(error)
        return
    kept = "" if change.kept is None else f"{percent(change.kept)} of the words are in both. "
    left = f" {change.words_left_out:,} more words are not shown." if change.words_left_out else ""
    ui.quiet(
        f"{kept}Struck through: only in the text that was judged. Underlined: only in the current text.{left}"
    )
    ui.text_difference(change.title, change.body)
