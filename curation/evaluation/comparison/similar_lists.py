"""How alike the lists of two systems are, whatever is relevant: overlap, rank-biased overlap, AP correlation.

    overlap@k   share of the first k documents that are the same
    rbo         rank-biased overlap, extrapolated: agreement at every depth, the first depths weighing most
                (W. Webber, A. Moffat and J. Zobel (2010), A similarity measure for indefinite rankings, ACM
                Transactions on Information Systems 28, equation 32)
    tau_ap      whether documents that both lists have are in the same order, the first places weighing most:
                1 in the same, 0 as by chance, −1 reversed (E. Yilmaz, J. A. Aslam and S. Robertson (2008), A
                new rank correlation coefficient for information retrieval, SIGIR). Neither list is the true
                one, so it is the mean of both directions

Each is of one query; what is shown is the mean over queries. Lists are looked at down to `DEEPEST`, in the
order by which measures see them: equal scores by document id. Two systems with many equal scores look more
alike by that (M. Corsi and J. Urbano (2024), The treatment of ties in rank-biased overlap, SIGIR).

None of this reads a grade, so it tells nothing of sealed ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.arrow import ints_of, numbers
from curation.evaluation.comparison.pairs import MOST_PAIRS, SystemPair, system_pairs
from curation.scoring.metrics.qrels import Rankings, RunRows
from curation.statistics.arrays import Floats, Ints
from curation.statistics.rank_correlation import ap_correlations

DEEPEST = 100
"""Documents of a list that are looked at."""
DEPTHS = (10, DEEPEST)
PERSISTENCE = 0.9
"""Of rank-biased overlap: the first ten ranks have 86 % of the weight."""


class SimilarLists(NamedTuple):
    """Two systems, the mean over queries of each figure, None without a query that has it.

    Attributes
    ----------
    overlap: depth → share of common documents.
    n: queries for which one of the two returned something.
    ordered: queries for which both returned two common documents or more, which tau_ap is of.
    """

    system: str
    other: str
    overlap: Mapping[int, float | None]
    rbo: float | None
    tau_ap: float | None
    n: int
    ordered: int


class FirstPlaces(NamedTuple):
    """The first documents of one system's lists: query and rank of shape (N,), and N ids."""

    query: Ints
    rank: Ints
    documents: pa.Array


def first_places(rows: RunRows, ranking: Rankings) -> FirstPlaces:
    """The places of a run, which is in order, that are compared with other runs'."""
    first = ranking.rank <= DEEPEST
    documents = rows.documents.take(numbers(ranking.order[first]))
    return FirstPlaces(ranking.query[first], ranking.rank[first], documents)


def similar_lists(
    systems: Mapping[str, FirstPlaces], queries: int, baseline: str | None = None
) -> tuple[SimilarLists, ...]:
    """Every pair of systems, or each one with the baseline; none where these are more than `MOST_PAIRS`.

    Parameters
    ----------
    systems: name → the first places of one run.
    queries: how many there are, Q.

    Raises
    ------
    InputError: the baseline is none of the systems.
    """
    names = list(systems)
    pairs = system_pairs(names, baseline)
    if not 0 < len(pairs) <= MOST_PAIRS:
        return ()
    ranks = _ranks(list(systems.values()), queries)
    return tuple(_compared(names, pair, ranks) for pair in pairs)


class _Ranks(NamedTuple):
    """The rank of each document of each query in every list, shape (S, U), 0 where it is not in the list.

    Columns are ordered by query, which `query`, shape (U,), holds. `lengths` are of the lists, shape (S, Q).
    """

    query: Ints
    rank: NDArray[np.int16]
    lengths: Ints


