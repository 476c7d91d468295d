"""The evaluated queries that were drawn from the traffic, with the searches that each represents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.releases.search_weights import search_weights


class DrawnQueries(NamedTuple):
    """The D of the evaluated queries that were drawn, from S strata.

    Attributes
    ----------
    queries: positions among the evaluated queries, shape (D,).
    weights: searches that each represents, shape (D,). strata: number of the stratum of each, shape (D,).
    open_share: each stratum's share that was not evaluated and could have been, shape (S,).
    """

    queries: Ints
    weights: Floats
    strata: Ints
    open_share: Floats


def drawn_queries(
    stratum: Sequence[str],
    traffic: Floats,
    probability: Floats,
    drawn: Mapping[str, int],
    population: Mapping[str, int],
    design: str | None,
) -> DrawnQueries:
    """The queries with a weight, of Q evaluated ones.

    Parameters
    ----------
    stratum: the name of each query's stratum.
    traffic, probability: how often each was asked, and its chance of being drawn, shape (Q,); NaN where it is
        not of the release's sample.
    drawn, population: stratum → queries that the sample drew from it, and that it has.
    design: 'stratified', 'pps', or None if there is no sample.
    """
    weights = search_weights(stratum, traffic, probability, drawn)
    queries = np.flatnonzero(~np.isnan(weights))
    names, strata = np.unique([stratum[query] for query in queries.tolist()], return_inverse=True)
    sizes = np.array([population.get(name, 0) for name in names.tolist()], np.float64)
    evaluated = ratio(np.bincount(strata, minlength=len(names)), sizes, 0.0)
    open_share = np.clip(1 - evaluated, 0, 1) if design == "stratified" else np.ones(len(names))
    return DrawnQueries(queries, weights[queries], strata.astype(np.int64), open_share)
