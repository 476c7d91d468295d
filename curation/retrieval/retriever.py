"""The retriever protocol, and the order of hits: by score, equal scores by document id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.store import Query


class Hit(NamedTuple):
    """A document that a system found. Scores are comparable within one list only; imported runs may have
    none.

    Attributes
    ----------
    passage: the part that matched, as (start, end) in characters of `Document.text`; None: not a part.
    """

    document_id: str
    score: float | None
    passage: tuple[int, int] | None = None


class Hits(Sequence[Hit]):
    """One query's hits, best first, as arrays: a `Hit` is made when it is looked at.

    Parameters
    ----------
    ids: of all documents of the corpus, in the order of rows.
    rows, scores: of the hits.
    passages: of those hits that have one, by row.
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


def ids_of(hits: Sequence[Hit]) -> list[str]:
    """List the document ids of hits, best first."""
    return hits.document_ids if isinstance(hits, Hits) else [hit.document_id for hit in hits]


class Retriever(Protocol):
    """A system that can search a corpus.

    Attributes
    ----------
    name: how candidates and reports call it.
    settings: all that its results depend on besides corpus and queries.
    """

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Any]: ...

    def search(
        self, queries: Sequence[Query], depth: int, progress: Progress = silent
    ) -> Sequence[Sequence[Hit]]:
        """For each query at most `depth` hits, best first: scores above zero only, ties by document id.

        A shorter search is the beginning of a deeper one.
        """
        ...

    def why_none(self, query: Query) -> str:
        """Say why a query has no hit."""
        ...


def best_hits(document_ids: Sequence[str], scores: NDArray[Any], depth: int) -> Hits:
    """Find the `depth` documents with the highest scores above zero, best first.

    Documents are in the order of their ids, so that equal scores are too; there may be fewer scores.
    """
    rows = best_rows(scores, depth)
    return Hits(document_ids, rows, scores[rows])


def best_rows(scores: NDArray[Any], depth: int) -> NDArray[np.int32]:
    """Find the rows of the `depth` highest scores above zero, best first; equal scores in the order of
    rows.
    """
    rows = np.flatnonzero(scores > 0)
    values = scores[rows]
    if len(rows) > depth:
        lowest = np.partition(values, len(values) - depth)[len(values) - depth]
        rows, values = rows[values >= lowest], values[values >= lowest]
    return rows[np.argsort(-values, kind="stable")[:depth]].astype(np.int32)
