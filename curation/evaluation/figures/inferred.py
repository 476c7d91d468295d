"""Inferred AP and nDCG of systems, where a random sample of the pool was judged.

A release that goldset drew the sample for records which pairs were drawn, and how likely. Of one that was
judged elsewhere, or before goldset recorded it, the person who drew the sample says so, with the bands of
ranks
within which each pair of a query had the same chance. The best rank that any system gave a pair puts it into
a band. A budget takes the best ranked pairs, which is no random sample.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.errors import refuse_problems
from curation.evaluation.figures.means import MeasureFigure, mean_figures
from curation.scoring.inputs.facets import LEAST
from curation.scoring.inputs.pooled import PooledPairs, RecordedSample
from curation.scoring.metrics.inferred import SampledStratum, inferred_ap, inferred_ndcg
from curation.scoring.metrics.measures import mean_of, measures_for
from curation.scoring.metrics.qrels import Qrels, RunRows, rank
from curation.scoring.metrics.run_scores import mean_scores, score_rows
from curation.statistics.arrays import Floats, Mask
from curation.statistics.intervals import MINIMUM_QUERIES
from curation.statistics.means import mean_intervals

DEPTH = 10
MEASURES = {
    "inferred_ap": "map",
    f"inferred_ndcg@{DEPTH}": f"ndcg@{DEPTH}",
    f"inferred_ndcg_exp@{DEPTH}": f"ndcg_exp@{DEPTH}",
}
"""Estimate → the measure that it estimates."""
FEW_RELEVANT = 20
"""With fewer relevant documents, by estimate, the estimates of a query are too high on average."""


@dataclass(frozen=True)
class InferredFigure:
    """The mean of one estimate over the n queries that have one; None without any.

    Attributes
    ----------
    low, high: 95 % interval.
    if_none, if_all: the measure itself, over the queries that have it, if none or all of the unjudged
        documents that the run returned were relevant.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    if_none: float | None
    if_all: float | None


class PoolBand(NamedTuple):
    """Pairs of all queries in one band of ranks.

    Attributes
    ----------
    drawn: for judging, where the release records that; None where somebody said that a sample was judged.
    judged: of the drawn ones, or of all where it is not known which were drawn.
    """

    name: str
    pooled: int
    drawn: int | None
    judged: int


class PoolStrata(NamedTuple):
    """What estimates are made of.

    Attributes
    ----------
    of_query: in the order of the qrels' queries.
    not_drawn: pooled pairs with a grade that the sample did not draw; they count for nothing.
    """

    of_query: Sequence[Sequence[SampledStratum]]
    bands: tuple[PoolBand, ...]
    recorded: bool
    not_drawn: int


@dataclass(frozen=True)
class InferredFigures:
    """The estimates of all systems.

    Attributes
    ----------
    recorded: whether the release records the sample; else somebody said that there is one.
    pooled, judged: pairs of all bands, and those with a grade that the estimates use.
    not_drawn: see `PoolStrata`.
    without_estimate: queries of which a band has no judged pair, or nothing judged is relevant.
    few_relevant: queries with an estimate and fewer than `FEW_RELEVANT` relevant documents by estimate.
    systems: name → estimate → figure. The gain of nDCG is the grade, of nDCG_exp 2^grade − 1.
    """

    recorded: bool
    bands: tuple[PoolBand, ...]
    pooled: int
    judged: int
    not_drawn: int
    without_estimate: int
    few_relevant: int
    systems: Mapping[str, Mapping[str, InferredFigure]]


def inferred_figures(
    runs: Mapping[str, Sequence[RunRows]],
    qrels: Qrels,
    strata: PoolStrata,
    sealed: Mask | None = None,
) -> InferredFigures:
    """The figures of each system; of several runs of one system each query gets the mean.

    Parameters
    ----------
    sealed: the queries of sealed parts, shape (Q,): there is no estimate of fewer than `LEAST` of them.
    """
    values = {
        name: np.mean([_values(run, qrels, strata.of_query) for run in found], axis=0)
        for name, found in runs.items()
    }
    if sealed is not None:
        for found in values.values():
            known = (~np.isnan(found[sealed])).sum(axis=0)
            found[:, (known > 0) & (known < LEAST)] = np.nan
    together = np.concatenate(list(values.values()), axis=1)
    highest = np.maximum(np.nanmax(together, axis=0, initial=1.0), 1.0)  # an estimate may be above 1
    ends = mean_intervals(together, highest)
    ordinary = _ordinary(runs, qrels)
    systems = {}
    for number, (name, found) in enumerate(values.items()):
        first = number * len(MEASURES)
        systems[name] = {
            measure: _figure(found[:, place], ends[:, first + place], ordinary[name][MEASURES[measure]])
            for place, measure in enumerate(MEASURES)
        }
    return InferredFigures(
        recorded=strata.recorded,
        bands=strata.bands,
        pooled=sum(band.pooled for band in strata.bands),
        judged=sum(band.judged for band in strata.bands),
        not_drawn=strata.not_drawn,
        without_estimate=int(np.isnan(next(iter(values.values()))[:, 0]).sum()),
        few_relevant=sum(_has_few(own, qrels.relevant) for own in strata.of_query),
        systems=systems,
    )


