"""Items that a filter takes from annotators: their documents are outside the filter of the query now."""

from __future__ import annotations

from curation.ingest.filters.stored import outside_pairs
from curation.labeling.rounds.candidates import OUTSIDE_FILTER
from curation.labeling.rounds.rounds import list_rounds
from curation.labeling.transfers.transfer import near_repeats, round_items, withdraw
from curation.store import Cursor


def withdraw_outside(cursor: Cursor, author: str) -> int:
    """Withdraw what is not answered of such items, except in practice; returns how many there were.

    Pairs without an item in any round are left out when a round opens.
    """
    outside, count = outside_pairs(cursor), 0
    for one in list_rounds(cursor) if outside else ():
        rows = [] if one.kind == "practice" else round_items(cursor, one.round_id)
        ids = {row.presentation_id for row in rows if row.pair in outside and not row.answered}
        ids |= {row.presentation_id for row in near_repeats(rows, ids)} if ids else set()
        withdraw(cursor, sorted(ids), OUTSIDE_FILTER, author)
        count += len(ids)
    return count
