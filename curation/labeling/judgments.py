"""Judgments: what an annotator does with a presentation, appended and never changed.

Each event of a presentation has a revision, and a revision can be written once. A client names the
revision that it saw, so of two tabs, a held key or a race only one is written, and the other learns the
state it missed. A client key, made once per action, tells a retry from a new action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa

from curation.errors import InputError
from curation.labeling.guides import Guide, guide_by_hash
from curation.store import Cursor, Store, append, utc_now

KINDS = ("grade", "cannot_tell", "later", "undo")
LONGEST_NOTE = 4_000
ANSWERED = ("grade", "cannot_tell")


@dataclass(frozen=True)
class Submission:
    """One action on one presentation.

    Attributes
    ----------
    revision: how many events the presentation had when the annotator saw it.
    client_key: made by the client once per action; sent again with a retry.
    active_ms: milliseconds for which the item was on screen and the page in front.
    """

    presentation_id: str
    revision: int
    kind: str
    client_key: str
    grade: int | None = None
    reason: str | None = None
    note: str | None = None
    flagged: bool = False
    shown_at: datetime | None = None
    active_ms: int | None = None
    submitted_at: datetime | None = None


class Outcome(NamedTuple):
    """What became of a submission.

    status: 'saved'; 'repeated' (this very action was saved before); 'stale' (somebody else acted on the
    presentation since it was shown: look again at `revision`); 'refused' (`message` says why).
    """

    presentation_id: str
    client_key: str
    status: str
    revision: int
    message: str = ""


class _State(NamedTuple):
    """What the database knows of a presentation before a submission."""

    annotator: str
    guide_hash: str
    revision: int
    answered: bool


def submit(store: Store, annotator: str, submissions: Sequence[Submission]) -> list[Outcome]:
    """Record what an annotator did; each submission is answered on its own, in order.

    One transaction: when this returns, everything 'saved' is in the database.
    """
    with store.transaction() as cursor:
        return record(cursor, annotator, submissions)


def record(cursor: Cursor, annotator: str, submissions: Sequence[Submission]) -> list[Outcome]:
    """Record one annotator's submissions within a transaction: the one way in for every judgment."""
    known = _known_keys(cursor, [item.client_key for item in submissions])
    states = _states(cursor, [item.presentation_id for item in submissions])
    guides = {state.guide_hash: guide_by_hash(cursor, state.guide_hash) for state in set(states.values())}
    outcomes, accepted = [], []
    for item in submissions:
        state = states.get(item.presentation_id)
        outcome = _judge(item, annotator, state, guides, known)
        outcomes.append(outcome)
        if outcome.status == "saved" and state is not None:
            accepted.append((item, state))
            known[item.client_key] = (annotator, state.revision)
            states[item.presentation_id] = state._replace(
                revision=state.revision + 1, answered=item.kind in ANSWERED
            )
    _append(cursor, annotator, accepted)
    return outcomes


def _judge(
    item: Submission,
    annotator: str,
    state: _State | None,
    guides: dict[str, Guide],
    known: dict[str, tuple[str, int]],
) -> Outcome:
    if state is None or state.annotator != annotator:
        return _refused(item, 0, "this item is not among your items")
    if item.client_key in known:
        author, revision = known[item.client_key]
        if author != annotator:
            return _refused(item, state.revision, "this action's key is already in use")
        return Outcome(item.presentation_id, item.client_key, "repeated", revision + 1)
    if item.revision != state.revision:
        return Outcome(
            item.presentation_id,
            item.client_key,
            "stale",
            state.revision,
            "answered elsewhere in the meantime",
        )
    problem = _problem(item, state, guides[state.guide_hash])
    if problem:
        return _refused(item, state.revision, problem)
    return Outcome(item.presentation_id, item.client_key, "saved", state.revision + 1)


def _refused(item: Submission, revision: int, message: str) -> Outcome:
    return Outcome(item.presentation_id, item.client_key, "refused", revision, message)


def _problem(item: Submission, state: _State, guide: Guide) -> str:
    if item.kind not in KINDS:
        return f"unknown kind {item.kind!r}; expected one of {', '.join(KINDS)}"
    if not 8 <= len(item.client_key) <= 128:
        return "a client key has 8 to 128 characters"
    if item.kind == "grade" and item.grade not in guide.values:
        return f"grade {item.grade} is not on the guide's scale ({', '.join(map(str, guide.values))})"
    if item.kind != "grade" and item.grade is not None:
        return f"{item.kind} takes no grade"
    if item.kind == "undo" and not state.answered:
        return "there is nothing to undo"
    if len(item.note or "") > LONGEST_NOTE or len(item.reason or "") > LONGEST_NOTE:
        return f"a note has at most {LONGEST_NOTE:,} characters"
    return ""


def _known_keys(cursor: Cursor, keys: Sequence[str]) -> dict[str, tuple[str, int]]:
    rows = cursor.execute(
        """
        SELECT client_key, author, revision FROM judgment_events
        WHERE client_key IN (SELECT unnest(?::TEXT[]))
        """,
        [list(keys)],
    ).fetchall()
    return {key: (author, revision) for key, author, revision in rows}


def _states(cursor: Cursor, presentation_ids: Sequence[str]) -> dict[str, _State]:
    rows = cursor.execute(
        """
        SELECT p.presentation_id, p.annotator, r.guide_hash,
               coalesce(s.next_revision, 0), coalesce(s.answered, false)
        FROM presentations p
        JOIN rounds r USING (round_id)
        LEFT JOIN presentation_states s USING (presentation_id)
        WHERE p.presentation_id IN (SELECT unnest(?::TEXT[]))
        """,
        [list(presentation_ids)],
    ).fetchall()
    return {row[0]: _State(*row[1:]) for row in rows}


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
    }
)


def _append(cursor: Cursor, author: str, accepted: Sequence[tuple[Submission, _State]]) -> None:
    now = utc_now()
    rows: list[tuple[Any, ...]] = [
        (
            item.presentation_id,
            state.revision,
            item.kind,
            item.grade,
            item.reason or None,
            item.note or None,
            item.flagged,
            state.guide_hash,
            author,
            item.client_key,
            item.shown_at,
            item.submitted_at or now,
            item.active_ms,
        )
        for item, state in accepted
    ]
    if rows:
        columns = dict(zip(_EVENT_TYPES.names, map(list, zip(*rows, strict=True)), strict=True))
        append(cursor, "judgment_events", columns, _EVENT_TYPES)


def refuse_outside_scale(grades: Sequence[tuple[int, int | None]], guide: Guide) -> None:
    """Refuse (line, grade) pairs whose grade is not on the scale, all at once.

    Raises
    ------
    InputError: names every line, its grade and the scale.
    """
    scale = ", ".join(map(str, guide.values))
    problems = [
        f"line {line}: grade {grade} is not on the guide's scale ({scale})"
        for line, grade in grades
        if grade is not None and grade not in guide.values
    ]
    if problems:
        raise InputError(
            problems, way_out="Map other scales with --grade-map, for example 100=3,10=2,1=1,0=0."
        )
