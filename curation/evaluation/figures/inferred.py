"""Inferred AP and nDCG of systems, where a random sample of the pool was judged.

A release does not say how the judged pairs were chosen among the pooled ones: a budget takes the best ranked,
which is no random sample. So whoever drew the sample says so, with the bands of ranks within which each pair
of a query had the same chance. The best rank that any system gave a pair puts it into a band.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from curation.errors import refuse_problems
from curation.evaluation.figures.means import Floats, mean_of
from curation.evaluation.inputs.pooled import PooledPairs
from curation.evaluation.metrics.inferred import SampledStratum, inferred_ap, inferred_ndcg
from curation.evaluation.metrics.qrels import Qrels
from curation.evaluation.metrics.rankings import RunRows, rank
from curation.statistics.intervals import MINIMUM_QUERIES
from curation.statistics.means import mean_intervals

DEPTH = 10
MEASURES = ("inferred_ap", f"inferred_ndcg@{DEPTH}")


@dataclass(frozen=True)
class InferredFigure:
    """The mean of one measure over the n queries that have an estimate; None without any."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class InferredFigures:
    """The estimates of all systems.

    Attributes
    ----------
    bands: last ranks of the bands; one more band is below them.
    pooled, judged: pairs that systems proposed for the evaluated queries, and those of them with a grade.
    without_estimate: queries of which a band has no judged pair, or nothing judged is relevant.
    systems: name → measure → figure. The gain of nDCG is the grade.
    """

    bands: tuple[int, ...]
    pooled: int
    judged: int
    without_estimate: int
    systems: Mapping[str, Mapping[str, InferredFigure]]


def inferred_figures(
    runs: Mapping[str, Sequence[RunRows]],
    qrels: Qrels,
    pooled: PooledPairs,
    bands: Sequence[int],
    seed: int,
) -> InferredFigures:
    """The figures of each system; of several runs of one system each query gets the mean.

    Parameters
    ----------
    bands: last ranks, ascending; none is one band.

    Raises
    ------
    InputError: ranks that do not ascend from 1.
    """
    refuse_problems(
        [
            f"--pool-sample {', '.join(map(str, bands))}: expected ascending ranks from 1 on"
            for before, rank_ in zip([0, *bands], bands, strict=False)
            if rank_ <= before
        ][:1]
    )
    strata = _strata(qrels, pooled, bands)
    values = {
        name: np.mean([_values(run, qrels, strata) for run in found], axis=0) for name, found in runs.items()
    }
    together = np.concatenate(list(values.values()), axis=1)
    highest = np.maximum(np.nanmax(together, axis=0, initial=1.0), 1.0)  # an estimate may be above 1
    ends = mean_intervals(together, seed, np.zeros(len(highest)), highest)
    systems = {}
    for number, (name, found) in enumerate(values.items()):
        figures = {}
        for place, measure in enumerate(MEASURES):
            known = int((~np.isnan(found[:, place])).sum())
            low, high = ends[:, number * len(MEASURES) + place].tolist()
            if known < MINIMUM_QUERIES:
                low = high = None
            figures[measure] = InferredFigure(mean_of(found[:, place]), low, high, known)
        systems[name] = figures
    every = [stratum for of_query in strata for stratum in of_query]
    first = next(iter(values.values()))
    return InferredFigures(
        bands=tuple(bands),
        pooled=sum(len(stratum.documents) for stratum in every),
        judged=sum(len(stratum.grades) for stratum in every),
        without_estimate=int(np.isnan(first[:, 0]).sum()),
        systems=systems,
    )


def _strata(qrels: Qrels, pooled: PooledPairs, bands: Sequence[int]) -> list[list[SampledStratum]]:
    """The strata of each query, in the order of the queries."""
    names = qrels.documents.to_pylist()
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for query, document, grade in zip(
        qrels.query.tolist(), qrels.document.tolist(), qrels.grade.tolist(), strict=True
    ):
        grades[qrels.query_ids[query]][names[document]] = grade
    members: defaultdict[str, list[set[str]]] = defaultdict(lambda: [set() for _ in range(len(bands) + 1)])
    for (query_id, document_id), best in pooled.ranks.items():
        members[query_id][int(np.searchsorted(bands, best))].add(document_id)
    return [
        [
            SampledStratum(
                frozenset(band), {name: grades[query][name] for name in band & grades[query].keys()}
            )
            for band in members[query]
        ]
        for query in qrels.query_ids
    ]


def _values(rows: RunRows, qrels: Qrels, strata: Sequence[Sequence[SampledStratum]]) -> Floats:
    """Shape (Q, measures), NaN where a query has no estimate."""
    ranking = rank(rows, qrels)
    names = rows.documents.take(ranking.order).to_pylist()
    ends = [*ranking.starts[1:].tolist(), len(names)]
    found = np.full((len(qrels.query_ids), len(MEASURES)), np.nan)
    for query, (start, end) in enumerate(zip(ranking.starts.tolist(), ends, strict=True)):
        order, own = names[start:end], strata[query]
        estimates = (
            inferred_ap(order, own, lambda grade: grade >= qrels.relevant),
            inferred_ndcg(order, own, DEPTH),
        )
        found[query] = [np.nan if value is None else value for value in estimates]
    return found
