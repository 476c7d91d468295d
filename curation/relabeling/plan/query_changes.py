"""Which queries leave the set because the traffic has left them, and which join it from new traffic.

Queries that were never asked before are a frame apart from that of the sample: a query is in one of
the two, and keeps the inclusion probability of the draw that took it. So both draws together are one
probability sample, and its traffic is that of the new logs. A query that is not asked any more has no weight
in an estimate for the traffic, so that its leaving biases none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.relabeling.quarters import Quarter
from curation.relabeling.staleness.calendar import LEFT, NewQuery
from curation.sampling.designs import Stratum, draw_stratified
from curation.sampling.frame.bands import BANDS, band_of
from curation.sampling.strata import BETWEEN, Labels
from curation.text import seeded

RETIRE, ADD = "retire", "add"
ASKED_AGAIN = "it was retired, and is asked again"


class QueryChange(NamedTuple):
    """A query that leaves or joins the set; stratum, traffic and probability are of those that are drawn."""

    normalised: str
    kind: str
    reason: str
    stratum: str | None = None
    traffic: int | None = None
    probability: float | None = None


class NewDraw(NamedTuple):
    """The queries drawn from new traffic, and the strata of the frame that they were drawn from."""

    changes: tuple[QueryChange, ...]
    strata: tuple[Stratum, ...]


def retiring(trends: Sequence[tuple[str, str, int]]) -> list[QueryChange]:
    """Queries to retire: (normalised text, trend, searches then) of each query of the set."""
    return [
        QueryChange(text, RETIRE, f"the traffic has left it: asked {then:,} times at sampling, 0 since")
        for text, trend, then in sorted(trends)
        if trend == LEFT
    ]


def draw_new(new: Sequence[NewQuery], number: int, seed: int, quarter: Quarter) -> NewDraw:
    """Draw queries from new traffic, from each frequency band alike."""
    ordered = seeded(new, seed, lambda query: ["new query", query.normalised])
    number = min(number, len(ordered))
    if not number:
        return NewDraw((), ())
    traffic = np.array([query.searches for query in ordered], np.int64)
    names = tuple(f"{band}{BETWEEN}{quarter.name}" for band in BANDS)
    drawing = draw_stratified(traffic, strata := Labels(band_of(traffic), names), number)
    changes = tuple(
        QueryChange(
            ordered[row].normalised,
            ADD,
            "new in the traffic",
            strata.name_of(row),
            ordered[row].searches,
            probability,
        )
        for row, probability in zip(drawing.rows.tolist(), drawing.probability.tolist(), strict=True)
    )
    return NewDraw(tuple(sorted(changes)), tuple(row for row in drawing.strata if row.population))
