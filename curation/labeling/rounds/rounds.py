"""The rounds of a project and their states: open, paused or closed.

The members of a round are its initial annotators and annotators who joined, without annotators whose work was
reassigned. Each change is an event of the round, appended with its author; the state of a round is a view of
its events. Annotators' queues show no items of a paused or closed round. A judgment that arrives after the
closing is kept and marked late.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import canonical_json
from curation.core.errors import NotFoundError, RefusedError
from curation.core.text import pluralize
from curation.labeling.rounds.upcoming import count_unshown
from curation.people.annotators import JUDGING_ROLES, require_author
from curation.store import (
    COMMAND_LINE,
    Annotator,
    Cursor,
    Round,
    Store,
    append_revision,
    fetch,
    record_event,
    utc_now,
)

_ROUNDS = "SELECT round_id, name, kind, guide_hash, parameters, opened_at FROM rounds"
_EVENTS = """
SELECT kind, detail FROM round_events
WHERE round_id = ? AND kind IN ('reassign', 'extend') ORDER BY revision
"""
_OF_ROUND = "round_id = ?"
_OF_ITEMS = "presentation_id IN (SELECT presentation_id FROM presentations WHERE round_id = ?)"
_DELETED = {"withdrawals": _OF_ITEMS, "opinion_requests": _OF_ITEMS, "presentations": _OF_ROUND}
_DELETED |= {"known_answers": _OF_ROUND, "round_events": _OF_ROUND, "rounds": _OF_ROUND}
"""Table → SQL condition of the rows that are deleted with a round, in the order of deletion."""
_NEEDED = """
SELECT EXISTS (FROM judgment_events JOIN presentations USING (presentation_id) WHERE round_id = ?)
           OR EXISTS (FROM query_answers WHERE round_id = ?),
       EXISTS (FROM relabeling_rounds WHERE round_id = ?)
"""
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
        """The share of presentations that are answered."""
        return compute_answered_share(self.answered, self.open_items)

    @property
    def state(self) -> str:
        """The state in a word: open, done, paused, closed or imported."""
        if self.kind == "imported":
            return "imported"
        if self.closed:
            return "closed"
        if self.paused:
            return "paused"
        return "open" if self.open_items else "done"

    @property
    def sentences(self) -> list[str]:
        """A sentence with the round's state and the number of open items."""
        state = "open" if self.state == "done" else self.state
        return [f"{self.round} is {state}; {pluralize(self.open_items, 'item is', 'items are')} open."]


class DeletedRound(NamedTuple):
    """A deleted round, and the number of its presentations."""

    round: str
    presentations: int

    @property
    def sentences(self) -> list[str]:
        """A sentence with the name of the deleted round and the number of its presentations."""
        items = pluralize(self.presentations, "presentation")
        return [f"{self.round} is deleted, with {items}. Nobody had answered."]


def list_rounds(cursor: Cursor) -> list[Round]:
    """Read all rounds, oldest first."""
    return fetch(cursor, Round, f"{_ROUNDS} ORDER BY sequence")


def find_round(cursor: Cursor, name: str) -> Round:
    """Find the round with a name.

    Raises
    ------
    NotFoundError: the round does not exist; the sentence names the rounds of the project.
    """
    rounds = fetch(cursor, Round, f"{_ROUNDS} WHERE name = ?", [name])
    if rounds:
        return rounds[0]
    names = ", ".join(item.name for item in list_rounds(cursor)) or "none yet"
    raise NotFoundError(f"There is no round {name!r}. Rounds of this project: {names}.")


def read_parameters(cursor: Cursor, round_id: str) -> dict[str, Any]:
    """Read the parameters with which a round was opened."""
    stored = cursor.execute("SELECT parameters FROM rounds WHERE round_id = ?", [round_id]).fetchall()[0][0]
    return dict(json.loads(stored))


def read_members(cursor: Cursor, round_id: str) -> list[str]:
    """Read the names of a round's members, in the order in which they joined."""
    names = dict.fromkeys(read_parameters(cursor, round_id).get("annotators", []))
    for kind, text in cursor.execute(_EVENTS, [round_id]).fetchall():
        detail = json.loads(text)
        if kind == "reassign":
            names.pop(detail["from"], None)
            names.update(dict.fromkeys(detail["to"]))
        else:
            names.update(dict.fromkeys(detail.get("annotators", [])))
    return list(names)


