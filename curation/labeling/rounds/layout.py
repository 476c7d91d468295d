"""The layout of a round: its settings, and each annotator's work as presentations in an order of its own.

Control items are planted among the work and blind duplicates placed; what could not be placed is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.core.errors import refuse_problems
from curation.core.text import amount, digest
from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE, Slot, distances, duplicates_wanted, order
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.control_items import (
    ControlItem,
    ControlItemPool,
    plant,
    with_control_items,
)
from curation.store import Presentation

ASK_FROM = 5
"""An annotator who saw fewer documents of a query knows too little of what the corpus holds for it."""


class RoundLayout(NamedTuple):
    """The settings of a round, whatever it shows.

    Attributes
    ----------
    known: control items as a share of each annotator's first showings.
    per_day: answers expected in a day; blind duplicates come on another one where the order allows it.
    ask_from: annotators say whether the corpus answers a query of which they have so many items or more; 0
        never asks. It changes nothing about what is shown.
    lists: the documents of a query come as a list on one page. Who has what, and in which order, is the same.
    """

    name: str
    kind: str
    annotators: Sequence[str]
    overlap: int
    duplicates: float
    seed: int
    control_items: float = 0.0
    per_day: int | None = None
    ask_from: int = ASK_FROM
    lists: bool = False

    def checked(self) -> RoundLayout:
        """This layout with each annotator once.

        Raises
        ------
        InputError: its numbers do not fit together; all problems at once.
        """
        names = list(dict.fromkeys(self.annotators))
        problems = []
        if not self.name.strip():
            problems.append("the round needs a name")
        if not names:
            problems.append("nobody is chosen to judge: the round needs annotators")
        elif not 1 <= self.overlap <= len(names):
            problems.append(
                f"an overlap of {self.overlap} does not fit {amount(len(names), 'annotator')}: it is how "
                f"many different people judge each pair, between 1 and {len(names)}"
            )
        if not 0 <= self.duplicates <= 0.5:
            problems.append(
                f"{self.duplicates} is no share of blind duplicates: expected 0 to 0.5, such as 0.08"
            )
        if not 0 <= self.control_items <= 0.5:
            problems.append(
                f"{self.control_items} is no share of control items: expected 0 to 0.5, such as 0.05"
            )
        if self.per_day is not None and self.per_day < 1:
            problems.append(f"{amount(self.per_day, 'answer')} a day: expected 1 or more")
        if self.ask_from < 0:
            problems.append(
                f"asking from {amount(self.ask_from, 'document')} on: expected 1 or more, or 0 for never"
            )
        refuse_problems(problems)
        return self._replace(annotators=names)


class RoundAssignment(NamedTuple):
    """All annotators' presentations; `planted_by` counts the control items by annotator."""

    rows: list[Presentation]
    items: list[ControlItem]
    planted_by: dict[str, int]
    left_out: dict[str, int]


def lay_out(
    round_id: str,
    work: Mapping[str, Mapping[str, Sequence[Candidate]]],
    layout: RoundLayout,
    pool: ControlItemPool | None,
    taken: set[tuple[str, str]],
    starts: Mapping[str, int] | None = None,
) -> RoundAssignment:
    """Work as presentations: control items planted, orders drawn, blind duplicates placed.

    Parameters
    ----------
    work: annotator → query id → candidates.
    taken: the pairs that the round shows for judging.
    starts: annotator → first free position; 0 for others.
    """
    rows: list[Presentation] = []
    planted: dict[str, list[ControlItem]] = {}
    left_out: Counter[str] = Counter()
    for who, given in work.items():
        start = (starts or {}).get(who, 0)
        salt = f"{layout.seed}:{who}:{start}" if start else f"{layout.seed}:{who}"
        if pool is not None:
            planted[who], lacking = plant(given, pool, who, layout.control_items, salt, taken)
            left_out.update(lacking)
        mixed = with_control_items(given, planted.get(who, []))
        steps = order(mixed, layout.duplicates, salt, layout.per_day)
        left_out.update(_duplicates_left_out(mixed, steps, layout))
        rows.extend(presentations_of(round_id, who, steps, start))
    return RoundAssignment(
        rows,
        [item for chosen in planted.values() for item in chosen],
        {who: len(chosen) for who, chosen in planted.items()},
        {reason: count for reason, count in left_out.items() if count},
    )


def _duplicates_left_out(
    work: Mapping[str, Sequence[Candidate]], steps: Sequence[Slot], layout: RoundLayout
) -> dict[str, int]:
    again = [step.candidate for step in steps if step.again]
    wanted = duplicates_wanted(layout.duplicates, sum(map(len, work.values())))
    counts = {
        f"blind duplicates that would come back within {CLOSEST_DUPLICATE} presentations, or be half of a "
        "query's documents": wanted - len(again),
        "blind duplicates come back alone: their query has no other document": sum(
            len(work[candidate.query_id]) == 1 for candidate in again
        ),
    }
    if layout.per_day:
        near = sum(distance < layout.per_day for distance in distances(steps))
        counts[f"blind duplicates come back within {layout.per_day:,} presentations, on the same day"] = near
    return counts


def presentations_of(
    round_id: str, annotator: str, showings: Sequence[Slot], start: int = 0
) -> list[Presentation]:
    """The rows of an annotator's order, at positions from `start`."""
    rows: list[Presentation] = []
    first: dict[Candidate, str] = {}
    for position, (candidate, again) in enumerate(showings, start):
        presentation_id = digest("presentation", round_id, annotator, position)
        first.setdefault(candidate, presentation_id)
        duplicate_of = first[candidate] if again else None
        rows.append(Presentation(presentation_id, round_id, annotator, *candidate, position, duplicate_of))
    return rows
