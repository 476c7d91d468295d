"""The measures of trec_eval, for rankings that are in order already.

All that they need is where the judged documents are in each list, and how many documents of each grade a
query has. Both are columns of all queries, so no query and no document costs a Python object. None of these
measures needs the length of a list.

The definitions are those of trec_eval 9, with one gain more: C. Buckley and E. M. Voorhees (2005), Retrieval
system evaluation, in TREC: Experiment and Evaluation in Information Retrieval, MIT Press, chapter 3.

Bounds of values: with unjudged documents relevant or not, and the highest that the data allow.

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

The scores of a run for each query, from which all figures are made.

A query that the run misses has 0, and is counted. A query without relevant documents has no score: it is left
out of the measures that need one, and counted. Every score has the share of judged documents next to it,
among
those that its measure looks at: to its depth, of rprec to the number of relevant documents, of rbp by its
weights, of map and bpref in the whole list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from curation.scoring.metrics.measures import CONTEXT, KINDS, Measure
from curation.scoring.metrics.own_values import judged_weight, own_values, residual, unjudged_weight
from curation.scoring.metrics.qrels import (
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
from curation.statistics.arrays import Floats, Ints, ratio


class JudgedPlaces(NamedTuple):
    """All that the engine needs to know of a run.

    Attributes
    ----------
    query, rank, grade: of each judged document that the run has, by query, then rank, shape (N,).
    grades: ascending, up to the highest of the scale, shape (G,).
    held: how many documents of each grade a query has, in the list or not, shape (Q, G).
    """

    query: Ints
    rank: Ints
    grade: Ints
    grades: Ints
    held: Ints


def judged_places(qrels: Qrels, ranking: Rankings) -> JudgedPlaces:
    """Where a ranking has the judged documents."""
    found = ranking.judged != UNJUDGED
    grade = qrels.grade[ranking.judged[found]]
    return JudgedPlaces(ranking.query[found], ranking.rank[found], grade, *qrels.held)


def with_highest(places: JudgedPlaces, query: Ints, rank: Ints) -> JudgedPlaces:
    """The same where further documents had the highest grade.

    Parameters
    ----------
    query, rank: of each; rank 0 for one that the list does not have.
    """
    held = places.held.copy()
    held[:, -1] += np.bincount(query, minlength=len(held))
    listed = rank > 0
    queries = np.concatenate([places.query, query[listed]])
    ranks = np.concatenate([places.rank, rank[listed]])
    grade = np.concatenate([places.grade, np.full(listed.sum(), places.grades[-1])])
    order = np.argsort(queries * (ranks.max(initial=0) + 1) + ranks, kind="stable")
    return JudgedPlaces(queries[order], ranks[order], grade[order], places.grades, held)


def engine_values(measures: Sequence[Measure], qrels: Qrels, places: JudgedPlaces) -> Floats:
    """Scores of shape (Q, M), 0 for queries that the run misses or that have nothing relevant.

    Parameters
    ----------
    measures: of any kind that the engine computes.
    """
    relevant = _relevant_places(places, qrels.relevant)
    values = np.zeros((len(places.held), len(measures)))
    for column, measure in zip(values.T, measures, strict=True):
        if measure.kind in ("ndcg", "ndcg_exp"):
            column[:] = _ndcg(places, measure)
        else:
            column[:] = _BINARY[measure.kind](relevant, measure)
    return values


class _RelevantPlaces(NamedTuple):
    """Where a run has relevant documents.

    Attributes
    ----------
    query, rank, number: of each place, by query, then rank; its number among the relevant ones, from 1.
    above: judged documents that are not relevant above it.
    relevant, irrelevant: how many judged documents of a query are and are not, shape (Q,).
    """

    query: Ints
    rank: Ints
    number: Ints
    above: Ints
    relevant: Ints
    irrelevant: Ints

    def sums(self, of: Floats | None = None) -> Floats:
        """The sum of what each place adds, by default 1, shape (Q,)."""
        return np.bincount(self.query, of, len(self.relevant)).astype(np.float64)

    def to(self, depth: Ints | int | None) -> _RelevantPlaces:
        """Those to a depth, which may be of each query; None is the whole list."""
        if depth is None:
            return self
        inside = self.rank <= np.broadcast_to(depth, self.relevant.shape)[self.query]
        query, rank, number, above = (column[inside] for column in self[:4])
        return _RelevantPlaces(query, rank, number, above, self.relevant, self.irrelevant)


def _relevant_places(places: JudgedPlaces, relevant: int) -> _RelevantPlaces:
    first = np.searchsorted(places.query, np.arange(len(places.held)))
    is_relevant = places.grade >= relevant
    before = np.concatenate([[0], np.cumsum(is_relevant)])
    at = np.flatnonzero(is_relevant)
    query = places.query[at]
    number = before[at + 1] - before[first[query]]
    counted = places.grades >= relevant
    return _RelevantPlaces(
        query,
        places.rank[at],
        number,
        at - first[query] - (number - 1),
        places.held[:, counted].sum(axis=1),
        places.held[:, ~counted].sum(axis=1),
    )


def _reciprocal_rank(places: _RelevantPlaces, measure: Measure) -> Floats:
    found = places.to(measure.depth)
    return found.sums((found.number == 1) / found.rank)


def _average_precision(places: _RelevantPlaces, measure: Measure) -> Floats:
    found = places.to(measure.depth)
    return ratio(found.sums(found.number / found.rank), places.relevant, 0.0)


def _r_precision(places: _RelevantPlaces, measure: Measure) -> Floats:
    return ratio(places.to(places.relevant).sums(), places.relevant, 0.0)


def _bpref(places: _RelevantPlaces, measure: Measure) -> Floats:
    """A relevant document is worth 1, less the share of the irrelevant ones that are above it."""
    relevant = places.relevant[places.query]
    whole = np.maximum(np.minimum(places.irrelevant[places.query], relevant), 1)
    worth = 1 - np.minimum(places.above, relevant) / whole
    return ratio(places.sums(worth), places.relevant, 0.0)


def _interpolated_precision(places: _RelevantPlaces, measure: Measure) -> Floats:
    """The best precision at a rank with as many relevant documents as the level of recall needs, or more."""
    needed = np.floor((measure.recall or 0.0) * places.relevant + 0.9)
    enough = places.number >= needed[places.query]
    best = np.zeros(len(needed))
    np.maximum.at(best, places.query[enough], (places.number / places.rank)[enough])
    return best


_BINARY: dict[str, Callable[[_RelevantPlaces, Measure], Floats]] = {
    "mrr": _reciprocal_rank,
    "map": _average_precision,
    "gmap": _average_precision,
    "recall": lambda places, measure: ratio(places.to(measure.depth).sums(), places.relevant, 0.0),
    "success": lambda places, measure: np.minimum(places.to(measure.depth).sums(), 1.0),
    "precision": lambda places, measure: places.to(measure.depth).sums() / (measure.depth or 1),
    "rprec": _r_precision,
    "bpref": _bpref,
    "iprec": _interpolated_precision,
}


def _ndcg(places: JudgedPlaces, measure: Measure) -> Floats:
    """Both sums are made from the top down, so that the best order has 1, not nearly."""
    queries = len(places.held)
    inside = slice(None) if measure.depth is None else places.rank <= measure.depth
    gains = _gains(places.grade[inside], measure)
    found = np.bincount(places.query[inside], gains / np.log2(places.rank[inside] + 1), queries)
    descending = places.grades[::-1]
    ends = np.cumsum(places.held[:, ::-1], axis=1)
    ends = ends if measure.depth is None else np.minimum(ends, measure.depth)
    times = np.diff(ends, prepend=0)
    query = np.repeat(np.arange(queries), ends[:, -1])
    rank = np.arange(1, len(query) + 1) - (np.cumsum(ends[:, -1]) - ends[:, -1])[query]
    best = np.repeat(np.tile(_gains(descending, measure), queries), times.ravel())
    ideal = np.bincount(query, best / np.log2(rank + 1), queries)
    return ratio(found, ideal, 0.0)


def _gains(grade: Ints, measure: Measure) -> Floats:
    return np.exp2(grade) - 1 if measure.kind == "ndcg_exp" else grade.astype(np.float64)


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
            found = own_values(measure, _best_lists(qrels), qrels, qrels.relevant_documents)
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
    bounds = unjudged_bounds(ranking, qrels, measures, values)
    return RunScores(
        query_ids=qrels.query_ids,
        measures=tuple(measures),
        values=values,
        highest=highest_values(measures, qrels, ranking.chunks.most_words if ranking.chunks else 0),
        judged=_judged(ranking, qrels, measures),
        residual=_residuals(ranking, measures),
        best=best,
        worst=worst,
        if_none=bounds.if_none,
        if_all=bounds.if_all,
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
    found[:, [one.of_chunks for one in measures]] = np.nan
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
    by_engine = [place for place, one in enumerate(measures) if one.by_engine]
    if by_engine:
        wanted = [measures[place] for place in by_engine]
        values[:, by_engine] = engine_values(wanted, qrels, judged_places(qrels, ranking))
    for place, measure in enumerate(measures):
        if measure.kind == "judged":
            values[:, place] = _share_judged(ranking, measure.depth)
        elif not measure.by_engine:
            values[:, place] = own_values(measure, ranking, qrels, qrels.relevant_documents)
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
