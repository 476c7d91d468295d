"""Judgments: what an annotator does with a presentation, appended and never changed.

Each event of a presentation has a revision, and a revision can be written once. A client names the
revision that it saw, so of two tabs, a held key or a race only one is written, and the other learns the
state it missed. A client key, made once per action, tells a retry from a new action.

What arrives after its round was closed is kept and marked late. What was moved to somebody else before it
was answered is refused: its pair has its full number of voices without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from curation.labeling.ahead import GUIDES_HAD
from curation.labeling.desk import Desk, desk_of
from curation.labeling.guides import Guide, guide_by_hash
from curation.store import Cursor, Store, append_rows, utc_now

KINDS = ("grade", "cannot_tell", "later", "undo")
LONGEST_NOTE = 4_000
LONGEST_ACTIVE_MS = 24 * 3_600_000
ANSWERED = ("grade", "cannot_tell")
KEPT_LATE = "the round was closed before it came, so it is marked as late"


@dataclass(frozen=True)
class Submission:
    """One action on one presentation.

    Attributes
    ----------
    revision: how many events the presentation had when the annotator saw it.
    client_key: made by the client once per action; sent again with a retry.
    active_ms: milliseconds for which the item was on screen and the page in front.
    guide_hash: the guide that the annotator read; None is the one in force. It may have changed meanwhile.
    """

    presentation_id: str
    revision: int
    kind: str
    client_key: str
    grade: int | None = None
    reason: str | None = None
    note: str | None = None
    flagged: bool = False
    shown_at: datetime | None = None
    active_ms: int | None = None
    submitted_at: datetime | None = None
    guide_hash: str | None = None


class Outcome(NamedTuple):
    """What became of a submission.

    status: 'saved' (`message` says if late); 'repeated' (this very action was saved before); 'stale'
    (somebody else acted on the presentation since it was shown: look again at `revision`); 'refused'
    (`message` says why).
    """

    presentation_id: str
    client_key: str
    status: str
    revision: int
    message: str = ""


class State(NamedTuple):
    """What the database knows of a presentation before a submission.

    Attributes
    ----------
    guide_hash: of the guide that is in force in its round.
    closed: its round is closed.
    withdrawn: it was moved to somebody else, untouched.
    practice: its expected grade is shown after the answer, so that the first answer stands.
    earlier: guides that were in force in the round before.
    """

    annotator: str
    guide_hash: str
    next_revision: int
    answered: bool
    closed: bool = False
    withdrawn: bool = False
    practice: bool = False
    earlier: tuple[str, ...] = ()

    def read_under(self, guide_hash: str | None) -> str:
        """The guide under which an answer is taken: the one that was read, if the round had it."""
        return guide_hash if guide_hash is not None and guide_hash in self.earlier else self.guide_hash


class Event(NamedTuple):
    """A row of `judgment_events`."""

    presentation_id: str
    revision: int
    kind: str
    grade: int | None
    reason: str | None
    note: str | None
    flagged: bool
    guide_hash: str
    author: str
    client_key: str
    shown_at: datetime | None
    submitted_at: datetime
    active_ms: int | None
    late: bool


class Known(NamedTuple):
    """The event that a client key was used for."""

    author: str
    presentation_id: str
    revision: int


class Context(NamedTuple):
    """All that judging submissions needs to know: states by presentation, keys in use, guides by hash."""

    states: dict[str, State]
    known: dict[str, Known]
    guides: dict[str, Guide]


def submit(store: Store, annotator: str, submissions: Sequence[Submission]) -> list[Outcome]:
    """Record what an annotator did; each submission is answered on its own, in order.

    One transaction: when this returns, everything 'saved' is in the database.
    """
    with desk_of(store, annotator) as desk:
        outcomes = _submit_by_desk(store, desk, submissions)
        return _submit_by_file(store, desk, submissions) if outcomes is None else outcomes


def _submit_by_desk(store: Store, desk: Desk, submissions: Sequence[Submission]) -> list[Outcome] | None:
    """What most submissions need: each is new and right, as far as memory knows, and the file agrees.

    None where anything is not plain, and then nothing was written.
    """
    # The database refuses a revision or a client key that it has, whoever wrote it.
    with suppress(duckdb.ConstraintException):
        with store.transaction(new_edition=False) as cursor:
            desk.read(cursor, store.edition)
            context = _desk_context(desk, submissions)
            if context is None:
                return None
            outcomes, events = judge(desk.annotator, submissions, context)
            if len(events) < len(submissions):
                return None
            append_events(cursor, events)
        desk.take(events)
        return outcomes
    return None


def _submit_by_file(store: Store, desk: Desk, submissions: Sequence[Submission]) -> list[Outcome]:
    """Everything else: the file is asked for all that is known of these presentations and client keys."""
    desk.forget()
    with store.transaction(new_edition=False) as cursor:
        context = _read_context(cursor, submissions)
        outcomes, events = judge(desk.annotator, submissions, context)
        append_events(cursor, events)
    return outcomes


def judge(
    annotator: str, submissions: Sequence[Submission], context: Context
) -> tuple[list[Outcome], list[Event]]:
    """What becomes of each submission, and the events to be appended: the one way in for every judgment.

    The context is brought up to date as if the events were appended.
    """
    outcomes, events = [], []
    now = utc_now()
    for item in submissions:
        outcome = _outcome(item, annotator, context)
        outcomes.append(outcome)
        if outcome.status == "saved":
            state = context.states[item.presentation_id]
            event = _event(item, annotator, state, now)
            events.append(event)
            now += timedelta(microseconds=1)  # what was done last is told by its time, also of a batch
            context.known[item.client_key] = Known(annotator, item.presentation_id, event.revision)
            context.states[item.presentation_id] = state._replace(
                next_revision=outcome.revision, answered=item.kind in ANSWERED
            )
    return outcomes, events


def append_events(cursor: Cursor, events: Sequence[Event]) -> None:
    """Append events that `judge` has made; the primary key refuses a revision that was written meanwhile."""
    if len(events) == 1:  # four times as fast
        cursor.execute(_INSERT, events[0])
        return
    append_rows(cursor, "judgment_events", events, _EVENT_TYPES)


def _outcome(item: Submission, annotator: str, context: Context) -> Outcome:
    state = context.states.get(item.presentation_id)
    if state is None or state.annotator != annotator:
        return _answer(item, "refused", 0, "this item is not among your items")
    used = context.known.get(item.client_key)
    if used is not None:
        if (used.author, used.presentation_id) == (annotator, item.presentation_id):
            return _answer(item, "repeated", used.revision + 1)
        return _answer(item, "refused", state.next_revision, "this action's key is already in use")
    if item.revision != state.next_revision:
        return _answer(item, "stale", state.next_revision, "answered elsewhere in the meantime")
    problem = _problem(item, state, context.guides)
    if problem:
        return _answer(item, "refused", state.next_revision, problem)
    return _answer(item, "saved", state.next_revision + 1, KEPT_LATE if state.closed else "")


def _answer(item: Submission, status: str, revision: int, message: str = "") -> Outcome:
    return Outcome(item.presentation_id, item.client_key, status, revision, message)


def _problem(item: Submission, state: State, guides: Mapping[str, Guide]) -> str:
    if item.kind not in KINDS:
        return f"unknown kind {item.kind!r}; expected one of {', '.join(KINDS)}"
    if not 8 <= len(item.client_key) <= 128:
        return "a client key has 8 to 128 characters"
    if item.kind != "grade" and item.grade is not None:
        return f"{item.kind} takes no grade"
    if item.kind == "undo" and not state.answered:
        return "there is nothing to undo"
    standing = _against_the_round(item, state)
    if standing:
        return standing
    if len(item.note or "") > LONGEST_NOTE or len(item.reason or "") > LONGEST_NOTE:
        return f"a note has at most {LONGEST_NOTE:,} characters"
    if not 0 <= (item.active_ms or 0) <= LONGEST_ACTIVE_MS:
        return f"an item cannot have been on screen for {item.active_ms} ms"
    return _against_the_scale(item, state, guides) if item.kind == "grade" else ""


def _against_the_scale(item: Submission, state: State, guides: Mapping[str, Guide]) -> str:
    guide = guides[state.guide_hash]
    if guides[state.read_under(item.guide_hash)].values != guide.values:
        return "the guide has another scale since this item was shown: look at it again"
    return guide.outside(item.grade)


def _against_the_round(item: Submission, state: State) -> str:
    if state.withdrawn:
        return "this item was moved to somebody else; go on with the next one"
    if state.practice and state.answered:
        return "practice answers stand: the expected grade was shown"
    if state.closed and item.kind not in ANSWERED:
        return "the round is closed: an answer can be changed there, but not taken back or put off"
    return ""


def _event(item: Submission, author: str, state: State, now: datetime) -> Event:
    return Event(
        presentation_id=item.presentation_id,
        revision=state.next_revision,
        kind=item.kind,
        grade=item.grade,
        reason=item.reason or None,
        note=item.note or None,
        flagged=item.flagged,
        guide_hash=state.read_under(item.guide_hash),
        author=author,
        client_key=item.client_key,
        shown_at=item.shown_at,
        submitted_at=item.submitted_at or now,
        active_ms=item.active_ms,
        late=state.closed,
    )


def _desk_context(desk: Desk, submissions: Sequence[Submission]) -> Context | None:
    """What the desk knows of them, or None where one is not on it. It knows of no client keys."""
    states = {}
    for submission in submissions:
        item = desk.item(submission.presentation_id)
        if item is None:
            return None
        source = desk.sources[item.round_id]
        states[item.presentation_id] = State(
            desk.annotator,
            source.guide_hash,
            item.revision,
            item.answered_at is not None,
            practice=source.kind == "practice",
            earlier=source.earlier,
        )
    return Context(states, {}, desk.guides)


def _read_context(cursor: Cursor, submissions: Sequence[Submission]) -> Context:
    """Point lookups by key, each some tenths of a millisecond: one join of all scans every presentation."""
    wanted = list(dict.fromkeys(item.presentation_id for item in submissions))
    keys = list(dict.fromkeys(item.client_key for item in submissions))
    known = _by_key(cursor, "judgment_events", keys, "client_key", "author, presentation_id, revision")
    shown = _by_key(cursor, "presentations", wanted, "presentation_id", "annotator, round_id")
    acted = _by_key(cursor, "judgment_events", wanted, "presentation_id", "revision, kind")
    withdrawn = {row[0] for row in _by_key(cursor, "withdrawals", wanted, "presentation_id", "author")}
    last = {row[0]: row[1:] for row in sorted(acted)}
    rounds = _rounds(cursor)
    states = {}
    for presentation_id, annotator, round_id in shown:
        revision, kind = last.get(presentation_id, (-1, ""))
        guide_hash, closed, practice, earlier = rounds[round_id]
        moved = presentation_id in withdrawn
        states[presentation_id] = State(
            annotator, guide_hash, revision + 1, kind in ANSWERED, closed, moved, practice, earlier
        )
    hashes = {guide_hash for state in states.values() for guide_hash in (state.guide_hash, *state.earlier)}
    guides = {guide_hash: guide_by_hash(cursor, guide_hash) for guide_hash in sorted(hashes)}
    return Context(states, {row[0]: Known(*row[1:]) for row in known}, guides)


def _by_key(cursor: Cursor, table: str, keys: Sequence[str], key: str, columns: str) -> list[Any]:
    """Rows of these keys, the key first; as constants DuckDB looks them up in the key's index."""
    places = ", ".join("?" * len(keys)) or "NULL"
    sql = f"SELECT {key}, {columns} FROM {table} WHERE {key} IN ({places})"  # noqa: S608  names from above
    return cursor.execute(sql, keys).fetchall()


