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

Which unjudged documents could turn the comparison of two runs.

An unjudged document that both runs return at one rank can hardly matter; one that only the worse run returns
near the top can. Each is tried with the highest grade of the scale, alone, in both runs. Those that help the
worse run are then made relevant together, the most effective first, until the order turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.arrow import ints_of, numbers
from curation.evaluation.comparison.pairs import MOST_PAIRS, SystemPair, system_pairs
from curation.scoring.metrics.bounds import DEEPEST_UNJUDGED
from curation.scoring.metrics.engine import JudgedPlaces, engine_values, judged_places, with_highest
from curation.scoring.metrics.evidence import RunChunks
from curation.scoring.metrics.measures import Measure
from curation.scoring.metrics.qrels import UNJUDGED, Qrels, Rankings, RunRows, rank
from curation.statistics.arrays import Floats, Ints
from curation.statistics.rank_correlation import ap_correlations


class Shortlist(NamedTuple):
    """Of one run all that a measure looks at: where the judged documents are, and the unjudged ones by id.

    Attributes
    ----------
    query, rank, documents: of each unjudged document to the measure's depth (or `DEEPEST_UNJUDGED`).
    """

    places: JudgedPlaces
    query: Ints
    rank: Ints
    documents: pa.Array


class TurningDocument(NamedTuple):
    """An unjudged document.

    Attributes
    ----------
    rank_first, rank_second: in either run; None below the depth.
    effect: what the highest grade would change in the difference of the means.
    """

    query_id: str
    document_id: str
    rank_first: int | None
    rank_second: int | None
    effect: float


class Turning(NamedTuple):
    """What unjudged documents could do to the comparison of two systems.

    Attributes
    ----------
    difference: mean of the first less that of the second, on queries with a value.
    unjudged: documents without a grade that either returns to the depth, for these queries.
    needed: how many of `documents`, from the first on, turn the order if they are all of the highest grade;
        None if not even all of them do.
    documents: those whose highest grade would make the difference smaller, the most effective first.
    """

    first: str
    second: str
    measure: str
    difference: float
    unjudged: int
    needed: int | None
    documents: tuple[TurningDocument, ...]


class _UnjudgedPairs(NamedTuple):
    """C unjudged documents with their ranks in both runs, 0 below the depth."""

    query: Ints
    documents: Sequence[str]
    ranks: tuple[Ints, Ints]


def shortlist(rows: RunRows, qrels: Qrels, measure: Measure) -> Shortlist:
    """What `turning` needs of a run."""
    ranking = rank(rows, qrels)
    inside = (ranking.grade == UNJUDGED) & (ranking.rank <= (measure.depth or DEEPEST_UNJUDGED))
    places = np.flatnonzero(inside)
    return Shortlist(
        places=judged_places(qrels, ranking),
        query=ranking.query[places],
        rank=ranking.rank[places],
        documents=rows.documents.take(numbers(ranking.order[places])),
    )


def turning(
    names: tuple[str, str], lists: tuple[Shortlist, Shortlist], measure: Measure, qrels: Qrels
) -> Turning:
    """Look for the documents that could turn the order of two runs, the first of which is not worse.

    Parameters
    ----------
    measure: one that the engine computes.
    """
    valued = np.flatnonzero(~qrels.lacking(measure))
    base = [_values(measure, qrels, one.places) for one in lists]
    difference = float((base[0] - base[1])[valued].mean()) if len(valued) else 0.0
    candidates = _candidates(lists, valued)
    alone = [
        _values(measure, qrels, _each_alone(one.places, candidates, place)) for place, one in enumerate(lists)
    ]
    before = (base[0] - base[1])[candidates.query]
    effect = (alone[0] - alone[1] - before) / max(len(valued), 1)
    helping = np.flatnonzero(effect < -1e-12)
    order = helping[np.lexsort((helping, effect[helping]))]

    def left(number: int) -> float:
        """The difference with the first so many documents of the highest grade."""
        chosen = order[:number]
        values = [
            _values(
                measure,
                qrels,
                with_highest(one.places, candidates.query[chosen], candidates.ranks[place][chosen]),
            )
            for place, one in enumerate(lists)
        ]
        return float((values[0] - values[1])[valued].mean())

    return Turning(
        *names,
        measure.name,
        difference,
        len(candidates.query),
        _needed(len(order), left),
        tuple(_document(candidates, place, float(effect[place]), qrels) for place in order.tolist()),
    )


def _needed(number: int, left: Callable[[int], float]) -> int | None:
    """The least number of documents that turn the order, by bisection; None if all of them do not."""
    if not number or left(number) >= 0:
        return None
    low, high = 0, number
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if left(middle) < 0 else (middle, high)
    return high


def _candidates(lists: tuple[Shortlist, Shortlist], valued: Ints) -> _UnjudgedPairs:
    """The unjudged documents of both runs, by query and id, for queries with a value."""
    wanted = set(valued.tolist())
    ranks: dict[tuple[int, str], list[int]] = {}
    for place, one in enumerate(lists):
        rows = zip(one.query.tolist(), one.documents.to_pylist(), one.rank.tolist(), strict=True)
        for query, document, place_in_list in rows:
            if query in wanted:
                ranks.setdefault((query, document), [0, 0])[place] = place_in_list
    ordered = sorted(ranks)
    first, second = (np.array([ranks[pair][place] for pair in ordered], np.int64) for place in (0, 1))
    query = np.array([query for query, _ in ordered], np.int64)
    return _UnjudgedPairs(query, [document for _, document in ordered], (first, second))


def _each_alone(places: JudgedPlaces, candidates: _UnjudgedPairs, run: int) -> JudgedPlaces:
    """A query of its own for each candidate: what its query has, and the candidate with the highest grade."""
    starts = np.searchsorted(places.query, candidates.query)
    counts = np.searchsorted(places.query, candidates.query, side="right") - starts
    offset = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.repeat(starts, counts) + offset
    number = np.arange(len(candidates.query))
    copies = JudgedPlaces(
        np.repeat(number, counts),
        places.rank[rows],
        places.grade[rows],
        places.grades,
        places.held[candidates.query],
    )
    return with_highest(copies, number, candidates.ranks[run])


def _values(measure: Measure, qrels: Qrels, places: JudgedPlaces) -> Floats:
    values: Floats = engine_values([measure], qrels, places)[:, 0]
    return values


def _document(candidates: _UnjudgedPairs, place: int, effect: float, qrels: Qrels) -> TurningDocument:
    first, second = (int(ranks[place]) or None for ranks in candidates.ranks)
    query_id = qrels.query_ids[int(candidates.query[place])]
    return TurningDocument(query_id, candidates.documents[place], first, second, effect)


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
    """The first documents of one system's lists: query and rank of shape (N,), and N ids; and its chunks."""

    query: Ints
    rank: Ints
    documents: pa.Array
    chunks: RunChunks | None = None


def first_places(rows: RunRows, ranking: Rankings) -> FirstPlaces:
    """The places of a run, which is in order, that are compared with other runs'."""
    first = ranking.rank <= DEEPEST
    documents = rows.documents.take(numbers(ranking.order[first]))
    return FirstPlaces(ranking.query[first], ranking.rank[first], documents, rows.chunks)


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
