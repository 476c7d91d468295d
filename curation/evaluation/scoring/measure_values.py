"""The values of each measure: measures of trec_eval, and rbp, err, sets and totals.

The measures of trec_eval need to know where the judged documents are in each list, and how many documents of
each grade a query has. Both are columns of all queries, so no query and no document costs a Python object.
None of these measures needs the length of a list. The definitions are from trec_eval 9, with one gain more:
C. Buckley and E. M. Voorhees (2005), Retrieval system evaluation, in TREC: Experiment and Evaluation in
Information Retrieval, MIT Press, chapter 3.

Expected reciprocal rank: a reader goes down the list and stops at a document of grade g with the probability
(2^g − 1) / 2^highest, with the highest grade of the scale; the value is the mean of 1 / the rank where the
reader stops. With TREC's gdeval the highest grade is always 4 (O. Chapelle, D. Metzler, Y. Zhang and P.
Grinspan (2009), Expected reciprocal rank for graded relevance, CIKM, section 4).

The set measures are trec_eval's set_P, set_recall and set_F with β = 1 (C. J. van Rijsbergen (1979),
Information Retrieval, chapter 7).

Rank-biased precision: (1 − p) Σ gain · p^(rank − 1), for a reader who goes on with p. The gain of a relevant
document is 1 (A. Moffat and J. Zobel (2008), Rank-biased precision for measurement of retrieval
effectiveness, ACM TOIS 27, section 3: the value, and the residual that everything unknown could add), or, of
rbp_graded, its grade as a share of the highest of the scale (T. Sakai and N. Kando (2008), On information
retrieval metrics designed for evaluation with incomplete relevance assessments, Information Retrieval 11). So
both have the same residual. trec_eval 10 divides by the highest grade that the query has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.evaluation.scoring.chunk_measures import chunk_values
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import UNJUDGED, Rankings


class JudgedPlaces(NamedTuple):
    """All that the engine needs to know of a run.

    Attributes
    ----------
    query, rank, grade: of each judged document that the run has, by query, then rank, shape (N,).
    grades: ascending, up to the highest of the scale, shape (G,).
    totals: how many documents of each grade a query has, in the list or not, shape (Q, G).
    """

    query: Ints
    rank: Ints
    grade: Ints
    grades: Ints
    totals: Ints


def judged_places(qrels: Qrels, ranking: Rankings) -> JudgedPlaces:
    """Where a ranking has the judged documents."""
    is_judged = ranking.judged != UNJUDGED
    grade = qrels.grade[ranking.judged[is_judged]]
    return JudgedPlaces(ranking.query[is_judged], ranking.rank[is_judged], grade, *qrels.grade_counts)


def with_highest(places: JudgedPlaces, query: Ints, rank: Ints) -> JudgedPlaces:
    """The same where further documents had the highest grade.

    Parameters
    ----------
    query, rank: of each; rank 0 for one that the list does not have.
    """
    counts = places.totals.copy()
    counts[:, -1] += np.bincount(query, minlength=len(counts))
    listed = rank > 0
    queries = np.concatenate([places.query, query[listed]])
    ranks = np.concatenate([places.rank, rank[listed]])
    grade = np.concatenate([places.grade, np.full(listed.sum(), places.grades[-1])])
    order = np.argsort(queries * (ranks.max(initial=0) + 1) + ranks, kind="stable")
    return JudgedPlaces(queries[order], ranks[order], grade[order], places.grades, counts)


def trec_eval_measures(measures: Sequence[Measure], qrels: Qrels, places: JudgedPlaces) -> Floats:
    """Scores of shape (Q, M), 0 for queries that the run misses or that have nothing relevant.

    Parameters
    ----------
    measures: of any kind that the engine computes.
    """
    relevant = _relevant_places(places, qrels.relevant)
    values = np.zeros((len(places.totals), len(measures)))
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
    first = np.searchsorted(places.query, np.arange(len(places.totals)))
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
        places.totals[:, counted].sum(axis=1),
        places.totals[:, ~counted].sum(axis=1),
    )


def _reciprocal_rank(places: _RelevantPlaces, measure: Measure) -> Floats:
    relevant = places.to(measure.depth)
    return relevant.sums((relevant.number == 1) / relevant.rank)


def _average_precision(places: _RelevantPlaces, measure: Measure) -> Floats:
    relevant = places.to(measure.depth)
    return ratio(relevant.sums(relevant.number / relevant.rank), places.relevant, 0.0)


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
    queries = len(places.totals)
    inside = slice(None) if measure.depth is None else places.rank <= measure.depth
    gains = _gains(places.grade[inside], measure)
    dcg = np.bincount(places.query[inside], gains / np.log2(places.rank[inside] + 1), queries)
    descending = places.grades[::-1]
    ends = np.cumsum(places.totals[:, ::-1], axis=1)
    ends = ends if measure.depth is None else np.minimum(ends, measure.depth)
    times = np.diff(ends, prepend=0)
    query = np.repeat(np.arange(queries), ends[:, -1])
    rank = np.arange(1, len(query) + 1) - (np.cumsum(ends[:, -1]) - ends[:, -1])[query]
    best = np.repeat(np.tile(_gains(descending, measure), queries), times.ravel())
    ideal = np.bincount(query, best / np.log2(rank + 1), queries)
    return ratio(dcg, ideal, 0.0)


def _gains(grade: Ints, measure: Measure) -> Floats:
    return np.exp2(grade) - 1 if measure.kind == "ndcg_exp" else grade.astype(np.float64)


def extra_measures(measure: Measure, ranking: Rankings, qrels: Qrels, relevant: Ints) -> Floats:
    """The value of each query, shape (Q,); of one that has nothing relevant it means nothing.

    Parameters
    ----------
    measure: one that the engine does not compute, but not judged@k.
    relevant: how many relevant documents each query has, shape (Q,).

    Raises
    ------
    InputError: the measure needs chunks, and the run has none.
    """
    if measure.of_chunks:
        return _of_chunks(measure, ranking, qrels)
    if measure.kind == "err":
        return _err(ranking, qrels.scale[-1], measure.depth)
    if measure.kind == "rbp_graded":
        return rbp_graded(ranking, qrels.scale[-1], measure.persistence or 0.0)
    if measure.kind == "rbp":
        return rbp(ranking, qrels.relevant, measure.persistence or 0.0)
    relevant_returned = np.bincount(ranking.query[ranking.grade >= qrels.relevant], minlength=len(relevant))
    returned = ranking.returned
    wanted: dict[str, tuple[Ints, Ints | int]] = {
        "set_precision": (relevant_returned, returned),
        "set_recall": (relevant_returned, relevant),
        "set_f1": (2 * relevant_returned, returned + relevant),
        "num_ret": (returned, 1),
        "num_rel": (relevant, 1),
        "num_rel_ret": (relevant_returned, 1),
    }
    return ratio(*wanted[measure.kind], without=0.0)


def _of_chunks(measure: Measure, ranking: Rankings, qrels: Qrels) -> Floats:
    if ranking.chunks is None:
        raise InputError(
            f"{measure.name} is for chunks, but this list has documents alone.",
            command="Choose measures of documents, such as --measures ndcg_exp@10.",
        )
    return chunk_values(measure, ranking.chunks, len(qrels.query_ids), qrels.relevant)


def _err(ranking: Rankings, highest: int, depth: int | None) -> Floats:
    """The product of the chances to go on is a sum of logarithms, from the beginning of each list."""
    counted: NDArray[np.bool_] = ranking.grade > 0
    if depth is not None:
        counted = counted & (ranking.rank <= depth)
    query, rank = ranking.query[counted], ranking.rank[counted]
    stops = (np.exp2(ranking.grade[counted]) - 1) / 2.0**highest
    on = np.concatenate([[0.0], np.cumsum(np.log1p(-stops))])
    first = np.searchsorted(query, query)
    reached = np.exp(on[:-1] - on[first])
    return np.bincount(query, reached * stops / rank, minlength=len(ranking.returned)).astype(np.float64)


def rbp(ranking: Rankings, relevant: int, persistence: float) -> Floats:
    """The value of each query, shape (Q,)."""
    return _weight(ranking, ranking.grade >= relevant, persistence)


def rbp_graded(ranking: Rankings, highest: int, persistence: float) -> Floats:
    """The same with the grade as gain, shape (Q,); `highest` is the highest grade of the scale."""
    gains = np.maximum(ranking.grade, 0) / max(highest, 1)
    return _weight(ranking, gains > 0, persistence, gains)


def unjudged_weight(ranking: Rankings, persistence: float) -> Floats:
    """What unjudged documents of the list could add, shape (Q,)."""
    return _weight(ranking, ranking.grade == UNJUDGED, persistence)


def judged_weight(ranking: Rankings, persistence: float) -> Floats:
    """The judged documents' share of the weight of all that were returned, shape (Q,); NaN without any."""
    judged = _weight(ranking, ranking.grade != UNJUDGED, persistence)
    every = _weight(ranking, np.ones(len(ranking.grade), bool), persistence)
    return ratio(judged, every)


def residual(ranking: Rankings, persistence: float) -> Floats:
    """The same with all that is below the end of the list, shape (Q,)."""
    below: Floats = persistence ** ranking.returned.astype(np.float64)
    return unjudged_weight(ranking, persistence) + below


def _weight(
    ranking: Rankings, counted: NDArray[np.bool_], persistence: float, gains: Floats | None = None
) -> Floats:
    weights = (1 - persistence) * persistence ** (ranking.rank[counted] - 1.0)
    weights = weights if gains is None else weights * gains[counted]
    sums = np.bincount(ranking.query[counted], weights, minlength=len(ranking.returned))
    return sums.astype(np.float64)
