"""A lead's decisions about one annotator's practice: another attempt, or letting them pass."""

from __future__ import annotations

from curation.core.errors import InputError, RefusedError
from curation.labeling.practice.create_practice import draw
from curation.labeling.practice.status import PracticeStatus, practice_statuses, shows_sealed
from curation.labeling.rounds.assignment import order
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.control_items import ControlItem
from curation.labeling.rounds.layout import presentations_of
from curation.labeling.rounds.lifecycle import append_round_event, round_state
from curation.labeling.rounds.rounds import round_parameters
from curation.people.annotators import require_annotators, require_author
from curation.people.seal_access import shut_door
from curation.store import Cursor, Store, append_rows, record_event
from curation.store.documents import current_snapshot
from curation.store.rows import Presentation
from curation.store.settings import COMMAND_LINE


def practise_again(store: Store, name: str, annotator: str, author: str = COMMAND_LINE) -> PracticeStatus:
    """Let somebody practise once more, on other queries as far as there are any.

    Raises
    ------
    NotFoundError: the round or annotator is unknown.
    RefusedError: it is no practice round, closed, not theirs or passed, or they are in the middle of it.
    """
    with store.transaction(appends=True) as cursor:
        before = _status_to_change(cursor, name, annotator, author)
        if before.state.passed is None:
            raise RefusedError(
                f"{annotator} is in the middle of {name}: {before.state.answered} of {before.state.total} "
                "are answered. Once all are, they can be given another set.",
                command="`goldgrade practice again` does.",
            )
        rows = _another_set(cursor, before, annotator)
        append_rows(cursor, "presentations", rows)
        detail = {"practice": "again", "annotator": annotator, "from": rows[0].position}
        append_round_event(cursor, before.round_id, "extend", detail, author)
        record_event(cursor, "practise again", {"name": name, **detail, "items": len(rows)}, author)
        return practice_statuses(cursor, annotator, before.round_id)[0]


def let_pass(
    store: Store, name: str, annotator: str, reason: str, author: str = COMMAND_LINE
) -> PracticeStatus:
    """Let somebody go on to the real queue whatever their practice says.

    Raises
    ------
    InputError: there is no reason.
    NotFoundError, RefusedError: as for `practise_again`.
    """
    if not reason.strip():
        raise InputError("Letting somebody pass needs a reason.", command="`--reason` gives it.")
    with store.transaction() as cursor:
        before = _status_to_change(cursor, name, annotator, author)
        detail = {"practice": "pass", "annotator": annotator, "reason": reason.strip()}
        append_round_event(cursor, before.round_id, "extend", detail, author)
        record_event(cursor, "let pass practice", {"name": name, **detail}, author)
        return practice_statuses(cursor, annotator, before.round_id)[0]


def _status_to_change(cursor: Cursor, name: str, annotator: str, author: str) -> PracticeStatus:
    require_author(cursor, author, "lead")
    state = round_state(cursor, name)
    require_annotators(cursor, [annotator])
    if state.kind != "practice":
        raise RefusedError(f"{name} is a {state.kind} round, not a practice round.")
    if state.closed:
        raise RefusedError(f"{name} is closed: nobody has to pass it any more.")
    found = practice_statuses(cursor, annotator, state.round_id)
    if not found:
        raise RefusedError(f"{annotator} has nothing to practise in {name}.")
    if found[0].state.passed:
        raise RefusedError(f"{annotator} has passed {name} already.")
    return found[0]


_SHOWN = "SELECT query_id, position FROM presentations WHERE round_id = ? AND annotator = ?"


_STOCK = """
SELECT k.query_id, k.document_id, s.content_hash
FROM known_answers k JOIN snapshot_documents s ON s.document_id = k.document_id AND s.snapshot_id = ?
WHERE k.round_id = ? AND NOT EXISTS (
    FROM live_presentations p
    WHERE p.annotator = ? AND p.round_id <> k.round_id
      AND p.query_id = k.query_id AND p.document_id = k.document_id)
ORDER BY k.query_id, k.document_id
"""


def _another_set(cursor: Cursor, before: PracticeStatus, annotator: str) -> list[Presentation]:
    parameters = round_parameters(cursor, before.round_id)
    shown = cursor.execute(_SHOWN, [before.round_id, annotator]).fetchall()
    start = 1 + max(row[1] for row in shown)
    stock = cursor.execute(_STOCK, [current_snapshot(cursor), before.round_id, annotator]).fetchall()
    door = None if shows_sealed(parameters) else shut_door(cursor)
    items = [ControlItem(Candidate(*row), 0, None) for row in stock if door is None or door.shows(row[0])]
    salt = f"{parameters['seed']}:{start}"
    work = draw(items, parameters["queries"], salt, {row[0] for row in shown})
    if not work:
        raise RefusedError(
            f"No known pair of {before.round} can be shown any more: its documents left the corpus, or a "
            "release seals its grades. Open another practice round."
        )
    return presentations_of(before.round_id, annotator, order(work, 0.0, f"{salt}:{annotator}"), start)
