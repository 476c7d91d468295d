"""The values of each measure: measures of trec_eval, and rbp, err, sets and totals.

The measures of trec_eval use the places of the judged documents in each list, and the number of documents of
each grade that a query has. The places and numbers are columns over all queries, without a Python object for
each query or document. None of trec_eval's measures needs the length of a list. The definitions are from
trec_eval 9, with the exponential gain added: C. Buckley and E. M. Voorhees (2005), Retrieval system
evaluation, in TREC: Experiment and Evaluation in Information Retrieval, MIT Press, chapter 3.

Expected reciprocal rank: a reader goes down the list and stops at a document of grade g with the probability
(2^g − 1) / 2^highest, with the highest grade of the scale; the value is the mean of 1 / the rank where the
reader stops. TREC's gdeval always takes 4 as the highest grade (O. Chapelle, D. Metzler, Y. Zhang and P.
Grinspan (2009), Expected reciprocal rank for graded relevance, CIKM, section 4).

The set measures are trec_eval's set_P, set_recall and set_F with β = 1 (van Rijsbergen 1979, Information
Retrieval, chapter 7).

Rank-biased precision: (1 − p) Σ gain · p^(rank − 1), for a reader who goes on to the next rank with
probability p. For rbp, the gain of a relevant document is 1 (Moffat & Zobel 2008, Rank-biased precision for
measurement of retrieval effectiveness, ACM TOIS 27, section 3, which also defines the residual: the weight of
all unknown documents). For rbp_graded, the gain is the grade as a share of the scale's highest grade (Sakai &
Kando 2008, On information retrieval metrics designed for evaluation with incomplete relevance assessments,
Information Retrieval 11). Both measures therefore have the same residual. trec_eval 10 divides by the highest
grade that the query has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats, Ints, Mask, ratio
from curation.evaluation.scoring.chunk_measures import chunk_values
from curation.evaluation.scoring.evidence import query_sums
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import UNJUDGED, Rankings


class JudgedPlaces(NamedTuple):
    """The places of judged documents in a run, and the number of judged documents of each query.

    Attributes
    ----------
    query, rank, grade: columns of the N judged documents in the run, by query, then rank, shape (N,).
    grades: the G grades, ascending up to the highest of the scale, shape (G,).
    totals: the number of documents with each grade by query, in the list or not, shape (Q, G).
    """

    query: Ints
    rank: Ints
    grade: Ints
    grades: Ints
    totals: Ints


def judged_places(qrels: Qrels, ranking: Rankings) -> JudgedPlaces:
    """Find the judged documents of a ranking."""
    is_judged = ranking.judged != UNJUDGED
    grade = qrels.grade[ranking.judged[is_judged]]
    return JudgedPlaces(ranking.query[is_judged], ranking.rank[is_judged], grade, *qrels.grade_counts)


def with_highest(places: JudgedPlaces, query: Ints, rank: Ints) -> JudgedPlaces:
    """Add documents with the highest grade.

    Parameters
    ----------
    query, rank: the query and the rank of each document; rank 0 if the list does not have the document.
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
    """Compute measures of trec_eval, shape (Q, M); 0 where the run misses a query or no document is relevant.

    Parameters
    ----------
    measures: measures that are `by_engine`.
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
    """The places of relevant documents in a run.

    Attributes
    ----------
    query, rank, number: columns of the places, by query, then rank; `number` counts the query's relevant
        documents from 1.
    above: the number of judged documents above the place that are not relevant.
    relevant, irrelevant: the numbers of judged documents of each query that are and are not relevant, shape
        (Q,).
    """

    query: Ints
    rank: Ints
    number: Ints
    above: Ints
    relevant: Ints
    irrelevant: Ints

    def sums(self, amounts: Floats | None = None) -> Floats:
        """Add up the amounts of each query's places, by default 1 a place, shape (Q,)."""
        return query_sums(self.query, amounts, len(self.relevant))

    def to(self, depth: Ints | int | None) -> _RelevantPlaces:
        """Keep the places down to a depth, which may differ by query; None keeps the whole list."""
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
    """Compute bpref: a relevant document counts 1 minus the share of irrelevant documents that are ranked
    above it.
    """
    relevant = places.relevant[places.query]
    whole = np.maximum(np.minimum(places.irrelevant[places.query], relevant), 1)
    worth = 1 - np.minimum(places.above, relevant) / whole
    return ratio(places.sums(worth), places.relevant, 0.0)


