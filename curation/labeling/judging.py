"""Judgment events: annotators' submissions are checked and appended, each as a new revision.

Each event of a presentation has a revision, which can be written only once. A client sends the revision that
was on screen. So if two tabs, or a held key, submit at the same time, only one event is written, and the
second tab gets the new state. The client makes a key for each action, which distinguishes a retry from a new
action. Events are appended and never changed; two unique keys of the table guard every write.

A judgment that arrives after its round was closed is kept and marked late. A judgment on a reassigned
presentation is refused, because other annotators now judge its pair.

Evidence is the ranges of characters that a person marked. The ranges belong to the event with the grade, so
they count as long as the event counts, and a changed mark is a new revision. Offsets refer to the body of the
document version on screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from curation.core.evidence_spans import QUOTE_COLUMNS, describe_outside_spans, quote_spans
from curation.core.spans import Spans
from curation.core.text import MAX_NOTE_LENGTH
from curation.guides.guide import Guide
from curation.store import Cursor, append_rows, utc_now

KINDS = ("grade", "cannot_tell", "later", "undo")
ANSWER_KINDS = ("grade", "cannot_tell")
MAX_ACTIVE_MS = 24 * 3_600_000
UsedKey = tuple[str, str, int]
"""The author, presentation and revision of the event with a client key."""
KEPT_LATE = "the round was closed before this answer arrived, so the answer is kept and marked as late"
EvidenceMark = tuple[str, int, int, int, str, str]
"""A row of `evidence_marks`: a range of characters that belongs to the event of this revision."""
LAST_EVENT_JOIN = """JOIN judgment_events e
    ON e.presentation_id = j.presentation_id AND e.revision + 1 = j.next_revision"""
"""The event `e` of a current judgment `j`."""
_MARK_COLUMNS = ("presentation_id", "revision", *QUOTE_COLUMNS)
# The marks of the last answer; marks of earlier answers do not count, even if the last answer has no marks.
_MARKS = """
SELECT presentation_id, list(start_at ORDER BY start_at), list(end_at ORDER BY start_at)
FROM evidence_marks m
WHERE presentation_id IN (SELECT unnest(?::TEXT[])) AND NOT EXISTS (
    FROM judgment_events e WHERE e.presentation_id = m.presentation_id AND e.revision > m.revision
    AND e.kind IN ('grade', 'cannot_tell'))
GROUP BY presentation_id
"""


@dataclass(frozen=True)
class Submission:
    """An annotator's action on a presentation, such as a grade or an undo, as submitted.

    Attributes
    ----------
    revision: number of events on the presentation when the annotator saw it.
    client_key: key that the client makes for each action and repeats with each retry.
    active_ms: milliseconds for which the item was on screen and the page in front. More than a day is stored
        as a day, and a negative time as unknown.
    guide_hash: hash of the guide that the annotator read; None for the current guide.
    evidence: characters of the document's body that show the grade; overlapping ranges are joined.
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
    guide_hash: str | None = None
    evidence: Spans = ()


class Outcome(NamedTuple):
    """The outcome of a submission: saved, repeated, outdated, or refused with a reason.

    status: 'saved' (`message` says if the judgment is late); 'repeated' (the same action was saved before);
        'stale' (the presentation has changed since it was shown: look again at `revision`); 'refused'
        (`message` gives the reason).
    """

    client_key: str
    status: str
    message: str = ""
    revision: int = 0
    presentation_id: str | None = None


class PresentationState(NamedTuple):
    """The state of a presentation before a submission.

    Attributes
    ----------
    guide_hash: the current guide of the presentation's round.
    closed: the round is closed.
    withdrawn: the presentation was reassigned before its annotator answered.
    practice: the expected grade is shown after the answer, so that only the first answer counts.
    guide_hashes: the hashes of all guides that the round has had.
    """

    annotator: str
    guide_hash: str
    next_revision: int
    answered: bool
    closed: bool = False
    withdrawn: bool = False
    practice: bool = False
    guide_hashes: Sequence[str] = ()

    def choose_guide_hash(self, guide_hash: str | None) -> str:
        """Return an answer's guide hash: the guide that the annotator read if the round has used it,
        otherwise the current guide."""
        return guide_hash if guide_hash is not None and guide_hash in self.guide_hashes else self.guide_hash


class JudgingContext(NamedTuple):
    """Data for checking submissions: states by presentation, client keys in use, guides by hash.

    bodies: presentation → document body on screen, for presentations with evidence.
    """

    states: dict[str, PresentationState]
    used_keys: dict[str, UsedKey]
    guides: dict[str, Guide]
    bodies: Mapping[str, str] = MappingProxyType({})


class JudgmentEvent(NamedTuple):
    """A judgment event: a row of the table `judgment_events`."""

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


_INSERT = f"""
INSERT INTO judgment_events ({", ".join(JudgmentEvent._fields)})
VALUES ({", ".join("?" * len(JudgmentEvent._fields))})
"""  # noqa: S608  names from above


