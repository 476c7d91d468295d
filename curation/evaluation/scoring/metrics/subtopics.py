"""α-nDCG, and the subtopics that it needs: which documents are relevant to which aspect of a query.

    gain of a document = Σ over its subtopics of (1 − α)^(documents above it that have the subtopic)

The sum of gain / log2(rank + 1) to a depth is divided by that of the best order. To find the best order is as
hard as covering sets, so at each rank it takes the document with the greatest gain, of equal ones the last by
id, as TREC's ndeval does. A run may then reach a little more than 1.

C. L. A. Clarke, M. Kolla, G. V. Cormack, O. Vechtomova, A. Ashkan, S. Büttcher and I. MacKinnon (2008),
Novelty and diversity in information retrieval evaluation, SIGIR, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from curation.core.statistics.arrays import Floats, Ints, ratio


@dataclass(frozen=True)
class Subtopics:
    """The pairs that are relevant to a subtopic, P of them, ordered by query and document.

    Attributes
    ----------
    documents: their ids, each once, ordered as UTF-8 bytes.
    query: positions of the queries, shape (P,).
    pair: one ascending number for each (query, document), shape (P,).
    of_pair: the numbers of each pair's subtopics; those of a query are from 0.
    """

    documents: pa.Array
    query: Ints
    pair: Ints
    of_pair: tuple[tuple[int, ...], ...]


def subtopics_of(rows: Iterable[tuple[str, str, str]], query_ids: Sequence[str]) -> Subtopics:
    """Columns of (query, subtopic, document), each of them relevant.

    Parameters
    ----------
    query_ids: ordered as those of the qrels; rows of other queries are not to be here.
    """
    table = sorted(set(rows))
    names = sorted({document for _, _, document in table})
    place, number = {query: n for n, query in enumerate(query_ids)}, {name: n for n, name in enumerate(names)}
    numbers: dict[str, dict[str, int]] = {}
    pairs: dict[int, list[int]] = {}
    for query, subtopic, document in table:
        own = numbers.setdefault(query, {})
        pair = place[query] * len(names) + number[document]
        pairs.setdefault(pair, []).append(own.setdefault(subtopic, len(own)))
    ascending = np.array(sorted(pairs), np.int64)
    return Subtopics(
        documents=pa.array(names, pa.string()),
        query=ascending // max(len(names), 1),
        pair=ascending,
        of_pair=tuple(tuple(pairs[pair]) for pair in ascending.tolist()),
    )


def alpha_ndcg(
    query: Ints, rank: Ints, covering: Ints, subtopics: Subtopics, ideal: Floats, alpha: float
) -> Floats:
    """The value of each query to the depth of `ideal`, shape (Q,); NaN where it has no subtopic.

    Parameters
    ----------
    query, rank: of the places of lists, by query, then rank, shape (N,).
    covering: positions among the pairs of the subtopics, below 0 where a place has none, shape (N,).
    ideal: the best DCG of each query, shape (Q,).
    """
    counted = np.flatnonzero(covering >= 0)
    gains = np.zeros(len(ideal))
    met: dict[tuple[int, int], float] = {}
    for own, place, pair in zip(
        query[counted].tolist(), rank[counted].tolist(), covering[counted].tolist(), strict=True
    ):
        gains[own] += _take(own, subtopics.of_pair[pair], met, alpha) / np.log2(place + 1)
    return ratio(gains, ideal)


def ideal_dcg(subtopics: Subtopics, queries: int, depth: int, alpha: float) -> Floats:
    """The DCG of each query's best order to a depth, shape (Q,); 0 where it has no subtopic."""
    ends = np.searchsorted(subtopics.query, np.arange(queries + 1))
    discounts = 1 / np.log2(np.arange(2, depth + 2))
    found = np.zeros(queries)
    for query, (start, end) in enumerate(pairwise(ends.tolist())):
        if end > start:
            gains = _best_gains(subtopics.of_pair[start:end], depth, alpha)
            found[query] = gains @ discounts[: len(gains)]
    return found


def _best_gains(documents: Sequence[tuple[int, ...]], depth: int, alpha: float) -> Floats:
    """The gains of a query's documents in the order that takes the greatest gain next, to a depth."""
    covers = np.zeros((len(documents), 1 + max(max(own) for own in documents)))
    for place, own in enumerate(documents):
        covers[place, list(own)] = 1.0
    worth = np.ones(covers.shape[1])
    gains = []
    for _ in range(min(depth, len(documents))):
        gain = covers @ worth
        last = len(gain) - 1 - int(gain[::-1].argmax())
        gains.append(gain[last])
        worth[covers[last] > 0] *= 1 - alpha
        covers[last] = -1.0  # taken: less than any
    return np.array(gains)


def _take(query: int, own: Sequence[int], met: dict[tuple[int, int], float], alpha: float) -> float:
    """The gain of a document, whose subtopics are worth less from then on."""
    gain = 0.0
    for subtopic in own:
        worth = met.get((query, subtopic), 1.0)
        gain += worth
        met[query, subtopic] = worth * (1 - alpha)
    return gain
