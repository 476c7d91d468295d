"""Judgment events: the rows that every answer of an annotator is, and the evidence marked with each.

Events are appended, never changed. Two keys of the table guard every write: a presentation has each revision
once, and a client key is used once.

Evidence: the ranges of characters that a person marked belong to the event that gave the grade. So they count
as long as it does, and a changed mark is a new revision. Offsets are into the body of the version shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.similarity.quotes import QUOTED
from curation.core.spans import Spans
from curation.store import Cursor, append_rows

EvidenceMark = tuple[str, int, int, int, str, str]
"""A row of `evidence_marks`: characters that the event of this revision has as evidence."""

EVENT = """JOIN judgment_events e
    ON e.presentation_id = j.presentation_id AND e.revision + 1 = j.next_revision"""
"""The event `e` of a current judgment `j`."""


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


_MARK = ("presentation_id", "revision", *QUOTED)


def append_events(
    cursor: Cursor, events: Sequence[JudgmentEvent], marks: Sequence[EvidenceMark] = ()
) -> None:
    """Append what `judge` has made; the primary key refuses a revision that was written meanwhile."""
    append_rows(cursor, "evidence_marks", marks, _MARK)
    if len(events) == 1:  # four times as fast
        cursor.execute(_INSERT, events[0])
        return
    append_rows(cursor, "judgment_events", events)


_INSERT = f"""
INSERT INTO judgment_events ({", ".join(JudgmentEvent._fields)})
VALUES ({", ".join("?" * len(JudgmentEvent._fields))})
"""  # noqa: S608  names from above


# Those of the last answer: an answer without marks has none, whatever the one before had.
_MARKS = """
SELECT presentation_id, list(start_at ORDER BY start_at), list(end_at ORDER BY start_at)
FROM evidence_marks m
WHERE presentation_id IN (SELECT unnest(?::TEXT[])) AND NOT EXISTS (
    FROM judgment_events e WHERE e.presentation_id = m.presentation_id AND e.revision > m.revision
    AND e.kind IN ('grade', 'cannot_tell'))
GROUP BY presentation_id
"""


def marks_of(cursor: Cursor, presentation_ids: Sequence[str]) -> dict[str, Spans]:
    """Presentation → what its annotator marked last, of those with marks.

    After an undo it is what was taken back, so that a screen can offer it once more.
    """
    rows = cursor.execute(_MARKS, [list(presentation_ids)]).fetchall() if presentation_ids else []
    return {name: tuple(zip(starts, ends, strict=True)) for name, starts, ends in rows}
