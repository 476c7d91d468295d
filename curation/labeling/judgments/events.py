"""Judgment events as they are stored: appended, never changed.

Two keys of the table guard every write: a presentation has each revision once, and a client key is used once.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from curation.store import Cursor, append_rows


class JudgmentEvent(NamedTuple):
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
    time_known: bool = True


def append_events(cursor: Cursor, events: Sequence[JudgmentEvent]) -> None:
    """Append events that `judge` has made; the primary key refuses a revision that was written meanwhile."""
    if len(events) == 1:  # four times as fast
        cursor.execute(_INSERT, events[0])
        return
    append_rows(cursor, "judgment_events", events, _EVENT_TYPES)


EVENT = """JOIN judgment_events e
    ON e.presentation_id = j.presentation_id AND e.revision + 1 = j.next_revision"""
"""The event `e` of a current judgment `j`."""

_INSERT = f"""
INSERT INTO judgment_events ({", ".join(JudgmentEvent._fields)})
VALUES ({", ".join("?" * len(JudgmentEvent._fields))})
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
        "time_known": pa.bool_(),
    }
)
