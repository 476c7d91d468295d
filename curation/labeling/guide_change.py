"""What putting a guide in force would mean: for rounds under way, and for grades that people gave already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from curation.core.reports.page import Table
from curation.core.text import amount
from curation.guides.difference import GuideDifference, guide_difference
from curation.guides.guide import Guide, current_guide, guide_lines
from curation.guides.rewording import reworded_grades
from curation.labeling.rounds.guide_in_force import other_scale
from curation.labeling.rounds.lifecycle import open_states
from curation.store import Cursor, Store


class AffectedRound(NamedTuple):
    """A round under way whose guide is another one.

    Attributes
    ----------
    open_items, answered: presentations to be answered, and answers given under any guide.
    cannot_switch: why it must keep its own guide; '' where it may change.
    """

    round: str
    kind: str
    guide_hash: str
    open_items: int
    answered: int
    cannot_switch: str


@dataclass(frozen=True)
class GuideEffects:
    """What putting a guide in force would mean.

    Attributes
    ----------
    difference: from the guide in force to the new one.
    rounds: those under way under another guide.
    answers: judgments that count, given under the guide in force.
    stale_pairs: judged pairs whose grade, or one of whose votes, the new guide words otherwise.
    off_scale: grade that leaves the scale → judgments that count and have it.
    off_scale_decisions: decisions of reviewers whose grade leaves the scale.
    same_grades: labels stay fresh, for only the presentation changes, or the lead says so.
    """

    difference: GuideDifference
    rounds: tuple[AffectedRound, ...]
    answers: int
    stale_pairs: int
    off_scale: dict[int, int]
    off_scale_decisions: int
    same_grades: bool

    @property
    def all_may_switch(self) -> bool:
        return not any(one.cannot_switch for one in self.rounds)

    @property
    def sentences(self) -> list[str]:
        """What to know before, the gravest first."""
        if self.difference.same:
            return ["This guide is the current one already."]
        said = [
            *self._off_scale_sentences(),
            *(one.cannot_switch for one in self.rounds if one.cannot_switch),
        ]
        given = amount(self.answers, "judgment was", "judgments were")
        said.append(
            f"{given} given under the current guide. They stay as they are. Each keeps its version; "
            "releases list every guide that was used."
        )
        if self.same_grades:
            said.append("The meaning of the grades is unchanged: labels under the current guide stay fresh.")
        if self.stale_pairs:
            pairs = amount(self.stale_pairs, "judged pair has", "judged pairs have")
            said.append(
                f"{pairs} a grade or a vote whose words change. They are due from then on: Re-label plans "
                "them to be judged again."
            )
        said.append("Rounds and practice that open from then on use the new guide.")
        return said

    def describe(self, choice: str) -> str:
        """What 'keep' or 'switch' does to the rounds under way, and what their annotators see."""
        open_items = sum(one.open_items for one in self.rounds)
        if choice == "switch":
            return (
                f"Annotators see the new guide with their next item: {open_items:,} open items. What they "
                "have on screen is kept under the guide that they read."
            )
        return f"Annotators notice nothing: {open_items:,} open items go on under the guide of their round."

    def _off_scale_sentences(self) -> list[str]:
        said = []
        if self.off_scale:
            found = ", ".join(f"grade {grade} ({n:,} times)" for grade, n in self.off_scale.items())
            said.append(
                f"Judgments that count have grades that leave the scale: {found}. Agreement over all rounds "
                "and the gate refuse two scales, and so does freezing, until these pairs are judged again."
            )
        if self.off_scale_decisions:
            said.append(
                f"{self.off_scale_decisions:,} decisions of reviewers leave the scale. Their pairs cannot be "
                "control items any more."
            )
        return said


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
        held = current_guide(cursor)
        return GuideEffects(
            difference=guide_difference(held, guide),
            rounds=_affected(cursor, guide),
            answers=_count(cursor, _GIVEN, [held.guide_hash]),
            stale_pairs=_count(
                cursor, _STALE, [[f"{name} {grade}" for name, found in reworded.items() for grade in found]]
            ),
            off_scale={int(grade): int(n) for grade, n in off_scale},
            off_scale_decisions=_count(cursor, _DECIDED, [values]),
            same_grades=lines[guide.guide_hash] == lines[held.guide_hash],
        )


_ANSWERED = "SELECT count(*) FROM current_judgments WHERE round_id = ?"


def _affected(cursor: Cursor, guide: Guide) -> tuple[AffectedRound, ...]:
    found = []
    for state in open_states(cursor):
        if state.guide_hash != guide.guide_hash:
            answered = _count(cursor, _ANSWERED, [state.round_id])
            why_not = other_scale(cursor, state, guide)
            about = (state.round, state.kind, state.guide_hash, state.open_items)
            found.append(AffectedRound(*about, answered, why_not))
    return tuple(found)


def _count(cursor: Cursor, sql: str, values: list[object]) -> int:
    return int(cursor.execute(sql, values).fetchall()[0][0])


def rounds_table(effects: GuideEffects) -> Table:
    """The rounds under way, and which may change to the guide."""
    rows = (
        (
            *(one.round, one.open_items, one.answered, one.guide_hash[:8]),
            "no" if one.cannot_switch else "yes",
        )
        for one in effects.rounds
    )
    columns = ("Round under way", "Open items", "Answered", "Guide", "May change")
    return Table("Rounds that are open", columns, tuple(rows))
