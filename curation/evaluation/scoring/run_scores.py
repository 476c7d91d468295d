"""The scores of a run for each query, and their bounds, from which all figures are made.

A query that the run misses has 0, and is counted. A query without relevant documents has no score: it is left
out of the measures that need one, and counted. Every score has the share of judged documents next to it,
among those that its measure looks at: to its depth, of rprec to the number of relevant documents, of rbp by
its weights, of map and bpref in the whole list.

What would a run reach if every unjudged document that it returned were relevant, or none? To the depth of
each measure, unjudged documents get the highest grade of the scale, or the lowest; of measures of the whole
list, those among the first `MAX_UNJUDGED`, because nobody is going to judge what is below. What the run did
not return stays as it was judged. The measures themselves take unjudged documents for not relevant, so
`if_none` is the value. bpref passes them over: either grade would make another list of judged documents of
it, and neither end would be below or above the value. So it has no bounds. Measures of
chunks have none either, because a grade does not say where the evidence is.

The highest value of a query is the value of a list of its relevant documents, best first. A query with one
relevant document cannot have more than 0.1 in precision@10, whatever the run. So no interval of a mean
reaches above the highest of these values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.evaluation.scoring.measure_names import CONTEXT, KINDS, Measure
from curation.evaluation.scoring.measure_values import (
    extra_measures,
    judged_places,
    judged_weight,
    residual,
    trec_eval_measures,
    unjudged_weight,
    with_highest,
)
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import (
    UNJUDGED,
    Rankings,
    RunRows,
    TieCounts,
    queries_with_choice,
    rank,
    reordered,
    run_rows,
    ties_of,
)

BY_MEASURE = ("values", "highest", "judged", "residual", "best", "worst", "if_none", "if_all")
"""The fields of `RunScores` of shape (Q, M)."""
MAX_UNJUDGED = 100
UNBOUNDED = (*("judged", "bpref", "num_ret"), *(kind.name for kind in KINDS.values() if kind.of_chunks))
"""Kinds of measures without either end."""
BELOW = (
    "A figure may be lower if all are relevant than if none is: the best list then holds the documents made "
    "relevant, too, and documents that the run has far below count against it."
)


@dataclass(frozen=True)
class RunScores:
    """What one run reached, query by query; of a sealed part it never leaves `evaluation`.

    Attributes
    ----------
    query_ids: Q of them, ordered.
    measures: M of them.
    values: shape (Q, M), NaN where the query has nothing relevant (for judged@k: where it got no
        document). Totals have a value of each query.
    highest: as `values`, what a query can have at most on the data (`highest_values`).
    judged: share of judged documents among the ones that each measure looks at, NaN without any, shape (Q,
        M).
    residual: what unjudged and unseen documents could add to rbp, with either gain, NaN for other measures,
        shape (Q, M).
    best, worst: as `values`, with equal scores in the best and the worst order; NaN for measures of chunks.
    if_none, if_all: as `values`, if no unjudged document were relevant, or every one (`bounds`).
    returned: documents that each query got, shape (Q,); 0 where the run misses it.
    """

    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats
    highest: Floats
    judged: Floats
    residual: Floats
    best: Floats
    worst: Floats
    if_none: Floats
    if_all: Floats
    returned: Ints
    ties: TieCounts

    def of(self, name: str) -> Floats:
        """The values of one measure by name, shape (Q,)."""
        return self.values[:, [measure.name for measure in self.measures].index(name)]


def score_run(run: Mapping[str, Mapping[str, float]], qrels: Qrels, measures: Sequence[Measure]) -> RunScores:
    """Score query → document → score.

    Raises
    ------
    InputError: a score is no number.
    """
    return score_rows(run_rows(run, qrels), qrels, measures)


def score_rows(rows: RunRows, qrels: Qrels, measures: Sequence[Measure]) -> RunScores:
    """Score the rows of a run."""
    return score_ranking(rank(rows, qrels), qrels, measures)


def score_ranking(ranking: Rankings, qrels: Qrels, measures: Sequence[Measure]) -> RunScores:
    """Score a run that is in order."""
    values = values_of(ranking, qrels, measures)
    ties = ties_of(ranking)
    best, worst = (_with_ties(ranking, best, qrels, measures, values) for best in (True, False))
    if_none, if_all = unjudged_bounds(ranking, qrels, measures, values)
    return RunScores(
        query_ids=qrels.query_ids,
        measures=tuple(measures),
        values=values,
        highest=highest_values(measures, qrels, ranking.chunks.most_words if ranking.chunks else 0),
        judged=_judged(ranking, qrels, measures),
        residual=_residuals(ranking, measures),
        best=best,
        worst=worst,
        if_none=if_none,
        if_all=if_all,
        returned=ranking.returned,
        ties=ties,
    )


def _with_ties(
    ranking: Rankings, best: bool, qrels: Qrels, measures: Sequence[Measure], values: Floats
) -> Floats:
    """The values with equal scores in the best or the worst order."""
    queries, reordered_values = queries_with_choice(ranking), values.copy()
    if len(queries):
        reordered_values[queries] = values_of(reordered(ranking, best, qrels.scale[0]), qrels, measures)[
            queries
        ]
    reordered_values[:, [measure.of_chunks for measure in measures]] = np.nan
    return reordered_values


def mean_scores(runs: Sequence[RunScores]) -> RunScores:
    """The mean of several runs of one system, query by query; ties and returned documents are summed."""
    if len(runs) == 1:
        return runs[0]
    means = {field: np.mean([getattr(run, field) for run in runs], axis=0) for field in BY_MEASURE}
    return replace(
        runs[0],
        **means,
        returned=np.sum([run.returned for run in runs], axis=0),
        ties=TieCounts(*(sum(counts) for counts in zip(*(run.ties for run in runs), strict=True))),
    )


def values_of(ranking: Rankings, qrels: Qrels, measures: Sequence[Measure]) -> Floats:
    """The values of rankings, shape (Q, M), NaN where a query has nothing relevant."""
    values = np.zeros((len(qrels.query_ids), len(measures)))
    by_engine = [column for column, measure in enumerate(measures) if measure.by_engine]
    if by_engine:
        wanted = [measures[column] for column in by_engine]
        values[:, by_engine] = trec_eval_measures(wanted, qrels, judged_places(qrels, ranking))
    for column, measure in enumerate(measures):
        if measure.kind == "judged":
            values[:, column] = _share_judged(ranking, measure.depth)
        elif not measure.by_engine:
            values[:, column] = extra_measures(measure, ranking, qrels, qrels.relevant_documents)
        values[qrels.lacking(measure), column] = np.nan
    return values


def _judged(ranking: Rankings, qrels: Qrels, measures: Sequence[Measure]) -> Floats:
    depths = {depth: _share_judged(ranking, depth) for depth in {measure.depth for measure in measures}}
    shares = []
    for measure in measures:
        if measure.of_chunks and ranking.chunks is not None:
            shares.append(ranking.chunks.share_judged(measure, len(qrels.query_ids)))
        elif measure.persistence is not None:
            shares.append(judged_weight(ranking, measure.persistence))
        elif measure.kind == "rprec":
            shares.append(_share_judged(ranking, qrels.relevant_documents))
        else:
            shares.append(depths[measure.depth])
    return np.stack(shares, axis=1)


def _share_judged(ranking: Rankings, depth: Ints | int | None) -> Floats:
    """The share of judged documents among the first of each query, shape (Q,); a depth may be of each."""
    looked_at = ranking.returned if depth is None else np.minimum(ranking.returned, depth)
    counted = ranking.grade != UNJUDGED
    if depth is not None:
        counted &= ranking.rank <= np.broadcast_to(depth, looked_at.shape)[ranking.query]
    judged = np.bincount(ranking.query[counted], minlength=len(looked_at))
    return ratio(judged, looked_at)


def _residuals(ranking: Rankings, measures: Sequence[Measure]) -> Floats:
    residuals = np.full((len(ranking.returned), len(measures)), np.nan)
    for column, measure in enumerate(measures):
        if measure.persistence is not None:
            residuals[:, column] = residual(ranking, measure.persistence)
    return residuals


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
        inside = unjudged[ranking.rank[unjudged] <= (depth or MAX_UNJUDGED)]
        by_engine = [
            column
            for column, measure in enumerate(measures)
            if measure.depth == depth and measure.by_engine and measure.kind not in UNBOUNDED
        ]
        if by_engine and len(inside):
            scenario = with_highest(places, ranking.query[inside], ranking.rank[inside])
            if_all[:, by_engine] = trec_eval_measures(
                [measures[column] for column in by_engine], qrels, scenario
            )
        for column, measure in enumerate(measures):
            is_extra = not measure.by_engine and measure.persistence is None and measure.kind not in UNBOUNDED
            if measure.depth == depth and is_extra:
                if_all[:, column] = _own(measure, ranking, qrels, inside)
    for column, measure in enumerate(measures):
        if measure.persistence is not None:
            if_all[:, column] = values[:, column] + unjudged_weight(ranking, measure.persistence)
        elif measure.kind in UNBOUNDED:
            if_none[:, column] = if_all[:, column] = np.nan
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

    NaN where no run has a value: the query has nothing relevant. It is 1 for every judged@k, and infinite for
    num_ret.

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
            highest = np.minimum(relevant, measure.depth) / relevant
        elif measure.kind == "precision":
            highest = np.minimum(relevant, measure.depth or np.inf) / (measure.depth or 1)
        elif measure.kind in ("err", "rbp_graded"):
            highest = extra_measures(measure, _best_lists(qrels), qrels, qrels.relevant_documents)
        elif measure.persistence is not None:
            highest = 1 - measure.persistence**relevant
        elif measure.kind == CONTEXT:
            highest = np.full(len(relevant), float((measure.depth or 1) * most_words))
        elif measure.summary == "total":
            highest = np.full(len(relevant), np.inf) if measure.kind == "num_ret" else relevant
        else:
            highest = np.ones(len(relevant))
    return np.where(qrels.lacking(measure), np.nan, highest)


def _best_lists(qrels: Qrels) -> Rankings:
    """Every query's judged documents, the highest grades first."""
    order = np.lexsort((-qrels.grade, qrels.query))
    query = qrels.query[order]
    returned = np.bincount(query, minlength=len(qrels.query_ids))
    first = np.concatenate([[0], np.cumsum(returned)[:-1]])
    rank = np.arange(1, len(order) + 1) - first[query]
    return Rankings(query, rank, qrels.grade[order], order, returned, order, np.zeros_like(rank))
