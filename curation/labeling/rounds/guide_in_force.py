"""Putting a guide in force: what it would mean for rounds and grades, and doing it.

It holds for rounds that open from now on and, by choice, for rounds under way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.reports.page import Table
from curation.core.text import pluralize
from curation.guides.difference import GuideDifference, guide_difference, reworded_grades
from curation.guides.drafts import end_draft, own_draft
from curation.guides.guide import (
    Guide,
    current_guide,
    field_sentences,
    guide_by_hash,
    guide_lines,
    store_guide,
)
from curation.labeling.rounds.rounds import RoundState, append_round_event, open_states
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, record_event

KEEP, SWITCH = "keep", "switch"


@dataclass(frozen=True)
class GuidePutInForce:
    """What using a guide did: the rounds that keep their own guide, and those that changed to this one.

    remarks: fields of its presentation template that no document has, a sentence each.
    """

    guide_hash: str
    title: str
    changed: bool
    kept: list[str]
    switched: list[str]
    remarks: list[str]

    @property
    def sentences(self) -> list[str]:
        """Whether it is new, and what becomes of each open round."""
        verb = "is" if self.changed else "was"
        return [
            f"{self.title}, version {self.guide_hash[:8]}, {verb} the current guide.",
            *(
                [f"{', '.join(self.switched)}: annotators see it with their next item."]
                if self.switched
                else []
            ),
            *([f"{', '.join(self.kept)}: goes on under its own guide."] if self.kept else []),
            *self.remarks,
        ]


def put_in_force(
    store: Store,
    guide: Guide,
    author: str = COMMAND_LINE,
    open_rounds: str | None = None,
    reason: str = "",
    instead_of: str | None = None,
    same_grades: bool = False,
) -> GuidePutInForce:
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
        before = current_guide(cursor)
        if instead_of not in (None, before.guide_hash, guide.guide_hash):
            raise RefusedError(
                f"Another guide was published meanwhile: “{before.title}”, {before.guide_hash[:8]}. Compare "
                "yours with it first."
            )
        if same_grades and before.values != guide.values:
            raise InputError("A guide with other grades changes what they mean: it cannot keep labels fresh.")
        affected = _affected(cursor, guide)
        if affected and open_rounds is None:
            raise _choose(affected)
        if open_rounds == SWITCH:
            _refuse_other_scales(_other_scales(cursor, affected, guide))
        changed = before.guide_hash != guide.guide_hash
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
            detail |= {"same_grades_as": before.guide_hash} if same_grades else {}
            record_event(cursor, "use guide", detail, author)
        draft = own_draft(cursor, author)
        if draft is not None and digest(draft.source) == guide.guide_hash:
            end_draft(cursor, author)
        _, remarks = field_sentences(cursor, guide.presentation)
    return GuidePutInForce(guide.guide_hash, guide.title, changed, kept, switched, remarks)


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
        f"{state.round} has {pluralize(counts[0], 'judgment')} and {counts[1]:,} control items on the scale "
        f"{', '.join(map(str, old))}; the new guide's is {', '.join(map(str, guide.values))}."
    )


def _affected(cursor: Cursor, guide: Guide) -> list[RoundState]:
    """The rounds under way under another guide."""
    return [state for state in open_states(cursor) if state.guide_hash != guide.guide_hash]


def _other_scales(cursor: Cursor, affected: list[RoundState], guide: Guide) -> dict[str, str]:
    """Round → why it cannot be switched to a guide, without those that can."""
    problems = {state.round: other_scale(cursor, state, guide) for state in affected}
    return {name: problem for name, problem in problems.items() if problem}


def _refuse_other_scales(problems: dict[str, str]) -> None:
    if problems:
        raise RefusedError(
            " ".join(problems.values())
            + " A round cannot hold grades of two scales: let it go on under its own guide, or close it and "
            "open a new one.",
            command="`--open-rounds keep` lets rounds go on.",
        )


@dataclass(frozen=True)
class GuideEffects:
    """What putting a guide in force would mean.

    Attributes
    ----------
    difference: from the guide in force to the new one.
    rounds: those under way under another guide. cannot_switch: round → why it must keep its own guide.
    answers: judgments that count, given under the guide in force.
    stale_pairs: judged pairs whose grade, or one of whose votes, the new guide words otherwise.
    off_scale: grade that leaves the scale → judgments that count and have it.
    off_scale_decisions: decisions of reviewers whose grade leaves the scale.
    same_grades: labels stay fresh, for only the presentation changes, or the lead says so.
    """

    difference: GuideDifference
    rounds: tuple[RoundState, ...]
    cannot_switch: dict[str, str]
    answers: int
    stale_pairs: int
    off_scale: dict[int, int]
    off_scale_decisions: int
    same_grades: bool

    @property
    def sentences(self) -> list[str]:
        """What to know before, the gravest first."""
        if self.difference.same:
            return ["This guide is the current one already."]
        sentences = [*self._off_scale_sentences(), *self.cannot_switch.values()]
        given = pluralize(self.answers, "judgment was", "judgments were")
        sentences.append(
            f"{given} given under the current guide. They stay as they are. Each keeps its version; "
            "releases list every guide that was used."
        )
        if self.same_grades:
            sentences.append(
                "The meaning of the grades is unchanged: labels under the current guide stay fresh."
            )
        if self.stale_pairs:
            pairs = pluralize(self.stale_pairs, "judged pair has", "judged pairs have")
            sentences.append(
                f"{pairs} a grade or a vote whose words change. They are due from then on: Re-label plans "
                "them to be judged again."
            )
        sentences.append("New rounds and practice use the new guide.")
        return sentences

    @property
    def tables(self) -> tuple[Table, ...]:
        """The rounds under way, and which may change to the guide."""
        rows = (
            (
                *(state.round, state.open_items, state.answered, state.guide_hash[:8]),
                "no" if state.round in self.cannot_switch else "yes",
            )
            for state in self.rounds
        )
        columns = ("Round under way", "Open items", "Answered", "Guide", "May change")
        return (Table("Rounds that are open", columns, tuple(rows)),)

    def describe(self, choice: str) -> str:
        """What 'keep' or 'switch' does to the rounds under way, and what their annotators see."""
        open_items = sum(state.open_items for state in self.rounds)
        if choice == "switch":
            return (
                f"Annotators see the new guide with their next item: {open_items:,} open items. What they "
                "have on screen is kept under the guide that they read."
            )
        return f"Annotators notice nothing: {open_items:,} open items go on under the guide of their round."

    def _off_scale_sentences(self) -> list[str]:
        sentences = []
        if self.off_scale:
            grades = ", ".join(f"grade {grade} ({n:,} times)" for grade, n in self.off_scale.items())
            sentences.append(
                f"Judgments that count have grades that leave the scale: {grades}. Agreement over all rounds "
                "and the gate refuse two scales, and so does freezing, until these pairs are judged again."
            )
        if self.off_scale_decisions:
            sentences.append(
                f"{self.off_scale_decisions:,} decisions of reviewers leave the scale. Their pairs cannot be "
                "control items any more."
            )
        return sentences


_GIVEN = "SELECT count(*) FROM current_judgments WHERE guide_hash = ?"


_STALE = """
WITH given AS (
    SELECT query_id, document_id, guide_hash, grade FROM counted_adjudications
    UNION ALL
    SELECT query_id, document_id, guide_hash, grade
    FROM counted_judgments ANTI JOIN counted_adjudications USING (query_id, document_id))
