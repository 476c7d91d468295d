"""Formulas for measures of ranked documents that trec_eval lacks, or defines differently.

Expected reciprocal rank: a reader goes down the list and stops at a document of grade g with the probability
(2^g − 1) / 2^highest, with the highest grade of the scale; the value is the mean of 1 / the rank where the
reader stops. TREC's gdeval always takes 4 as the highest grade (O. Chapelle, D. Metzler, Y. Zhang and P.
Grinspan (2009), Expected reciprocal rank for graded relevance, CIKM, section 4).

The set measures are trec_eval's set_P, set_recall and set_F with β = 1 (van Rijsbergen 1979, Information
Retrieval, chapter 7).

Rank-biased precision: (1 − p) Σ gain · p^(rank − 1), for a reader who goes on to the next rank with
probability p. For rbp, the gain of a relevant document is 1 (Moffat & Zobel 2008, Rank-biased precision for
measurement of retrieval effectiveness, ACM TOIS 27, section 3). For rbp_graded, the gain is the grade as a
share of the scale's highest grade (Sakai & Kando 2008, On information retrieval metrics designed for
evaluation with incomplete relevance assessments, Information Retrieval 11). trec_eval 10 divides by the
highest grade that the query has.
"""

from __future__ import annotations

import numpy as np

from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats, Ints, Mask, ratio
from curation.evaluation.scoring.chunk_measures import compute_chunk_values
from curation.evaluation.scoring.evidence import sum_by_query
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import UNJUDGED, Rankings


def compute_measure(measure: Measure, ranking: Rankings, qrels: Qrels, relevant: Ints) -> Floats:
    """Compute a measure that trec_eval lacks, shape (Q,); the value of a query without a relevant document is
    meaningless.

    Parameters
    ----------
    measure: a measure that is not `is_trec_eval`; judged@k is excluded.
    relevant: the number of relevant documents of each query, shape (Q,).

    Raises
    ------
    InputError: the measure needs chunks, and the run has none.
    """
    if measure.of_chunks:
        if ranking.chunks is None:
            problem = f"{measure.name} needs chunks, but this list has only documents."
            raise InputError(problem, command="Choose measures of documents, such as --measures ndcg_exp@10.")
        return compute_chunk_values(measure, ranking.chunks, len(qrels.query_ids), qrels.relevant)
    if measure.kind == "err":
        return _expected_reciprocal_rank(ranking, qrels.scale[-1], measure.depth)
    is_relevant = ranking.grade >= qrels.relevant
    if measure.persistence is not None:
        graded = np.maximum(ranking.grade, 0) / max(qrels.scale[-1], 1)
        return _weigh(ranking, measure.persistence, is_relevant if measure.kind == "rbp" else graded)
    relevant_returned = np.bincount(ranking.query[is_relevant], minlength=len(relevant))
    returned = ranking.returned
    fractions: dict[str, tuple[Ints, Ints]] = {
        "set_precision": (relevant_returned, returned),
        "set_recall": (relevant_returned, relevant),
        "set_f1": (2 * relevant_returned, returned + relevant),
    }
    return ratio(*fractions[measure.kind], default=0.0)


def _expected_reciprocal_rank(ranking: Rankings, highest: int, depth: int | None) -> Floats:
    """Compute expected reciprocal rank (err), using sums of logarithms for products of probabilities."""
    has_gain = (ranking.grade > 0) & (ranking.rank <= (depth or np.inf))
    query, rank = ranking.query[has_gain], ranking.rank[has_gain]
    stop_chance = (np.exp2(ranking.grade[has_gain]) - 1) / 2.0**highest
    log_continue = np.concatenate([[0.0], np.cumsum(np.log1p(-stop_chance))])
    reach_chance = np.exp(log_continue[:-1] - log_continue[np.searchsorted(query, query)])
    return sum_by_query(query, reach_chance * stop_chance / rank, len(ranking.returned))


def weigh_unjudged(ranking: Rankings, persistence: float) -> Floats:
    """Compute how much the unjudged documents in each result list could add to the list's rbp, shape (Q,)."""
    return _weigh(ranking, persistence, ranking.grade == UNJUDGED)


def compute_judged_weight_share(ranking: Rankings, persistence: float) -> Floats:
    """Compute the judged documents' share of each list's rbp weight, shape (Q,); NaN for an empty list."""
    judged = _weigh(ranking, persistence, ranking.grade != UNJUDGED)
    return ratio(judged, _weigh(ranking, persistence, np.ones(len(ranking.grade))))


def _weigh(ranking: Rankings, persistence: float, gains: Floats | Mask) -> Floats:
    """Sum gain times rbp weight over each result list, shape (Q,)."""
    weights = (1 - persistence) * persistence ** (ranking.rank - 1.0)
    return sum_by_query(ranking.query, weights * gains, len(ranking.returned))
