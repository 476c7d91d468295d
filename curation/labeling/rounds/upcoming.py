"""The upcoming items of an annotator, in order, and whether the annotator may see own earlier answers.

Rounds come in the order in which they were opened, and items that were put off after everything else. Answers
are in the order of writing, because a clock may step back. The two showings of a blind duplicate keep
their distance also when the first was put off. The repeat then waits until 20 other items have been answered
since; where so many do not come, it is not shown at all.

An annotator who has too few items left never gets there. The repeat then is unshown: it no longer counts as
open, and the round can be complete. This is computed each time: if more work comes, the repeat can be shown.

A round may show whole queries. Then the items of a visit to a query, neighbours by position, are a list. A
list never has both showings of a blind duplicate: the repeat is in another visit, after at least 20 other
items. What was put off, and a repeat of that, comes by itself.

Own answers leave out practice: its expected grades are shown, and nothing in it is asked twice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE
from curation.store import Cursor

GUIDES_HAD = """
SELECT round_id, list(DISTINCT guide_hash) AS guides FROM (
    SELECT round_id, guide_hash FROM rounds
    UNION ALL SELECT round_id, detail->>'guide' FROM round_events WHERE kind = 'guide')
GROUP BY round_id
"""
"""Round id → all guides that were ever in force in it."""
ASKED_FROM = "coalesce((parameters->>'ask_from')::INTEGER, 1)"
"""A parameter of a round; older rounds without it always ask."""
AS_LISTS = "coalesce((parameters->>'lists')::BOOLEAN, false)"
"""A parameter of a round: whether it shows whole queries."""
TOO_NEAR = (
    "blind duplicates cannot come back: their first showing was put off, and fewer than "
    f"{CLOSEST_DUPLICATE - 1} other items come after it"
)
_OPEN_ROUNDS = f"""
SELECT round_id, name, kind, guide_hash, paused, {ASKED_FROM}, {AS_LISTS}, guides
FROM round_states JOIN ({GUIDES_HAD}) USING (round_id)
WHERE NOT closed AND kind != 'imported'
ORDER BY sequence
"""  # noqa: S608  a query from above
# Reads the annotator's own events alone, which is several times as fast as `presentation_states`.
_ITEMS = """
WITH own AS (
    SELECT presentation_id, revision, kind, row_number() OVER (ORDER BY rowid) AS written
    FROM judgment_events WHERE author = $who),
states AS (
    SELECT presentation_id, max(revision) + 1 AS next_revision, arg_max(kind, revision) AS kind,
           arg_max(written, revision) AS written, bool_or(kind = 'later') AS put_off
    FROM own GROUP BY presentation_id)
SELECT p.presentation_id, p.round_id, p.query_id, p.document_id, p.content_hash, p.position, p.duplicate_of,
       coalesce(s.next_revision, 0), CASE s.kind WHEN 'later' THEN s.written END,
       CASE WHEN s.kind IN ('grade', 'cannot_tell') THEN s.written END, coalesce(s.put_off, false)
FROM presentations p
JOIN (SELECT unnest($rounds::TEXT[]) AS round_id, generate_subscripts($rounds::TEXT[], 1) AS place) r
    USING (round_id)
LEFT JOIN states s USING (presentation_id)
WHERE p.annotator = $who AND p.presentation_id NOT IN (SELECT presentation_id FROM withdrawals)
ORDER BY r.place, p.position
"""
_ITEM_STATES = """
SELECT p.annotator, bit_xor(hash(hash(p.presentation_id, r.sequence)))
FROM presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = coalesce($who, p.annotator) AND r.round_id IN (SELECT unnest($rounds::TEXT[]))
  AND p.presentation_id NOT IN (SELECT presentation_id FROM withdrawals)
GROUP BY p.annotator
"""
_NUMBERS_OF_EVENTS = """
SELECT author, count(*) FROM judgment_events WHERE author = coalesce($who, author) GROUP BY author
"""
_WAITING = """
SELECT DISTINCT p.annotator
FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.duplicate_of IN (SELECT presentation_id FROM judgment_events WHERE kind = 'later')
  AND NOT coalesce(s.answered, false)
