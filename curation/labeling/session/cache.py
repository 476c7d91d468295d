"""The session cache, which keeps an annotator's items in memory from one request to the next.

A cache is valid for one version of the project's data (`Store.data_version`). A write by a different process,
or a change of a round, makes a new version. The versions of items and texts are then read once for all
caches, and an annotator's items and texts are read again only if their version has changed. Annotators'
answers do not make a new version: each answer is written to the database first and then to the cache. So a
cache never holds an answer that was not stored. The database is authoritative: two unique keys refuse events
that are already written.

A cache serves one request at a time. The least recently used caches are dropped first.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple
from weakref import WeakKeyDictionary

from curation.guides.guide import Guide, load_guide
from curation.labeling.judging import ANSWER_KINDS, JudgmentEvent
from curation.labeling.rounds import upcoming
from curation.labeling.rounds.practice import PracticeStatus, read_practice_statuses
from curation.labeling.session.recent_answers import Pace, RecentAnswer, RecentAnswers, read_recent_answers
from curation.labeling.session.texts import MAX_READ_EARLY_LENGTH, ItemText, read_texts, read_texts_version
from curation.people.annotators import JUDGING_ROLES, require_author
from curation.store import Cursor, Store, utc_now

MAX_ITEMS = 1_000_000
"""Maximum number of items in all caches of a project together, some 200 bytes each; a single cache may hold
more.

If the active annotators have more items in total, each request reads its annotator's items again.
"""
READ_AHEAD = 24
"""Number of upcoming texts that are read ahead together."""
_lock = threading.Lock()
_caches_by_project: WeakKeyDictionary[Store, _ProjectCaches] = WeakKeyDictionary()


class SessionCache:
    """A cache of an annotator's items, held by `hold_session_cache`; call `read` first in each lease."""

    def __init__(self, annotator: str, shared: _ProjectCaches) -> None:
        self.annotator = annotator
        self.lock = threading.Lock()
        self.users = 0
        self._shared = shared
        self.forget()

    def forget(self) -> None:
        """Clear the cache, so that the next request reads all data again."""
        self._data_version = -1
        self.rounds: dict[str, upcoming.ShownRound] = {}
        self.guides: dict[str, Guide] = {}
        self._items: dict[str, upcoming.QueueItem] = {}
        self._items_version: int | None = None
        self._recent = RecentAnswers([], [])
        self._event_count = 0
        self._practice: list[PracticeStatus] | None = None
        self._texts: dict[str, ItemText] = {}
        self._texts_version: object = None

    def read(self, cursor: Cursor, data_version: int) -> None:
        """Update the cache to the data version that the cursor sees, reading only what has changed."""
        if self._data_version == data_version:
            return
        require_author(cursor, self.annotator, *JUDGING_ROLES)  # they may have lost the right while signed in
        shared = self._shared.read(cursor, data_version)
        self.rounds, self.guides = shared.rounds, shared.guides
        self._practice = None
        if self._texts_version != shared.texts_version:
            self._texts = {}
        items_version = shared.item_versions.get(self.annotator)
        event_count = shared.event_counts.get(self.annotator, 0)
        versions = (self._items_version, self._event_count)
        if self._data_version < 0 or versions != (items_version, event_count):
            self._read_items(cursor)
        self._data_version = data_version

    def _read_items(self, cursor: Cursor) -> None:
        """Read the items and their state with the same cursor, because another cursor may see a newer
        state."""
        self._items = {}
        for item in upcoming.read_items(cursor, self.annotator, self.rounds):
            round_id, query_id = sys.intern(item.round_id), sys.intern(item.query_id)
            self._items[item.presentation_id] = item._replace(round_id=round_id, query_id=query_id)
        versions = upcoming.read_item_versions(cursor, self.rounds, self.annotator)
        self._items_version = versions.get(self.annotator)
        self._recent = read_recent_answers(cursor, self.annotator, utc_now())
        self._event_count = upcoming.count_events(cursor, self.annotator).get(self.annotator, 0)

    def get_item(self, presentation_id: str) -> upcoming.QueueItem | None:
        """Return one of the annotator's items in a round that is not closed; None for any other
        presentation."""
        return self._items.get(presentation_id)

    def list_items(self) -> list[upcoming.QueueItem]:
        """Return all of the annotator's items, by round and position."""
        return list(self._items.values())

    def read_practice(self, cursor: Cursor) -> list[PracticeStatus]:
        """Read the annotator's status in practice rounds, oldest first."""
        if self._practice is None:
            self._practice = read_practice_statuses(cursor, self.annotator)
        return self._practice

    def read_texts(
        self, cursor: Cursor, items: upcoming.QueueItems, queue: upcoming.QueueItems
    ) -> list[ItemText]:
        """Return the needed items' texts; if one is missing, read the texts of `READ_AHEAD` items."""
        missing_items = [item for item in items if item.presentation_id not in self._texts]
        texts = dict(self._texts)
        if missing_items:
            version = read_texts_version(cursor)
            if version != self._texts_version:
                self._texts_version, texts, missing_items = version, {}, list(items)
            items_ahead = [item for item in queue[:READ_AHEAD] if item.presentation_id not in texts]
            texts.update(read_texts(cursor, missing_items, items_ahead))
            ids_ahead = {item.presentation_id for item in queue[:READ_AHEAD]}
            self._texts = {
                key: text
                for key, text in texts.items()
                if key in ids_ahead and len(text.document.body) <= MAX_READ_EARLY_LENGTH
            }
        return [texts[item.presentation_id] for item in items]

    def compute_pace(self) -> Pace:
        """Compute the annotator's current pace."""
        return self._recent.compute_pace(utc_now())

    def add(self, events: Sequence[JudgmentEvent]) -> None:
        """Add the judgment events that were just written to the cache."""
        answers = []
        for event in events:
            self._event_count += 1
            item = self._items[event.presentation_id]
            number, is_answer = self._event_count, event.kind in ANSWER_KINDS
            self._items[event.presentation_id] = item._replace(
                revision=event.revision + 1,
                skip_number=number if event.kind == "later" else None,
                answer_number=number if is_answer else None,
                was_skipped=item.was_skipped or event.kind == "later",
            )
            if is_answer:
                answers.append(
                    RecentAnswer(number, event.submitted_at, event.presentation_id, event.active_ms)
                )
            if self.rounds[item.round_id].kind == "practice":
                self._practice = None
        earlier_answers = [*self._recent.last_hour, *self._recent.timed]
        self._recent = RecentAnswers.choose([*answers, *earlier_answers], utc_now())

    def __len__(self) -> int:
        return len(self._items)


