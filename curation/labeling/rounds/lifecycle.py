"""The life of a round after it opened: paused, resumed, closed, reopened or deleted.

Each change is an event of the round, appended with its author; the state of a round is a view of its events.
A paused or closed round is in nobody's queue. A judgment that arrives late is kept and marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import RefusedError
from curation.core.text import canonical_json
from curation.labeling.rounds.rounds import find_round
from curation.labeling.rounds.upcoming import unshown
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, fetch, record_event, utc_now


class RoundState(NamedTuple):
    """The state of a round; `open_items` counts unanswered presentations that can still be shown."""

    round_id: str
    round: str
    kind: str
    opened_at: datetime
    guide_hash: str
    paused: bool
    closed: bool
    closed_at: datetime | None
    open_items: int
    answered: int

    @property
    def share(self) -> float:
        """What is answered."""
        return answered_share(self.answered, self.open_items)


def answered_share(answered: int, left: int) -> float:
    """What is answered; in whole percent it is not 100 while anything is left."""
    share = answered / (answered + left)
    return min(share, 0.99) if left else share


class RoundDeleted(NamedTuple):
    """A round that is gone, and how many presentations went with it."""

    round: str
    presentations: int


def pause_round(store: Store, name: str, author: str = COMMAND_LINE, reason: str = "") -> RoundState:
    """Take a round out of all queues for a while.

    Raises
    ------
    NotFoundError: there is no such round or author.
    RefusedError: it is paused or closed already, or the author is no lead.
    """
    return _change(store, name, "pause", author, reason)


def resume_round(store: Store, name: str, author: str = COMMAND_LINE, reason: str = "") -> RoundState:
    """Put a paused round back into the queues; raises as `pause_round` does."""
    return _change(store, name, "resume", author, reason)


def close_round(
    store: Store,
    name: str,
    author: str = COMMAND_LINE,
    reason: str = "",
    also: Callable[[Cursor, RoundState], None] = lambda *_: None,
) -> RoundState:
    """Close a round: nobody is shown more of it, and judgments that still arrive are kept and marked late.

    Commands and pages close by `relabeling.drift.closing.close_round`, which hands in what a re-labeling
    writes with it, as `also`.
    """
    return _change(store, name, "close", author, reason, also)


def reopen_round(store: Store, name: str, author: str = COMMAND_LINE, reason: str = "") -> RoundState:
    """Open a closed round again."""
    return _change(store, name, "reopen", author, reason)


_DELETED = (
    "DELETE FROM withdrawals w USING presentations p "
    "WHERE p.presentation_id = w.presentation_id AND p.round_id = ?",
    "DELETE FROM opinion_requests o USING presentations p "
    "WHERE p.presentation_id = o.presentation_id AND p.round_id = ?",
    "DELETE FROM presentations WHERE round_id = ?",
    "DELETE FROM known_answers WHERE round_id = ?",
    "DELETE FROM round_events WHERE round_id = ?",
    "DELETE FROM rounds WHERE round_id = ?",
)


def delete_round(store: Store, name: str, author: str = COMMAND_LINE, reason: str = "") -> RoundDeleted:
    """Delete a round that was opened by mistake: who judges what, its blind duplicates and control items.

    Queries, pools and guides stay. The audit trail keeps that there was such a round.

    Raises
    ------
    NotFoundError: there is no such round or author.
    RefusedError: somebody has answered in it, another step opened it, or the author is no lead.
    """
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        state = round_state(cursor, name)
        problem = against_deleting(cursor, state)
        if problem:
            raise RefusedError(problem, command=f"`goldgrade round close {_quoted(name)}` ends it.")
        count = cursor.execute(
            "SELECT count(*) FROM presentations WHERE round_id = ?", [state.round_id]
        ).fetchall()[0][0]
        for statement in _DELETED:
            cursor.execute(statement, [state.round_id])
        deleted = RoundDeleted(state.round, int(count))
        record_event(cursor, "delete round", {**deleted._asdict(), "reason": reason}, author)
    return deleted


_NEEDED = """
SELECT EXISTS (FROM judgment_events JOIN presentations USING (presentation_id) WHERE round_id = ?)
           OR EXISTS (FROM query_answers WHERE round_id = ?),
       EXISTS (FROM relabeling_rounds WHERE round_id = ?)
