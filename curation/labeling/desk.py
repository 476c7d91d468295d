"""An annotator's desk: what lies before them, kept in memory from one of their requests to the next.

A desk is read from the project whole and holds for one edition of it (`Store.edition`): whatever another
process writes, and whatever else this one does to a round, makes it read anew. Only what annotators do
themselves goes on within an edition. It is written to the project first and to the desk then, so a desk never
knows of an answer that was not kept; and it decides nothing for good: two keys of the database refuse what
was written already, and then the file is asked.

A desk is used by one request at a time, and those that were not used for longest are forgotten first.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from curation.labeling.ahead import Item, Source, read_items, read_sources
from curation.labeling.guides import Guide, guide_by_hash
from curation.labeling.practice import Standing, standings
from curation.labeling.recent import Answer, Recent, recent
from curation.labeling.texts import Text, kept, read_texts
from curation.store import Cursor, Store, utc_now

if TYPE_CHECKING:
    from curation.labeling.judgments import Event

MOST_ITEMS = 200_000
"""Items on all desks of a project together, some 500 bytes each; one desk may have more."""

READ_AHEAD = 24
"""Texts that are read together."""


class Desk:
    """What one annotator has before them. Get it from `desk_of`, and call `read` first in each turn."""

    def __init__(self, annotator: str, shared: _Desks) -> None:
        self.annotator = annotator
        self.lock = threading.Lock()
        self.users = 0
        self._shared = shared
        self.forget()

    def forget(self) -> None:
        """Read everything anew when next asked."""
        self._edition = -1
        self.sources: dict[str, Source] = {}
        self.guides: dict[str, Guide] = {}
        self._items: dict[str, Item] = {}
        self._recent = Recent([], [])
        self._standings: list[Standing] | None = None
        self._texts: dict[str, Text] = {}

    def read(self, cursor: Cursor, edition: int) -> None:
        """Bring the desk to the edition that the turn sees."""
        if self._edition == edition:
            return
        self.forget()
        self.sources, self.guides = self._shared.rounds(cursor, edition)
        for item in read_items(cursor, self.annotator, self.sources):
            round_id, query_id = sys.intern(item.round_id), sys.intern(item.query_id)
            self._items[item.presentation_id] = item._replace(round_id=round_id, query_id=query_id)
        self._recent = recent(cursor, self.annotator)
        self._edition = edition

    def item(self, presentation_id: str) -> Item | None:
        """One of the annotator's items in rounds that are not closed."""
        return self._items.get(presentation_id)

    def items(self) -> list[Item]:
        """All of them, by round and position."""
        return list(self._items.values())

    def standings(self, cursor: Cursor) -> list[Standing]:
        """How the annotator does in practice rounds, oldest first."""
        if self._standings is None:
            self._standings = standings(cursor, self.annotator)
        return self._standings

    def texts(self, cursor: Cursor, needed: Sequence[Item], ahead: Sequence[Item]) -> list[Text]:
        """The texts of what is needed; where one is not there yet, those of `READ_AHEAD` items are read."""
        missing = [item for item in needed if item.presentation_id not in self._texts]
        found = dict(self._texts)
        if missing:
            coming = [item for item in ahead[:READ_AHEAD] if item.presentation_id not in found]
            found.update(read_texts(cursor, missing, coming))
            self._texts = kept(found, {item.presentation_id for item in ahead[:READ_AHEAD]})
        return [found[item.presentation_id] for item in needed]

    def pace(self) -> tuple[int, float | None]:
        """Answers in the last 60 minutes, and the median seconds of the last ones."""
        return self._recent.pace(utc_now())

    def take(self, events: Sequence[Event]) -> None:
        """Bring the desk up to date with what was just written."""
        answers = []
        for event in events:
            item = self._items[event.presentation_id]
            answered = event.kind in ("grade", "cannot_tell")
            self._items[event.presentation_id] = item._replace(
                revision=event.revision + 1,
                put_off_at=event.submitted_at if event.kind == "later" else None,
                answered_at=event.submitted_at if answered else None,
                was_put_off=item.was_put_off or event.kind == "later",
            )
            if answered:
                answers.append(Answer(event.submitted_at, event.presentation_id, event.active_ms))
            if self.sources[item.round_id].kind == "practice":
                self._standings = None
        self._recent = Recent.of([*answers, *self._recent.hour, *self._recent.timed], utc_now())

    def __len__(self) -> int:
        return len(self._items)


class _Desks:
    """The desks of one project, and what is the same on all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._desks: OrderedDict[str, Desk] = OrderedDict()
        self._edition = -1
        self._rounds: tuple[dict[str, Source], dict[str, Guide]] = ({}, {})

    @contextmanager
    def desk(self, annotator: str) -> Iterator[Desk]:
        with self._lock:
            desk = self._desks.setdefault(annotator, Desk(annotator, self))
            self._desks.move_to_end(annotator)
            desk.users += 1
        try:
            with desk.lock:
                yield desk
        finally:
            with self._lock:
                desk.users -= 1
                self._make_room()

    def rounds(self, cursor: Cursor, edition: int) -> tuple[dict[str, Source], dict[str, Guide]]:
        """Rounds that are not closed, and by hash all guides that they had."""
        with self._lock:
            if self._edition != edition:
                sources = read_sources(cursor)
                hashes = {
                    found for source in sources.values() for found in (source.guide_hash, *source.earlier)
                }
                self._rounds = sources, {found: guide_by_hash(cursor, found) for found in sorted(hashes)}
                self._edition = edition
            return self._rounds

    def _make_room(self) -> None:
        held = sum(map(len, self._desks.values()))
        for name, desk in list(self._desks.items())[:-1]:
            if held <= MOST_ITEMS:
                break
            if not desk.users:
                held -= len(desk)
                del self._desks[name]


_projects: WeakKeyDictionary[Store, _Desks] = WeakKeyDictionary()
_projects_lock = threading.Lock()


@contextmanager
def desk_of(store: Store, annotator: str) -> Iterator[Desk]:
    """The desk of an annotator, for one request. Not within a turn: whoever has a desk waits for a turn.

    Whatever fails meanwhile makes the desk read everything anew the next time.
    """
    with _projects_lock:
        desks = _projects.setdefault(store, _Desks())
    with desks.desk(annotator) as desk:
        try:
            yield desk
        except BaseException:
            desk.forget()
            raise
