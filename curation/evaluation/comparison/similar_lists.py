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
from curation.evaluation.comparison.pairs import SystemPair, system_pairs
from curation.evaluation.metrics.qrels import Ints, Qrels
from curation.evaluation.metrics.rankings import Floats, RunRows, rank
from curation.statistics.rank_correlation import ap_correlations

DEEPEST = 100
"""Documents of a list that are looked at."""
DEPTHS = (10, DEEPEST)
MOST_PAIRS = 45
"""With more pairs there is no comparison of lists; ten systems have so many."""
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


def similar_lists(
    systems: Mapping[str, RunRows], qrels: Qrels, baseline: str | None = None
) -> tuple[SimilarLists, ...]:
    """Every pair of systems, or each one with the baseline; none where these are more than `MOST_PAIRS`.

    Parameters
    ----------
    systems: name → the places of one run.
    qrels: whose queries are looked at, and nothing else of it.

    Raises
    ------
    InputError: the baseline is none of the systems.
    """
    names = list(systems)
    pairs = system_pairs(names, baseline)
    if not 0 < len(pairs) <= MOST_PAIRS:
        return ()
    ranks = _ranks([_first_places(rows, qrels) for rows in systems.values()])
    return tuple(_compared(names, pair, ranks, len(qrels.query_ids)) for pair in pairs)


class _Lists(NamedTuple):
    """The first documents of one system: query and rank of shape (N,), and N ids."""

    query: Ints
    rank: Ints
    documents: pa.Array


def _first_places(rows: RunRows, qrels: Qrels) -> _Lists:
    ranking = rank(rows, qrels)
    first = ranking.rank <= DEEPEST
    return _Lists(
        ranking.query[first], ranking.rank[first], rows.documents.take(numbers(ranking.order[first]))
    )


class _Ranks(NamedTuple):
    """The rank of each document of each query in every list, shape (U, S), 0 where it is not in the list.

    Rows are ordered by query, which `query`, shape (U,), holds.
    """

    query: Ints
    rank: NDArray[np.int16]


def _ranks(systems: Sequence[_Lists]) -> _Ranks:
    documents = pa.concat_arrays([lists.documents for lists in systems])
    codes = ints_of(documents.dictionary_encode().indices)
    query = np.concatenate([lists.query for lists in systems])
    width = int(codes.max(initial=0)) + 1
    pairs, row = np.unique(query * width + codes, return_inverse=True)
    ranks = np.zeros((len(pairs), len(systems)), np.int16)
    column = np.repeat(np.arange(len(systems)), [len(lists.rank) for lists in systems])
    ranks[row, column] = np.concatenate([lists.rank for lists in systems])
    return _Ranks(pairs // width, ranks)


def _compared(names: Sequence[str], of: SystemPair, ranks: _Ranks, queries: int) -> SimilarLists:
    ours, theirs = ranks.rank[:, of.system], ranks.rank[:, of.other]
    lengths = np.stack(
        [np.bincount(ranks.query[one > 0], minlength=queries) for one in (ours, theirs)]
    ).astype(np.int64)
    common = (ours > 0) & (theirs > 0)
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
    starts = (np.cumsum(times) - times)[query]
    by_own, by_other = (np.lexsort((own, query)) for own in ranks)
    place = np.empty(len(query), np.int16)
    place[by_other] = np.arange(1, len(query) + 1) - starts[by_other]
    table = np.full((queries, width), np.iinfo(np.int16).max, np.int16)
    table[query[by_own], np.arange(len(query)) - starts[by_own]] = place[by_own]
    found[chosen] = ap_correlations(table[chosen], times[chosen], both=True)
    return found
