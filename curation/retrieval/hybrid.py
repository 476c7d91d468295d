"""Hybrid retrieval: reciprocal rank fusion of the lists of several retrievers, by ranks alone.

RRF(d) = Σ over lists that hold d of 1 / (60 + rank of d)

(Cormack, Clarke and Büttcher, SIGIR 2009, who fused lists of 1,000 and found k = 60.) Lists are always
fused to that full depth, so that the first ten of a hybrid do not depend on how many were asked for.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from curation.core.progress import Progress, silent
from curation.retrieval.retriever import Hit, Retriever
from curation.store import Query

RRF_K = 60
LIST_DEPTH = 1000


def fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Fuse one query's lists (best first) by RRF scores; ties by document id.

    A hit keeps the passage of the first list that has a passage for it.
    """
    shares: defaultdict[str, list[float]] = defaultdict(list)
    passages: dict[str, tuple[int, int]] = {}
    for hits in lists:
        for rank, hit in enumerate(hits[:LIST_DEPTH], 1):
            shares[hit.document_id].append(1 / (RRF_K + rank))
            if hit.passage is not None:
                passages.setdefault(hit.document_id, hit.passage)
    sums = {document_id: math.fsum(parts) for document_id, parts in shares.items()}
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(document_id, score, passages.get(document_id)) for document_id, score in ranked]


class Hybrid:
    """A retriever that fuses others over the same corpus."""

    name = "hybrid"

    def __init__(self, parts: Sequence[Retriever]) -> None:
        self._parts = list(parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the fusion, and of every part that is fused."""
        parts = {part.name: dict(part.settings) for part in self._parts}
        return {"formula": "rrf", "k": RRF_K, "list_depth": LIST_DEPTH, "parts": parts}

    def search(
        self, queries: Sequence[Query], depth: int, progress: Progress = silent
    ) -> Sequence[Sequence[Hit]]:
        """See `Retriever.search`."""
        return self.fuse_found([part.search(queries, LIST_DEPTH, progress) for part in self._parts], depth)

    def fuse_found(self, searched: Sequence[Sequence[Sequence[Hit]]], depth: int) -> list[list[Hit]]:
        """Fuse the lists of depth `LIST_DEPTH` that the parts have found for the same queries."""
        return [fuse(lists)[:depth] for lists in zip(*searched, strict=True)]

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        return "; ".join(f"{part.name}: {part.why_none(query)}" for part in self._parts)
