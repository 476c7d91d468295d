"""Evidence: the character ranges that annotators marked in documents, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from curation.core.arrow import string_array
from curation.core.spans import Span, union
from curation.core.statistics.arrays import Floats, Ints, Mask

Pair = tuple[str, str]
"""Ids of a query and of a document or an answer."""
PairGrades = Mapping[Pair, int | None]
"""Map from pair to grade; None if the judgments led to no grade."""
OPEN = 1 << 40
"""Stands for the end of a document of unknown length."""


@dataclass(frozen=True)
class EvidenceRanges:
    """Evidence in documents as columns: R character ranges in P query-document pairs.

    Attributes
    ----------
    documents: the id of each document once, ordered as UTF-8 bytes.
    pair: one ascending number for each (query, document), shape (P,).
    query: the index of each pair's query, shape (P,).
    grade: the grade of each pair; 0 where nobody graded the pair, shape (P,).
    first: the index of each pair's first range, and last the number of ranges, shape (P + 1,).
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
        """Count the characters of evidence in each pair, shape (P,)."""
        return np.add.reduceat(self.end - self.start, self.first[:-1]) if len(self.pair) else self.pair

    def count_characters(self, queries: int, relevant: int) -> Ints:
        """Count the characters of evidence in each query's relevant documents, shape (Q,)."""
        is_relevant = self.grade >= relevant
        return sum_by_query(self.query[is_relevant], self.sizes[is_relevant], queries).astype(np.int64)

    def compute_best_dcg(self, depth: int, queries: int) -> Floats:
        """Compute the DCG of each query's best possible list down to a depth, shape (Q,)."""
        order = np.lexsort((-self.grade, self.query))
        rank = np.arange(1, len(order) + 1) - np.searchsorted(self.query, self.query)
        gains = np.where(rank <= depth, self.grade[order] / np.log2(rank + 1), 0.0)
        return sum_by_query(self.query, gains, queries)


def make_evidence_ranges(
    marked_spans: Mapping[Pair, Iterable[Span]], grades: Mapping[Pair, int], query_ids: Sequence[str]
) -> EvidenceRanges:
    """Convert marked evidence, given as character ranges by query-document pair, to columns.

    Parameters
    ----------
    marked_spans: (query id, document id) → ranges, only for these queries.
    query_ids: the ids of the queries, in the order of the qrels.
    """
    query_indexes = {query_id: index for index, query_id in enumerate(query_ids)}
    pairs = sorted(marked_spans)
    document_ids = sorted({document_id for _, document_id in pairs})
    document_indexes = {document_id: index for index, document_id in enumerate(document_ids)}
    merged = [union(marked_spans[pair]) for pair in pairs]
    ranges = np.array([span for spans in merged for span in spans], np.int64).reshape(-1, 2)
    query = np.array([query_indexes[query_id] for query_id, _ in pairs], np.int64)
    document = np.array([document_indexes[document_id] for _, document_id in pairs], np.int64)
    return EvidenceRanges(
        documents=string_array(document_ids),
        pair=query * len(document_ids) + document,
        query=query,
        grade=np.array([grades.get(pair, 0) for pair in pairs], np.int64),
        first=np.cumsum([0, *map(len, merged)]),
        start=ranges[:, 0],
        end=ranges[:, 1],
    )


def sum_by_query(query: Ints, amounts: Floats | Ints | Mask | None, queries: int) -> Floats:
    """Sum the rows' amounts by query, shape (Q,); if no amounts are given, count each query's rows."""
    return np.bincount(query, amounts, queries).astype(np.float64)