class _SharedState(NamedTuple):
    """Data shared by a project's session caches: rounds, guides, and the versions of items and texts.

    Attributes
    ----------
    rounds: the rounds that are not closed, by id.
    guides: all guides that these rounds have had, by hash.
    item_versions: annotator → version of the annotator's items.
    event_counts: annotator → number of the annotator's events.
    texts_version: version of the texts.
    """

    rounds: dict[str, upcoming.ShownRound]
    guides: dict[str, Guide]
    item_versions: dict[str, int]
    event_counts: dict[str, int]
    texts_version: object


class _ProjectCaches:
    """One project's session caches, and their shared state."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._caches: OrderedDict[str, SessionCache] = OrderedDict()
        self._data_version = -1
        self._shared_state: _SharedState | None = None

    @contextmanager
    def hold_cache(self, annotator: str) -> Iterator[SessionCache]:
        with self._lock:
            cache = self._caches.setdefault(annotator, SessionCache(annotator, self))
            self._caches.move_to_end(annotator)
            cache.users += 1
        try:
            with cache.lock:
                yield cache
        finally:
            with self._lock:
                cache.users -= 1
                self._drop_caches()

    def read(self, cursor: Cursor, data_version: int) -> _SharedState:
        """Read the shared state, once per version of the data."""
        with self._lock:
            if self._shared_state is None or self._data_version != data_version:
                rounds = upcoming.read_open_rounds(cursor)
                hashes = {guide_hash for round_ in rounds.values() for guide_hash in round_.guide_hashes}
                self._shared_state = _SharedState(
                    rounds=rounds,
                    guides={guide_hash: load_guide(cursor, guide_hash) for guide_hash in sorted(hashes)},
                    item_versions=upcoming.read_item_versions(cursor, rounds),
                    event_counts=upcoming.count_events(cursor),
                    texts_version=read_texts_version(cursor),
                )
                self._data_version = data_version
            return self._shared_state

    def _drop_caches(self) -> None:
        """Drop the least recently used caches that no request holds, while the caches hold too many items."""
        count = sum(map(len, self._caches.values()))
        for name, cache in list(self._caches.items())[:-1]:
            if count <= MAX_ITEMS:
                break
            if not cache.users:
                count -= len(cache)
                del self._caches[name]


@contextmanager
def hold_session_cache(store: Store, annotator: str) -> Iterator[SessionCache]:
    """Hold an annotator's session cache for one request.

    Enter the context before a lease of the database, never within a lease: a request that holds a cache waits
    for its lease. After any error the cache reads everything again.
    """
    with _lock:
        caches = _caches_by_project.setdefault(store, _ProjectCaches())
    with caches.hold_cache(annotator) as cache:
        try:
            yield cache
        except BaseException:
            cache.forget()
            raise
