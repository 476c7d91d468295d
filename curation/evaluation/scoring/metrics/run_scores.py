"""The scores of a run for each query, from which all figures are made.

A query that the run misses has 0, and is counted. A query without relevant documents has no score: it is left
out of the measures that need one, and counted. Every score has the share of judged documents next to it,
among those that its measure looks at: to its depth, of rprec to the number of relevant documents, of rbp by
its weights, of map and bpref in the whole list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.evaluation.scoring.metrics.bounds import highest_values, unjudged_bounds
from curation.evaluation.scoring.metrics.extra_measures import extra_measures, judged_weight, residual
from curation.evaluation.scoring.metrics.measures import Measure
from curation.evaluation.scoring.metrics.qrels import (
    UNJUDGED,
    Qrels,
    Rankings,
    RunRows,
    TieCounts,
    queries_with_choice,
    rank,
    reordered,
    run_rows,
    ties_of,
)
from curation.evaluation.scoring.metrics.trec_eval_measures import judged_places, trec_eval_measures

BY_MEASURE = ("values", "highest", "judged", "residual", "best", "worst", "if_none", "if_all")
"""The fields of `RunScores` of shape (Q, M)."""


@dataclass(frozen=True)
class RunScores:
    """What one run reached, query by query; of a sealed part it never leaves `evaluation`.

    Attributes
    ----------
    query_ids: Q of them, ordered.
    measures: M of them.
    values: shape (Q, M), NaN where the query has nothing relevant (for judged@k: where it got no document;
        for alpha_ndcg@k: where it has no subtopic). Totals have a value of each query.
    highest: as `values`, what a query can have at most on the data (`highest_values`).
    judged: share of judged documents among those that each measure looks at, NaN where these are none, shape
        (Q, M).
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

    def only(self, queries: Ints) -> RunScores:
        """The same for some of the queries, by position; the ties are still counted over all."""
        return replace(
            self,
            query_ids=tuple(self.query_ids[place] for place in queries.tolist()),
            returned=self.returned[queries],
            **{field: getattr(self, field)[queries] for field in BY_MEASURE},
        )


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
    queries, found = queries_with_choice(ranking), values.copy()
    if len(queries):
        found[queries] = values_of(reordered(ranking, best, qrels.scale[0]), qrels, measures)[queries]
    found[:, [measure.of_chunks for measure in measures]] = np.nan
    return found


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
    by_engine = [place for place, measure in enumerate(measures) if measure.by_engine]
    if by_engine:
        wanted = [measures[place] for place in by_engine]
        values[:, by_engine] = trec_eval_measures(wanted, qrels, judged_places(qrels, ranking))
    for place, measure in enumerate(measures):
        if measure.kind == "judged":
            values[:, place] = _share_judged(ranking, measure.depth)
        elif not measure.by_engine:
            values[:, place] = extra_measures(measure, ranking, qrels, qrels.relevant_documents)
        values[qrels.lacking(measure), place] = np.nan
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
    found = np.full((len(ranking.returned), len(measures)), np.nan)
    for place, measure in enumerate(measures):
        if measure.persistence is not None:
            found[:, place] = residual(ranking, measure.persistence)
    return found
