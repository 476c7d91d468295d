"""Measured pace: how long a judgment takes in this project, for the hours of a plan."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from curation.labeling.rounds.forecast import FASTEST, FEWEST, pace, read_work
from curation.labeling.rounds.rounds import list_rounds
from curation.store import Store

NEWEST = 3
"""The pace is measured in so many of the newest rounds that have one."""

NOT_MEASURED = f"nobody has {FEWEST} timed answers in a round yet"


class MeasuredPace(NamedTuple):
    """Judgments an hour of work: the median over annotators in the newest rounds; None where not measured.

    rounds: names, the newest first; slowest, fastest: of the annotators.
    """

    hourly: float | None
    annotators: int
    rounds: tuple[str, ...]
    slowest: float | None
    fastest: float | None

    def hours(self, judgments: int) -> float | None:
        """People-hours of so many judgments; None where the pace is unknown."""
        return judgments / self.hourly if self.hourly else None


def measured_pace(store: Store) -> MeasuredPace:
    """The pace of the newest rounds."""
    with store.reading() as cursor:
        names = [one.name for one in reversed(list_rounds(cursor)) if one.kind == "labeling"]
    rates: list[float] = []
    used: list[str] = []
    for name in names:
        if len(used) == NEWEST:
            break
        found = [pace(work).hourly for work in read_work(store, name)]
        known = [rate for rate in found if rate is not None and rate <= FASTEST]
        if known:
            rates += known
            used.append(name)
    if not rates:
        return MeasuredPace(None, 0, (), None, None)
    return MeasuredPace(statistics.median(rates), len(rates), tuple(used), min(rates), max(rates))
