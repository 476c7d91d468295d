"""Re-label, documents that changed: the text that was judged next to the text in force, word by word."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from app import ui
from curation.core.errors import NotFoundError
from curation.core.text import amount, percent
from curation.relabeling.staleness.judged_pairs import CHANGED, GONE
from curation.relabeling.staleness.staleness import SetStaleness
from curation.relabeling.staleness.text_changes import text_change
from curation.store import Store


def show_changes(store: Store, set_staleness: SetStaleness) -> None:
    ui.heading("Documents that changed")
    changed = Counter(
        (pair.document_id, pair.read_hash, pair.now_hash)
        for pair in set_staleness.pairs
        if pair.document == CHANGED and pair.read_hash and pair.now_hash
    )
    if gone := {pair.document_id for pair in set_staleness.pairs if pair.document == GONE}:
        ui.quiet(
            f"{amount(len(gone), 'judged document is', 'judged documents are')} no longer in the corpus."
        )
    if not changed:
        ui.quiet("No judged document has another text in the newest corpus.")
        return
    chosen = st.selectbox(
        f"Changed document ({len(changed):,})",
        sorted(changed, key=lambda one: (-changed[one], one)),
        format_func=lambda one: f"{one[0]} (pairs: {changed[one]:,})",
    )
    _, judged, current = chosen
    _difference(store, judged, current)


def _difference(store: Store, judged: str, current: str) -> None:
    """Show the text with the hash that was judged next to the current one."""
    try:
        change = text_change(store, judged, current)
    except NotFoundError as error:
        ui.problem(error)
        return
    kept = "" if change.kept is None else f"{percent(change.kept)} of the words are in both. "
    left = f" {change.words_left_out:,} more words are not shown." if change.words_left_out else ""
    ui.quiet(f"{kept}Struck: only in the text that was judged. Underlined: only in the current text.{left}")
    ui.text_difference(change.title, change.body)
