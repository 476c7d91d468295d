"""The states of a project's rounds: open, done, paused, closed or imported.

Each change of a state is an event of the round, appended with its author; the state of a round is a view of
its events. Annotators' queues show no items of a paused or closed round. A judgment that arrives after the
closing is kept and marked late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.text import pluralize
from curation.labeling.rounds.rounds import append_event, find_round
from curation.labeling.rounds.upcoming import count_unshown
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, fetch, record_event

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
        """Return the share of presentations that have been answered."""
        return compute_answered_share(self.answered, self.open_items)

    @property
    def state(self) -> str:
        """Return the state of the round: open, done, paused, closed or imported."""
        if self.kind == "imported":
            return "imported"
        if self.closed:
            return "closed"
        if self.paused:
            return "paused"
        return "open" if self.open_items else "done"

    @property
    def sentences(self) -> list[str]:
        """Return a sentence with the round's state and the number of open items."""
        state = "open" if self.state == "done" else self.state
        return [f"{self.round} is {state}; {pluralize(self.open_items, 'item is', 'items are')} open."]


def compute_answered_share(answered: int, open_count: int) -> float:
    """Compute the answered share of items; at most 0.99 while any item is unanswered."""
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


def read_round_state(cursor: Cursor, name: str) -> RoundState:
    """Read the state of the round with this name.

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


def refuse_closed(state: RoundState) -> None:
    """Reject a move of work into or out of a closed or imported round.

    Raises
    ------
    RefusedError: the round is closed or imported.
    """
    if state.kind == "imported":
        raise RefusedError(f"{state.round} holds imported judgments, and has no items for annotators.")
    if state.closed:
        command = f"{build_state_command(state.round, 'open')} does."
        raise RefusedError(f"{state.round} is closed. First reopen the round.", command=command)


def _choose_event(old_state: RoundState, state: str) -> str:
    """Return the event that puts a round into a state: pause, resume, close or reopen."""
    name = old_state.round
    if old_state.kind == "imported":
        raise RefusedError(f"{name} holds imported judgments, so the round cannot be paused or closed.")
    if state == "open" and (old_state.closed or old_state.paused):
        return "reopen" if old_state.closed else "resume"
    if state == "open":
        raise RefusedError(f"{name} is neither paused nor closed.")
    command = build_state_command(name, "open")
    if old_state.closed:
        raise RefusedError(f"{name} is closed.", command=f"{command} reopens the round.")
    if state == "paused" and old_state.paused:
        raise RefusedError(f"{name} is paused.", command=f"{command} resumes the round.")
    return "pause" if state == "paused" else "close"


def build_state_command(name: str, state: str) -> str:
    """Build the command that puts a round into a state, in backticks."""
    quoted_name = f"'{name}'" if " " in name else name
    return f"`goldgrade round set {quoted_name} {state}`"
