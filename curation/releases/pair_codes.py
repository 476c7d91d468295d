"""Query-document pairs coded as 8-byte numbers, because a tuple of two texts takes two hundred bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
_DOCUMENT_BITS = 32


class PairCodes:
    """A code table that gives each pair of query id and document id its own number."""

    def __init__(self) -> None:
        self._queries: dict[str, int] = {}
        self._documents: dict[str, int] = {}

    def encode(self, query_id: str, document_id: str) -> int:
        """Return the code of a query-document pair."""
        query_number = self._queries.setdefault(query_id, len(self._queries))
        document_number = self._documents.setdefault(document_id, len(self._documents))
        return query_number << _DOCUMENT_BITS | document_number

    def encode_rows(self, rows: Iterable[Mapping[str, Any]]) -> Codes:
        """Return the distinct codes of the pairs in rows with query_id and document_id, ascending."""
        return sort_codes(self.encode(row["query_id"], row["document_id"]) for row in rows)


def sort_codes(codes: Iterable[int]) -> Codes:
    """Return the distinct pair codes, ascending."""
    return np.unique(np.fromiter(codes, np.int64))


def count_documents(codes: Codes) -> int:
    """Count the different documents in the pairs with these codes."""
    return len(np.unique(codes & (1 << _DOCUMENT_BITS) - 1))


def count_common(codes: Codes, other_codes: Codes) -> int:
    """Count the pair codes in both of two arrays, each of distinct codes in ascending order."""
    if not len(other_codes):
        return 0
    indices = np.searchsorted(other_codes, codes).clip(max=len(other_codes) - 1)
    return int((other_codes[indices] == codes).sum())
