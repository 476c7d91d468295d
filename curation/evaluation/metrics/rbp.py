"""Rank-biased precision: (1 − p) Σ gain · p^(rank − 1), for a reader who goes on with p.

The gain of a relevant document is 1 (A. Moffat and J. Zobel (2008), Rank-biased precision for measurement of
retrieval effectiveness, ACM TOIS 27, section 3: the value, and the residual that everything unknown could
add), or, of rbp_graded, its grade as a share of the highest of the scale (T. Sakai and N. Kando (2008), On
information retrieval metrics designed for evaluation with incomplete relevance assessments, Information
Retrieval 11). So both have the same residual. trec_eval 10 divides by the highest grade that the query has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curation.evaluation.metrics.rankings import UNJUDGED, Rankings
from curation.statistics.arrays import Floats


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
    share: Floats = np.divide(judged, every, out=np.full(len(every), np.nan), where=every > 0)
    return share


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
