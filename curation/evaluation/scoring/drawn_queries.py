"""Evaluated queries drawn from the traffic, with the searches that each of them represents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.releases.search_weights import compute_search_weights


class DrawnQueries(NamedTuple):
    """The D evaluated queries that the sample drew from S strata.

    Attributes
    ----------
    queries: the indexes among the evaluated queries, shape (D,).
    weights: the number of searches that each query represents, shape (D,).
    strata: the number of each query's stratum, shape (D,).
    open_share: the share of each stratum that could have been evaluated and was not, shape (S,).
    """

    queries: Ints
    weights: Floats
    strata: Ints
    open_share: Floats


def find_drawn_queries(
    stratum: Sequence[str],
    traffic: Floats,
    probability: Floats,
    drawn: Mapping[str, int],
    population: Mapping[str, int],
    design: str | None,
) -> DrawnQueries:
    """Find which of Q evaluated queries were drawn from the traffic and therefore represent searches.

    Parameters
    ----------
    stratum: the name of each query's stratum.
    traffic, probability: the number of searches for each query, and its chance of being drawn, shape (Q,);
        NaN for a query outside the release's sample.
    drawn, population: stratum → the number of queries that the sample drew, and that the stratum has.
    design: 'stratified', 'pps', or None if there is no sample.
    """
    weights = compute_search_weights(stratum, traffic, probability, drawn)
    queries = np.flatnonzero(~np.isnan(weights))
    names, strata = np.unique([stratum[query] for query in queries.tolist()], return_inverse=True)
    sizes = np.array([population.get(name, 0) for name in names.tolist()], np.float64)
    evaluated = ratio(np.bincount(strata, minlength=len(names)), sizes, 0.0)
    open_share = np.clip(1 - evaluated, 0, 1) if design == "stratified" else np.ones(len(names))
    return DrawnQueries(queries, weights[queries], strata.astype(np.int64), open_share)
