"""A retriever that returns the lists of any system's stored run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from curation.core.progress import Progress, silent
from curation.ingest.stored_runs import Run, RunEntry
from curation.retrieval.retriever import Hit, HitLists
from curation.store import Query

RUN_PREFIX = "run:"


class ImportedRun:
    """A retriever over a stored run, leaving out documents that are missing from the corpus.

    Scores of an imported run are defined by its system, so scores may be zero or missing, unlike scores of
    other retrievers.

    Attributes
    ----------
    outside: number of entries whose documents are not in the corpus; lower entries move up.
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

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> HitLists:
        """Return the stored run's list for each query (see `Retriever.search`)."""
        return [self._hits.get(query.query_id, [])[:depth] for query in queries]

    def explain_no_hits(self, query: Query) -> str:
        """Explain why the stored run has no document for a query (see `Retriever.explain_no_hits`)."""
        return "the run has no result for the query"
