"""The measures of trec_eval, for rankings that are in order already.

All that they need is where the judged documents are in each list, and how many documents of each grade a
query has. Both are columns of all queries, so no query and no document costs a Python object. None of these
measures needs the length of a list.

The definitions are those of trec_eval 9, with one gain more: C. Buckley and E. M. Voorhees (2005), Retrieval
system evaluation, in TREC: Experiment and Evaluation in Information Retrieval, MIT Press, chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.evaluation.scoring.metrics.measures import Measure
from curation.evaluation.scoring.metrics.qrels import (
    UNJUDGED,
    Qrels,
    Rankings,
)


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


def trec_eval_measures(measures: Sequence[Measure], qrels: Qrels, places: JudgedPlaces) -> Floats:
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
