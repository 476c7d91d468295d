"""Hybrid retrieval: reciprocal rank fusion of several retrievers' lists, which uses only ranks.

RRF(d) = Σ over lists that hold d of 1 / (60 + rank of d)

The formula and k = 60 are from Cormack, Clarke and Büttcher (SIGIR 2009), who fused lists of 1,000 documents.
Lists are always fused to a depth of 1,000, so that the first ten hits of a hybrid do not depend on the
requested depth.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from curation.core.progress import Progress, silent
from curation.retrieval.retriever import Hit, HitLists, Retriever
from curation.store import Query

RRF_K = 60
LIST_DEPTH = 1000


def fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Fuse one query's lists (best first) by RRF scores, with ties by document id.

    A hit keeps the passage of the first list that has a passage for its document.
    """
    shares: defaultdict[str, list[float]] = defaultdict(list)
    passages: dict[str, tuple[int, int]] = {}
    for hits in lists:
        for rank, hit in enumerate(hits[:LIST_DEPTH], 1):
            shares[hit.document_id].append(1 / (RRF_K + rank))
            if hit.passage is not None:
                passages.setdefault(hit.document_id, hit.passage)
    scores = {document_id: math.fsum(terms) for document_id, terms in shares.items()}
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(document_id, score, passages.get(document_id)) for document_id, score in ranked]


class Hybrid:
    """A retriever that fuses the lists of other retrievers over the same corpus."""

    name = "hybrid"

    def __init__(self, retrievers: Sequence[Retriever]) -> None:
        self._retrievers = list(retrievers)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings of the fusion and of each fused retriever."""
        settings = {retriever.name: dict(retriever.settings) for retriever in self._retrievers}
        return {"formula": "rrf", "k": RRF_K, "list_depth": LIST_DEPTH, "parts": settings}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> HitLists:
        """Search with each fused retriever, and fuse the lists of each query (see `Retriever.search`)."""
        lists = [retriever.search(queries, LIST_DEPTH, progress) for retriever in self._retrievers]
        return self.fuse_lists(lists, depth)

    def fuse_lists(self, lists_by_retriever: Sequence[HitLists], depth: int) -> list[list[Hit]]:
        """Fuse the lists of depth `LIST_DEPTH` that the retrievers found for the same queries."""
        return [fuse(lists)[:depth] for lists in zip(*lists_by_retriever, strict=True)]

    def explain_no_hits(self, query: Query) -> str:
        """Explain why no fused retriever finds a document for a query (see `Retriever.explain_no_hits`)."""
        return "; ".join(f"{system.name}: {system.explain_no_hits(query)}" for system in self._retrievers)
