"""The members of a round: those it opened with and who joined, less those whose work was reassigned."""

from __future__ import annotations

import json

from curation.labeling.rounds.rounds import round_parameters
from curation.store import Cursor


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


_EVENTS = """
SELECT kind, detail FROM round_events
WHERE round_id = ? AND kind IN ('reassign', 'extend') ORDER BY revision
"""