"""


def against_deleting(cursor: Cursor, state: RoundState) -> str:
    """Why a round cannot be deleted: a sentence, or ''."""
    answered, planned = cursor.execute(_NEEDED, [state.round_id] * 3).fetchall()[0]
    if state.kind not in ("labeling", "pilot") or planned:
        return f"{state.round} was opened by another step, which needs it: only `round open` can be undone."
    if answered:
        return f"In {state.round} somebody has answered already, and no answer is lost. Close it instead."
    return ""


def round_state(cursor: Cursor, name: str) -> RoundState:
    """The state of the round of that name.

    Raises
    ------
    NotFoundError: there is none; names those there are.
    """
    found = find_round(cursor, name)
    return next(state for state in all_states(cursor) if state.round_id == found.round_id)


_STATES = """
SELECT r.round_id, r.name, r.kind, r.opened_at, r.guide_hash, r.paused, r.closed, r.closed_at,
       coalesce(n.open, 0), coalesce(n.answered, 0)
FROM round_states r LEFT JOIN (
    SELECT p.round_id, count(*) FILTER (s.answered) AS answered,
           count(*) FILTER (NOT coalesce(s.answered, false)) AS open
    FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
    GROUP BY p.round_id) n USING (round_id)
ORDER BY r.sequence
"""


def all_states(cursor: Cursor) -> list[RoundState]:
    """All rounds, oldest first."""
    hidden: Counter[str] = Counter()
    for (round_id, _), count in unshown(cursor).items():
        hidden[round_id] += count
    states = fetch(cursor, RoundState, _STATES)
    return [state._replace(open_items=state.open_items - hidden[state.round_id]) for state in states]


def open_states(cursor: Cursor) -> list[RoundState]:
    """The rounds under way: not closed, not imported, and with something left to answer; oldest first."""
    return [
        state
        for state in all_states(cursor)
        if state.kind != "imported" and not state.closed and state.open_items
    ]


def append_round_event(
    cursor: Cursor, round_id: str, kind: str, detail: Mapping[str, Any], author: str
) -> None:
    """Append an event of a round as its next revision."""
    cursor.execute(
        """
        INSERT INTO round_events
        SELECT $round, coalesce(max(revision) + 1, 0), $kind, $detail, $author, $now
        FROM round_events WHERE round_id = $round
        """,
        {
            "round": round_id,
            "kind": kind,
            "detail": canonical_json(detail),
            "author": author,
            "now": utc_now(),
        },
    )


def refuse_closed(state: RoundState) -> None:
    """Refuse to move work into or out of a round that is closed or imported.

    Raises
    ------
    RefusedError: the round is closed or imported.
    """
    if state.kind == "imported":
        raise RefusedError(f"{state.round} holds imported judgments: nobody is shown anything of it.")
    if state.closed:
        raise RefusedError(
            f"{state.round} is closed. Reopen it first.",
            command=f"`goldgrade round reopen {_quoted(state.round)}` does.",
        )


def _change(
    store: Store,
    name: str,
    kind: str,
    author: str,
    reason: str,
    also: Callable[[Cursor, RoundState], None] = lambda *_: None,
) -> RoundState:
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        state = round_state(cursor, name)
        problem = _against(state, kind)
        if problem is not None:
            raise problem
        append_round_event(cursor, state.round_id, kind, {"reason": reason} if reason else {}, author)
        record_event(cursor, f"{kind} round", {"name": name, "reason": reason}, author)
        also(cursor, state)
        return round_state(cursor, name)


def _against(state: RoundState, kind: str) -> RefusedError | None:
    name, quoted = state.round, _quoted(state.round)
    if state.kind == "imported":
        return RefusedError(f"{name} holds imported judgments: it is in nobody's queue.")
    if kind == "reopen":
        return None if state.closed else RefusedError(f"{name} is not closed.")
    if state.closed:
        return RefusedError(
            f"{name} is closed.", command=f"`goldgrade round reopen {quoted}` takes that back."
        )
    if kind == "pause" and state.paused:
        command = f"`goldgrade round resume {quoted}` lets it go on."
        return RefusedError(f"{name} is paused already.", command=command)
    if kind == "resume" and not state.paused:
        return RefusedError(f"{name} is not paused.")
    return None


def _quoted(name: str) -> str:
    return f"'{name}'" if " " in name else name
