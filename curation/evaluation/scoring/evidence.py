"""Evidence as columns: the ranges of characters that people marked in the documents of each query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from curation.core.arrow import texts
from curation.core.spans import Span, union
from curation.core.statistics.arrays import Floats, Ints, Mask

Pair = tuple[str, str]
OPEN = 1 << 40
"""The end of a document whose length is not known."""


@dataclass(frozen=True)
class EvidenceRanges:
    """Where documents hold evidence, P pairs of query and document with R ranges.

    Attributes
    ----------
    documents: their ids, each once, ordered as UTF-8 bytes.
    pair: one ascending number for each (query, document), shape (P,). query: positions, shape (P,).
    grade: of each pair; 0 where nobody gave one, shape (P,).
    first: where the ranges of each pair begin, and where the last end, shape (P + 1,).
    start, end: of the ranges by pair, in order and apart, shape (R,).
    """

    documents: pa.Array
    pair: Ints
    query: Ints
    grade: Ints
    first: Ints
    start: Ints
    end: Ints

    @cached_property
    def sizes(self) -> Ints:
        """Characters of evidence of each pair, shape (P,)."""
        return np.add.reduceat(self.end - self.start, self.first[:-1]) if len(self.pair) else self.pair

    def characters(self, queries: int, relevant: int) -> Ints:
        """Characters of evidence of each query's documents with a relevant grade, shape (Q,)."""
        counted = self.grade >= relevant
        return query_sums(self.query[counted], self.sizes[counted], queries).astype(np.int64)

    def best_dcg(self, depth: int, queries: int) -> Floats:
        """The DCG of each query's best list to a depth, shape (Q,)."""
        order = np.lexsort((-self.grade, self.query))
        rank = np.arange(1, len(order) + 1) - np.searchsorted(self.query, self.query)  # pairs are by query
        gains = np.where(rank <= depth, self.grade[order] / np.log2(rank + 1), 0.0)
        return query_sums(self.query, gains, queries)


def evidence_ranges(
    marked: Mapping[Pair, Iterable[Span]], grades: Mapping[Pair, int], query_ids: Sequence[str]
) -> EvidenceRanges:
    """Columns of the ranges of characters that hold evidence.

    Parameters
    ----------
    marked: (query id, document id) → ranges, of these queries alone.
    query_ids: ordered as in the qrels.
    """
    index = {query: number for number, query in enumerate(query_ids)}
    pairs = sorted(marked)
    names = sorted({document for _, document in pairs})
    number = {name: at for at, name in enumerate(names)}
    apart = [union(marked[pair]) for pair in pairs]
    ranges = np.array([span for spans in apart for span in spans], np.int64).reshape(-1, 2)
    query = np.array([index[name] for name, _ in pairs], np.int64)
    return EvidenceRanges(
        documents=texts(names),
        pair=query * len(names) + np.array([number[name] for _, name in pairs], np.int64),
        query=query,
        grade=np.array([grades.get(pair, 0) for pair in pairs], np.int64),
        first=np.cumsum([0, *map(len, apart)]),
        start=ranges[:, 0],
        end=ranges[:, 1],
    )


def query_sums(query: Ints, amounts: Floats | Ints | Mask | None, queries: int) -> Floats:
    """The sum of each query's amounts, or their number, shape (Q,)."""
    return np.bincount(query, amounts, queries).astype(np.float64)