def judge_submissions(
    annotator: str, submissions: Sequence[Submission], context: JudgingContext
) -> tuple[list[Outcome], list[JudgmentEvent], list[EvidenceMark]]:
    """Check submissions: return each outcome, and the events and marks to append.

    Every judgment from the app or from files goes through this function. `context` is updated as if the
    events were appended.
    """
    outcomes: list[Outcome] = []
    events: list[JudgmentEvent] = []
    marks: list[EvidenceMark] = []
    written_at = utc_now()
    for submission in submissions:
        outcome = _judge_submission(submission, annotator, context)
        outcomes.append(outcome)
        if outcome.status == "saved":
            state = context.states[submission.presentation_id]
            event = _make_event(submission, annotator, state, written_at)
            events.append(event)
            quotes = quote_spans(context.bodies.get(submission.presentation_id, ""), submission.evidence)
            marks += [(submission.presentation_id, event.revision, *mark) for mark in quotes]
            written_at += timedelta(microseconds=1)  # times order the actions, also within a batch
            context.used_keys[submission.client_key] = (annotator, submission.presentation_id, event.revision)
            context.states[submission.presentation_id] = state._replace(
                next_revision=outcome.revision, answered=submission.kind in ANSWER_KINDS
            )
    return outcomes, events, marks


def append_events(cursor: Cursor, events: Sequence[JudgmentEvent], marks: Sequence[EvidenceMark]) -> None:
    """Append events and their marks; the primary key rejects a revision that is already written."""
    append_rows(cursor, "evidence_marks", marks, _MARK_COLUMNS)
    if len(events) == 1:  # four times as fast
        cursor.execute(_INSERT, events[0])
        return
    append_rows(cursor, "judgment_events", events)


def read_evidence_marks(cursor: Cursor, presentation_ids: Sequence[str]) -> dict[str, Spans]:
    """Read the characters that annotators marked last, by presentation.

    After an undo, the result holds the undone marks, so that a screen can offer them again.
    """
    rows = cursor.execute(_MARKS, [list(presentation_ids)]).fetchall() if presentation_ids else []
    return {presentation_id: tuple(zip(starts, ends, strict=True)) for presentation_id, starts, ends in rows}


def _judge_submission(submission: Submission, annotator: str, context: JudgingContext) -> Outcome:
    state = context.states.get(submission.presentation_id)
    if state is None or state.annotator != annotator:
        return _reply(submission, "refused", 0, "this item is not assigned to you")
    used_key = context.used_keys.get(submission.client_key)
    if used_key is not None:
        if used_key[:2] == (annotator, submission.presentation_id):
            return _reply(submission, "repeated", used_key[2] + 1)
        return _reply(
            submission,
            "refused",
            state.next_revision,
            "this action's key was already used for another action; load the page again",
        )
    if submission.revision != state.next_revision:
        return _reply(submission, "stale", state.next_revision, "answered in a different tab or window")
    problem = _find_problem(submission, state, context)
    if problem:
        return _reply(submission, "refused", state.next_revision, problem)
    return _reply(submission, "saved", state.next_revision + 1, KEPT_LATE if state.closed else "")


def _reply(submission: Submission, status: str, revision: int, message: str = "") -> Outcome:
    return Outcome(submission.client_key, status, message, revision, submission.presentation_id)


def _find_problem(submission: Submission, state: PresentationState, context: JudgingContext) -> str:
    if submission.kind not in KINDS:
        return f"unknown kind {submission.kind!r}; expected one of {', '.join(KINDS)}"
    if not 8 <= len(submission.client_key) <= 128:
        return "a client key has 8 to 128 characters"
    if submission.kind != "grade" and submission.grade is not None:
        return f"an answer of kind {submission.kind} has no grade"
    if submission.kind == "undo" and not state.answered:
        return "this item has no answer to undo"
    round_problem = _find_round_problem(submission, state)
    if round_problem:
        return round_problem
    if len(submission.note or "") > MAX_NOTE_LENGTH or len(submission.reason or "") > MAX_NOTE_LENGTH:
        return f"a note may have at most {MAX_NOTE_LENGTH:,} characters"
    guide_read = context.guides[state.choose_guide_hash(submission.guide_hash)]
    scale_problem = ""
    if submission.kind == "grade":
        scale_problem = _find_scale_problem(submission, guide_read, context.guides[state.guide_hash])
    body = context.bodies.get(submission.presentation_id, "")
    mark_problem = guide_read.describe_evidence_problem(submission.grade, bool(submission.evidence))
    return scale_problem or mark_problem or describe_outside_spans(body, submission.evidence)


def _find_scale_problem(submission: Submission, guide_read: Guide, current_guide: Guide) -> str:
    if guide_read.values != current_guide.values:
        return "the grades of the guide have changed since this item was shown: look at the item again"
    return current_guide.describe_off_scale(submission.grade)


def _find_round_problem(submission: Submission, state: PresentationState) -> str:
    if state.withdrawn:
        return (
            "this item is no longer yours, or it no longer matches the query's filter; continue with the "
            "next item"
        )
    if state.practice and state.answered:
        return "practice answers cannot be changed: the expected grade was shown"
    if state.closed and submission.kind not in ANSWER_KINDS:
        return "the round is closed: you can change answers, but not undo them or skip items"
    return ""


def _clip_active_time(active_ms: int | None) -> int | None:
    """Clip an implausible time on screen, so that a wrong browser clock never causes a grade to be
    rejected."""
    return None if active_ms is None or active_ms < 0 else min(active_ms, MAX_ACTIVE_MS)


def _make_event(item: Submission, author: str, state: PresentationState, now: datetime) -> JudgmentEvent:
    return JudgmentEvent(
        presentation_id=item.presentation_id,
        revision=state.next_revision,
        kind=item.kind,
        grade=item.grade,
        reason=item.reason or None,
        note=item.note or None,
        flagged=item.flagged,
        guide_hash=state.choose_guide_hash(item.guide_hash),
        author=author,
        client_key=item.client_key,
        shown_at=item.shown_at,
        submitted_at=item.submitted_at or now,
        active_ms=_clip_active_time(item.active_ms),
        late=state.closed,
    )
