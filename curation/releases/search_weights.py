"""Search weights: how many searches of the traffic each evaluated query represents.

The weight of a query is its number of searches over its probability of being evaluated: the probability of
being drawn, times the share of its stratum's drawn queries that are evaluated (Särndal, Swensson & Wretman
1992, Model Assisted Survey Sampling, section 5.7).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from curation.core.statistics.arrays import Floats


def compute_search_weights(
    strata: Sequence[str], traffic: Floats, probability: Floats, drawn: Mapping[str, int]
) -> Floats:
    """Compute the search weights of Q evaluated queries, shape (Q,); NaN for a query that was not drawn.

    Parameters
    ----------
    traffic: how often each query was asked; NaN where the query was not drawn.
    probability: the probability of being drawn; NaN where the query was not drawn.
    drawn: stratum → number of queries that the sample drew, evaluated or not.
    """
    evaluated = Counter(strata)
    share = np.array([evaluated[name] / max(drawn.get(name, 0), 1) for name in strata])
    weights: Floats = traffic / (probability * share)
    return weights
