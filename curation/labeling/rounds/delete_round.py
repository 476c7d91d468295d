"""The deletion of a round that was opened by mistake, before anyone has answered."""

from __future__ import annotations

from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.text import pluralize
from curation.labeling.rounds.round_states import RoundState, build_state_command, read_round_state
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, record_event

_OF_ROUND = "round_id = ?"
_OF_ITEMS = "presentation_id IN (SELECT presentation_id FROM presentations WHERE round_id = ?)"
_CONDITIONS = {
    "withdrawals": _OF_ITEMS,
    "opinion_requests": _OF_ITEMS,
    "presentations": _OF_ROUND,
    "known_answers": _OF_ROUND,
    "round_events": _OF_ROUND,
    "rounds": _OF_ROUND,
}
"""Table → SQL condition of the rows that are deleted with a round, in the order of deletion."""
_UNDELETABLE = """
SELECT EXISTS (FROM judgment_events JOIN presentations USING (presentation_id) WHERE round_id = ?)
           OR EXISTS (FROM query_answers WHERE round_id = ?),
       EXISTS (FROM relabeling_rounds WHERE round_id = ?)
"""


class DeletedRound(NamedTuple):
    """A deleted round, with the number of its presentations."""

    round: str
    presentations: int

    @property
    def sentences(self) -> list[str]:
        """Return a sentence with the name of the deleted round and the number of its presentations."""
        items = pluralize(self.presentations, "presentation")
        return [f"{self.round} is deleted, with {items}. The round had no answers."]


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
            raise RefusedError(problem, command=f"{build_state_command(name, 'closed')} closes the round.")
        sql = "SELECT count(*) FROM presentations WHERE round_id = ?"
        [(count,)] = cursor.execute(sql, [state.round_id]).fetchall()
        for table, condition in _CONDITIONS.items():
            cursor.execute(f"DELETE FROM {table} WHERE {condition}", [state.round_id])  # noqa: S608  from above
        deleted_round = DeletedRound(state.round, count)
        record_event(cursor, "delete round", {**deleted_round._asdict(), "reason": reason}, author)
    return deleted_round


def explain_undeletable(cursor: Cursor, state: RoundState) -> str:
    """Return the sentence that explains why a round cannot be deleted; '' if it can be deleted."""
    [(has_answers, is_relabeling)] = cursor.execute(_UNDELETABLE, [state.round_id] * 3).fetchall()
    if state.kind not in ("labeling", "pilot") or is_relabeling:
        return f"{state.round} was not opened by `round open`, so the round cannot be deleted."
    if has_answers:
        return f"{state.round} has answers, and goldgrade never deletes answers. Close the round instead."
    return ""