def _interpolated_precision(places: _RelevantPlaces, measure: Measure) -> Floats:
    """Find the best precision at a rank with as many relevant documents as the level of recall needs, or
    more."""
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
    """Compute nDCG; both sums are made from the top down, so that the best order has exactly 1."""
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
    """Compute a measure that trec_eval lacks, shape (Q,); the value means nothing without a relevant
    document.

    Parameters
    ----------
    measure: a measure that is not `by_engine`; judged@k is excluded.
    relevant: the number of relevant documents of each query, shape (Q,).

    Raises
    ------
    InputError: the measure needs chunks, and the run has none.
    """
    if measure.of_chunks:
        if ranking.chunks is None:
            raise InputError(
                f"{measure.name} is for chunks, but this list has only documents.",
                command="Choose measures of documents, such as --measures ndcg_exp@10.",
            )
        return chunk_values(measure, ranking.chunks, len(qrels.query_ids), qrels.relevant)
    if measure.kind == "err":
        return _expected_reciprocal_rank(ranking, qrels.scale[-1], measure.depth)
    is_relevant = ranking.grade >= qrels.relevant
    if measure.persistence is not None:
        graded = np.maximum(ranking.grade, 0) / max(qrels.scale[-1], 1)
        return _weights(ranking, measure.persistence, is_relevant if measure.kind == "rbp" else graded)
    relevant_returned = np.bincount(ranking.query[is_relevant], minlength=len(relevant))
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


def _expected_reciprocal_rank(ranking: Rankings, highest: int, depth: int | None) -> Floats:
    """Compute err; the product of the chances to go on is a sum of logarithms from the top of each list."""
    counted = (ranking.grade > 0) & (ranking.rank <= (depth or np.inf))
    query, rank = ranking.query[counted], ranking.rank[counted]
    stops = (np.exp2(ranking.grade[counted]) - 1) / 2.0**highest
    goes_on = np.concatenate([[0.0], np.cumsum(np.log1p(-stops))])
    reached = np.exp(goes_on[:-1] - goes_on[np.searchsorted(query, query)])
    return query_sums(query, reached * stops / rank, len(ranking.returned))


def unjudged_weight(ranking: Rankings, persistence: float) -> Floats:
    """Compute how much the unjudged documents of each list could add to rbp, shape (Q,)."""
    return _weights(ranking, persistence, ranking.grade == UNJUDGED)


def judged_weight(ranking: Rankings, persistence: float) -> Floats:
    """Compute the judged documents' share of each list's weight, shape (Q,); NaN for an empty list."""
    judged = _weights(ranking, persistence, ranking.grade != UNJUDGED)
    return ratio(judged, _weights(ranking, persistence, np.ones(len(ranking.grade))))


def residual(ranking: Rankings, persistence: float) -> Floats:
    """Compute how much unjudged documents and places below the list's end could add to rbp, shape (Q,)."""
    below: Floats = persistence ** ranking.returned.astype(np.float64)
    return unjudged_weight(ranking, persistence) + below


def _weights(ranking: Rankings, persistence: float, gains: Floats | Mask) -> Floats:
    """Add up gain times weight over each list, shape (Q,)."""
    weights = (1 - persistence) * persistence ** (ranking.rank - 1.0)
    return query_sums(ranking.query, weights * gains, len(ranking.returned))
