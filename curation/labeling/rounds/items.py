"""Round items: the presentations of a round, which annotators can see until they are withdrawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from curation.ingest.filters import find_outside_pairs
from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE
from curation.labeling.rounds.candidates import OUTSIDE_FILTER, Candidate
from curation.labeling.rounds.rounds import list_rounds
from curation.store import Cursor, append_rows, fetch, utc_now

_ITEMS = """
SELECT p.presentation_id, p.annotator, p.query_id, p.document_id, p.content_hash, p.position, p.duplicate_of,
       s.presentation_id IS NOT NULL, coalesce(s.answered, false), k.query_id IS NOT NULL,
       o.presentation_id IS NOT NULL
FROM live_presentations p
LEFT JOIN presentation_states s USING (presentation_id)
LEFT JOIN known_answers k USING (round_id, query_id, document_id)
LEFT JOIN opinion_requests o USING (presentation_id)
WHERE p.round_id = ?
ORDER BY p.annotator, p.position
"""


class RoundItem(NamedTuple):
    """An item: a presentation in a round that has not been withdrawn.

    Attributes
    ----------
    has_events: whether the annotator has answered or skipped the item, or undone its answer.
    is_control_item: whether the round has an expected grade for the pair; true for every pair of a practice
        round.
    is_second_opinion: whether a reviewer asked for the item as a second opinion.
    """

    presentation_id: str
    annotator: str
    query_id: str
    document_id: str
    content_hash: str
    position: int
    duplicate_of: str | None
    has_events: bool
    answered: bool
    is_control_item: bool
    is_second_opinion: bool

    @property
    def pair(self) -> tuple[str, str]:
        return self.query_id, self.document_id

    @property
    def candidate(self) -> Candidate:
        return Candidate(self.query_id, self.document_id, self.content_hash)

    @property
    def is_work(self) -> bool:
        """Return whether the item is ordinary work: neither a blind duplicate nor a control item."""
        return self.duplicate_of is None and not self.is_control_item


def read_round_items(cursor: Cursor, round_id: str) -> list[RoundItem]:
    """Read a round's items that have not been withdrawn, by annotator and position."""
    return fetch(cursor, RoundItem, _ITEMS, [round_id])


def find_near_repeats(items: Sequence[RoundItem], withdrawn: Collection[str]) -> list[RoundItem]:
    """Find unanswered blind duplicates that would come too soon without the `withdrawn` items.

    Parameters
    ----------
    items: as `read_round_items` returns them.
    withdrawn: presentation ids.
    """
    indexes: dict[str, int] = {}
    counts: Counter[str] = Counter()
    near_repeats = []
    for item in items:
        if item.presentation_id in withdrawn:
            continue
        start = indexes.get(item.duplicate_of or "")
        if start is not None and not item.has_events and counts[item.annotator] - start < CLOSEST_DUPLICATE:
            near_repeats.append(item)
            continue
        indexes[item.presentation_id] = counts[item.annotator]
        counts[item.annotator] += 1
    return near_repeats


def withdraw(cursor: Cursor, presentation_ids: Sequence[str], reason: str, author: str) -> None:
    """Withdraw presentations, so that annotators no longer see them."""
    columns = {"reason": reason, "author": author, "withdrawn_at": utc_now()}
    rows = [(presentation_id,) for presentation_id in presentation_ids]
    append_rows(cursor, "withdrawals", rows, ("presentation_id",), **columns)


def withdraw_outside(cursor: Cursor, author: str) -> int:
    """Withdraw unanswered items outside their query's filter, except in practice; return how many were
    withdrawn.

    A new round leaves out such pairs that have no item yet.
    """
    outside = find_outside_pairs(cursor)
    if not outside:
        return 0
    return withdraw_unanswered(cursor, lambda item: item.pair in outside, OUTSIDE_FILTER, author)


def withdraw_unanswered(
    cursor: Cursor, is_chosen: Callable[[RoundItem], bool], reason: str, author: str
) -> int:
    """Withdraw the chosen unanswered items of all rounds except practice, and repeats that would then come
    too soon; return how many were withdrawn."""
    count = 0
    for stored_round in list_rounds(cursor):
        items = [] if stored_round.kind == "practice" else read_round_items(cursor, stored_round.round_id)
        ids = {item.presentation_id for item in items if not item.answered and is_chosen(item)}
        ids |= {item.presentation_id for item in find_near_repeats(items, ids)} if ids else set()
        withdraw(cursor, sorted(ids), reason, author)
        count += len(ids)
    return count
