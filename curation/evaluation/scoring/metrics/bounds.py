"""Bounds of values: with unjudged documents relevant or not, and the highest that the data allow.

What would a run reach if every unjudged document that it returned were relevant, or none? To the depth of
each measure, unjudged documents get the highest grade of the scale, or the lowest; of measures of the whole
list, those among the first `DEEPEST_UNJUDGED`, for nobody is going to judge what is below. What the run did
not return stays as it was judged. The measures themselves take unjudged documents for not relevant, so
`if_none` is the value. bpref passes them over: either grade would make another list of judged documents of
it, and neither end would be below or above the value. So it has none. Nor has alpha_ndcg, for a grade does
not say to which subtopic a document is relevant, nor have measures of chunks, for it does not say where the
evidence is.

The highest value of a query is that of a list of its relevant documents, best first. A query with one
relevant document cannot have more than 0.1 in precision@10, whatever the run. So no interval of a mean
reaches above the highest of these values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from curation.core.statistics.arrays import Floats, Ints
from curation.evaluation.scoring.metrics.extra_measures import extra_measures, unjudged_weight
from curation.evaluation.scoring.metrics.measures import CONTEXT, KINDS, Measure
from curation.evaluation.scoring.metrics.qrels import (
    UNJUDGED,
    Qrels,
    Rankings,
)
from curation.evaluation.scoring.metrics.trec_eval_measures import (
    judged_places,
    trec_eval_measures,
    with_highest,
)

DEEPEST_UNJUDGED = 100
UNBOUNDED = (
    *("judged", "bpref", "alpha_ndcg", "num_ret"),
    *(one.name for one in KINDS.values() if one.of_chunks),
)
"""Kinds of measures without either end."""
BELOW = (
    "With all relevant a figure may be lower than with none: the best list then holds the documents made "
    "relevant, too, and those that the run has far below count against it."
)


def why_below(ends: Iterable[tuple[float | None, float | None]]) -> str:
    """Why some figure is lower if all are relevant, for pairs of if none and if all; empty where none is."""
    known = [(none, every) for none, every in ends if none is not None and every is not None]
    return BELOW if any(every < none for none, every in known) else ""


def unjudged_bounds(
    ranking: Rankings, qrels: Qrels, measures: Sequence[Measure], values: Floats
) -> tuple[Floats, Floats]:
    """Values with no and with every unjudged document relevant, (Q, M) each; of `UNBOUNDED` kinds NaN."""
    if_none, if_all = values.copy(), values.copy()
    unjudged, places = np.flatnonzero(ranking.grade == UNJUDGED), judged_places(qrels, ranking)
    for depth in {measure.depth for measure in measures}:
        inside = unjudged[ranking.rank[unjudged] <= (depth or DEEPEST_UNJUDGED)]
        by_engine = [
            place
            for place, measure in enumerate(measures)
            if measure.depth == depth and measure.by_engine and measure.kind not in UNBOUNDED
        ]
        if by_engine and len(inside):
            scenario = with_highest(places, ranking.query[inside], ranking.rank[inside])
            if_all[:, by_engine] = trec_eval_measures(
                [measures[place] for place in by_engine], qrels, scenario
            )
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
    return if_none, if_all


def _own(measure: Measure, ranking: Rankings, qrels: Qrels, graded: Ints) -> Floats:
    """The values of a measure of our own with the highest grade for these places."""
    grade = ranking.grade.copy()
    grade[graded] = qrels.scale[-1]
    more = np.bincount(ranking.query[graded], minlength=len(ranking.returned))
    return extra_measures(measure, replace(ranking, grade=grade), qrels, qrels.relevant_documents + more)


def highest_values(measures: Sequence[Measure], qrels: Qrels, most_words: int = 0) -> Floats:
    """The highest value of each query by each measure, shape (Q, M), with unjudged documents not relevant.

    NaN where no run has a value: the query has nothing relevant. Of judged@k it is 1 for all, of num_ret
    infinite.

    Parameters
    ----------
    most_words: of a chunk of the run.
    """
    columns = [_highest(measure, qrels, most_words) for measure in measures]
    return np.stack(columns, axis=1) if columns else np.empty((len(qrels.query_ids), 0))


def _highest(measure: Measure, qrels: Qrels, most_words: int) -> Floats:
    relevant = qrels.relevant_documents.astype(np.float64)
    with np.errstate(invalid="ignore"):  # nothing relevant: no value
        if measure.kind in ("recall", "map") and measure.depth is not None:
            found = np.minimum(relevant, measure.depth) / relevant
        elif measure.kind == "precision":
            found = np.minimum(relevant, measure.depth or np.inf) / (measure.depth or 1)
        elif measure.kind in ("err", "rbp_graded"):
            found = extra_measures(measure, _best_lists(qrels), qrels, qrels.relevant_documents)
        elif measure.persistence is not None:
            found = 1 - measure.persistence**relevant
        elif measure.kind == CONTEXT:
            found = np.full(len(relevant), float((measure.depth or 1) * most_words))
        elif measure.summary == "total":
            found = np.full(len(relevant), np.inf) if measure.kind == "num_ret" else relevant
        else:
            found = np.ones(len(relevant))
    return np.where(qrels.lacking(measure), np.nan, found)


def _best_lists(qrels: Qrels) -> Rankings:
    """Every query's judged documents, the highest grades first."""
    order = np.lexsort((-qrels.grade, qrels.query))
    query = qrels.query[order]
    returned = np.bincount(query, minlength=len(qrels.query_ids))
    first = np.concatenate([[0], np.cumsum(returned)[:-1]])
    rank = np.arange(1, len(order) + 1) - first[query]
    return Rankings(query, rank, qrels.grade[order], order, returned, order, np.zeros_like(rank))