ORDER BY p.annotator
"""
_GIVEN = """
SELECT DISTINCT p.query_id, p.document_id FROM live_presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = ? AND r.kind != 'practice'
"""


class OpenRound(NamedTuple):
    """A round that is not closed.

    Attributes
    ----------
    guide_hash: of the guide in force.
    guides: hashes of all guides that were ever in force in it.
    ask_from: whether the corpus answers a query is asked from so many items on, 0 for never.
    lists: the items of a visit to a query come as a list.
    """

    round_id: str
    name: str
    kind: str
    guide_hash: str
    paused: bool
    ask_from: int
    lists: bool
    guides: tuple[str, ...]


class QueueItem(NamedTuple):
    """One of the annotator's presentations and its state.

    Attributes
    ----------
    revision: the revision that its next event will have.
    put_off: place of its last event among the annotator's events, if that put it off.
    answered: place of its last event among the annotator's events, if that answered it.
    was_put_off: whether it was ever put off.
    """

    presentation_id: str
    round_id: str
    query_id: str
    document_id: str
    content_hash: str
    position: int
    duplicate_of: str | None
    revision: int
    put_off: int | None
    answered: int | None
    was_put_off: bool


class UpcomingWork(NamedTuple):
    """An annotator's work in rounds that are not closed.

    Attributes
    ----------
    rounds: by round id, oldest first, including those without an item of the annotator.
    items: all items of the annotator.
    left: the unanswered ones, of paused rounds too.
    open: those that can be shown now, in order.
    near: something was put off, and a repeat of it would be too near to be shown now. Whether it has one
        makes no difference, because then the annotator would learn of it.
    """

    rounds: dict[str, OpenRound]
    items: list[QueueItem]
    left: list[QueueItem]
    open: list[QueueItem]
    near: bool

    @property
    def answered(self) -> int:
        """The number of answered items, without paused rounds."""
        return sum(item.answered is not None for item in self._going)

    @property
    def total(self) -> int:
        """The number of items without paused rounds; repeats that will not be shown count until
        nothing else is left.
        """
        return len(self._going) if self.open else self.answered

    @property
    def _going(self) -> list[QueueItem]:
        return [item for item in self.items if not self.rounds[item.round_id].paused]

    @property
    def put_off(self) -> list[QueueItem]:
        """The open items that were put off, in the order in which they were."""
        return [item for item in self.open if item.put_off is not None]

    def lists(self) -> dict[str, str]:
        """Presentation → the first of its list, in rounds that show whole queries."""
        firsts: dict[str, str] = {}
        texts: set[str] = set()
        place, first = ("", "", -1), ""
        for item in self.items if any(round_.lists for round_ in self.rounds.values()) else []:
            if not self.rounds[item.round_id].lists:
                continue
            if place != (item.round_id, item.query_id, item.position - 1) or item.content_hash in texts:
                first, texts = item.presentation_id, set()
            place = (item.round_id, item.query_id, item.position)
            texts.add(item.content_hash)
            firsts[item.presentation_id] = first
        return firsts

    def alone(self) -> set[str]:
        """The presentations that were put off, and the repeats of such: they come by themselves."""
        late = {item.presentation_id for item in self.items if item.was_put_off}
        return late | {item.presentation_id for item in self.items if item.duplicate_of in late}

    def lasts(self) -> set[str]:
        """The presentations that are the last open ones of their query in their round."""
        return set({(item.round_id, item.query_id): item.presentation_id for item in self.open}.values())

    def paused_rounds(self) -> list[str]:
        """The names of paused rounds with something left to answer."""
        waiting = {item.round_id for item in self.left}
        return [
            round_.name for round_ in self.rounds.values() if round_.paused and round_.round_id in waiting
        ]


def read_open_rounds(cursor: Cursor) -> dict[str, OpenRound]:
    """All rounds that are neither closed nor imported, by round id, oldest first."""
    rows = cursor.execute(_OPEN_ROUNDS).fetchall()
    return {row[0]: OpenRound._make((*row[:-1], tuple(sorted(row[-1])))) for row in rows}


def read_items(cursor: Cursor, annotator: str, rounds: Mapping[str, OpenRound]) -> list[QueueItem]:
    """All of an annotator's items in these rounds that were not withdrawn, by round and position."""
    rows = cursor.execute(_ITEMS, {"who": annotator, "rounds": list(rounds)}).fetchall()
    return [QueueItem._make(row) for row in rows]


