"""What lies ahead of an annotator: their open items, in order.

Rounds come in the order in which they were opened, and what was put off after everything else. The two
showings of a blind duplicate keep their distance also when the first was put off: its repeat waits until 20
other items have been answered since, and is not shown at all where so many do not come.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from curation.labeling.orders import CLOSEST_DUPLICATE
from curation.store import Cursor


class Source(NamedTuple):
    """A round that is not closed; `guide_hash` is the guide in force, `earlier` all that it ever had."""

    round_id: str
    name: str
    kind: str
    guide_hash: str
    paused: bool
    earlier: tuple[str, ...]


class Item(NamedTuple):
    """One of the annotator's presentations and where it stands.

    Attributes
    ----------
    revision: the next one.
    put_off_at: when it was put off, if that is the last that happened to it.
    answered_at: when it was answered, if it is.
    was_put_off: at any time.
    """

    presentation_id: str
    round_id: str
    query_id: str
    document_id: str
    content_hash: str
    position: int
    duplicate_of: str | None
    revision: int
    put_off_at: datetime | None
    answered_at: datetime | None
    was_put_off: bool


class Ahead(NamedTuple):
    """An annotator's work in rounds that are not closed.

    Attributes
    ----------
    sources: by round id, oldest first; others' too.
    items: all of the annotator's own.
    left: those to be answered, of paused rounds too.
    open: those of them that can be shown now, in order.
    """

    sources: dict[str, Source]
    items: list[Item]
    left: list[Item]
    open: list[Item]

    @property
    def answered(self) -> int:
        """How many items are answered."""
        return sum(item.answered_at is not None for item in self.items)

    @property
    def total(self) -> int:
        """All items; repeats that will not be shown any more are among them until nothing else is left."""
        return len(self.items) if self.left else self.answered

    def lasts(self) -> set[str]:
        """The presentations that are the last open ones of their query in their round."""
        return set({(item.round_id, item.query_id): item.presentation_id for item in self.open}.values())

    def resting(self) -> list[str]:
        """The names of paused rounds with something left to answer."""
        waiting = {item.round_id for item in self.left}
        return [one.name for one in self.sources.values() if one.paused and one.round_id in waiting]


def read_sources(cursor: Cursor) -> dict[str, Source]:
    """All rounds that are shown to people and not closed, by round id, oldest first."""
    rows = cursor.execute(_SOURCES).fetchall()
    return {row[0]: Source._make((*row[:-1], tuple(sorted(row[-1])))) for row in rows}


def read_items(cursor: Cursor, annotator: str, sources: Mapping[str, Source]) -> list[Item]:
    """All that an annotator has in these rounds and was not moved to others, by round and position."""
    rows = cursor.execute(_ITEMS, {"who": annotator, "rounds": list(sources)}).fetchall()
    return [Item._make(row) for row in rows]


def ahead(sources: Mapping[str, Source], items: Sequence[Item], only: str | None = None) -> Ahead:
    """What lies ahead of an annotator: in the round `only`, or in all but practice rounds.

    Parameters
    ----------
    sources, items: as `read_sources` and `read_items` find them; items in that order.
    """
    among = {key: one for key, one in sources.items() if (key == only if only else one.kind != "practice")}
    items = [item for item in items if item.round_id in among]
    left = _without_near_repeats(items)
    can = [item for item in left if not among[item.round_id].paused]
    return Ahead(among, items, left, _in_order(can, items, list(among)))


def _without_near_repeats(items: Sequence[Item]) -> list[Item]:
    """The open items, less repeats of what was put off that are too near to it still."""
    put_off = {item.presentation_id: item for item in items if item.was_put_off}
    if not put_off:
        return [item for item in items if item.answered_at is None]
    answers = sorted(item.answered_at for item in items if item.answered_at is not None)

    def near(item: Item) -> bool:
        first = put_off.get(item.duplicate_of or "")
        if first is None:
            return False
        if first.answered_at is None:
            return True
        return len(answers) - bisect_right(answers, first.answered_at) < CLOSEST_DUPLICATE - 1

    return [item for item in items if item.answered_at is None and not near(item)]


def _in_order(can: Sequence[Item], items: Sequence[Item], rounds: Sequence[str]) -> list[Item]:
    """What was put off goes last, in the order in which it was; then the repeats of what was put off."""
    put_off = {item.presentation_id for item in items if item.was_put_off}
    if not put_off:
        return list(can)  # in order already
    opened = {round_id: place for place, round_id in enumerate(rounds)}

    def place(item: Item) -> tuple[int, datetime, int, int]:
        behind = 1 if item.put_off_at else 2 if item.duplicate_of in put_off else 0
        return behind, item.put_off_at or datetime.min, opened[item.round_id], item.position

    return sorted(can, key=place)


GUIDES_HAD = """
SELECT round_id, list(DISTINCT guide_hash) AS guides FROM (
    SELECT round_id, guide_hash FROM rounds
    UNION ALL SELECT round_id, detail->>'guide' FROM round_events WHERE kind = 'guide')
GROUP BY round_id
"""
"""Round id → all guides that were ever in force in it."""

_SOURCES = f"""
SELECT round_id, name, kind, guide_hash, paused, guides
FROM round_states JOIN ({GUIDES_HAD}) USING (round_id)
WHERE NOT closed AND kind != 'imported'
ORDER BY opened_at, round_id
"""  # noqa: S608  a query from above

# Of all events only the annotator's own are looked at, which is several times as fast as
# `presentation_states` of everybody's.
_ITEMS = """
WITH states AS (
    SELECT presentation_id, max(revision) + 1 AS next_revision, arg_max(kind, revision) AS kind,
           arg_max(submitted_at, revision) AS at, bool_or(kind = 'later') AS put_off
    FROM judgment_events WHERE author = $who GROUP BY presentation_id)
SELECT p.presentation_id, p.round_id, p.query_id, p.document_id, p.content_hash, p.position, p.duplicate_of,
       coalesce(s.next_revision, 0), CASE s.kind WHEN 'later' THEN s.at END,
       CASE WHEN s.kind IN ('grade', 'cannot_tell') THEN s.at END, coalesce(s.put_off, false)
FROM presentations p
JOIN (SELECT unnest($rounds::TEXT[]) AS round_id, generate_subscripts($rounds::TEXT[], 1) AS place) r
    USING (round_id)
LEFT JOIN states s USING (presentation_id)
WHERE p.annotator = $who AND p.presentation_id NOT IN (SELECT presentation_id FROM withdrawals)
ORDER BY r.place, p.position
"""
