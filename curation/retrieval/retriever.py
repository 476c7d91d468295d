"""What a retriever is, and the one order of hits: by score, equal scores by document id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.store import Query


class Hit(NamedTuple):
    """A document that a system found; scores compare within one list only; imported runs may have none.

    Attributes
    ----------
    passage: the part that matched, as (start, end) in characters of `Document.text`; None: not a part.
    """

    document_id: str
    score: float | None
    passage: tuple[int, int] | None = None


class Retriever(Protocol):
    """One system, ready to search one corpus.

    Attributes
    ----------
    name: how candidates and reports call it.
    settings: all that its results depend on besides corpus and queries.
    """

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Any]: ...

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[list[Hit]]:
        """For each query at most `depth` hits, best first: scores above zero only, ties by document id.

        A shorter search is the beginning of a deeper one.
        """
        ...

    def why_none(self, query: Query) -> str:
        """The reason why a query has no hit at all."""
        ...


def best_hits(document_ids: Sequence[str], scores: NDArray[Any], depth: int) -> list[Hit]:
    """The `depth` documents with the highest scores above zero, best first.

    Documents are in the order of their ids, so that equal scores are too; there may be fewer scores.
    """
    rows = best_rows(scores, depth)
    ids = map(document_ids.__getitem__, rows.tolist())
    return list(map(Hit._make, zip(ids, scores[rows].tolist(), repeat(None))))


def best_rows(scores: NDArray[Any], depth: int) -> NDArray[np.int64]:
    """Where the `depth` highest scores above zero are, best first; equal ones in their order."""
    found = np.flatnonzero(scores > 0)
    values = scores[found]
    if len(found) > depth:
        lowest = np.partition(values, len(values) - depth)[len(values) - depth]
        found, values = found[values >= lowest], values[values >= lowest]
    return found[np.argsort(-values, kind="stable")[:depth]]
