"""A project's change to another labeling guide, with its effects on rounds and grades.

New rounds use the current guide; for open rounds the lead chooses the old or the new guide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.guides.difference import GuideDifference, compare_guides
from curation.guides.drafts import end_draft, find_draft
from curation.guides.grade_meanings import find_reworded_grades, group_equivalent_guides
from curation.guides.guide import Guide, current_guide, describe_fields, load_guide, store_guide
from curation.labeling.rounds.round_states import RoundState, read_open_states
from curation.labeling.rounds.rounds import append_event
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, record_event

KEEP, SWITCH = "keep", "switch"
_SCALED = """
SELECT (SELECT count(*) FROM current_judgments WHERE round_id = ? AND kind = 'grade'),
       (SELECT count(*) FROM known_answers WHERE round_id = ?)
"""
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


@dataclass(frozen=True)
class GuideChange:
    """The new current guide, the rounds that keep their guide, and the rounds that switched to the new one.

    changed: whether the project previously had a different guide.
    remarks: sentences about fields of the presentation template that no document has.
    """

    guide_hash: str
    title: str
    changed: bool
    kept: list[str]
    switched: list[str]
    remarks: list[str]

    @property
    def sentences(self) -> list[str]:
        """Return sentences that name the current guide, and each open round's guide."""
        verb = "is" if self.changed else "was"
        sentences = [f"{self.title}, version {self.guide_hash[:8]}, {verb} the current guide."]
        if self.switched:
            sentences.append(f"{', '.join(self.switched)}: annotators see the guide with their next item.")
        if self.kept:
            sentences.append(f"{', '.join(self.kept)}: keeps the previous guide.")
        return [*sentences, *self.remarks]