def read_free_positions(cursor: Cursor, round_id: str) -> dict[str, int]:
    """Read the first free position of each annotator who has presentations in a round."""
    sql = "SELECT annotator, max(position) + 1 FROM presentations WHERE round_id = ? GROUP BY annotator"
    return dict(cursor.execute(sql, [round_id]).fetchall())


def write_round(
    cursor: Cursor, round_id: str, name: str, kind: str, guide_hash: str, parameters: Mapping[str, Any]
) -> None:
    """Write a round as the last in sequence, independent of the clock."""
    cursor.execute(
        "INSERT INTO rounds SELECT ?, ?, ?, ?, ?, ?, coalesce(max(sequence), 0) + 1 FROM rounds",
        [round_id, name, kind, guide_hash, canonical_json(parameters), utc_now()],
    )


def refuse_taken_name(cursor: Cursor, name: str) -> None:
    """Refuse the name of an existing round of the project.

    Raises
    ------
    RefusedError: a round already has the name.
    """
    if cursor.execute("SELECT 1 FROM rounds WHERE name = ?", [name]).fetchone():
        raise RefusedError(
            f"A round {name!r} exists already. Choose a different name, or look at the existing round.",
            command=f"`goldgrade round status {name}` shows the existing round.",
        )


def compute_answered_share(answered: int, open_count: int) -> float:
    """Compute the answered share of items; the share is at most 0.99 while an item is unanswered."""
    share = answered / (answered + open_count)
    return min(share, 0.99) if open_count else share


def set_round_state(
    store: Store,
    name: str,
    state: str,
    author: str = COMMAND_LINE,
    reason: str = "",
    also: Callable[[Cursor, RoundState], None] = lambda *_: None,
) -> RoundState:
    """Pause, close or reopen a round; a closed round that was paused reopens as paused.

    Annotators' queues show no items of a paused or closed round. Judgments that arrive after the closing are
    kept and marked late. Commands and pages close a round by `relabeling.fixed_reports.close_round`.

    Parameters
    ----------
    state: 'paused', 'closed' or 'open'.
    also: function that writes the report of a re-labeling in the transaction that closes its round.

    Raises
    ------
    NotFoundError: the round or the author is unknown.
    RefusedError: the round is already in this state or is imported, or the author is not a lead.
    """
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        old_state = read_round_state(cursor, name)
        event = _choose_event(old_state, state)
        append_event(cursor, old_state.round_id, event, {"reason": reason} if reason else {}, author)
        record_event(cursor, f"{event} round", {"name": name, "reason": reason}, author)
        also(cursor, old_state)
        return read_round_state(cursor, name)


def delete_round(store: Store, name: str, author: str = COMMAND_LINE, reason: str = "") -> DeletedRound:
    """Delete a round that was opened by mistake, with its presentations and control items.

    Queries, pools and guides stay. The audit trail keeps the round's name.

    Raises
    ------
    NotFoundError: the round or the author is unknown.
    RefusedError: the round has answers or was not opened by `round open`, or the author is not a lead.
    """
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        state = read_round_state(cursor, name)
        problem = explain_undeletable(cursor, state)
        if problem:
            raise RefusedError(problem, command=f"{_build_command(name, 'closed')} closes the round.")
        sql = "SELECT count(*) FROM presentations WHERE round_id = ?"
        [(count,)] = cursor.execute(sql, [state.round_id]).fetchall()
        for table, condition in _DELETED.items():
            cursor.execute(f"DELETE FROM {table} WHERE {condition}", [state.round_id])  # noqa: S608  from above
        deleted = DeletedRound(state.round, count)
        record_event(cursor, "delete round", {**deleted._asdict(), "reason": reason}, author)
    return deleted


def explain_undeletable(cursor: Cursor, state: RoundState) -> str:
    """Return the sentence that explains why a round cannot be deleted; '' if deletion is possible."""
    has_answers, is_relabeling = cursor.execute(_NEEDED, [state.round_id] * 3).fetchall()[0]
    if state.kind not in ("labeling", "pilot") or is_relabeling:
        return f"{state.round} was not opened by `round open`, so the round cannot be deleted."
    if has_answers:
        return f"{state.round} has answers, and goldgrade never deletes answers. Close it instead."
    return ""


