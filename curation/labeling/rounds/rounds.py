"""The stored rounds of a project, each with its parameters, its members and its events.

The members of a round are its initial annotators and annotators who joined, without annotators whose work was
reassigned. Each change of a round is an event, appended with its author.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from curation.core.digests import canonical_json
from curation.core.errors import NotFoundError, RefusedError
from curation.people.annotators import JUDGING_ROLES
from curation.store import Annotator, Cursor, Round, append_revision, fetch, utc_now

_ROUNDS = "SELECT round_id, name, kind, guide_hash, parameters, opened_at FROM rounds"
_EVENTS = """
SELECT kind, detail FROM round_events
WHERE round_id = ? AND kind IN ('reassign', 'extend') ORDER BY revision
"""


def list_rounds(cursor: Cursor) -> list[Round]:
    """Read all rounds, oldest first."""
    return fetch(cursor, Round, f"{_ROUNDS} ORDER BY sequence")


def find_round(cursor: Cursor, name: str) -> Round:
    """Find the round with this name.

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
    """Read the first free position for each annotator with presentations in a round."""
    sql = "SELECT annotator, max(position) + 1 FROM presentations WHERE round_id = ? GROUP BY annotator"
    return dict(cursor.execute(sql, [round_id]).fetchall())


def write_round(
    cursor: Cursor, round_id: str, name: str, kind: str, guide_hash: str, parameters: Mapping[str, Any]
) -> None:
    """Store a round as the project's newest round, even if the clock was set back."""
    sql = "INSERT INTO rounds SELECT ?, ?, ?, ?, ?, ?, coalesce(max(sequence), 0) + 1 FROM rounds"
    cursor.execute(sql, [round_id, name, kind, guide_hash, canonical_json(parameters), utc_now()])


def refuse_taken_name(cursor: Cursor, name: str) -> None:
    """Reject a name that one of the project's rounds already has.

    Raises
    ------
    RefusedError: a round already has the name.
    """
    if cursor.execute("SELECT 1 FROM rounds WHERE name = ?", [name]).fetchone():
        raise RefusedError(
            f"A round {name!r} already exists. Choose a different name, or look at the existing round.",
            command=f"`goldgrade round status {name}` shows the existing round.",
        )


def append_event(cursor: Cursor, round_id: str, kind: str, detail: Mapping[str, Any], author: str) -> None:
    """Append an event to a round as the round's next revision."""
    columns = {"kind": kind, "detail": canonical_json(detail), "author": author, "happened_at": utc_now()}
    append_revision(cursor, "round_events", "round_id", round_id, **columns)


def refuse_unable_annotators(annotators: Sequence[Annotator]) -> None:
    """Reject an assignment of items to people who cannot sign in, or who may not judge documents.

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
            f"{', '.join(inactive)} cannot sign in, because a lead deactivated the account. Leave "
            "deactivated people out of the round, or activate them first.",
            command="`goldgrade people set NAME --activate` activates an annotator.",
        )
    imported = [annotator.name for annotator in annotators if annotator.imported]
    if imported:
        raise RefusedError(
            f"{', '.join(imported)} cannot sign in: the project knows them from imported judgments only. "
            "Give these people a password, or leave them out of the round.",
            command="`goldgrade people add NAME` gives a person a password.",
        )
