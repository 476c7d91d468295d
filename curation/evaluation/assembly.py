"""The tables of an evaluation, assembled from the scores of its systems."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import pairwise

import numpy as np

from curation import __version__
from curation.evaluation.comparison.aggregations import StrataSummary, summarise
from curation.evaluation.comparison.compared import compare_scores
from curation.evaluation.comparison.similar_lists import FirstPlaces, similar_lists
from curation.evaluation.comparison.turning import Turning, shortlist, turning
from curation.evaluation.evaluation import (
    EvaluatedSystem,
    Evaluation,
    EvaluationOptions,
    RunFacts,
    SeedSpread,
)
from curation.evaluation.figures.hard_negatives import (
    HardNegativeEffect,
    hard_negative_effect,
    of_sealed_part,
)
from curation.evaluation.figures.inferred import (
    InferredFigures,
    declared_strata,
    inferred_figures,
    recorded_strata,
)
from curation.evaluation.figures.means import mean_figures
from curation.evaluation.figures.refusal import run_refusal
from curation.evaluation.figures.reranking import RerankingDepth, reranking
from curation.evaluation.figures.strata import facet_figures, other_means
from curation.evaluation.figures.traffic import traffic_figures
from curation.evaluation.inputs.facets import COVERAGE, Facet
from curation.evaluation.inputs.pooled import sample_sentence, share_unjudged
from curation.evaluation.inputs.release import EvaluatedRelease
from curation.evaluation.inputs.system_runs import SystemRun
from curation.evaluation.metrics.measures import Measure
from curation.evaluation.metrics.rankings import RunRows
from curation.evaluation.metrics.scores import RunScores, mean_scores
from curation.evaluation.metrics.summaries import mean_of, summary_of
from curation.evaluation.sealed.disclosure import (
    SealedTies,
    without_ties,
    without_ties_at_depth,
    without_ties_by_kind,
)
from curation.statistics.arrays import Mask
from curation.statistics.intervals import RESAMPLES


def assembled(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    facets: Sequence[Facet],
    read: Mapping[str, Sequence[SystemRun]],
    scored: Mapping[str, Sequence[RunScores]],
    lists: Mapping[str, FirstPlaces],
    options: EvaluationOptions,
    secrets: Mapping[str, Sequence[Mask]] | None = None,
) -> Evaluation:
    """All figures of systems whose runs were read and scored.

    Parameters
    ----------
    lists: system → the first places of its first run.
    secrets: system → what figures may not tell, where a part is sealed; see `sealed.disclosure`.
    """
    seed = options.seed
    systems = {name: mean_scores(found) for name, found in scored.items()}
    scores = list(systems.values())
    sealed = secrets is not None
    hidden = [[release.sealed_queries] if secrets is None else secrets[name] for name in systems]
    stratum = release.facets["stratum"]
    every = {facet.name: facet for facet in (stratum, *facets)}
    by_facet = {name: facet_figures(scores, facet, hidden) for name, facet in every.items()}
    overall = mean_figures(scores)
    shown = {facet.name for facet in facets}
    evaluated = [
        EvaluatedSystem(
            name=name,
            files=tuple(
                _facts(run, one, release, seed) for run, one in zip(read[name], scored[name], strict=True)
            ),
            overall=without_ties(overall[place]) if sealed else overall[place],
            traffic=traffic_figures(systems[name], release.drawn),
            others=other_means(systems[name], stratum, by_facet["stratum"][place], sealed),
            strata={
                facet: without_ties_by_kind(rows[place]) if sealed else rows[place]
                for facet, rows in by_facet.items()
                if facet in shown
            },
            seeds=_seeds(scored[name]),
            per_query=None if release.sealed else _per_query(systems[name]),
        )
        for place, name in enumerate(systems)
    ]
    compared = compare_scores(
        systems, facets, release.drawn, hidden if sealed else [], options.comparison, seed
    )
    summaries = _summaries(systems, facets, hidden if sealed else [], options)
    if sealed and compared.order is None:  # few queries differ: who is above whom would tell of them
        summaries = tuple(replace(one, win_rates=()) for one in summaries)
    qrels, judged = release.qrels, _judged_pairs(release)
    inferred = _inferred(release, read, options)
    return Evaluation(
        release=release.name,
        release_id=release.release_id,
        parts=release.parts,
        sealed=release.sealed,
        queries=len(qrels.query_ids),
        scale=qrels.scale,
        relevant_grade=qrels.relevant,
        without_relevant=int((qrels.relevant_documents == 0).sum()),
        measures=tuple(measure.name for measure in measures),
        about={measure.name: measure.about for measure in measures},
        runs=tuple(evaluated),
        **compared._asdict(),
        query_ids=None if release.sealed else qrels.query_ids,
        query_texts=None if release.sealed else tuple(release.texts[name] for name in qrels.query_ids),
        looks=(),
        seed=seed,
        resamples=RESAMPLES,
        versions=_versions(),
        first_stage=options.first_stage,
        reranking=_reranking(release, measures, read, options),
        hard_negatives=_hard_negatives(release, measures, read, options),
        inferred=inferred,
        not_inferred=sample_sentence(release.pooled, judged) if inferred is None else None,
        pool_unjudged=_unjudged(release, judged, inferred),
        turning=_turning(release, measures[0], read, scored) if options.turning else (),
        coverage=release.coverage,
        summaries=summaries,
        similar_lists=similar_lists(lists, len(qrels.query_ids), options.comparison.baseline),
    )


def _summaries(
    systems: Mapping[str, RunScores],
    facets: Sequence[Facet],
    secrets: Sequence[Sequence[Mask]],
    options: EvaluationOptions,
) -> tuple[StrataSummary, ...]:
    """Of each facet of the coverage map, by the first measure that compares systems."""
    scores = list(systems.values())
    places = [place for place, measure in enumerate(scores[0].measures) if measure.compares]
    if not places:
        return ()
    values = np.stack([one.values[:, places[0]] for one in scores])
    measure, baseline = scores[0].measures[places[0]].name, options.comparison.baseline
    return tuple(
        summarise(
            *(list(systems), measure, values, facet),
            seed=options.seed,
            secrets=secrets,
            baseline=baseline,
        )
        for facet in facets
        if facet.name in COVERAGE
    )


def _turning(
    release: EvaluatedRelease,
    measure: Measure,
    read: Mapping[str, Sequence[SystemRun]],
    scored: Mapping[str, Sequence[RunScores]],
) -> tuple[Turning, ...]:
    """Each system against the next one, from the best down."""
    means = {name: mean_of(runs[0].values[:, 0]) or 0.0 for name, runs in scored.items()}
    ordered = sorted(read, key=lambda name: (-means[name], name))
    lists = {name: shortlist(read[name][0].rows, release.qrels, measure) for name in ordered}
    return tuple(
        turning((first, second), (lists[first], lists[second]), measure, release.qrels)
        for first, second in pairwise(ordered)
    )


def _reranking(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    options: EvaluationOptions,
) -> tuple[RerankingDepth, ...]:
    if options.first_stage is None:
        return ()
    rows = _rows(read)
    [first] = rows.pop(options.first_stage)
    found = tuple(reranking(first, rows, release.qrels, measures, options.depths))
    return tuple(map(without_ties_at_depth, found)) if release.sealed else found


def _rows(read: Mapping[str, Sequence[SystemRun]]) -> dict[str, list[RunRows]]:
    return {name: [run.rows for run in runs] for name, runs in read.items()}


def _hard_negatives(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    options: EvaluationOptions,
) -> HardNegativeEffect | None:
    if not options.hard_negatives:
        return None
    effect = hard_negative_effect(_rows(read), release.qrels, release.pooled, measures, options.seed)
    return of_sealed_part(effect) if release.sealed else effect


def _inferred(
    release: EvaluatedRelease, read: Mapping[str, Sequence[SystemRun]], options: EvaluationOptions
) -> InferredFigures | None:
    """From the sample that the release records, else from one that somebody says was judged."""
    if release.pool_sample is not None:
        strata = recorded_strata(release.qrels, release.pool_sample)
    elif options.pool_sample is not None:
        strata = declared_strata(release.qrels, release.pooled, options.pool_sample)
    else:
        return None
    sealed = release.sealed_queries if release.sealed else None
    return inferred_figures(_rows(read), release.qrels, strata, sealed)


def _unjudged(
    release: EvaluatedRelease, judged: Collection[tuple[str, str]], inferred: InferredFigures | None
) -> float | None:
    """The share of the pool without a grade, with what a sample did not draw."""
    if inferred is None or not inferred.recorded:
        return share_unjudged(release.pooled, judged)
    return 1 - (inferred.judged + inferred.not_drawn) / inferred.pooled


def _judged_pairs(release: EvaluatedRelease) -> set[tuple[str, str]]:
    documents, queries = release.qrels.documents.to_pylist(), release.qrels.query_ids
    places = zip(release.qrels.query.tolist(), release.qrels.document.tolist(), strict=True)
    return {(queries[q], documents[d]) for q, d in places}


def _facts(run: SystemRun, scores: RunScores, release: EvaluatedRelease, seed: int) -> RunFacts:
    return RunFacts(
        source=run.source,
        places=run.places,
        missing=int((scores.returned == 0).sum()),
        unknown_documents=run.unknown_documents,
        against_scores=run.against_scores,
        ties=SealedTies(*scores.ties[:3]) if release.sealed else scores.ties,
        left_out=run.left_out,
        seconds=run.seconds,
        refusal=run_refusal(run.rows, release.qrels, release.facets, seed, bool(release.sealed)),
    )


def _seeds(runs: Sequence[RunScores]) -> dict[str, SeedSpread]:
    """How the runs of one system differ, by measure."""
    if len(runs) < 2:
        return {}
    found = {}
    for place, measure in enumerate(runs[0].measures):
        values = [summary_of(measure, run.values[:, place]) for run in runs]
        known = [value for value in values if value is not None]
        sd = float(np.std(known, ddof=1)) if len(known) > 1 else None
        mean = float(np.mean(known)) if known else None
        found[measure.name] = SeedSpread(len(runs), mean, sd, tuple(values))
    return found


def _per_query(scores: RunScores) -> dict[str, tuple[float | None, ...]]:
    return {
        measure.name: tuple(None if np.isnan(value) else value for value in scores.values[:, place].tolist())
        for place, measure in enumerate(scores.measures)
    }


def _versions() -> dict[str, str]:
    return {"goldset": __version__, "numpy": version("numpy")}
