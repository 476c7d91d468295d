"""A stored run of any system as a retriever: its lists, as deep as the system wrote them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from curation.core.progress import Progress, silent
from curation.ingest.stored_runs import Run, RunEntry
from curation.retrieval.retriever import Hit
from curation.store import Query

RUN_PREFIX = "run:"


class ImportedRun:
    """A stored run over the corpus's documents. Its lists are as deep as the system wrote them.

    The system defines its scores: unlike those of other retrievers, they may be zero or missing.

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
