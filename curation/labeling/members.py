"""Who works in a round: those it opened with, less whose work was taken over, and those who joined."""

from __future__ import annotations

import json

from curation.store import Cursor


def members(cursor: Cursor, round_id: str) -> list[str]:
    """Their names, in the order in which they came."""
    stored = cursor.execute("SELECT parameters FROM rounds WHERE round_id = ?", [round_id]).fetchall()[0][0]
    names = dict.fromkeys(json.loads(stored).get("annotators", []))
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
