"""The measures that the engine does not have: rbp, err, alpha_ndcg, sets and totals.

Expected reciprocal rank: a reader goes down the list and stops at a document of grade g with the probability
(2^g − 1) / 2^highest, highest being that of the scale; the value is the mean of 1 / the rank where that is.
With TREC's gdeval the highest grade is always 4 (O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan (2009),
Expected reciprocal rank for graded relevance, CIKM, section 4).

The set measures are trec_eval's set_P, set_recall and set_F with β = 1 (C. J. van Rijsbergen (1979),
Information Retrieval, chapter 7).

Rank-biased precision: (1 − p) Σ gain · p^(rank − 1), for a reader who goes on with p.

The gain of a relevant document is 1 (A. Moffat and J. Zobel (2008), Rank-biased precision for measurement of
retrieval effectiveness, ACM TOIS 27, section 3: the value, and the residual that everything unknown could
add), or, of rbp_graded, its grade as a share of the highest of the scale (T. Sakai and N. Kando (2008), On
information retrieval metrics designed for evaluation with incomplete relevance assessments, Information
Retrieval 11). So both have the same residual. trec_eval 10 divides by the highest grade that the query has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.evaluation.scoring.metrics.evidence import chunk_values
from curation.evaluation.scoring.metrics.measures import Measure
from curation.evaluation.scoring.metrics.qrels import UNJUDGED, Qrels, Rankings, with_subtopics
from curation.evaluation.scoring.metrics.subtopics import alpha_ndcg, ideal_dcg


def extra_measures(measure: Measure, ranking: Rankings, qrels: Qrels, relevant: Ints) -> Floats:
    """The value of each query, shape (Q,); of one that has nothing relevant it means nothing.

    Parameters
    ----------
    measure: one that the engine does not compute, but not judged@k.
    relevant: how many relevant documents each query has, shape (Q,).

    Raises
    ------
    InputError: the measure needs subtopics, and the qrels have none, or chunks, and the run has none.
    """
    if measure.of_chunks:
        return _of_chunks(measure, ranking, qrels)
    if measure.alpha is not None:
        return _alpha_ndcg(measure, ranking, qrels)
    if measure.kind == "err":
        return _err(ranking, qrels.scale[-1], measure.depth)
    if measure.kind == "rbp_graded":
        return rbp_graded(ranking, qrels.scale[-1], measure.persistence or 0.0)
    if measure.kind == "rbp":
        return rbp(ranking, qrels.relevant, measure.persistence or 0.0)
    found = np.bincount(ranking.query[ranking.grade >= qrels.relevant], minlength=len(relevant))
    returned = ranking.returned
    wanted: dict[str, tuple[Ints, Ints | int]] = {
        "set_precision": (found, returned),
        "set_recall": (found, relevant),
        "set_f1": (2 * found, returned + relevant),
        "num_ret": (returned, 1),
        "num_rel": (relevant, 1),
        "num_rel_ret": (found, 1),
    }
    return ratio(*wanted[measure.kind], without=0.0)


def _of_chunks(measure: Measure, ranking: Rankings, qrels: Qrels) -> Floats:
    if ranking.chunks is None:
        raise InputError(
            f"{measure.name} is of chunks, and this list is one of documents alone.",
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


def _alpha_ndcg(measure: Measure, ranking: Rankings, qrels: Qrels) -> Floats:
    subtopics = with_subtopics(qrels, measure)
    depth, alpha = measure.depth or 1, measure.alpha or 0.0
    covering = np.full(len(ranking.rank), UNJUDGED) if ranking.covering is None else ranking.covering
    inside = ranking.rank <= depth
    ideal = ideal_dcg(subtopics, len(qrels.query_ids), depth, alpha)
    return alpha_ndcg(ranking.query[inside], ranking.rank[inside], covering[inside], subtopics, ideal, alpha)


def rbp(ranking: Rankings, relevant: int, persistence: float) -> Floats:
    """The value of each query, shape (Q,)."""
    return _weight(ranking, ranking.grade >= relevant, persistence)


def rbp_graded(ranking: Rankings, highest: int, persistence: float) -> Floats:
    """The same with the grade as gain, shape (Q,); `highest` is that of the scale."""
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
