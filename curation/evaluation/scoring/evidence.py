"""Evidence as columns: the ranges of characters that people marked in documents, and sums over each query."""

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
"""The end of a document of unknown length."""


@dataclass(frozen=True)
class EvidenceRanges:
    """The evidence in documents: R ranges of characters of P pairs of query and document.

    Attributes
    ----------
    documents: the id of each document once, ordered as UTF-8 bytes.
    pair: one ascending number for each (query, document), shape (P,).
    query: the position of each pair's query, shape (P,).
    grade: the grade of each pair; 0 where nobody graded the pair, shape (P,).
    first: the position of each pair's first range, and the number of ranges, shape (P + 1,).
    start, end: the ranges by pair, in order and without overlap, shape (R,).
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
        """The number of characters of evidence of each pair, shape (P,)."""
        return np.add.reduceat(self.end - self.start, self.first[:-1]) if len(self.pair) else self.pair

    def characters(self, queries: int, relevant: int) -> Ints:
        """Count the characters of evidence in each query's relevant documents, shape (Q,)."""
        counted = self.grade >= relevant
        return query_sums(self.query[counted], self.sizes[counted], queries).astype(np.int64)

    def best_dcg(self, depth: int, queries: int) -> Floats:
        """Compute the DCG of each query's best list down to a depth, shape (Q,)."""
        order = np.lexsort((-self.grade, self.query))
        rank = np.arange(1, len(order) + 1) - np.searchsorted(self.query, self.query)  # pairs are by query
        gains = np.where(rank <= depth, self.grade[order] / np.log2(rank + 1), 0.0)
        return query_sums(self.query, gains, queries)


def evidence_ranges(
    marked: Mapping[Pair, Iterable[Span]], grades: Mapping[Pair, int], query_ids: Sequence[str]
) -> EvidenceRanges:
    """Turn ranges of characters that hold evidence into columns.

    Parameters
    ----------
    marked: (query id, document id) → ranges, only for these queries.
    query_ids: the ids of the queries, in the order of the qrels.
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
    """Add up the amounts of each query, shape (Q,); without amounts, count the query's rows."""
    return np.bincount(query, amounts, queries).astype(np.float64)