def declared_strata(qrels: Qrels, pooled: PooledPairs, bands: Sequence[int]) -> PoolStrata:
    """The strata where somebody says that the judged pairs are a random sample within bands.

    Parameters
    ----------
    bands: last ranks, ascending; none is one band.

    Raises
    ------
    InputError: ranks that do not ascend from 1.
    """
    refuse_problems(
        [
            f"Bands of the pool sample, {', '.join(map(str, bands))}: expected ascending ranks from 1 on."
            for before, rank_ in zip([0, *bands], bands, strict=False)
            if rank_ <= before
        ][:1]
    )
    members: defaultdict[str, list[set[str]]] = defaultdict(lambda: [set() for _ in range(len(bands) + 1)])
    for (query_id, document_id), best in pooled.ranks.items():
        members[query_id][int(np.searchsorted(bands, best))].add(document_id)
    lasts = [0, *bands]
    names = [f"ranks {first + 1:,} to {last:,}" for first, last in zip(lasts, bands, strict=False)] + [
        f"below rank {lasts[-1]:,}" if bands else "all ranks"
    ]
    grades = _grades(qrels)
    of_query = [
        [_sampled(frozenset(band), frozenset(band), grades[query]) for band in members[query]]
        for query in qrels.query_ids
    ]
    counted = tuple(
        PoolBand(
            name,
            sum(len(strata[place].documents) for strata in of_query),
            None,
            sum(len(strata[place].grades) for strata in of_query),
        )
        for place, name in enumerate(names)
    )
    return PoolStrata(of_query, counted, recorded=False, not_drawn=0)


def recorded_strata(qrels: Qrels, sample: RecordedSample) -> PoolStrata:
    """The strata as the release records them; only drawn documents count with their grade."""
    grades = _grades(qrels)
    of_query, not_drawn = [], 0
    counts: dict[str, list[int]] = {}
    for query in qrels.query_ids:
        found, own = sample.get(query, ()), grades[query]
        of_query.append([_sampled(one.documents, one.drawn, own) for one in found])
        for stratum, sampled in zip(found, of_query[-1], strict=True):
            count = counts.setdefault(stratum.name, [0, 0, 0])
            for place, number in enumerate((stratum.documents, stratum.drawn, sampled.grades)):
                count[place] += len(number)
            not_drawn += len(stratum.documents & own.keys() - stratum.drawn)
    bands = tuple(PoolBand(name, *count) for name, count in counts.items())
    return PoolStrata(of_query, bands, recorded=True, not_drawn=not_drawn)


def _sampled(documents: frozenset[str], drawn: frozenset[str], grades: Mapping[str, int]) -> SampledStratum:
    return SampledStratum(documents, {name: grades[name] for name in drawn & grades.keys()})


def _grades(qrels: Qrels) -> defaultdict[str, dict[str, int]]:
    names = qrels.documents.to_pylist()
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for query, document, grade in zip(
        qrels.query.tolist(), qrels.document.tolist(), qrels.grade.tolist(), strict=True
    ):
        grades[qrels.query_ids[query]][names[document]] = grade
    return grades


def _ordinary(runs: Mapping[str, Sequence[RunRows]], qrels: Qrels) -> dict[str, dict[str, MeasureFigure]]:
    """System → the measures themselves, of what was judged."""
    measures = measures_for(qrels.scale, list(MEASURES.values()))
    scores = [mean_scores([score_rows(run, qrels, measures) for run in found]) for found in runs.values()]
    return dict(zip(runs, mean_figures(scores), strict=True))


def _has_few(strata: Sequence[SampledStratum], relevant: int) -> bool:
    """Whether the query has an estimate, and by it few relevant documents."""
    known = [stratum for stratum in strata if stratum.documents]
    if not all(stratum.grades for stratum in known):
        return False
    found = sum(one.weight * sum(grade >= relevant for grade in one.grades.values()) for one in known)
    return 0 < found < FEW_RELEVANT


def _figure(values: Floats, ends: Floats, ordinary: MeasureFigure) -> InferredFigure:
    known = int((~np.isnan(values)).sum())
    low, high = ends.tolist() if known >= MINIMUM_QUERIES else (None, None)
    return InferredFigure(mean_of(values), low, high, known, ordinary.if_none, ordinary.if_all)


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
            inferred_ndcg(order, own, DEPTH, lambda grade: 2.0**grade - 1),
        )
        found[query] = [np.nan if value is None else value for value in estimates]
    return found
