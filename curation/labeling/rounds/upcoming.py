"""An annotator's upcoming items, in the order in which a screen shows them.

Rounds come in the order in which they were opened, and skipped items come last. Answers are sorted by the
order of writing, not by time, because a clock may be set back. The two showings of a blind duplicate keep
their distance even if the annotator skips the first showing. The repeat then waits until the annotator has
answered 20 other items.

If the annotator has fewer items left, the repeat stays unshown: the repeat does not count as open, and the
round can be complete. If the annotator gets more items, the repeat can be shown again.

A round may show whole queries. Then the items of a visit to a query, at adjacent positions, form a list. A
list never has both showings of a blind duplicate: the repeat is in a later visit, after at least 20 other
items. A skipped item and its repeat are shown outside lists.

The rule on seeing earlier answers ignores practice rounds, which show expected grades and repeat no item.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE
from curation.store import Cursor, fetch

ASK_FROM_SQL = "coalesce((parameters->>'ask_from')::INTEGER, 1)"
"""SQL of a round's parameter `ask_from`: smallest number of items of a query at which the round asks about
the query. Older rounds without this parameter ask about every query.
"""
NEAR_REPEATS = (
    "blind duplicates cannot come back: the annotator skipped their first showing, and fewer than "
    f"{CLOSEST_DUPLICATE - 1} other items come after it"
)
_ROUNDS = f"""
SELECT round_id, name, kind, guide_hash, paused, closed, {ASK_FROM_SQL},
       coalesce((parameters->>'lists')::BOOLEAN, false), guides
FROM round_states JOIN (
    SELECT round_id, list_sort(list(DISTINCT guide_hash)) AS guides FROM (
        SELECT round_id, guide_hash FROM rounds
        UNION ALL SELECT round_id, detail->>'guide' FROM round_events WHERE kind = 'guide')
    GROUP BY round_id) USING (round_id)
ORDER BY sequence
"""  # noqa: S608  an expression from above
# Reads only the annotator's own events, which is several times as fast as `presentation_states`.
_ITEMS = """
WITH own AS (
    SELECT presentation_id, revision, kind, row_number() OVER (ORDER BY rowid) AS written
    FROM judgment_events WHERE author = $who),
states AS (
    SELECT presentation_id, max(revision) + 1 AS next_revision, arg_max(kind, revision) AS kind,
           arg_max(written, revision) AS written, bool_or(kind = 'later') AS was_skipped
    FROM own GROUP BY presentation_id)
SELECT p.presentation_id, p.round_id, p.query_id, p.document_id, p.content_hash, p.position, p.duplicate_of,
       coalesce(s.next_revision, 0), CASE s.kind WHEN 'later' THEN s.written END,
       CASE WHEN s.kind IN ('grade', 'cannot_tell') THEN s.written END, coalesce(s.was_skipped, false)
FROM presentations p
JOIN (SELECT unnest($rounds::TEXT[]) AS round_id, generate_subscripts($rounds::TEXT[], 1) AS round_index) r
    USING (round_id)
LEFT JOIN states s USING (presentation_id)
WHERE p.annotator = $who AND p.presentation_id NOT IN (SELECT presentation_id FROM withdrawals)
ORDER BY r.round_index, p.position
"""
_ITEM_VERSIONS = """
SELECT p.annotator, bit_xor(hash(hash(p.presentation_id, r.sequence)))
FROM presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = coalesce($who, p.annotator) AND r.round_id IN (SELECT unnest($rounds::TEXT[]))
  AND p.presentation_id NOT IN (SELECT presentation_id FROM withdrawals)
GROUP BY p.annotator
"""
_EVENT_COUNTS = """
SELECT author, count(*) FROM judgment_events WHERE author = coalesce($who, author) GROUP BY author
"""
_WAITING = """
SELECT DISTINCT p.annotator
FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.duplicate_of IN (SELECT presentation_id FROM judgment_events WHERE kind = 'later')
  AND NOT coalesce(s.answered, false)
