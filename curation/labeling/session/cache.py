"""An annotator's recent answers: how many in the last hour, and how long each took.

Matched passages: the part of a document that a system matched, from which the excerpt is taken.

Only the excerpt leaves the server. It does not say which system found the part, or at which rank.

The session cache: an annotator's items, kept in memory from one request to the next.

A cache is valid for one version of the project's data (`Store.data_version`). Whatever another process
writes, and whatever else this process does to a round, makes a new version. The state of what the caches hold
is then read once for all of them, and an annotator's items and texts are read again only where theirs has
changed. What annotators do themselves leaves the version as it is: it is written to the database first and
then to the cache. So a cache never holds an answer that was not stored. It is not the last word either: two
keys of the database refuse what was written already, and then the database is asked.

A cache serves one request at a time. The least recently used ones are dropped first.

The texts of an item are its query, its document, and the part of the document that matched.
"""

from __future__ import annotations

import statistics
import sys
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple
from weakref import WeakKeyDictionary

from curation.filters.stored import NEED
from curation.guides.guide import Guide, guide_by_hash
from curation.labeling.judgments.judging import JudgmentEvent
from curation.labeling.practice.status import PracticeStatus, practice_statuses
from curation.labeling.rounds.upcoming import (
    OpenRound,
    QueueItem,
    item_states,
    numbers_of_events,
    read_items,
    read_open_rounds,
)
from curation.people.annotators import JUDGING, require_author
from curation.presentation.drawing import ReadDocument
from curation.spans import Span
from curation.store import Cursor, Store, fetch, utc_now
from curation.store.documents import version_texts

HOUR = timedelta(hours=1)
PACE_ANSWERS = 50
"""The pace is the median of this many last answers."""

FEWEST_FOR_PACE = 5


class Answer(NamedTuple):
    """One answering event.

    Attributes
    ----------
    written: its place among the annotator's events, in the order of writing.
    active_ms: the time on screen, if the screen sent it.
    """

    written: int
    submitted_at: datetime
    presentation_id: str
    active_ms: int | None


class Recent(NamedTuple):
    """An annotator's answers of the last hour, and the last `PACE_ANSWERS` of known length, newest first."""

    hour: list[Answer]
    timed: list[Answer]

    @classmethod
    def of(cls, answers: Iterable[Answer], now: datetime) -> Recent:
        """The recent ones of some answers, in which an answer may occur twice."""
        newest = sorted({one.written: one for one in answers}.values(), reverse=True)
        timed = [one for one in newest if one.active_ms is not None]
        return cls([one for one in newest if one.submitted_at > now - HOUR], timed[:PACE_ANSWERS])

    def pace(self, now: datetime) -> tuple[int, float | None]:
        """Presentations answered in the last 60 minutes, and the median seconds on screen, None below 5."""
        hour = len({one.presentation_id for one in self.hour if one.submitted_at > now - HOUR})
        seconds = [one.active_ms / 1000 for one in self.timed if one.active_ms is not None]
        return hour, statistics.median(seconds) if len(seconds) >= FEWEST_FOR_PACE else None


def recent(cursor: Cursor, annotator: str) -> Recent:
    """An annotator's recent answers, including those that were changed or undone since."""
    now = utc_now()
    parameters = {"who": annotator, "since": now - HOUR, "last": PACE_ANSWERS}
    return Recent.of(map(Answer._make, cursor.execute(_ANSWERS, parameters).fetchall()), now)


def answered_since(cursor: Cursor, annotator: str, moments: Sequence[datetime]) -> list[int]:
    """For each moment (UTC) how many presentations the annotator has answered since, and not taken back."""
    times = [row[0] for row in cursor.execute(_ANSWERED_AT, [annotator]).fetchall()]
    return [sum(time >= moment for time in times) for moment in moments]


_ANSWERED_AT = """
SELECT max(submitted_at) FROM judgment_events WHERE author = ? AND time_known
GROUP BY presentation_id HAVING arg_max(kind, revision) IN ('grade', 'cannot_tell')
"""

