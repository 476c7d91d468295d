"""Derived lists: what an evaluation makes of the lists of a sealed part's runs, and which figures of it show.

A first stage cut to its first documents, a list in a reranker's order, and the judged documents alone are
lists with figures of their own, shown beside those of the runs. Two of them that differ in a few queries
would tell of these as two runs do: a reranker that shares one query with its first stage changes that query
alone. So each must differ in `LEAST` sealed queries that can have a value, or in none, from all lists whose
figures are shown in the same evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from curation.evaluation.figures.strata import LEAST
from curation.evaluation.inputs.release import EvaluatedRelease
from curation.evaluation.metrics.rankings import RunRows, rank
from curation.evaluation.sealed.disclosure import ListSums, list_sums


class ShownLists:
    """The lists of an evaluation whose figures are shown so far: at first those of its runs."""

    def __init__(self, release: EvaluatedRelease, runs: Mapping[str, Sequence[RunRows]]) -> None:
        self._release = release
        valued = (release.qrels.relevant_documents > 0) | (release.qrels.gaining_documents > 0)
        counted = np.flatnonzero(release.sealed_queries & valued).tolist()
        self._counted = [release.qrels.query_ids[place] for place in counted]
        self._shown = [self._sums(rows) for found in runs.values() for rows in found]

    def take(self, lists: Iterable[RunRows]) -> bool:
        """Whether figures of these may be shown beside the others; then they are shown, else none of them."""
        found = [self._sums(rows) for rows in lists]
        together = [*self._shown, *found]
        for place, own in enumerate(found, len(self._shown)):
            if any(0 < self._different(own, other) < LEAST for other in together[:place]):
                return False
        self._shown = together
        return True

    def _different(self, own: ListSums, other: ListSums) -> int:
        return sum(own.get(query) != other.get(query) for query in self._counted)

    def _sums(self, rows: RunRows) -> ListSums:
        """The order of each list alone: scores of derived lists mean nothing."""
        ranking = rank(rows, self._release.qrels)
        documents = rows.documents.take(pa.array(ranking.order))
        return list_sums(
            RunRows(ranking.query, documents, -np.asarray(ranking.rank, np.float64)), self._release
        )
