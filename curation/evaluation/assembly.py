"""The tables of an evaluation, assembled from the scores of its systems."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from curation import __version__
from curation.core.statistics.arrays import Mask
from curation.core.statistics.intervals import RESAMPLES
from curation.core.text import amount, decimal
from curation.evaluation.comparison.aggregations import StrataSummary, summarise
from curation.evaluation.comparison.compared import compare_scores
from curation.evaluation.evaluation import (
    ContextPoint,
    EvaluatedSystem,
    Evaluation,
    EvaluationOptions,
    RunFacts,
    SeedSpread,
)
from curation.evaluation.figures.copies import shared_copies
from curation.evaluation.figures.hard_negative_effect import HardNegativeEffect, hard_negative_effect
from curation.evaluation.figures.means import mean_figures, mean_intervals
from curation.evaluation.figures.outdated import outdated_figures
from curation.evaluation.figures.refusal import run_refusal
from curation.evaluation.figures.reranking import RerankingDepth, reranking
from curation.evaluation.figures.strata import facet_figures, other_means
from curation.evaluation.figures.traffic import traffic_figures
from curation.evaluation.first_places import FirstPlaces, first_places
from curation.evaluation.scoring.inputs.facets import COVERAGE, Facet
from curation.evaluation.scoring.inputs.pooled import share_unjudged
from curation.evaluation.scoring.inputs.release import EvaluatedRelease
from curation.evaluation.scoring.inputs.run_chunks import WAY_OUT
from curation.evaluation.scoring.inputs.system_runs import SystemRun
from curation.evaluation.scoring.metrics.evidence import OPEN, UNKNOWN, words_read
from curation.evaluation.scoring.metrics.measures import CONTEXT, WITHIN, Measure, mean_of, summary_of
from curation.evaluation.scoring.metrics.qrels import Rankings, RunRows, rank
from curation.evaluation.scoring.metrics.run_scores import RunScores, mean_scores, score_ranking, values_of

CONTEXT_DEPTHS = (1, 2, 3, 5, 10, 20, 50)
"""Numbers of chunks for which recall is shown against words."""


@dataclass(frozen=True)
class ScoredSystem:
    """A system with its runs, and the scores of each.

    Attributes
    ----------
    first_places, context: of its first run; a whole ranking is not kept.
    sure: of each run, the mean by the first measure if chunks whose places are not sure held no evidence;
        None where all are sure.
    """

    name: str
    runs: tuple[SystemRun, ...]
    scores: tuple[RunScores, ...]
    first_places: FirstPlaces
    context: tuple[ContextPoint, ...] = ()
    sure: tuple[float | None, ...] = ()

    @property
    def rows(self) -> list[RunRows]:
        """The places of each run."""
        return [run.rows for run in self.runs]

    @cached_property
    def mean(self) -> RunScores:
        """The mean of its runs, query by query."""
        return mean_scores(self.scores)


def score_system(
    name: str, runs: Sequence[SystemRun], release: EvaluatedRelease, measures: Sequence[Measure]
) -> ScoredSystem:
    """Score the runs of one system."""
    scores, sure, first, context = [], [], None, None
    for run in runs:
        ranking = rank(run.rows, release.qrels)
        scores.append(score_ranking(ranking, release.qrels, measures))
        sure.append(_sure(ranking, release, measures[0]))
        first = first or first_places(run.rows, ranking)
        context = _context(ranking, release) if context is None else context
    assert first is not None
    return ScoredSystem(name, tuple(runs), tuple(scores), first, context or (), tuple(sure))


def _sure(ranking: Rankings, release: EvaluatedRelease, measure: Measure) -> float | None:
    """The mean without the evidence of chunks whose places are not sure: with others it is not below.

    None where there are none.
    """
    ranked = ranking.chunks
    if ranked is None or not measure.of_chunks or not ranked.chunks.several.any():
        return None
    behind = np.where(ranked.chunks.several, OPEN, 0)
    chunks = ranked.chunks._replace(
        start=ranked.chunks.start + behind,
        end=ranked.chunks.end + behind,
        first_word=np.where(ranked.chunks.several, UNKNOWN, ranked.chunks.first_word),
    )
    without = replace(ranking, chunks=replace(ranked, chunks=chunks))
    return mean_of(values_of(without, release.qrels, [measure])[:, 0])


def _context(ranking: Rankings, release: EvaluatedRelease) -> tuple[ContextPoint, ...]:
    """Recall of evidence against words of context; none where there is no evidence, or a part is sealed."""
    if ranking.chunks is None or release.qrels.evidence is None or release.sealed:
        return ()
    last = int(ranking.chunks.chunks.rank.max(initial=1))
    asked = [
        Measure(kind, depth)
        for depth in CONTEXT_DEPTHS
        if depth <= last
        for kind in ("evidence_recall", CONTEXT)
    ]
    values = values_of(ranking, release.qrels, asked)
    values[np.isnan(values[:, 0])] = np.nan  # the same queries for both
    recall, words = values[:, ::2], values[:, 1::2]
    recall[np.isnan(words)] = np.nan
    return tuple(
        ContextPoint(one.depth or 1, mean_of(of_words), mean_of(of_recall), *(ends or (None, None)))
        for one, of_words, of_recall, (ends, _) in zip(
            asked[::2], words.T, recall.T, mean_intervals(recall), strict=True
        )
    )


def assembled(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    facets: Sequence[Facet],
    systems: Sequence[ScoredSystem],
    options: EvaluationOptions,
) -> Evaluation:
    """All figures of systems. What leads see of them on sealed parts, `sealed.protected` says."""
    rows = {system.name: system.rows for system in systems}
    scores = {system.name: system.mean for system in systems}
    comparisons, boards = compare_scores(
        scores, facets, release.drawn, release.sealed_queries, options.comparison, options.seed
    )
    return Evaluation(
        **_about(release, measures, options),
        runs=_evaluated(release, facets, systems, options.seed),
        comparisons=comparisons,
        leaderboards=boards,
        summaries=_summaries(scores, facets, release.sealed_queries, options),
        reranking=_reranking(release, measures, rows, options),
        hard_negatives=_hard_negatives(release, measures, rows, options),
        pool_unjudged=share_unjudged(release.pooled, _judged_pairs(release)),
        lists={} if release.sealed else {system.name: system.first_places for system in systems},
        context={system.name: system.context for system in systems if system.context},
    )


def _about(
    release: EvaluatedRelease, measures: Sequence[Measure], options: EvaluationOptions
) -> dict[str, Any]:
    """What was evaluated, by the fields of `Evaluation`."""
    qrels = release.qrels
    return {
        "release": release.name,
        "release_id": release.release_id,
        "parts": release.parts,
        "sealed": release.sealed,
        "queries": len(qrels.query_ids),
        "scale": qrels.scale,
        "relevant_grade": qrels.relevant,
        "without_relevant": int((qrels.relevant_documents == 0).sum()),
        "measures": tuple(measure.name for measure in measures),
        "about": {measure.name: measure.about for measure in measures},
        "query_ids": qrels.query_ids,
        "query_texts": tuple(release.texts[name] for name in qrels.query_ids),
        "sealed_count": None,
        "seed": options.seed,
        "resamples": RESAMPLES,
        "versions": {"goldgrade": __version__, "numpy": version("numpy")},
        "first_stage": options.first_stage,
        "coverage": release.coverage,
        "mark": release.mark,
    }


def _evaluated(
    release: EvaluatedRelease,
    facets: Sequence[Facet],
    systems: Sequence[ScoredSystem],
    seed: int,
) -> tuple[EvaluatedSystem, ...]:
    """The figures of each system."""
    scores = [system.mean for system in systems]
    stratum = release.facets["stratum"]
    every = {facet.name: facet for facet in (stratum, *facets)}
    by_facet = {name: facet_figures(scores, facet, release.sealed_queries) for name, facet in every.items()}
    shown = {facet.name for facet in facets}
    rows = {system.name: system.rows for system in systems}
    copies = shared_copies(rows, release, systems[0].mean.measures) if systems else {}
    return tuple(
        EvaluatedSystem(
            name=system.name,
            files=tuple(
                _facts(*own, release, seed)
                for own in zip(system.runs, system.scores, system.sure, strict=True)
            ),
            overall=overall,
            traffic=traffic_figures(system.mean, release.drawn),
            others=other_means(system.mean, stratum, by_facet["stratum"][number], bool(release.sealed)),
            strata={facet: kinds[number] for facet, kinds in by_facet.items() if facet in shown},
            seeds=_seeds(system.scores),
            per_query=_per_query(system.mean),
            copies=copies.get(system.name),
            outdated=outdated_figures(system.rows, release),
        )
        for number, (system, overall) in enumerate(zip(systems, mean_figures(scores), strict=True))
    )


def _summaries(
    systems: Mapping[str, RunScores],
    facets: Sequence[Facet],
    sealed: Mask,
    options: EvaluationOptions,
) -> tuple[StrataSummary, ...]:
    """Of each facet of the coverage map, by the first measure that compares systems."""
    compared = [measure for measure in next(iter(systems.values())).measures if measure.compares]
    if not compared:
        return ()
    measure = compared[0].name
    values = np.stack([scores.of(measure) for scores in systems.values()])
    return tuple(
        summarise(
            list(systems),
            measure,
            values,
            facet,
            seed=options.seed,
            sealed=sealed,
            baseline=options.comparison.baseline,
        )
        for facet in facets
        if facet.name in COVERAGE
    )


def _reranking(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    rows: Mapping[str, Sequence[RunRows]],
    options: EvaluationOptions,
) -> tuple[RerankingDepth, ...]:
    if options.first_stage is None:
        return ()
    [first] = rows[options.first_stage]
    rerankers = {name: runs for name, runs in rows.items() if name != options.first_stage}
    return tuple(reranking(first, rerankers, release.qrels, measures, options.depths))


def _hard_negatives(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    rows: Mapping[str, Sequence[RunRows]],
    options: EvaluationOptions,
) -> HardNegativeEffect | None:
    if not options.hard_negatives:
        return None
    return hard_negative_effect(rows, release.qrels, release.pooled, measures, options.seed)


def _judged_pairs(release: EvaluatedRelease) -> Collection[tuple[str, str]]:
    documents, queries = release.qrels.documents.to_pylist(), release.qrels.query_ids
    pairs = zip(release.qrels.query.tolist(), release.qrels.document.tolist(), strict=True)
    return {(queries[query], documents[document]) for query, document in pairs}


def _facts(
    run: SystemRun, scores: RunScores, sure: float | None, release: EvaluatedRelease, seed: int
) -> RunFacts:
    return RunFacts(
        source=run.source,
        places=run.places,
        missing=int((scores.returned == 0).sum()),
        unknown_documents=run.unknown_documents,
        against_scores=run.against_scores,
        ties=scores.ties,
        left_out=run.left_out,
        seconds=run.seconds,
        refusal=run_refusal(run.rows, release.qrels, release.facets, seed),
        chunks=run.chunks,
        remarks=tuple(_remarks(run, scores.measures, sure)),
    )


def _remarks(run: SystemRun, measures: Sequence[Measure], sure: float | None) -> Iterator[str]:
    yield from [run.unread] if run.unread else []
    yield from run.chunks.sentences() if run.chunks else []
    if sure is not None:
        yield f"Wherever these texts are, {measures[0].name} is at least {decimal(sure)}. {WAY_OUT}"
    yield from _short_lists(run, measures)
    chunks = run.rows.chunks if any(measure.of_chunks for measure in measures) else None
    if chunks is not None and len(unknown := np.unique(chunks.query[chunks.words == UNKNOWN])):
        yield (
            f"{amount(len(unknown), 'query has', 'queries have')} a chunk whose words are not known, as its "
            f"document or place is not. It ends the list of {WITHIN}, makes evidence_precision and "
            f"evidence_iou 0, and leaves the query out of {CONTEXT} and of the curve, where they look at it."
        )


def _short_lists(run: SystemRun, measures: Sequence[Measure]) -> Iterator[str]:
    """How many words are read where lists end before the budget of a measure."""
    chunks = run.rows.chunks
    for measure in measures if chunks is not None else ():
        if measure.kind != WITHIN or chunks is None:
            continue
        of_query = np.bincount(chunks.query, words_read(chunks, measure.depth or 1))
        read = of_query[np.unique(chunks.query)]
        if len(short := read[read < (measure.depth or 1)]):
            yield (
                f"{amount(len(short), 'list has', 'lists have')} fewer words than {measure.name} may read. "
                f"Over all lists it reads {read.mean():,.0f} words on average."
            )


def _seeds(runs: Sequence[RunScores]) -> dict[str, SeedSpread]:
    """How the runs of one system differ, by measure."""
    if len(runs) < 2:
        return {}
    spreads = {}
    for column, measure in enumerate(runs[0].measures):
        values = [summary_of(measure, run.values[:, column]) for run in runs]
        known = [value for value in values if value is not None]
        sd = float(np.std(known, ddof=1)) if len(known) > 1 else None
        mean = float(np.mean(known)) if known else None
        spreads[measure.name] = SeedSpread(len(runs), mean, sd, tuple(values))
    return spreads


def _per_query(scores: RunScores) -> dict[str, tuple[float | None, ...]]:
    return {
        measure.name: tuple(None if np.isnan(value) else value for value in column.tolist())
        for measure, column in zip(scores.measures, scores.values.T, strict=True)
    }
