"""Reciprocal rank fusion: several systems' lists made one, by ranks alone.

RRF(d) = Σ over lists that hold d of 1 / (60 + rank of d)

(Cormack, Clarke and Büttcher, SIGIR 2009, who fused lists of 1,000 and found k = 60.) Lists are always
fused to that full depth, so that the first ten of a hybrid do not depend on how many were asked for.

A run that another system made, as one more retriever: what it can find was written down before.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from curation.progress import Progress, silent
from curation.retrieval.retriever import Hit, Retriever
from curation.sources.runs import Run, RunEntry
from curation.store import Query

RUN_PREFIX = "run:"


class ImportedRun:
    """A stored run over the corpus's documents. Its lists are as deep as the system wrote them.

    What a score means is the system's own affair: unlike our retrievers it may say zero, or nothing.

    Attributes
    ----------
    outside: places that name documents which this corpus does not have; those below move up.
    """

    def __init__(self, run: Run, entries: Iterable[RunEntry], document_ids: Collection[str]) -> None:
        self.name = f"{RUN_PREFIX}{run.name}"
        self.settings: Mapping[str, Any] = {"run": run.run_id}
        self.outside = 0
        self._hits: defaultdict[str, list[Hit]] = defaultdict(list)
        for entry in sorted(entries, key=lambda entry: entry.rank):
            if entry.document_id in document_ids:
                self._hits[entry.query_id].append(Hit(entry.document_id, entry.score))
            else:
                self.outside += 1

    def search(
        self, queries: Sequence[Query], depth: int, progress: Progress = silent
    ) -> Sequence[Sequence[Hit]]:
        """See `Retriever.search`."""
        return [self._hits.get(query.query_id, [])[:depth] for query in queries]

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        return "the run has nothing for the query"


K = 60
LIST_DEPTH = 1000


def fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """One query's lists (best first) as one list with RRF scores; ties by document id.

    A passage that a list gives is passed on: the first list's that has one.
    """
    shares: defaultdict[str, list[float]] = defaultdict(list)
    passages: dict[str, tuple[int, int]] = {}
    for hits in lists:
        for rank, hit in enumerate(hits[:LIST_DEPTH], 1):
            shares[hit.document_id].append(1 / (K + rank))
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
        """Of the fusion and of all that is fused."""
        parts = {part.name: dict(part.settings) for part in self._parts}
        return {"formula": "rrf", "k": K, "list_depth": LIST_DEPTH, "parts": parts}

    def search(
        self, queries: Sequence[Query], depth: int, progress: Progress = silent
    ) -> Sequence[Sequence[Hit]]:
        """See `Retriever.search`."""
        return self.fuse_found([part.search(queries, LIST_DEPTH, progress) for part in self._parts], depth)

    def fuse_found(self, found: Sequence[Sequence[Sequence[Hit]]], depth: int) -> list[list[Hit]]:
        """Fuse the lists that each part has found already, to `LIST_DEPTH`, for the same queries."""
        return [fuse(lists)[:depth] for lists in zip(*found, strict=True)]

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        return "; ".join(f"{part.name}: {part.why_none(query)}" for part in self._parts)
