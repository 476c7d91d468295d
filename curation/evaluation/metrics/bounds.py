"""What a run would reach if every unjudged document that it returned were relevant, or none.

To the depth of each measure, unjudged documents get the highest grade of the scale, or the lowest; of
measures of the whole list, those among the first `DEEPEST_UNJUDGED`, for nobody is going to judge what is
below. What the run did not return stays as it was judged. The measures themselves take unjudged documents for
not relevant, so `if_none` is the value. bpref passes them over: either grade would make another list of
judged documents of it, and neither end would be below or above the value. So it has none. Nor has alpha_ndcg,
for a grade does not say to which subtopic a document is relevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from curation.evaluation.metrics.engine import engine_values, judged_places, with_highest
from curation.evaluation.metrics.measures import Measure
from curation.evaluation.metrics.own_values import own_values
from curation.evaluation.metrics.qrels import Qrels
from curation.evaluation.metrics.rankings import UNJUDGED, Rankings
from curation.evaluation.metrics.rbp import unjudged_weight
from curation.statistics.arrays import Floats, Ints

DEEPEST_UNJUDGED = 100
UNBOUNDED = ("judged", "bpref", "alpha_ndcg", "num_ret")
"""Kinds of measures without either end."""


BELOW = (
    "With all relevant a figure may be lower than with none: the best list then holds the documents made "
    "relevant, too, and those that the run has far below count against it."
)


def why_below(ends: Iterable[tuple[float | None, float | None]]) -> str:
    """Why some figure is lower if all are relevant, for pairs of if none and if all; empty where none is."""
    known = [(none, every) for none, every in ends if none is not None and every is not None]
    return BELOW if any(every < none for none, every in known) else ""


class UnjudgedBounds(NamedTuple):
    """Values as `RunScores.values`; for `UNBOUNDED` kinds they are NaN.

    Attributes
    ----------
    if_none, if_all: shape (Q, M), with no or every unjudged document relevant.
    """

    if_none: Floats
    if_all: Floats


def unjudged_bounds(
    ranking: Rankings, qrels: Qrels, measures: Sequence[Measure], values: Floats
) -> UnjudgedBounds:
    """Both ends for rankings whose `values` are known."""
    if_none, if_all = values.copy(), values.copy()
    unjudged, places = np.flatnonzero(ranking.grade == UNJUDGED), judged_places(qrels, ranking)
    for depth in {measure.depth for measure in measures}:
        inside = unjudged[ranking.rank[unjudged] <= (depth or DEEPEST_UNJUDGED)]
        by_engine = [
            place
            for place, one in enumerate(measures)
            if one.depth == depth and one.by_engine and one.kind not in UNBOUNDED
        ]
        if by_engine and len(inside):
            scenario = with_highest(places, ranking.query[inside], ranking.rank[inside])
            if_all[:, by_engine] = engine_values([measures[place] for place in by_engine], qrels, scenario)
        for place, one in enumerate(measures):
            own = not one.by_engine and one.persistence is None and one.kind not in UNBOUNDED
            if one.depth == depth and own:
                if_all[:, place] = _own(one, ranking, qrels, inside)
    for place, measure in enumerate(measures):
        if measure.persistence is not None:
            if_all[:, place] = values[:, place] + unjudged_weight(ranking, measure.persistence)
        elif measure.kind in UNBOUNDED:
            if_none[:, place] = if_all[:, place] = np.nan
    undefined = np.isnan(values)
    if_none[undefined] = if_all[undefined] = np.nan
    return UnjudgedBounds(if_none, if_all)


def _own(measure: Measure, ranking: Rankings, qrels: Qrels, graded: Ints) -> Floats:
    """The values of a measure of our own with the highest grade for these places."""
    grade = ranking.grade.copy()
    grade[graded] = qrels.scale[-1]
    more = np.bincount(ranking.query[graded], minlength=len(ranking.returned))
    return own_values(measure, replace(ranking, grade=grade), qrels, qrels.relevant_documents + more)
