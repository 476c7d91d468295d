"""Practice rounds, in which annotators must reach a pass mark on pairs with known grades.

A practice round holds pairs with an expected grade and its explanation, from the reviewer's decisions or from
a file. Each annotator gets some whole queries. An annotator who reaches the pass mark continues with the real
queue. An annotator who fails waits until the lead grants a further attempt or a waiver. Only the first answer
to an item counts, because the screen then shows the expected grade.

Attempts and waivers are events of the round (kind 'extend', `practice` in its detail). An attempt begins at a
position in the annotator's order; items at earlier positions no longer count.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.reports.tables import ShareCell, Table
from curation.core.text import pluralize
from curation.labeling.rounds.assignment import make_presentations, order_items
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.control_items import MAX_PER_QUERY
from curation.labeling.rounds.round_states import read_round_state
from curation.labeling.rounds.rounds import append_event, read_parameters
from curation.people.annotators import require_annotators, require_author
from curation.people.seal_access import read_closed_access
from curation.store import COMMAND_LINE, Cursor, Presentation, Store, append_rows, record_event
from curation.store.documents import current_snapshot

_FEEDBACK = """
SELECT p.presentation_id, p.query_id, k.grade, s.grade, k.explanation, r.parameters
FROM presentations p
JOIN rounds r USING (round_id)
JOIN known_answers k USING (round_id, query_id, document_id)
JOIN presentation_states s USING (presentation_id)
WHERE r.kind = 'practice' AND s.answered AND p.annotator = ?
  AND p.presentation_id IN (SELECT unnest(?::TEXT[]))
"""
_STATUSES = """
WITH decisions AS (
    SELECT round_id, detail->>'annotator' AS annotator,
           max((detail->>'from')::INTEGER) FILTER (detail->>'practice' = 'again') AS begins,
           arg_max(detail->>'practice', revision) = 'pass' AS waived
    FROM round_events WHERE kind = 'extend' AND detail->>'practice' IS NOT NULL GROUP BY ALL)
SELECT p.round_id, r.name, p.annotator, r.paused, coalesce(any_value(d.waived), false),
       count(*) FILTER (s.answered), count(*),
       count(*) FILTER (s.answered AND abs(s.grade - k.grade) <= (r.parameters->>'within')::INTEGER),
       (r.parameters->>'pass_mark')::DOUBLE
FROM live_presentations p
JOIN round_states r USING (round_id)
JOIN known_answers k USING (round_id, query_id, document_id)
LEFT JOIN presentation_states s USING (presentation_id)
LEFT JOIN decisions d USING (round_id, annotator)
WHERE r.kind = 'practice' AND NOT r.closed AND p.position >= coalesce(d.begins, 0)
  AND (?::TEXT IS NULL OR p.annotator = ?) AND (?::TEXT IS NULL OR p.round_id = ?)
GROUP BY p.round_id, r.name, r.sequence, r.paused, r.parameters, p.annotator
ORDER BY r.sequence, p.annotator
"""
_EARLIER_ITEMS = "SELECT query_id, position FROM presentations WHERE round_id = ? AND annotator = ?"
_AVAILABLE_PAIRS = """
SELECT k.query_id, k.document_id, s.content_hash
FROM known_answers k JOIN snapshot_documents s ON s.document_id = k.document_id AND s.snapshot_id = ?
WHERE k.round_id = ? AND NOT EXISTS (
    FROM live_presentations p
    WHERE p.annotator = ? AND p.round_id <> k.round_id
      AND p.query_id = k.query_id AND p.document_id = k.document_id)
