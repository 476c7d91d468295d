"""Pairs of a query and a document as numbers of eight bytes; a tuple of two texts takes two hundred bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
_DOCUMENT_BITS = 32


class PairCodes:
    """Numbers for pairs of ids; equal pairs have equal numbers, and different pairs different numbers."""

    def __init__(self) -> None:
        self._queries: dict[str, int] = {}
        self._documents: dict[str, int] = {}

    def code(self, query_id: str, document_id: str) -> int:
        """Return the number of a pair."""
        query = self._queries.setdefault(query_id, len(self._queries))
        return query << _DOCUMENT_BITS | self._documents.setdefault(document_id, len(self._documents))

    def of(self, rows: Iterable[Mapping[str, Any]]) -> Codes:
        """Return the distinct pairs of rows with query_id and document_id, ascending."""
        return distinct(self.code(row["query_id"], row["document_id"]) for row in rows)


def distinct(codes: Iterable[int]) -> Codes:
    """Return the distinct numbers, ascending."""
    return np.unique(np.fromiter(codes, np.int64))


def documents_of(codes: Codes) -> int:
    """Count the documents of the pairs."""
    return len(np.unique(codes & (1 << _DOCUMENT_BITS) - 1))


def number_in(codes: Codes, others: Codes) -> int:
    """Count the pairs that are among the others; both are distinct and ascending."""
    if not len(others):
        return 0
    places = np.searchsorted(others, codes).clip(max=len(others) - 1)
    return int((others[places] == codes).sum())