ORDER BY p.annotator
"""


class ShownRound(NamedTuple):
    """A round with the parameters that determine how screens show its items.

    Attributes
    ----------
    guide_hash: the round's current guide.
    ask_from: least number of items of a query at which annotators are asked whether the corpus answers the
        query; 0 never asks.
    shows_lists: whether the items of a visit to a query come as a list.
    guide_hashes: the hashes of all guides that the round has had.
    """

    round_id: str
    name: str
    kind: str
    guide_hash: str
    paused: bool
    closed: bool
    ask_from: int
    shows_lists: bool
    guide_hashes: list[str]


class QueueItem(NamedTuple):
    """An annotator's presentation, with its state.

    Attributes
    ----------
    revision: the revision of the presentation's next event.
    skip_number: number of the item's last event among the annotator's events, if that event skipped the item.
    answer_number: number of the item's last event among the annotator's events, if that event is an answer.
    was_skipped: whether the annotator ever skipped the item.
    """

    presentation_id: str
    round_id: str
    query_id: str
    document_id: str
    content_hash: str
    position: int
    duplicate_of: str | None
    revision: int
    skip_number: int | None
    answer_number: int | None
    was_skipped: bool


QueueItems = Sequence[QueueItem]


class UpcomingWork(NamedTuple):
    """An annotator's work in rounds that are not closed.

    Attributes
    ----------
    rounds: rounds by id, oldest first, including rounds without an item of the annotator.
    items: all items of the annotator.
    unanswered_items: the unanswered items, including items of paused rounds.
    open_items: the items that can be shown now, in order.
    has_near_repeats: whether an item was skipped and a repeat would come too soon. The value is the same for
        items with and without a repeat, because annotators must not learn about repeats.
    """

    rounds: dict[str, ShownRound]
    items: list[QueueItem]
    unanswered_items: list[QueueItem]
    open_items: list[QueueItem]
    has_near_repeats: bool

    @property
    def answered(self) -> int:
        """Return the number of answered items, not counting paused rounds."""
        return sum(item.answer_number is not None for item in self._active_items)

    @property
    def total(self) -> int:
        """Return the number of items, not counting paused rounds; unshown repeats count until nothing else is
        left."""
        return len(self._active_items) if self.open_items else self.answered

    @property
    def _active_items(self) -> list[QueueItem]:
        return [item for item in self.items if not self.rounds[item.round_id].paused]

    @property
    def skipped_items(self) -> list[QueueItem]:
        """Return the open items that the annotator skipped, in the order in which they were skipped."""
        return [item for item in self.open_items if item.skip_number is not None]

    def find_list_starts(self) -> dict[str, str]:
        """Map each presentation to the first one in its list, in rounds that show whole queries."""
        if not any(round_.shows_lists for round_ in self.rounds.values()):
            return {}
        list_starts: dict[str, str] = {}
        texts_in_list: set[str] = set()
        last_position = ("", "", -1)
        list_start = ""
        for item in self.items:
            if not self.rounds[item.round_id].shows_lists:
                continue
            is_adjacent = last_position == (item.round_id, item.query_id, item.position - 1)
            if not is_adjacent or item.content_hash in texts_in_list:
                list_start = item.presentation_id
                texts_in_list = set()
            last_position = (item.round_id, item.query_id, item.position)
            texts_in_list.add(item.content_hash)
            list_starts[item.presentation_id] = list_start
        return list_starts

    def find_unlisted_ids(self) -> set[str]:
        """Return the skipped presentations and their repeats, which the screen shows one by one instead of in
        lists."""
        skipped_ids = {item.presentation_id for item in self.items if item.was_skipped}
        return skipped_ids | {item.presentation_id for item in self.items if item.duplicate_of in skipped_ids}

    def find_last_ids(self) -> set[str]:
        """Find the last open presentation of each query in each round."""
        last_ids = {(item.round_id, item.query_id): item.presentation_id for item in self.open_items}
        return set(last_ids.values())

    def find_paused_rounds(self) -> list[str]:
        """Return the names of paused rounds with unanswered items."""
        ids = {item.round_id for item in self.unanswered_items}
        return [round_.name for round_ in self.rounds.values() if round_.paused and round_.round_id in ids]


def read_rounds(cursor: Cursor) -> dict[str, ShownRound]:
    """Read all rounds with the parameters that screens need, by round id, oldest first."""
    return {round_.round_id: round_ for round_ in fetch(cursor, ShownRound, _ROUNDS)}


def read_open_rounds(cursor: Cursor) -> dict[str, ShownRound]:
    """Read all rounds that are neither closed nor imported, by round id, oldest first."""
    rounds = read_rounds(cursor).values()
    return {round_.round_id: round_ for round_ in rounds if not round_.closed and round_.kind != "imported"}


def read_items(cursor: Cursor, annotator: str, rounds: Mapping[str, ShownRound]) -> list[QueueItem]:
    """Read an annotator's items in the given rounds by round and position, leaving out withdrawn items."""
    rows = cursor.execute(_ITEMS, {"who": annotator, "rounds": list(rounds)}).fetchall()
    return [QueueItem._make(row) for row in rows]


