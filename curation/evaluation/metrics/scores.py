"""The scores of a run for each query, from which all figures are made.

A query that the run misses has 0, and is counted. A query without relevant documents has no score: it is left
out of the measures that need one, and counted. Every score has the share of judged documents beside it, to
the depth that its measure looks at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from curation.evaluation.metrics.engine import engine_values
from curation.evaluation.metrics.measures import Measure
from curation.evaluation.metrics.qrels import Ints, Qrels
from curation.evaluation.metrics.rankings import (
    UNJUDGED,
    Floats,
    Rankings,
    RunRows,
    TieCounts,
    rank,
    reordered,
    run_rows,
    ties_of,
)


@dataclass(frozen=True)
class RunScores:
    """What one run reached, query by query; of a sealed part it never leaves `evaluation`.

    Attributes
    ----------
    query_ids: Q of them, ordered.
    measures: M of them.
    values: shape (Q, M), NaN where the query has nothing relevant (for judged@k: where it got no document).
    judged: share of judged documents to the depth of each measure, NaN where a query got none, shape (Q, M).
    residual: what unjudged and unseen documents could add to rbp, NaN for other measures, shape (Q, M).
    best, worst: as `values`, with equal scores in the best and the worst order.
    returned: documents that each query got, shape (Q,); 0 where the run misses it.
    """

    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats
    judged: Floats
    residual: Floats
    best: Floats
    worst: Floats
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
            **{
                field: getattr(self, field)[queries]
                for field in ("values", "judged", "residual", "best", "worst", "returned")
            },
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
    ranking = rank(rows, qrels)
    values = values_of(ranking, qrels, measures)
    ties = ties_of(ranking)
    ends = [reordered(ranking, best, qrels.scale[0]) if ties.mattering else None for best in (True, False)]
    best, worst = (values if end is None else values_of(end, qrels, measures) for end in ends)
    return RunScores(
        query_ids=qrels.query_ids,
        measures=tuple(measures),
        values=values,
        judged=_judged(ranking, measures),
        residual=_residuals(ranking, measures),
        best=best,
        worst=worst,
        returned=ranking.returned,
        ties=ties,
    )


def mean_scores(runs: Sequence[RunScores]) -> RunScores:
    """The mean of several runs of one system, query by query; ties and returned documents are summed."""
    if len(runs) == 1:
        return runs[0]
    fields = ("values", "judged", "residual", "best", "worst")
    means = {field: np.mean([getattr(run, field) for run in runs], axis=0) for field in fields}
    return replace(
        runs[0],
        **means,
        returned=np.sum([run.returned for run in runs], axis=0),
        ties=TieCounts(*(sum(counts) for counts in zip(*(run.ties for run in runs), strict=True))),
    )


def values_of(ranking: Rankings, qrels: Qrels, measures: Sequence[Measure]) -> Floats:
    """The values of rankings, shape (Q, M), NaN where a query has nothing relevant."""
    values = np.zeros((len(qrels.query_ids), len(measures)))
    by_engine = [place for place, one in enumerate(measures) if one.kind not in ("rbp", "judged")]
    if by_engine:
        values[:, by_engine] = engine_values([measures[place] for place in by_engine], qrels, ranking)
    for place, measure in enumerate(measures):
        if measure.kind == "judged":
            values[:, place] = _share_judged(ranking, measure.depth)
            continue
        if measure.persistence is not None:
            values[:, place] = _rbp(ranking, qrels, measure.persistence)
        lacking = qrels.relevant_documents if measure.binary else qrels.gaining_documents
        values[lacking == 0, place] = np.nan
    return values


def _judged(ranking: Rankings, measures: Sequence[Measure]) -> Floats:
    depths = {depth: _share_judged(ranking, depth) for depth in {measure.depth for measure in measures}}
    return np.stack([depths[measure.depth] for measure in measures], axis=1)


def _share_judged(ranking: Rankings, depth: int | None) -> Floats:
    """The share of judged documents among the first of each query, shape (Q,)."""
    looked_at = ranking.returned if depth is None else np.minimum(ranking.returned, depth)
    counted = ranking.grade != UNJUDGED
    if depth is not None:
        counted &= ranking.rank <= depth
    judged = np.bincount(ranking.query[counted], minlength=len(looked_at))
    share: Floats = np.divide(judged, looked_at, out=np.full(len(judged), np.nan), where=looked_at > 0)
    return share


def _rbp(ranking: Rankings, qrels: Qrels, persistence: float) -> Floats:
    """(1 − p) Σ p^(rank − 1) over relevant documents (Moffat & Zobel 2008, section 3)."""
    relevant = ranking.grade >= qrels.relevant
    return _discounted(ranking, relevant, persistence)


def _residuals(ranking: Rankings, measures: Sequence[Measure]) -> Floats:
    """The weight of all places whose documents are unjudged or below the end of the list."""
    found = np.full((len(ranking.returned), len(measures)), np.nan)
    for place, measure in enumerate(measures):
        if measure.persistence is not None:
            unseen = measure.persistence ** ranking.returned.astype(np.float64)
            unjudged = _discounted(ranking, ranking.grade == UNJUDGED, measure.persistence)
            found[:, place] = unjudged + unseen
    return found


def _discounted(ranking: Rankings, counted: np.ndarray[tuple[int], np.dtype[np.bool_]], p: float) -> Floats:
    weights = (1 - p) * p ** (ranking.rank[counted] - 1.0)
    sums = np.bincount(ranking.query[counted], weights, minlength=len(ranking.returned))
    return sums.astype(np.float64)