SELECT count(DISTINCT (query_id, document_id)) FROM given
WHERE list_contains(?::TEXT[], guide_hash || ' ' || coalesce(grade::TEXT, 'None'))
"""


_OFF_SCALE = """
SELECT grade, count(*) FROM eligible_judgments
WHERE grade IS NOT NULL AND NOT list_contains(?, grade) GROUP BY grade ORDER BY grade
"""


_DECIDED = """
SELECT count(*) FROM counted_adjudications WHERE grade IS NOT NULL AND NOT list_contains(?, grade)
"""


def guide_effects(store: Store, guide: Guide, same_grades: bool = False) -> GuideEffects:
    """What putting this guide in force would mean now, with the same grades or not. Nothing is written."""
    with store.reading() as cursor:
        values, lines = list(guide.values), guide_lines(cursor, guide, same_grades)
        reworded = reworded_grades(cursor, lines, guide)
        off_scale = cursor.execute(_OFF_SCALE, [values]).fetchall()
        current = current_guide(cursor)
        affected = _affected(cursor, guide)
        return GuideEffects(
            difference=guide_difference(current, guide),
            rounds=tuple(affected),
            cannot_switch=_other_scales(cursor, affected, guide),
            answers=_count(cursor, _GIVEN, [current.guide_hash]),
            stale_pairs=_count(
                cursor, _STALE, [[f"{name} {grade}" for name, grades in reworded.items() for grade in grades]]
            ),
            off_scale={int(grade): int(n) for grade, n in off_scale},
            off_scale_decisions=_count(cursor, _DECIDED, [values]),
            same_grades=lines[guide.guide_hash] == lines[current.guide_hash],
        )


def _count(cursor: Cursor, sql: str, values: list[object]) -> int:
    return int(cursor.execute(sql, values).fetchall()[0][0])