ORDER BY k.query_id, k.document_id
"""


class PracticeState(NamedTuple):
    """The result of an annotator's practice so far.

    Attributes
    ----------
    right: the number of answers with the expected grade.
    pass_mark: the share of right answers that the annotator needs.
    passed: whether the annotator passed; None while items are unanswered.
    """

    answered: int
    total: int
    right: int
    pass_mark: float
    passed: bool | None


class PracticeStatus(NamedTuple):
    """An annotator's status in a practice round; `waived` if the lead lets the annotator continue
    regardless."""

    round_id: str
    round: str
    annotator: str
    paused: bool
    waived: bool
    state: PracticeState

    @property
    def open(self) -> bool:
        """Return whether the annotator still has to pass the practice round before real items."""
        return self.state.passed is not True

    @property
    def sentences(self) -> list[str]:
        """Return the annotator's practice status as a sentence."""
        if self.open:
            return [f"{self.annotator} has {pluralize(self.state.total, 'item')} to practice on."]
        return [f"{self.annotator} can now grade real items."]

    @property
    def standing(self) -> str:
        """Return the annotator's practice status in one or two words, such as for a table cell."""
        if self.waived:
            return "let pass"
        return {None: "under way", True: "passed", False: "not passed"}[self.state.passed]


class PracticeFeedback(NamedTuple):
    """The expected grade as an annotator sees it after a practice answer; a `given` of None means
    cannot-tell."""

    presentation_id: str
    expected: int
    given: int | None
    right: bool
    explanation: str | None


def read_feedback(store: Store, annotator: str, presentation_ids: Sequence[str]) -> list[PracticeFeedback]:
    """Read the expected grades for the annotator's answered practice presentations, in the order of the ids.

    All other presentations are left out. Pairs that a release has sealed since are also left out, unless the
    round was opened with a reason to show sealed grades.
    """
    with store.reading() as cursor:
        rows = cursor.execute(_FEEDBACK, [annotator, list(presentation_ids)]).fetchall()
        access = read_closed_access(cursor) if rows else None
    results = {}
    for key, query_id, expected, given, explanation, stored_parameters in rows:
        parameters = json.loads(stored_parameters)
        if access is None or access.can_show(query_id) or shows_sealed(parameters):
            right = given is not None and abs(given - expected) <= int(parameters["within"])
            results[key] = PracticeFeedback(key, expected, given, right, explanation)
    return [results[key] for key in dict.fromkeys(presentation_ids) if key in results]


def shows_sealed(parameters: Mapping[str, Any]) -> bool:
    """Return whether a practice round was opened with a reason for showing sealed grades."""
    return "sealed" in parameters


def read_practice_statuses(
    cursor: Cursor, annotator: str | None = None, round_id: str | None = None
) -> list[PracticeStatus]:
    """Read the status of all annotators or of one annotator in practice rounds that are not closed, oldest
    first."""
    if not cursor.execute("SELECT 1 FROM rounds WHERE kind = 'practice' LIMIT 1").fetchall():
        return []
    statuses = []
    rows = cursor.execute(_STATUSES, [annotator, annotator, round_id, round_id]).fetchall()
    for key, name, name_of_annotator, paused, waived, answered, total, right, pass_mark in rows:
        is_passed = None if answered < total else right >= pass_mark * total - 1e-9
        state = PracticeState(answered, total, right, pass_mark, True if waived else is_passed)
        statuses.append(PracticeStatus(key, name, name_of_annotator, paused, waived, state))
    return statuses


def build_practice_table(statuses: Sequence[PracticeStatus]) -> Table:
    """Draw the table of annotators' progress in practice."""
    rows = (
        (
            *(status.annotator, status.state.answered, status.state.total, status.state.right),
            *(ShareCell(status.state.pass_mark), status.standing),
        )
        for status in statuses
    )
    columns = ("Annotator", "Answered", "Of", "As expected", "Needed", "Status")
    return Table("Practice by annotator", columns, tuple(rows))


def draw_practice_queries(
    candidates: Iterable[Candidate], queries: int, salt: str, used_queries: Collection[str] = ()
) -> dict[str, list[Candidate]]:
    """Draw whole queries in a seeded order: unused queries first, queries with a single document last."""
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        groups[candidate.query_id].append(candidate)

    def rank(query: str) -> tuple[bool, bool, str]:
        return query in used_queries, len(groups[query]) == 1, digest(salt, "practice", query)

    return {
        query: sorted(groups[query], key=lambda c: digest(salt, "practice", *c[:2]))[:MAX_PER_QUERY]
        for query in sorted(groups, key=rank)[:queries]
    }


