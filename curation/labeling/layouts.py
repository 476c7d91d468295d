"""How a round is laid out: its settings, and everybody's work as presentations in an order of their own.

Known answers are planted among the work, blind duplicates placed, and what could not be is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.errors import InputError
from curation.labeling.known import ALONE, TOO_FEW, KnownPair, Planted, Pool, plant, with_known
from curation.labeling.orders import (
    CLOSEST_DUPLICATE,
    Candidate,
    Step,
    distances,
    duplicates_wanted,
    order,
)
from curation.store.rows import Presentation
from curation.text import digest


class Layout(NamedTuple):
    """How a round is laid out, whatever it shows. Make one with `Layout.of`.

    Attributes
    ----------
    known: known answers as a share of each annotator's first showings.
    per_day: answers expected in a day; blind duplicates come on another one where the order allows it.
    """

    name: str
    kind: str
    annotators: list[str]
    overlap: int
    duplicates: float
    seed: int
    known: float = 0.0
    per_day: int | None = None

    @classmethod
    def of(
        cls,
        name: str,
        kind: str,
        annotators: Sequence[str],
        overlap: int,
        duplicates: float,
        seed: int,
        known: float = 0.0,
        per_day: int | None = None,
    ) -> Layout:
        """A layout whose numbers fit together; annotators count once.

        Raises
        ------
        InputError: they do not fit.
        """
        names = list(dict.fromkeys(annotators))
        _check(name, names, overlap, duplicates, known, per_day)
        return cls(name, kind, names, overlap, duplicates, seed, known, per_day)


class LaidOut(NamedTuple):
    """Everybody's presentations; `per_known` counts the known answers by annotator."""

    rows: list[Presentation]
    known: list[KnownPair]
    per_known: dict[str, int]
    left_out: dict[str, int]


def lay_out(
    round_id: str,
    work: Mapping[str, Mapping[str, Sequence[Candidate]]],
    layout: Layout,
    pool: Pool | None,
    taken: set[tuple[str, str]],
    starts: Mapping[str, int] | None = None,
) -> LaidOut:
    """Work as presentations: known answers planted, orders drawn, blind duplicates placed.

    Parameters
    ----------
    work: annotator → query id → candidates.
    taken: the pairs that the round shows for judging.
    starts: annotator → first free position; 0 where none is given.
    """
    rows: list[Presentation] = []
    known: dict[str, Planted] = {}
    left_out: Counter[str] = Counter()
    for who, given in work.items():
        start = (starts or {}).get(who, 0)
        salt = f"{layout.seed}:{who}:{start}" if start else f"{layout.seed}:{who}"
        if pool is not None:
            known[who] = plant(given, pool, who, layout.known, salt, taken)
            left_out.update({TOO_FEW: known[who].missing, ALONE: known[who].alone})
        mixed = with_known(given, known[who].pairs if who in known else [])
        steps = order(mixed, layout.duplicates, salt, layout.per_day)
        left_out.update(_duplicates_left_out(mixed, steps, layout))
        rows.extend(presentations_of(round_id, who, steps, start))
    return LaidOut(
        rows,
        [pair for planted in known.values() for pair in planted.pairs],
        {who: len(planted.pairs) for who, planted in known.items()},
        {reason: count for reason, count in left_out.items() if count},
    )


def _duplicates_left_out(
    work: Mapping[str, Sequence[Candidate]], steps: Sequence[Step], layout: Layout
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
    round_id: str, annotator: str, showings: Sequence[Step], start: int = 0
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


def _check(
    name: str,
    annotators: Sequence[str],
    overlap: int,
    duplicates: float,
    known: float = 0.0,
    per_day: int | None = None,
) -> None:
    problems = []
    if not name.strip():
        problems.append("the round needs a name")
    if not 1 <= overlap <= len(annotators):
        problems.append(
            f"an overlap of {overlap} does not fit {len(annotators)} annotator(s): it is how many different "
            f"people judge each pair, between 1 and {max(1, len(annotators))}"
        )
    if not 0 <= duplicates <= 0.5:
        problems.append(f"{duplicates} is no share of blind duplicates: expected 0 to 0.5, such as 0.08")
    if not 0 <= known <= 0.5:
        problems.append(f"{known} is no share of known answers: expected 0 to 0.5, such as 0.05")
    if per_day is not None and per_day < 1:
        problems.append(f"{per_day} answers a day: expected 1 or more")
    if problems:
        raise InputError(problems)
