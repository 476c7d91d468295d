"""Derived lists: what an evaluation makes of the lists of a sealed part's runs, and which figures of it show.

A first stage cut to its first documents, a list in a reranker's order, and the judged documents alone are
lists with figures of their own, shown next to those of the runs. Two of them that differ in a few queries
would tell of these as two runs do: a reranker that shares one query with its first stage changes that query
alone. So each must differ in `LEAST` sealed queries that can have a value, or in none, from all lists whose
figures are shown in the same evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from curation.evaluation.figures.strata import LEAST
from curation.evaluation.inputs.release import EvaluatedRelease
from curation.evaluation.metrics.measures import Measure
from curation.evaluation.metrics.rankings import RunRows
from curation.evaluation.sealed.disclosure import SeenLists, seen_lists


class ShownLists:
    """The lists of an evaluation whose figures are shown so far: at first those of its runs."""

    def __init__(
        self, release: EvaluatedRelease, runs: Mapping[str, Sequence[RunRows]], measures: Sequence[Measure]
    ) -> None:
        self._release = release
        self._measures = measures
        valued = (release.qrels.relevant_documents > 0) | (release.qrels.gaining_documents > 0)
        counted = np.flatnonzero(release.sealed_queries & valued).tolist()
        self._counted = [release.qrels.query_ids[place] for place in counted]
        self._shown = [self._seen(rows) for found in runs.values() for rows in found]

    def take(self, lists: Iterable[RunRows]) -> bool:
        """Whether figures of these may be shown with the others; then they are shown, else none of them."""
        found = [self._seen(rows) for rows in lists]
        together = [*self._shown, *found]
        for place, own in enumerate(found, len(self._shown)):
            if any(
                0 < number < LEAST for other in together[:place] for number in self._different(own, other)
            ):
                return False
        self._shown = together
        return True

    def _different(self, own: SeenLists, other: SeenLists) -> list[int]:
        """In how many queries they differ, to the depth of each measure."""
        return [sum(own[seen].get(name) != other[seen].get(name) for name in self._counted) for seen in own]

    def _seen(self, rows: RunRows) -> SeenLists:
        """The order of each list alone: scores of derived lists mean nothing."""
        return seen_lists(rows, self._release, self._measures, everything=False)