def item_states(
    cursor: Cursor, rounds: Mapping[str, OpenRound], annotator: str | None = None
) -> dict[str, int]:
    """By annotator, of all or of one: a number that stays as long as `read_items` lists the same showings."""
    rows = cursor.execute(_ITEM_STATES, {"who": annotator, "rounds": list(rounds)}).fetchall()
    return dict(rows)


def numbers_of_events(cursor: Cursor, annotator: str | None = None) -> dict[str, int]:
    """By author, of all or of one, how many events there are; the places of an author's are 1, 2, …"""
    return dict(cursor.execute(_NUMBERS_OF_EVENTS, {"who": annotator}).fetchall())


def upcoming_work(
    rounds: Mapping[str, OpenRound], items: Sequence[QueueItem], only: str | None = None
) -> UpcomingWork:
    """The work of an annotator in the round `only`, or in all but practice rounds.

    Parameters
    ----------
    rounds, items: from `read_open_rounds` and `read_items`, in their order.
    """
    among = {
        round_id: round_
        for round_id, round_ in rounds.items()
        if (round_id == only if only else round_.kind != "practice")
    }
    items = [item for item in items if item.round_id in among]
    near = _near(items)
    left = [item for item in items if item.answered is None and item.duplicate_of not in near]
    showable = [item for item in left if not among[item.round_id].paused]
    return UpcomingWork(among, items, left, _in_order(showable, items, list(among)), bool(near))


def _near(items: Sequence[QueueItem]) -> set[str]:
    """The presentations that were put off and that too few other answers have followed for a repeat."""
    put_off = [item for item in items if item.was_put_off]
    if not put_off:
        return set()  # as for most people, and this is computed at each answer
    answers = sorted(item.answered for item in items if item.answered is not None)

    def followed(place: int) -> int:
        return len(answers) - bisect_right(answers, place)

    return {
        item.presentation_id
        for item in put_off
        if item.answered is None or followed(item.answered) < CLOSEST_DUPLICATE - 1
    }


def _in_order(
    showable: Sequence[QueueItem], items: Sequence[QueueItem], rounds: Sequence[str]
) -> list[QueueItem]:
    """Items that were put off go last, in the order in which they were; then the repeats of such items."""
    put_off = {item.presentation_id for item in items if item.was_put_off}
    if not put_off:
        return list(showable)  # in order already
    opened = {round_id: place for place, round_id in enumerate(rounds)}

    def place(item: QueueItem) -> tuple[int, int, int, int]:
        behind = 2 if item.duplicate_of in put_off else 0
        if item.put_off is not None:
            behind = 1
        return behind, item.put_off or 0, opened[item.round_id], item.position

    return sorted(showable, key=place)


def unshown(cursor: Cursor) -> Counter[tuple[str, str]]:
    """(round id, annotator) → how many presentations will not be shown unless more work comes."""
    waiting = [row[0] for row in cursor.execute(_WAITING).fetchall()]
    if not waiting:
        return Counter()
    rounds = read_open_rounds(cursor)
    work = {who: upcoming_work(rounds, read_items(cursor, who, rounds)) for who in waiting}
    return Counter(
        (item.round_id, who)
        for who, upcoming in work.items()
        if not upcoming.left
        for item in upcoming.items
        if item.answered is None
    )


def may_see_own_answers(cursor: Cursor, annotator: str) -> bool:
    """Whether earlier answers may be shown: only where nothing can come any more, in paused rounds too.

    A repeat of what was put off may come with more work, so answers wait as long as one would.
    """
    rounds = read_open_rounds(cursor)
    work = upcoming_work(rounds, read_items(cursor, annotator, rounds))
    return not (work.left or work.near)


def withheld_pairs(cursor: Cursor, annotator: str) -> set[tuple[str, str]]:
    """Query and document of all that was given to somebody, answered or not; none if answers may be shown."""
    if may_see_own_answers(cursor, annotator):
        return set()
    return set(cursor.execute(_GIVEN, [annotator]).fetchall())