def _ranks(systems: Sequence[FirstPlaces], queries: int) -> _Ranks:
    documents = pa.concat_arrays([lists.documents for lists in systems])
    codes = ints_of(documents.dictionary_encode().indices)
    query = np.concatenate([lists.query for lists in systems])
    width = int(codes.max(initial=0)) + 1
    pairs, row = np.unique(query * width + codes, return_inverse=True)
    ranks = np.zeros((len(systems), len(pairs)), np.int16)
    system = np.repeat(np.arange(len(systems)), [len(lists.rank) for lists in systems])
    ranks[system, row] = np.concatenate([lists.rank for lists in systems])
    lengths = np.stack([np.bincount(lists.query, minlength=queries) for lists in systems])
    return _Ranks(pairs // width, ranks, lengths)


def _compared(names: Sequence[str], of: SystemPair, ranks: _Ranks) -> SimilarLists:
    ours, theirs = ranks.rank[of.system], ranks.rank[of.other]
    lengths = ranks.lengths[[of.system, of.other]]
    queries = lengths.shape[1]
    common = np.flatnonzero((ours > 0) & (theirs > 0))
    query, pair = ranks.query[common], np.stack([ours[common], theirs[common]])
    returned = lengths.max(axis=0) > 0
    reached = pair.max(axis=0).astype(np.int64)
    overlaps = {}
    for depth in DEPTHS:
        same = np.bincount(query[reached <= depth], minlength=queries)[returned]
        overlaps[depth] = _mean(same / np.minimum(lengths.max(axis=0), depth)[returned])
    taus = _taus(query, pair, queries)
    return SimilarLists(
        names[of.system],
        names[of.other],
        overlaps,
        _mean(rank_biased_overlaps(query, reached, lengths)[returned]),
        _mean(taus[~np.isnan(taus)]),
        int(returned.sum()),
        int((~np.isnan(taus)).sum()),
    )


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def rank_biased_overlaps(query: Ints, reached: Ints, lengths: Ints, p: float = PERSISTENCE) -> Floats:
    """Extrapolated rank-biased overlap of each query, shape (Q,); 0 where a list is empty.

    Parameters
    ----------
    query, reached: shape (C,), for each common document its query and the deeper one of its two ranks: from
        that depth on both lists have it.
    lengths: shape (2, Q).
    """
    queries = lengths.shape[1]
    short, long = lengths.min(axis=0), lengths.max(axis=0)
    depth = np.arange(1, int(long.max(initial=0)) + 1)
    weights = np.concatenate([[0.0], np.cumsum(p**depth)])
    shares = np.concatenate([[0.0], np.cumsum(p**depth / depth)])  # what one document adds from depth 1 on
    seen = np.bincount(query, shares[long[query]] - shares[reached - 1], minlength=queries)
    within = np.bincount(query[reached <= short[query]], minlength=queries)
    both = np.bincount(query, minlength=queries)
    divisor = np.maximum(short, 1)
    missed = within / divisor * (weights[long] - weights[short] - short * (shares[long] - shares[short]))
    beyond = ((both - within) / np.maximum(long, 1) + within / divisor) * p**long
    found: Floats = (1 - p) / p * (seen + missed) + beyond
    return found


def _taus(query: Ints, ranks: NDArray[np.int16], queries: int) -> Floats:
    """AP correlation of each query's common documents, both directions' mean, shape (Q,); NaN below two."""
    times = np.bincount(query, minlength=queries)
    width = int(times.max(initial=0))
    found = np.full(queries, np.nan)
    chosen = times > 1
    if not chosen.any():
        return found
    own, other = (_places(query, rank, times) for rank in ranks)
    table = np.full((queries, width), np.iinfo(np.int16).max, np.int16)
    table[query, own] = other + 1
    found[chosen] = ap_correlations(table[chosen], times[chosen], both=True)
    return found


def _places(query: Ints, rank: NDArray[np.int16], times: Ints) -> Ints:
    """The place of each common document among those of its query, from 0, shape (C,)."""
    cell = query * DEEPEST + rank - 1
    held = np.zeros(len(times) * DEEPEST, np.int64)
    held[cell] = 1
    places: Ints = np.cumsum(held)[cell] - 1 - (np.cumsum(times) - times)[query]
    return places