def read_item_versions(
    cursor: Cursor, rounds: Mapping[str, ShownRound], annotator: str | None = None
) -> dict[str, int]:
    """Compute a version number for each annotator, which stays the same while `read_items` returns the same
    items."""
    rows = cursor.execute(_ITEM_VERSIONS, {"who": annotator, "rounds": list(rounds)}).fetchall()
    return dict(rows)


def count_events(cursor: Cursor, annotator: str | None = None) -> dict[str, int]:
    """Count the events of each author, or of a single author; each author's events are numbered 1, 2, …"""
    return dict(cursor.execute(_EVENT_COUNTS, {"who": annotator}).fetchall())


def compute_upcoming_work(
    rounds: Mapping[str, ShownRound], items: QueueItems, only_round: str | None = None
) -> UpcomingWork:
    """Compute an annotator's work in `only_round`, or in all rounds except practice rounds.

    Parameters
    ----------
    rounds, items: from `read_open_rounds` and `read_items`, in their order.
    """
    included_rounds = {
        round_id: round_
        for round_id, round_ in rounds.items()
        if (round_id == only_round if only_round else round_.kind != "practice")
    }
    items = [item for item in items if item.round_id in included_rounds]
    near_ids = _find_near_ids(items)
    unanswered = [item for item in items if item.answer_number is None and item.duplicate_of not in near_ids]
    showable_items = [item for item in unanswered if not included_rounds[item.round_id].paused]
    open_items = _sort_open_items(showable_items, items, list(included_rounds))
    return UpcomingWork(included_rounds, items, unanswered, open_items, bool(near_ids))


def count_unshown(cursor: Cursor) -> Counter[tuple[str, str]]:
    """Count, by round id and annotator, the presentations that stay unshown unless the annotator gets more
    items."""
    annotators = [row[0] for row in cursor.execute(_WAITING).fetchall()]
    if not annotators:
        return Counter()
    rounds = read_open_rounds(cursor)
    counts: Counter[tuple[str, str]] = Counter()
    for annotator in annotators:
        work = compute_upcoming_work(rounds, read_items(cursor, annotator, rounds))
        if not work.unanswered_items:
            counts.update((item.round_id, annotator) for item in work.items if item.answer_number is None)
    return counts


def _find_near_ids(items: QueueItems) -> set[str]:
    """Find the skipped presentations that cannot be repeated yet, because too few answers have followed
    them."""
    skipped = [item for item in items if item.was_skipped]
    if not skipped:
        return set()  # fast for most people, because this runs at each answer
    answer_indexes = sorted(item.answer_number for item in items if item.answer_number is not None)

    def count_later_answers(event_index: int) -> int:
        return len(answer_indexes) - bisect_right(answer_indexes, event_index)

    return {
        item.presentation_id
        for item in skipped
        if item.answer_number is None or count_later_answers(item.answer_number) < CLOSEST_DUPLICATE - 1
    }


def _sort_open_items(open_items: QueueItems, items: QueueItems, round_ids: Sequence[str]) -> list[QueueItem]:
    """Sort open items: items without an event, then skipped items in the order in which they were skipped,
    then repeats of skipped items."""
    skipped_ids = {item.presentation_id for item in items if item.was_skipped}
    if not skipped_ids:
        return list(open_items)  # these items are in order
    round_indexes = {round_id: index for index, round_id in enumerate(round_ids)}

    def sort_key(item: QueueItem) -> tuple[int, int, int, int]:
        group = 2 if item.duplicate_of in skipped_ids else 0
        if item.skip_number is not None:
            group = 1
        return group, item.skip_number or 0, round_indexes[item.round_id], item.position

    return sorted(open_items, key=sort_key)