_ANSWERS = """
WITH own AS (
    SELECT *, row_number() OVER (ORDER BY rowid) AS written FROM judgment_events WHERE author = $who),
answers AS (
    SELECT written, submitted_at, presentation_id, active_ms FROM own
    WHERE kind IN ('grade', 'cannot_tell') AND time_known)
FROM answers WHERE submitted_at > $since
UNION ALL
(FROM answers WHERE active_ms IS NOT NULL ORDER BY written DESC LIMIT $last)
"""


class ShownPair(NamedTuple):
    """What a presentation shows: the query, and the document in one version."""

    presentation_id: str
    query_id: str
    document_id: str
    content_hash: str


def matched_passages(cursor: Cursor, presentation_ids: Sequence[str]) -> dict[str, Span]:
    """As `matched_parts`, by the presentations' ids."""
    return matched_parts(cursor, fetch(cursor, ShownPair, _PAIRS, [list(presentation_ids)]))


def matched_parts(cursor: Cursor, pairs: Sequence[ShownPair]) -> dict[str, Span]:
    """Presentation → the part of `Document.text` that was matched at the best rank, where one is stored.

    A stored part belongs to the version of the document in the pool's snapshot. It counts only if that
    version is shown. Ties are broken by system, place and pool.
    """
    if not pairs:
        return {}
    _, queries, documents, hashes = map(list, zip(*pairs, strict=True))
    rows = cursor.execute(_SOURCES, {"queries": queries, "documents": documents}).fetchall()
    if not rows:
        return {}
    parts: dict[tuple[str, str], list[tuple[str, Span]]] = {}
    for query_id, document_id, snapshot, start, end in rows:
        parts.setdefault((query_id, document_id), []).append((snapshot, (start, end)))
    versions = set(cursor.execute(_VERSIONS, {"documents": documents, "hashes": hashes}).fetchall())
    found: dict[str, Span] = {}
    for presentation_id, query_id, document_id, content_hash in pairs:
        for snapshot, span in parts.get((query_id, document_id), []):
            if (snapshot, document_id, content_hash) in versions:
                found.setdefault(presentation_id, span)
    return found


_PAIRS = """
SELECT presentation_id, query_id, document_id, content_hash FROM presentations
WHERE presentation_id IN (SELECT unnest(?::TEXT[]))
"""

_SOURCES = """
SELECT s.query_id, s.document_id, p.snapshot_id, s.passage_start, s.passage_end
FROM candidate_sources s JOIN pools p USING (pool_id)
WHERE s.query_id IN (SELECT unnest($queries::TEXT[])) AND s.document_id IN (SELECT unnest($documents::TEXT[]))
  AND s.passage_start IS NOT NULL
ORDER BY s.rank, s.system, s.passage_start, s.pool_id
"""

_VERSIONS = """
SELECT snapshot_id, document_id, content_hash FROM snapshot_documents
WHERE document_id IN (SELECT unnest($documents::TEXT[])) AND content_hash IN (SELECT unnest($hashes::TEXT[]))
"""


LONGEST_READ_EARLY = 10_000
"""Bytes of the longest document that is read before it is needed."""


class Text(NamedTuple):
    """The texts of one item; `matched` is the part of the document to take the excerpt from."""

    query: str
    information_need: str | None
    document: ReadDocument
    matched: Span | None

    @property
    def short(self) -> bool:
        """Whether it can be kept without taking much memory."""
        return len(self.document.body) <= LONGEST_READ_EARLY


def read_texts(cursor: Cursor, needed: Sequence[QueueItem], early: Sequence[QueueItem]) -> dict[str, Text]:
    """Presentation → text: of the needed items, and of `early` ones whose document is not long.

    Reading twenty texts costs hardly more than reading three.
    """
    items = {item.presentation_id: item for item in [*needed, *early]}
    wanted = sorted({item.query_id for item in items.values()})
    queries = {row[0]: row[1:] for row in cursor.execute(_QUERIES, [wanted]).fetchall()}
    hashes = sorted({item.content_hash for item in items.values()})
    whole = sorted({item.content_hash for item in needed})
    documents = version_texts(cursor, hashes, whole, LONGEST_READ_EARLY)
    read = {key: item for key, item in items.items() if documents[item.content_hash].body is not None}
    matched = matched_parts(cursor, [_pair(item) for item in read.values()])
    return {
        key: Text._make(
            (*queries[item.query_id], ReadDocument._make(documents[item.content_hash]), matched.get(key))
        )
        for key, item in read.items()
    }


