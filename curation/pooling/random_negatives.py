"""Random easy negatives: documents that no system comes near to, drawn by seed. They come from
outside every system's first 1,000 (`REACH`). Where a small corpus leaves too few there, the reach is halved
until there are enough, though never below the pool's depth.

A draw looks at nothing that the project holds already: what was judged or pooled before neither adds to it
nor takes from it, so steps in another order draw the same. A text that is a candidate under another id is
proposed under that id, and not judged twice.

Each document has a hash and each query another; the two mixed by SplitMix64 (Steele, Lea and Flood 2014)
give the pair's place in a random order, and a draw takes the first of that order. So it is the same on any
machine, and as a corpus grows or a pool deepens most of an earlier draw stays, judgments included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.similarity.identical import Identical, StandIns
from curation.core.text import digest
from curation.pooling.candidates import CandidateSource
from curation.pooling.systems import SystemHits
from curation.retrieval.retriever import ids_of
from curation.store import Query

REACH = 1000
RANDOM = "random"


class Draw(NamedTuple):
    """What was drawn, and how many queries or negatives the corpus was too small for, and in what way."""

    proposals: list[CandidateSource]
    left_out: dict[str, int]


def draw_negatives(
    hitses: Sequence[SystemHits],
    queries: Sequence[Query],
    order: RandomOrder | GivenOrder,
    number: int,
    depth: int,
    identical: Identical,
    stand_ins: StandIns,
) -> Draw:
    """`number` documents for each query from outside the systems' reach."""
    proposals, left_out = [], Counter[str]()
    for place, query in enumerate(queries):
        for reach in _reaches(depth):
            near = {one for system in hitses for one in ids_of(system.hits[place][:reach])}
            drawn = order.draw(number, query.query_id, identical.all_ids(near))
            if len(drawn) == number:
                break
        if reach < REACH:
            left_out[f"queries have random negatives from outside the first {reach} only, not {REACH:,}"] += 1
        left_out["random negatives are missing: no more documents lie outside the systems' reach"] += (
            number - len(drawn)
        )
        proposals += [
            CandidateSource(query.query_id, stand_ins.of(query.query_id, document_id), RANDOM, None, None)
            for document_id in drawn
        ]
    return Draw(proposals, {reason: count for reason, count in left_out.items() if count})


def negative_order(
    document_ids: Iterable[str],
    seed: int,
    identical: Identical,
    given: Mapping[str, Sequence[str]] | None = None,
) -> RandomOrder | GivenOrder:
    """The order that negatives are drawn in.

    A text with several ids is one document.

    Parameters
    ----------
    document_ids: of those with a text, ordered.
    given: query id → documents that were drawn elsewhere (`from_engines`); those in reach are left out.
    """
    drawable = [one for one in document_ids if identical.first(one) == one]
    return RandomOrder(drawable, seed) if given is None else GivenOrder(given, set(drawable))


def _reaches(depth: int) -> Iterator[int]:
    reach = REACH
    while reach > depth:
        yield reach
        reach //= 2
    yield depth


class RandomOrder:
    """A random order of documents for each query; `document_ids` are ordered."""

    def __init__(self, document_ids: Sequence[str], seed: int) -> None:
        self._ids = document_ids
        self._hashes = np.array([_number(document_id) for document_id in document_ids], np.uint64)
        self._seed = seed

    def draw(self, number: int, query_id: str, excluded: Collection[str]) -> list[str]:
        """The first `number` documents of the query's order that are not excluded, or all there are."""
        keys = _mixed(self._hashes ^ np.uint64(_number(self._seed, query_id)))
        part = number + 16  # of the order, about: so many are looked at, and four times as many at a time
        while True:
            rows = np.flatnonzero(keys <= np.uint64((2**64 - 1) * min(part, len(keys)) // max(len(keys), 1)))
            ids = (self._ids[row] for row in rows[np.argsort(keys[rows])].tolist())
            drawn = list(islice((one for one in ids if one not in excluded), number))
            if len(drawn) == number or part >= len(keys):
                return drawn
            part *= 4


class GivenOrder(NamedTuple):
    """An order of documents for each query that was drawn before."""

    drawn: Mapping[str, Sequence[str]]
    drawable: Collection[str]

    def draw(self, number: int, query_id: str, excluded: Collection[str]) -> list[str]:
        """See `RandomOrder.draw`."""
        drawn = self.drawn.get(query_id, ())
        return [one for one in drawn if one in self.drawable and one not in excluded][:number]


def _number(*parts: str | int) -> int:
    return int(digest("random negative", *parts)[:16], 16)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function: 64 bits in, 64 well-mixed bits out, one to one."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
