"""Which unjudged documents could turn the comparison of two runs.

An unjudged document that both runs return at one rank can hardly matter; one that only the worse run returns
near the top can. Each is tried with the highest grade of the scale, alone, in both runs. Those that help the
worse run are then made relevant together, the most effective first, until the order turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.arrow import numbers
from curation.scoring.metrics.engine import (
    DEEPEST_UNJUDGED,
    JudgedPlaces,
    engine_values,
    judged_places,
    with_highest,
)
from curation.scoring.metrics.measures import Measure
from curation.scoring.metrics.qrels import UNJUDGED, Qrels, RunRows, rank
from curation.statistics.arrays import Floats, Ints


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