def short_texts(texts: dict[str, Text], among: Collection[str]) -> dict[str, Text]:
    """The short texts of these presentations."""
    return {key: text for key, text in texts.items() if key in among and text.short}


def _pair(item: QueueItem) -> ShownPair:
    return ShownPair(item.presentation_id, item.query_id, item.document_id, item.content_hash)


# Two queries: each finds twenty texts in some milliseconds, and a join of both takes several times as long.
_QUERIES = f"""
SELECT query_id, text, {NEED}
FROM queries q JOIN (SELECT unnest(?::TEXT[]) AS query_id) USING (query_id)
"""  # noqa: S608


def texts_state(cursor: Cursor) -> tuple[object, ...]:
    """Equal as long as the queries, and the parts of documents that pools have matched, are the same."""
    return tuple(cursor.execute(_TEXTS_STATE).fetchall()[0])


# Pools and their candidates are only ever added. DuckDB's hash of several columns is the exclusive or of
# theirs: were it not hashed again, one need that is given to two queries would leave no trace.
_TEXTS_STATE = """
SELECT (SELECT bit_xor(hash(hash(query_id, text, information_need, metadata))) FROM queries),
       (SELECT count(*) FROM pools), (SELECT count(*) FROM candidate_sources)
"""


MOST_ITEMS = 1_000_000
"""Items in all caches of a project together, some 200 bytes each; a single cache may hold more.

Where those who are at work have more items than this, each request reads its annotator's items again.
"""

READ_AHEAD = 24
"""Texts that are read together."""


class SessionCache:
    """The items of one annotator. Get it from `session_cache`, and call `read` first in each lease."""

    def __init__(self, annotator: str, shared: _ProjectCaches) -> None:
        self.annotator = annotator
        self.lock = threading.Lock()
        self.users = 0
        self._shared = shared
        self.forget()

    def forget(self) -> None:
        """Read everything again at the next request."""
        self._data_version = -1
        self.rounds: dict[str, OpenRound] = {}
        self.guides: dict[str, Guide] = {}
        self._items: dict[str, QueueItem] = {}
        self._items_state: int | None = None
        self._recent = Recent([], [])
        self._written = 0
        self._practice: list[PracticeStatus] | None = None
        self._texts: dict[str, Text] = {}
        self._texts_state: object = None

    def read(self, cursor: Cursor, data_version: int) -> None:
        """Bring the cache to the version of the data that the cursor sees; only what has changed is read."""
        if self._data_version == data_version:
            return
        require_author(cursor, self.annotator, *JUDGING)  # they may have lost the right while signed in
        shared = self._shared.read(cursor, data_version)
        self.rounds, self.guides = shared.rounds, shared.guides
        self._practice = None
        if self._texts_state != shared.texts:
            self._texts = {}
        state, written = shared.items.get(self.annotator), shared.written.get(self.annotator, 0)
        if self._data_version < 0 or (self._items_state, self._written) != (state, written):
            self._read_items(cursor)
        self._data_version = data_version

    def _read_items(self, cursor: Cursor) -> None:
        """Read the items, and their state by the same cursor: another one may see a newer state."""
        self._items = {}
        for item in read_items(cursor, self.annotator, self.rounds):
            round_id, query_id = sys.intern(item.round_id), sys.intern(item.query_id)
            self._items[item.presentation_id] = item._replace(round_id=round_id, query_id=query_id)
        self._items_state = item_states(cursor, self.rounds, self.annotator).get(self.annotator)
        self._recent = recent(cursor, self.annotator)
        self._written = numbers_of_events(cursor, self.annotator).get(self.annotator, 0)

    def item(self, presentation_id: str) -> QueueItem | None:
        """One of the annotator's items in rounds that are not closed."""
        return self._items.get(presentation_id)

    def items(self) -> list[QueueItem]:
        """All items, by round and position."""
        return list(self._items.values())

    def practice_statuses(self, cursor: Cursor) -> list[PracticeStatus]:
        """How the annotator does in practice rounds, oldest first."""
        if self._practice is None:
            self._practice = practice_statuses(cursor, self.annotator)
        return self._practice

    def texts(self, cursor: Cursor, needed: Sequence[QueueItem], upcoming: Sequence[QueueItem]) -> list[Text]:
        """The texts of the needed items; if one is missing, those of `READ_AHEAD` items are read together."""
        missing = [item for item in needed if item.presentation_id not in self._texts]
        found = dict(self._texts)
        if missing:
            state = texts_state(cursor)
            if state != self._texts_state:
                self._texts_state, found, missing = state, {}, list(needed)
            early = [item for item in upcoming[:READ_AHEAD] if item.presentation_id not in found]
            found.update(read_texts(cursor, missing, early))
            self._texts = short_texts(found, {item.presentation_id for item in upcoming[:READ_AHEAD]})
        return [found[item.presentation_id] for item in needed]

    def pace(self) -> tuple[int, float | None]:
        """Answers in the last 60 minutes, and the median seconds of the last ones."""
        return self._recent.pace(utc_now())

    def add(self, events: Sequence[JudgmentEvent]) -> None:
        """Bring the cache up to date with events that were just written."""
        answers = []
        for event in events:
            self._written += 1
            item = self._items[event.presentation_id]
            answered = event.kind in ("grade", "cannot_tell")
            self._items[event.presentation_id] = item._replace(
                revision=event.revision + 1,
                put_off=self._written if event.kind == "later" else None,
                answered=self._written if answered else None,
                was_put_off=item.was_put_off or event.kind == "later",
            )
            if answered:
                answers.append(
                    Answer(self._written, event.submitted_at, event.presentation_id, event.active_ms)
                )
            if self.rounds[item.round_id].kind == "practice":
                self._practice = None
        self._recent = Recent.of([*answers, *self._recent.hour, *self._recent.timed], utc_now())

    def __len__(self) -> int:
        return len(self._items)


