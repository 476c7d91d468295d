"""The retriever protocol, and the order of hits: by score, and by document id if scores are equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.store import Query


class Hit(NamedTuple):
    """A document that a system found; scores are comparable only within one list.

    Attributes
    ----------
    passage: matching part of the document, as (start, end) in characters of `Document.text`; None for the
        whole document.
    """

    document_id: str
    score: float | None
    passage: tuple[int, int] | None = None


HitLists = Sequence[Sequence[Hit]]


class Hits(Sequence[Hit]):
    """One query's hits as arrays, best hit first; a `Hit` object is made only when a hit is read.

    Parameters
    ----------
    ids: ids of all documents of the corpus, in the order of rows.
    rows, scores: rows and scores of the hits.
    passages: row → matching passage, for the hits with a passage.
    """

    __slots__ = ("_ids", "_passages", "rows", "scores")

    def __init__(
        self,
        ids: Sequence[str],
        rows: NDArray[np.int32],
        scores: NDArray[np.float64],
        passages: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        self._ids, self.rows, self.scores, self._passages = ids, rows, scores, passages or {}

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Hit: ...

    @overload
    def __getitem__(self, index: slice) -> Hits: ...

    def __getitem__(self, index: int | slice) -> Hit | Hits:
        if isinstance(index, slice):
            return Hits(self._ids, self.rows[index], self.scores[index], self._passages)
        row = int(self.rows[index])
        return Hit(self._ids[row], float(self.scores[index]), self._passages.get(row))

    def __iter__(self) -> Iterator[Hit]:
        rows = self.rows.tolist()
        spans = map(self._passages.get, rows)
        return map(Hit._make, zip(map(self._ids.__getitem__, rows), self.scores.tolist(), spans, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def document_ids(self) -> list[str]:
        return [self._ids[row] for row in self.rows.tolist()]


def list_document_ids(hits: Sequence[Hit]) -> list[str]:
    """List the document ids of hits, best first."""
    return hits.document_ids if isinstance(hits, Hits) else [hit.document_id for hit in hits]


class Retriever(Protocol):
    """A system that can search a corpus.

    Attributes
    ----------
    name: name of the system in candidates and reports.
    settings: all parameters that decide the results, besides corpus and queries.
    """

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Any]: ...

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> HitLists:
        """Find at most `depth` hits with scores above zero for each query, best first, ties by document id.

        The hits of a shallow search are the first hits of a deeper search.
        """
        ...

    def explain_no_hits(self, query: Query) -> str:
        """Return the reason why a query has no hit."""
        ...


def find_best_hits(document_ids: Sequence[str], scores: NDArray[Any], depth: int) -> Hits:
    """Find the `depth` documents with the highest scores above zero, best first.

    Documents are in the order of their ids, so equal scores are ordered by id. The array of scores may be
    shorter than the list of documents.
    """
    rows = find_best_rows(scores, depth)
    return Hits(document_ids, rows, scores[rows])


def find_best_rows(scores: NDArray[Any], depth: int) -> NDArray[np.int32]:
    """Find the rows of the `depth` highest scores above zero, with equal scores in row order."""
    rows = np.flatnonzero(scores > 0)
    values = scores[rows]
    if len(rows) > depth:
        lowest = np.partition(values, len(values) - depth)[len(values) - depth]
        rows, values = rows[values >= lowest], values[values >= lowest]
    return rows[np.argsort(-values, kind="stable")[:depth]].astype(np.int32)