def practise_again(store: Store, name: str, annotator: str, author: str = COMMAND_LINE) -> PracticeStatus:
    """Give an annotator another practice attempt, on different queries if the round has any.

    Raises
    ------
    NotFoundError: the round or annotator is unknown.
    RefusedError: the round is not a practice round, is closed, or has no items of the annotator; or the
        annotator has passed, or has unanswered items.
    """
    with store.transaction(appends=True) as cursor:
        old_status = _read_status_to_change(cursor, name, annotator, author)
        state = old_status.state
        if state.passed is None:
            raise RefusedError(
                f"{annotator} is in the middle of {name}: {state.answered} of {state.total} are answered. "
                "A new attempt is possible after all items are answered.",
                command="`goldgrade practice NAME --retry ANNOTATOR` gives a new attempt.",
            )
        rows = _draw_attempt(cursor, old_status, annotator)
        append_rows(cursor, "presentations", rows)
        detail = {"practice": "again", "annotator": annotator, "from": rows[0].position}
        append_event(cursor, old_status.round_id, "extend", detail, author)
        record_event(cursor, "practise again", {"name": name, **detail, "items": len(rows)}, author)
        return read_practice_statuses(cursor, annotator, old_status.round_id)[0]


def waive_practice(
    store: Store, name: str, annotator: str, reason: str, author: str = COMMAND_LINE
) -> PracticeStatus:
    """Waive practice for an annotator, who continues with real items whatever the practice result.

    Raises
    ------
    InputError: the reason is missing.
    NotFoundError, RefusedError: as for `practise_again`.
    """
    if not reason.strip():
        raise InputError(
            "Give a reason for letting this person pass.", command="Give the reason with `--reason`."
        )
    with store.transaction() as cursor:
        old_status = _read_status_to_change(cursor, name, annotator, author)
        detail = {"practice": "pass", "annotator": annotator, "reason": reason.strip()}
        append_event(cursor, old_status.round_id, "extend", detail, author)
        record_event(cursor, "let pass practice", {"name": name, **detail}, author)
        return read_practice_statuses(cursor, annotator, old_status.round_id)[0]


def _read_status_to_change(cursor: Cursor, name: str, annotator: str, author: str) -> PracticeStatus:
    require_author(cursor, author, "lead")
    state = read_round_state(cursor, name)
    require_annotators(cursor, [annotator])
    if state.kind != "practice":
        raise RefusedError(f"{name} is a {state.kind} round, not a practice round.")
    if state.closed:
        raise RefusedError(f"{name} is closed, so no annotator has to pass this practice round.")
    statuses = read_practice_statuses(cursor, annotator, state.round_id)
    if not statuses:
        raise RefusedError(f"{annotator} has no practice items in {name}.")
    if statuses[0].state.passed:
        raise RefusedError(f"{annotator} has already passed {name}.")
    return statuses[0]


def _draw_attempt(cursor: Cursor, old_status: PracticeStatus, annotator: str) -> list[Presentation]:
    round_id = old_status.round_id
    parameters = read_parameters(cursor, round_id)
    earlier_items = cursor.execute(_EARLIER_ITEMS, [round_id, annotator]).fetchall()
    start = 1 + max(row[1] for row in earlier_items)
    pairs = cursor.execute(_AVAILABLE_PAIRS, [current_snapshot(cursor), round_id, annotator]).fetchall()
    access = None if shows_sealed(parameters) else read_closed_access(cursor)
    candidates = [Candidate(*row) for row in pairs if access is None or access.can_show(row[0])]
    salt = f"{parameters['seed']}:{start}"
    work = draw_practice_queries(candidates, parameters["queries"], salt, {row[0] for row in earlier_items})
    if not work:
        raise RefusedError(
            f"No known pair of {old_status.round} can be shown: its documents left the corpus, or a "
            "release seals its grades. Open a new practice round."
        )
    slots = order_items(work, 0.0, f"{salt}:{annotator}")
    return make_presentations(round_id, annotator, slots, start)
