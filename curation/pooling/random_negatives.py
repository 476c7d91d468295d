"""A pool's random easy negatives, drawn by seed from outside the systems' reach.

Random negatives are drawn from documents outside every system's first 1,000 documents (`REACH`). If a small
corpus has too few documents outside the reach, the reach is halved until enough documents are outside, but
never below the pool's depth.

A draw of negatives does not depend on earlier judgments or pools, so the same steps in a different order draw
the same documents. If the text of a drawn document is a candidate under a different document id, that id is
proposed, so that no text is judged twice.

SplitMix64 (Steele, Lea and Flood 2014) mixes a hash of the document and a hash of the query. The mixed number
is the pair's key in a random order, and a draw takes the first documents of the order. So a draw is the same
on any machine, and a larger corpus or a deeper pool keeps most of an earlier draw and its judgments.

A held corpus has only documents that engines ranked, so documents drawn from a held corpus would not be
random. Its negatives come from an engine instead (`pooling.engine_negatives`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from curation.core.digests import digest
from curation.core.similarity.identical_texts import IdenticalTexts, Representatives
from curation.pooling import RANDOM
from curation.pooling.candidates import CandidateSource
from curation.pooling.systems import SystemLists
from curation.retrieval.retriever import list_document_ids
from curation.store import Query

REACH = 1000
DrawNegatives = Callable[[int, str, Collection[str]], list[str]]
"""Function that draws documents: count, query id, and document ids to leave out → document ids."""


def draw_negatives(
    lists: SystemLists,
    queries: Sequence[Query],
    draw: DrawNegatives,
    count: int,
    depth: int,
    identical: IdenticalTexts,
    stand_ins: Representatives,
) -> tuple[list[CandidateSource], Counter[str]]:
    """Draw `count` documents for each query from outside the systems' reach.

    Returns
    -------
    The proposals, and reason → number of queries or negatives for which the corpus was too small.
    """
    proposals, left_out = [], Counter[str]()
    for index, query in enumerate(queries):
        for reach in _halve_reach(depth):
            rankings = [hits[index][:reach] for hits in lists.values()]
            ranked = {document_id for ranking in rankings for document_id in list_document_ids(ranking)}
            document_ids = draw(count, query.query_id, identical.all_ids(ranked))
            if len(document_ids) == count:
                break
        if reach < REACH:
            left_out[
                f"queries have random negatives from outside the first {reach} results, instead of {REACH:,}"
            ] += 1
        reason = "random negatives are missing: no other documents are outside the systems' results"
        left_out[reason] += count - len(document_ids)
        judged_ids = [stand_ins.of(query.query_id, document_id) for document_id in document_ids]
        proposals += [CandidateSource(query.query_id, document_id, RANDOM) for document_id in judged_ids]
    return proposals, +left_out


def make_random_order(
    document_ids: Iterable[str],
    seed: int,
    identical: IdenticalTexts,
    engine_draws: Mapping[str, Sequence[str]] | None = None,
) -> DrawNegatives:
    """Make a function that draws documents in random order; a text with several ids counts as one document.

    Parameters
    ----------
    document_ids: ids of documents with a text, ordered.
    engine_draws: query id → documents that an engine drew (`draw_by_engine`), in the engine's
        order. None draws from all documents by the seed.
    """
    drawable = [document_id for document_id in document_ids if identical.first(document_id) == document_id]
    if engine_draws is None:
        return RandomOrder(drawable, seed).draw
    drawable_ids = set(drawable)

    def draw(count: int, query_id: str, excluded: Collection[str]) -> list[str]:
        drawn_ids = engine_draws.get(query_id, ())
        return [name for name in drawn_ids if name in drawable_ids and name not in excluded][:count]

    return draw


def _halve_reach(depth: int) -> Iterator[int]:
    reach = REACH
    while reach > depth:
        yield reach
        reach //= 2
    yield depth


class RandomOrder:
    """A random order of documents for each query, over sorted document ids."""

    def __init__(self, document_ids: Sequence[str], seed: int) -> None:
        self._ids = document_ids
        self._hashes = np.array([_hash_number(document_id) for document_id in document_ids], np.uint64)
        self._seed = seed

    def draw(self, count: int, query_id: str, excluded: Collection[str]) -> list[str]:
        """Return the first `count` documents of the query's random order without the excluded ones."""
        keys = _mix_numbers(self._hashes ^ np.uint64(_hash_number(self._seed, query_id)))
        sorted_count = count + 16  # approximate number of documents to sort, raised if too small
        while True:
            largest_key = (2**64 - 1) * min(sorted_count, len(keys)) // max(len(keys), 1)
            rows = np.flatnonzero(keys <= np.uint64(largest_key))
            ids = (self._ids[row] for row in rows[np.argsort(keys[rows])].tolist())
            included = (document_id for document_id in ids if document_id not in excluded)
            document_ids = list(islice(included, count))
            if len(document_ids) == count or sorted_count >= len(keys):
                return document_ids
            sorted_count *= 4


def _hash_number(*parts: str | int) -> int:
    return int(digest("random negative", *parts)[:16], 16)


def _mix_numbers(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix numbers by SplitMix64's output function, a bijection of 64 bits."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
