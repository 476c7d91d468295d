"""Putting a guide in force: for rounds that open from now on and, by choice, for rounds under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from curation.core.errors import InputError, RefusedError
from curation.core.text import amount, digest
from curation.guides.drafts import end_draft, own_draft
from curation.guides.guide import Guide, current_guide, guide_by_hash, store_guide
from curation.guides.presentation_template import field_uses, unused_fields
from curation.labeling.rounds.lifecycle import RoundState, append_round_event, open_states
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, record_event

KEEP, SWITCH = "keep", "switch"


@dataclass(frozen=True)
class GuideChange:
    """What using a guide did: the rounds that keep their own guide, and those that changed to this one.

    remarks: fields of its presentation template that no document has, a sentence each.
    """

    guide_hash: str
    title: str
    changed: bool
    kept: list[str]
    switched: list[str]
    remarks: list[str]


def put_in_force(
    store: Store,
    guide: Guide,
    author: str = COMMAND_LINE,
    open_rounds: str | None = None,
    reason: str = "",
    instead_of: str | None = None,
    same_grades: bool = False,
) -> GuideChange:
    """Make a guide the one in force, for rounds opened from now on and, by choice, for open ones.

    The author's draft ends with it, if it is of this text.

    Parameters
    ----------
    reason: why, for the audit trail and the list of versions.
    instead_of: the hash of the guide that the author believes to be in force; None asks for nothing.
    open_rounds: for rounds under way, 'keep' keeps their own guide and 'switch' changes to this one; None
        refuses where there are any.
    same_grades: whether each grade means what it meant, so that labels stay fresh. Where only the
        presentation of documents changes, they do in any case.

    Raises
    ------
    InputError: `open_rounds` is no choice.
    RefusedError: rounds are under way and nothing was chosen; a round to be switched has judgments or
        control items on another scale; another guide is in force than `instead_of`; the author is no lead.
    """
    if open_rounds not in (None, KEEP, SWITCH):
        raise InputError(f"Open rounds cannot {open_rounds!r} a guide; expected {KEEP} or {SWITCH}.")
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        held = current_guide(cursor)
        if instead_of not in (None, held.guide_hash, guide.guide_hash):
            raise RefusedError(
                f"Another guide was published meanwhile: “{held.title}”, {held.guide_hash[:8]}. Compare "
                "yours with it first."
            )
        if same_grades and held.values != guide.values:
            raise InputError("A guide with other grades changes what they mean: it cannot keep labels fresh.")
        affected = [state for state in open_states(cursor) if state.guide_hash != guide.guide_hash]
        if affected and open_rounds is None:
            raise _choose(affected)
        if open_rounds == SWITCH:
            _refuse_other_scales(cursor, affected, guide)
        changed = held.guide_hash != guide.guide_hash
        store_guide(cursor, guide)
        for state in affected:
            to = guide.guide_hash if open_rounds == SWITCH else state.guide_hash
            detail: dict[str, Any] = {"guide": to, "project_guide": guide.guide_hash, "choice": open_rounds}
            append_round_event(cursor, state.round_id, "guide", detail, author)
        names = [state.round for state in affected]
        kept, switched = (names, []) if open_rounds == KEEP else ([], names)
        if changed or affected:
            detail = {"guide": guide.guide_hash, "title": guide.title, "kept": kept, "switched": switched}
            detail |= {"reason": reason.strip()} if reason.strip() else {}
            detail |= {"same_grades_as": held.guide_hash} if same_grades else {}
            record_event(cursor, "use guide", detail, author)
        draft = own_draft(cursor, author)
        if draft is not None and digest(draft.source) == guide.guide_hash:
            end_draft(cursor, author)
        remarks = unused_fields(field_uses(cursor, guide.presentation))
    return GuideChange(guide.guide_hash, guide.title, changed, kept, switched, remarks)


def _choose(affected: list[RoundState]) -> RefusedError:
    names = ", ".join(f"{state.round} ({state.open_items:,} open items)" for state in affected)
    return RefusedError(
        f"Under another guide there is still work open: {names}. Say what becomes of it. Each judgment keeps "
        "the version under which it was given.",
        command="--open-rounds keep lets these rounds go on under their own guide, --open-rounds switch puts "
        "them under the new one from now on.",
    )


_SCALED = """
SELECT (SELECT count(*) FROM current_judgments WHERE round_id = ? AND kind = 'grade'),
       (SELECT count(*) FROM known_answers WHERE round_id = ?)
"""


def other_scale(cursor: Cursor, state: RoundState, guide: Guide) -> str:
    """Why a round cannot be switched to a guide: a sentence, or ''."""
    old = guide_by_hash(cursor, state.guide_hash).values
    counts = cursor.execute(_SCALED, [state.round_id, state.round_id]).fetchall()[0]
    if old == guide.values or not any(counts):
        return ""
    return (
        f"{state.round} has {amount(counts[0], 'judgment')} and {counts[1]:,} control items on the scale "
        f"{', '.join(map(str, old))}; the new guide's is {', '.join(map(str, guide.values))}."
    )


def _refuse_other_scales(cursor: Cursor, affected: list[RoundState], guide: Guide) -> None:
    problems = [said for state in affected if (said := other_scale(cursor, state, guide))]
    if problems:
        raise RefusedError(
            " ".join(problems)
            + " A round cannot hold grades of two scales: let it go on under its own guide, or close it and "
            "open a new one.",
            command="`--open-rounds keep` lets rounds go on.",
        )
