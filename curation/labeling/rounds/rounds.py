"""Rounds: campaigns of labeling, found by name, with their parameters and their members.

The members of a round are those it opened with and who joined, less those whose work was reassigned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from curation.core.errors import NotFoundError, RefusedError
from curation.core.text import canonical_json
from curation.labeling.rounds.upcoming import AS_LISTS, ASKED_FROM
from curation.store import Cursor, Round, fetch, utc_now

_ROUNDS = "SELECT round_id, name, kind, guide_hash, parameters, opened_at FROM rounds"


def list_rounds(cursor: Cursor) -> list[Round]:
    """All rounds, oldest first."""
    return fetch(cursor, Round, f"{_ROUNDS} ORDER BY sequence")


def find_round(cursor: Cursor, name: str) -> Round:
    """The round of that name.

    Raises
    ------
    NotFoundError: there is none; names those there are.
    """
    rounds = fetch(cursor, Round, f"{_ROUNDS} WHERE name = ?", [name])
    if rounds:
        return rounds[0]
    names = ", ".join(item.name for item in list_rounds(cursor)) or "none yet"
    raise NotFoundError(f"There is no round {name!r}. Rounds of this project: {names}.")


def round_parameters(cursor: Cursor, round_id: str) -> dict[str, Any]:
    """The parameters with which a round was opened."""
    stored = cursor.execute("SELECT parameters FROM rounds WHERE round_id = ?", [round_id]).fetchall()[0][0]
    return dict(json.loads(stored))


def shown_as(cursor: Cursor, name: str) -> tuple[int, bool]:
    """From how many items of a query on a round asks about it (0: never), and whether it shows lists.

    Raises
    ------
    NotFoundError: there is no such round.
    """
    sql = f"SELECT {ASKED_FROM}, {AS_LISTS} FROM rounds WHERE round_id = ?"  # noqa: S608  constants
    [(ask_from, lists)] = cursor.execute(sql, [find_round(cursor, name).round_id]).fetchall()
    return ask_from, lists


_EVENTS = """
SELECT kind, detail FROM round_events
WHERE round_id = ? AND kind IN ('reassign', 'extend') ORDER BY revision
"""


def members(cursor: Cursor, round_id: str) -> list[str]:
    """The names of a round's members, in the order in which they joined."""
    names = dict.fromkeys(round_parameters(cursor, round_id).get("annotators", []))
    for kind, text in cursor.execute(_EVENTS, [round_id]).fetchall():
        detail = json.loads(text)
        if kind == "reassign":
            names.pop(detail["from"], None)
            names.update(dict.fromkeys(detail["to"]))
        else:
            names.update(dict.fromkeys(detail.get("annotators", [])))
    return list(names)


def write_round(
    cursor: Cursor, round_id: str, name: str, kind: str, guide_hash: str, parameters: Mapping[str, Any]
) -> None:
    """Write a round, the last in sequence whatever the clock says."""
    cursor.execute(
        "INSERT INTO rounds SELECT ?, ?, ?, ?, ?, ?, coalesce(max(sequence), 0) + 1 FROM rounds",
        [round_id, name, kind, guide_hash, canonical_json(parameters), utc_now()],
    )


def refuse_taken(cursor: Cursor, name: str) -> None:
    """Refuse a name that another round has.

    Raises
    ------
    RefusedError: there is a round of that name.
    """
    if cursor.execute("SELECT 1 FROM rounds WHERE name = ?", [name]).fetchone():
        raise RefusedError(
            f"A round {name!r} exists already. Choose another name, or look at it.",
            command=f"`goldgrade round status {name}` shows it.",
        )