def read_round_state(cursor: Cursor, name: str) -> RoundState:
    """Read the state of the round with a name.

    Raises
    ------
    NotFoundError: the round does not exist; the sentence names the rounds of the project.
    """
    round_id = find_round(cursor, name).round_id
    return next(state for state in read_round_states(cursor) if state.round_id == round_id)


def read_round_states(cursor: Cursor) -> list[RoundState]:
    """Read the states of all rounds, oldest first."""
    unshown_counts = Counter[str]()
    for (round_id, _), count in count_unshown(cursor).items():
        unshown_counts[round_id] += count
    states = fetch(cursor, RoundState, _STATES)
    return [state._replace(open_items=state.open_items - unshown_counts[state.round_id]) for state in states]


def read_open_states(cursor: Cursor) -> list[RoundState]:
    """Read the states of active rounds (not closed, not imported, with open items), oldest first."""
    active_states = [state for state in read_round_states(cursor) if not state.closed and state.open_items]
    return [state for state in active_states if state.kind != "imported"]


def append_event(cursor: Cursor, round_id: str, kind: str, detail: Mapping[str, Any], author: str) -> None:
    """Append an event of a round as its next revision."""
    columns = {"kind": kind, "detail": canonical_json(detail), "author": author, "happened_at": utc_now()}
    append_revision(cursor, "round_events", "round_id", round_id, **columns)


def refuse_closed(state: RoundState) -> None:
    """Refuse to move work into or out of a round that is closed or imported.

    Raises
    ------
    RefusedError: the round is closed or imported.
    """
    if state.kind == "imported":
        raise RefusedError(f"{state.round} holds imported judgments, and has no items for annotators.")
    if state.closed:
        command = f"{_build_command(state.round, 'open')} does."
        raise RefusedError(f"{state.round} is closed. Reopen it first.", command=command)


def refuse_unable_annotators(annotators: Sequence[Annotator]) -> None:
    """Refuse to assign items to people who cannot sign in, or who may not judge documents.

    Raises
    ------
    RefusedError: a person is known only from imported judgments, is deactivated, or has the role evaluator.
    """
    evaluators = [annotator.name for annotator in annotators if annotator.role not in JUDGING_ROLES]
    if evaluators:
        raise RefusedError(
            f"{', '.join(evaluators)} may only evaluate systems (role evaluator): people who judge "
            "documents would know the grades behind the evaluation. Leave evaluators out of the round."
        )
    inactive = [annotator.name for annotator in annotators if not annotator.active]
    if inactive:
        raise RefusedError(
            f"{', '.join(inactive)} cannot sign in: deactivated. Leave them out of the round, or activate "
            "them first.",
            command="`goldgrade people set NAME --activate` activates an annotator.",
        )
    imported = [annotator.name for annotator in annotators if annotator.imported]
    if imported:
        raise RefusedError(
            f"{', '.join(imported)} cannot sign in: the project knows them from imported judgments only. "
            "Give them a password, or leave them out of the round.",
            command="`goldgrade people add NAME` gives a password.",
        )


def _choose_event(old_state: RoundState, state: str) -> str:
    """Return the event that brings a round into a state: pause, resume, close or reopen."""
    name = old_state.round
    if old_state.kind == "imported":
        raise RefusedError(f"{name} holds imported judgments, so the round cannot be paused or closed.")
    if state == "open" and (old_state.closed or old_state.paused):
        return "reopen" if old_state.closed else "resume"
    if state == "open":
        raise RefusedError(f"{name} is neither paused nor closed.")
    if old_state.closed:
        raise RefusedError(f"{name} is closed.", command=f"{_build_command(name, 'open')} reopens the round.")
    if state == "paused" and old_state.paused:
        raise RefusedError(f"{name} is paused.", command=f"{_build_command(name, 'open')} resumes the round.")
    return "pause" if state == "paused" else "close"


def _build_command(name: str, state: str) -> str:
    quoted = f"'{name}'" if " " in name else name
    return f"`goldgrade round set {quoted} {state}`"