class _SharedState(NamedTuple):
    """What the session caches of a project share, and the state of what each of them holds.

    Attributes
    ----------
    rounds, guides: the rounds that are not closed, and by hash all guides that they ever had.
    items, written: by annotator, the state of the items and the number of events, which are never changed.
    """

    rounds: dict[str, OpenRound]
    guides: dict[str, Guide]
    items: dict[str, int]
    written: dict[str, int]
    texts: object

    @classmethod
    def of(cls, cursor: Cursor) -> _SharedState:
        rounds = read_open_rounds(cursor)
        hashes = {had for one in rounds.values() for had in (one.guide_hash, *one.guides)}
        guides = {had: guide_by_hash(cursor, had) for had in sorted(hashes)}
        states = item_states(cursor, rounds), numbers_of_events(cursor), texts_state(cursor)
        return cls(rounds, guides, *states)


class _ProjectCaches:
    """The session caches of one project, and what they share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._caches: OrderedDict[str, SessionCache] = OrderedDict()
        self._data_version = -1
        self._read: _SharedState | None = None

    @contextmanager
    def cache(self, annotator: str) -> Iterator[SessionCache]:
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
                self._make_room()

    def read(self, cursor: Cursor, data_version: int) -> _SharedState:
        """What is shared, read once for each version of the data."""
        with self._lock:
            if self._read is None or self._data_version != data_version:
                self._read, self._data_version = _SharedState.of(cursor), data_version
            return self._read

    def _make_room(self) -> None:
        held = sum(map(len, self._caches.values()))
        for name, cache in list(self._caches.items())[:-1]:
            if held <= MOST_ITEMS:
                break
            if not cache.users:
                held -= len(cache)
                del self._caches[name]


_projects: WeakKeyDictionary[Store, _ProjectCaches] = WeakKeyDictionary()
_projects_lock = threading.Lock()


@contextmanager
def session_cache(store: Store, annotator: str) -> Iterator[SessionCache]:
    """The session cache of an annotator, for one request.

    Enter it before a lease of the database, never within one: a request that has a cache waits for a lease.
    After any error the cache reads everything again.
    """
    with _projects_lock:
        caches = _projects.setdefault(store, _ProjectCaches())
    with caches.cache(annotator) as cache:
        try:
            yield cache
        except BaseException:
            cache.forget()
            raise