@dataclass(frozen=True)
class GuideEffects:
    """The effects of a new current guide on rounds and grades.

    Attributes
    ----------
    difference: the difference from the current guide to the new guide.
    rounds: the open rounds that use a different guide.
    cannot_switch: round → sentence with the reason why the round must keep its guide.
    answers: the number of judgments that count under the current guide.
    stale_pairs: the number of judged pairs with a grade, or a vote, that the new guide words differently.
    off_scale: grade that the new scale lacks → the number of judgments with the grade.
    off_scale_decisions: the number of reviewers' decisions with a grade that the new scale lacks.
    same_grades: whether earlier labels stay up to date, because only the presentation changes or because the
        lead says so.
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
        """Return the guide change's effects as sentences, the most severe effect first."""
        if self.difference.same:
            return ["This guide is already the current guide."]
        sentences = [*self._off_scale_sentences(), *self.cannot_switch.values()]
        given = pluralize(self.answers, "judgment was", "judgments were")
        sentences.append(
            f"{given} given under the current guide. These judgments stay unchanged and keep their "
            "guide version; releases list every guide that was used."
        )
        if self.same_grades:
            sentences.append("No grade changes its meaning, so labels under the current guide stay valid.")
        if self.stale_pairs:
            pairs = pluralize(self.stale_pairs, "judged pair has", "judged pairs have")
            sentences.append(
                f"{pairs} a grade or a vote whose definition changes. These pairs then become due to be "
                "judged again under Re-label."
            )
        sentences.append("New rounds use the new guide.")
        return sentences

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of the open rounds that says whether each may switch to the guide."""
        rows = []
        for state in self.rounds:
            may_switch = "no" if state.round in self.cannot_switch else "yes"
            version = state.guide_hash[:8]
            rows.append((state.round, state.open_items, state.answered, version, may_switch))
        columns = ("Open round", "Open items", "Answered", "Guide", "May switch")
        return (Table("Open rounds", columns, tuple(rows)),)

    def describe(self, choice: str) -> str:
        """Describe the effect of 'keep' or 'switch' on open rounds and their annotators."""
        open_items = sum(state.open_items for state in self.rounds)
        if choice == "switch":
            return (
                f"Annotators see the new guide with their next item: {open_items:,} open items. An "
                "answer to an item already on screen is stored with the guide that the annotator read."
            )
        return f"Annotators see no change: {open_items:,} open items keep the guide of their round."

    def _off_scale_sentences(self) -> list[str]:
        sentences = []
        if self.off_scale:
            grades = ", ".join(f"grade {grade} ({n:,} times)" for grade, n in self.off_scale.items())
            sentences.append(
                f"Some judgments have grades that are not on the new scale: {grades}. Until these pairs "
                "are judged again, agreement over all rounds, the gate and a freeze do not work."
            )
        if self.off_scale_decisions:
            sentences.append(
                f"{self.off_scale_decisions:,} decisions of reviewers have grades that are not on the "
                "new scale. These pairs can no longer be control items."
            )
        return sentences


def use_guide(
    store: Store,
    guide: Guide,
    author: str = COMMAND_LINE,
    open_rounds: str | None = None,
    reason: str = "",
    instead_of: str | None = None,
    same_grades: bool = False,
) -> GuideChange:
    """Make a guide the project's current guide and, optionally, the guide of open rounds.

    If the author's draft has the same text as the guide, the draft is deleted.

    Parameters
    ----------
    reason: the reason for the change, for the audit trail and the list of versions.
    instead_of: the hash of the guide that the author saw as the current guide; None skips this check.
    open_rounds: 'keep' leaves open rounds with their guide, 'switch' gives open rounds the new guide; None
        refuses if rounds are open.
    same_grades: whether each grade keeps its meaning, so that earlier labels stay up to date. If only the
        presentation of documents changes, labels stay up to date in any case.

    Raises
    ------
    InputError: `open_rounds` is unknown, or `same_grades` is given with a different scale.
    RefusedError: rounds are open and `open_rounds` is None; a round to be switched has judgments or control
        items on a different scale; the current guide is not `instead_of`; the author is not a lead.
    """
    if open_rounds not in (None, KEEP, SWITCH):
        raise InputError(f"Unknown choice for open rounds: {open_rounds!r}; expected {KEEP} or {SWITCH}.")
    guide_hash = guide.guide_hash
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        old_guide = current_guide(cursor)
        if instead_of not in (None, old_guide.guide_hash, guide_hash):
            raise RefusedError(
                f"Another guide was published in the meantime: “{old_guide.title}”, "
                f"{old_guide.guide_hash[:8]}. First compare that guide with yours."
            )
        if same_grades and old_guide.values != guide.values:
            raise InputError(
                "A different scale changes what grades mean, so existing labels become outdated."
            )
        affected = _find_affected_rounds(cursor, guide)
        _refuse_choice(cursor, affected, guide, open_rounds)
        store_guide(cursor, guide)
        for state in affected:
            round_guide = guide_hash if open_rounds == SWITCH else state.guide_hash
            choice = {"guide": round_guide, "project_guide": guide_hash, "choice": open_rounds}
            append_event(cursor, state.round_id, "guide", choice, author)
        names = [state.round for state in affected]
        kept, switched = (names, []) if open_rounds == KEEP else ([], names)
        changed = old_guide.guide_hash != guide_hash
        if changed or affected:
            detail: dict[str, Any] = {"guide": guide_hash, "title": guide.title}
            detail |= {"kept": kept, "switched": switched}
            detail |= {"reason": reason.strip()} if reason.strip() else {}
            detail |= {"same_grades_as": old_guide.guide_hash} if same_grades else {}
            record_event(cursor, "use guide", detail, author)
        draft = find_draft(cursor, author)
        if draft is not None and digest(draft.source) == guide_hash:
            end_draft(cursor, author)
        _, remarks = describe_fields(cursor, guide.presentation)
    return GuideChange(guide_hash, guide.title, changed, kept, switched, remarks)


def compute_guide_effects(store: Store, guide: Guide, same_grades: bool = False) -> GuideEffects:
    """Compute the effects that a guide would have as the current guide, without writing anything."""
    with store.reading() as cursor:
        values, guide_groups = list(guide.values), group_equivalent_guides(cursor, guide, same_grades)
        reworded = find_reworded_grades(cursor, guide_groups, guide)
        stale = [f"{name} {grade}" for name, grades in reworded.items() for grade in grades]
        off_scale = cursor.execute(_OFF_SCALE, [values]).fetchall()
        current = current_guide(cursor)
        affected_rounds = _find_affected_rounds(cursor, guide)
        return GuideEffects(
            difference=compare_guides(current, guide),
            rounds=tuple(affected_rounds),
            cannot_switch=_find_scale_problems(cursor, affected_rounds, guide),
            answers=_count_rows(cursor, _GIVEN, [current.guide_hash]),
            stale_pairs=_count_rows(cursor, _STALE, [stale]),
            off_scale={int(grade): int(n) for grade, n in off_scale},
            off_scale_decisions=_count_rows(cursor, _DECIDED, [values]),
            same_grades=guide_groups[guide.guide_hash] == guide_groups[current.guide_hash],
        )


def _find_affected_rounds(cursor: Cursor, guide: Guide) -> list[RoundState]:
    """Read the open rounds that use a guide other than this one."""
    return [state for state in read_open_states(cursor) if state.guide_hash != guide.guide_hash]


def _refuse_choice(cursor: Cursor, rounds: Sequence[RoundState], guide: Guide, choice: str | None) -> None:
    """Reject a change without a choice for the open rounds, and a switch of a round that has grades on a
    different scale."""
    if rounds and choice is None:
        open_work = ", ".join(f"{state.round} ({state.open_items:,} open items)" for state in rounds)
        raise RefusedError(
            f"These rounds are open with a different guide: {open_work}. Choose whether these rounds keep "
            "their guide or switch. Each judgment keeps the guide version under which it was given.",
            command="--open-rounds keep lets these rounds keep their guide, --open-rounds switch gives "
            "them the new guide.",
        )
    if choice == SWITCH and (problems := _find_scale_problems(cursor, rounds, guide)):
        raise RefusedError(
            f"{' '.join(problems.values())} A round cannot have grades on two scales: keep the round's "
            "guide, or close the round and open a new round.",
            command="`--open-rounds keep` lets rounds keep their guide.",
        )


def _find_scale_problems(cursor: Cursor, rounds: Iterable[RoundState], guide: Guide) -> dict[str, str]:
    """Find the rounds that cannot switch to a guide: name → sentence that gives the reason."""
    problems = {}
    for state in rounds:
        round_scale = load_guide(cursor, state.guide_hash).values
        judged, control_items = cursor.execute(_SCALED, [state.round_id, state.round_id]).fetchall()[0]
        if round_scale != guide.values and (judged or control_items):
            old_values, new_values = (", ".join(map(str, values)) for values in (round_scale, guide.values))
            problems[state.round] = (
                f"{state.round} has {pluralize(judged, 'judgment')} and {control_items:,} control items on "
                f"the scale {old_values}; the new guide's is {new_values}."
            )
    return problems


def _count_rows(cursor: Cursor, sql: str, values: list[object]) -> int:
    return int(cursor.execute(sql, values).fetchall()[0][0])
