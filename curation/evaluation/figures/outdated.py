"""Outdated documents in the lists of a system: last year's text, which reads like the valid one.

A release says of a pair that its document is outside the query's filter and nearly the text of a relevant
document (`query_filter.OUTDATED`). A reader takes such a document for the answer, so it is counted apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.arrow import numbers
from curation.core.statistics.intervals import wilson
from curation.core.text import amount, percent
from curation.evaluation.scoring.inputs.facets import LEAST
from curation.evaluation.scoring.inputs.release import EvaluatedRelease
from curation.evaluation.scoring.metrics.qrels import RunRows, rank

DEPTH = 10
"""The first documents of a list in which outdated ones are counted."""

Pair = tuple[str, str]


class OutdatedFigures(NamedTuple):
    """Outdated documents in the lists of one system; of several runs the first.

    Attributes
    ----------
    returned: outdated documents among the first `DEPTH`. lists: queries with any of these.
    above: queries where an outdated document is above the first relevant one, or there alone.
    queries: those with an outdated and a relevant document in the release; `above` is a share of them.
    low, high: 95 % interval of that share.
    """

    returned: int
    lists: int
    above: int
    queries: int
    low: float
    high: float

    def sentence(self, system: str) -> str:
        """What has to be known, for people."""
        returned = amount(self.returned, "outdated document", "outdated documents")
        return (
            f"{system}: {returned} among the first {DEPTH} of {amount(self.lists, 'query', 'queries')}. "
            f"For {self.above:,} of {amount(self.queries, 'query', 'queries')} "
            f"({percent(self.above / self.queries, 1)}, "
            f"{percent(self.low, 1)} to {percent(self.high, 1)}) an outdated document is above the valid one."
        )


def outdated_figures(runs: Sequence[RunRows], release: EvaluatedRelease) -> OutdatedFigures | None:
    """The figures of a system; None without outdated documents, or of few queries of a sealed part."""
    ids, qrels = release.qrels.query_ids, release.qrels
    having = {query for query, _ in release.outdated}
    valid = np.flatnonzero(qrels.relevant_documents > 0).tolist()
    counted = [place for place in valid if ids[place] in having]
    if not counted or (release.sealed and len(counted) < LEAST):
        return None
    first = _first_ranks(runs[0], release, release.outdated)
    above = sum(first.outdated[place] < first.relevant[place] for place in counted)
    low, high = wilson(int(above), len(counted))
    return OutdatedFigures(first.returned, first.lists, int(above), len(counted), low, high)


class _FirstRanks(NamedTuple):
    """The rank of the first outdated and the first relevant document of each query; none is infinite."""

    outdated: list[float]
    relevant: list[float]
    returned: int
    lists: int


def _first_ranks(rows: RunRows, release: EvaluatedRelease, outdated: Collection[Pair]) -> _FirstRanks:
    qrels = release.qrels
    ranking = rank(rows._replace(chunks=None), qrels)
    documents = rows.documents.take(numbers(ranking.order)).to_pylist()
    queries = [qrels.query_ids[query] for query in ranking.query.tolist()]
    old = np.array([pair in outdated for pair in zip(queries, documents, strict=True)], bool)
    relevant = ranking.grade >= qrels.relevant
    first = np.full((2, len(qrels.query_ids)), np.inf)
    for row, chosen in enumerate((old, relevant)):
        np.minimum.at(first[row], ranking.query[chosen], ranking.rank[chosen])
    inside = old & (ranking.rank <= DEPTH)
    lists = len(np.unique(ranking.query[inside]))
    return _FirstRanks(first[0].tolist(), first[1].tolist(), int(inside.sum()), lists)