def _rounds(cursor: Cursor) -> dict[str, tuple[str, bool, bool, tuple[str, ...]]]:
    """Round id → guide in force, closed, practice, and the guides that it ever had."""
    rows = cursor.execute(_ROUNDS).fetchall()
    return {
        round_id: (guide_hash, closed, practice, tuple(sorted(guides)))
        for round_id, guide_hash, closed, practice, guides in rows
    }


_ROUNDS = f"""
SELECT round_id, guide_hash, closed, kind = 'practice', guides
FROM round_states JOIN ({GUIDES_HAD}) USING (round_id)
"""  # noqa: S608  a query from `ahead`

_INSERT = f"""
INSERT INTO judgment_events ({", ".join(Event._fields)}) VALUES ({", ".join("?" * len(Event._fields))})
"""  # noqa: S608  names from above

_EVENT_TYPES = pa.schema(
    {
        "presentation_id": pa.string(),
        "revision": pa.int32(),
        "kind": pa.string(),
        "grade": pa.int32(),
        "reason": pa.string(),
        "note": pa.string(),
        "flagged": pa.bool_(),
        "guide_hash": pa.string(),
        "author": pa.string(),
        "client_key": pa.string(),
        "shown_at": pa.timestamp("us"),
        "submitted_at": pa.timestamp("us"),
        "active_ms": pa.int32(),
        "late": pa.bool_(),
    }
)
