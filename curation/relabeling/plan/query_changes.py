"""Query changes of a plan: which queries leave the set because the traffic has left them, and which join.

Queries that were never asked before are a frame apart from that of the sample. A query is in one of the two,
and keeps the inclusion probability of the draw that took it. So both draws together are one probability
sample, and its traffic is that of the new logs. A query that is not asked any more has no weight in an
estimate for the traffic, so that its leaving biases none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.core.text import seeded
from curation.queries.sampling.designs import Stratum, draw_stratified
from curation.queries.sampling.frame.bands import BANDS, band_of
from curation.queries.sampling.strata import BETWEEN, Labels
from curation.relabeling.staleness.quarter import Quarter
from curation.relabeling.staleness.staleness import SetState
from curation.relabeling.staleness.traffic import LEFT, NewQuery

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


def query_changes(state: SetState, seed: int) -> tuple[list[QueryChange], list[Stratum]]:
    """Who leaves, and as many who join, with the strata that they were drawn from; without new logs nobody
    does either.
    """
    if not state.traffic.has_new:
        return [], []
    leaving = []
    for query_id in {pair.query_id for pair in state.pairs}:
        text = state.queries[query_id].normalised
        traffic = state.traffic.of(query_id, text)
        if traffic.trend == LEFT:
            why = f"the traffic has left it: asked {traffic.then or 0:,} times at sampling, 0 since"
            leaving.append(QueryChange(text, RETIRE, why))
    back = [
        QueryChange(text, ADD, ASKED_AGAIN)
        for text in sorted(state.retired)
        if state.traffic.counts.get(text, (0,))[-1]
    ]
    joining, strata = _draw_new(state.traffic.new, max(0, len(leaving) - len(back)), seed, state.quarter)
    return [*sorted(leaving), *back, *joining], strata


def _draw_new(
    new: Sequence[NewQuery], number: int, seed: int, quarter: Quarter
) -> tuple[list[QueryChange], list[Stratum]]:
    """Draw queries from new traffic, from each frequency band alike."""
    ordered = seeded(new, seed, lambda query: ["new query", query.normalised])
    number = min(number, len(ordered))
    if not number:
        return [], []
    traffic = np.array([query.searches for query in ordered], np.int64)
    names = tuple(f"{band}{BETWEEN}{quarter.name}" for band in BANDS)
    drawing = draw_stratified(traffic, strata := Labels(band_of(traffic), names), number)
    changes = [
        QueryChange(
            *(ordered[row].normalised, ADD, "new in the traffic"),
            *(strata.name_of(row), ordered[row].searches, probability),
        )
        for row, probability in zip(drawing.rows.tolist(), drawing.probability.tolist(), strict=True)
    ]
    return sorted(changes), [row for row in drawing.strata if row.population]
