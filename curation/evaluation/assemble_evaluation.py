"""The results of an evaluation, computed from its systems' scores.

The figures still have values of individual queries; `protected_figures` removes these where a part is sealed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

import numpy as np

from curation import __version__
from curation.core.statistics.arrays import Mask, average
from curation.core.statistics.bootstrap import RESAMPLES
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation, convert_to_values
from curation.evaluation.figures.aggregations import StrataSummary, summarize_strata
from curation.evaluation.figures.candidate_lists import measure_hard_negatives
from curation.evaluation.figures.compare_scores import compare_scores
from curation.evaluation.figures.means import compute_facet_figures, compute_means
from curation.evaluation.figures.traffic_estimates import estimate_traffic_figures
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.run_facts import describe_run
from curation.evaluation.scored_system import ScoredSystem
from curation.evaluation.scoring.facets import COVERAGE, Facet
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.pooled_pairs import compute_unjudged_share
from curation.evaluation.scoring.release import EvaluatedRelease
from curation.evaluation.scoring.run_scores import RunScores


def assemble_evaluation(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    facets: Sequence[Facet],
    systems: Sequence[ScoredSystem],
    request: EvaluateRequest,
) -> Evaluation:
    """Compute all results for the evaluated systems; `protect_figures` limits what leads see on sealed
    parts."""
    qrels = release.qrels
    rows = {system.name: system.rows for system in systems}
    scores = {system.name: system.mean for system in systems}
    comparisons, boards = compare_scores(
        scores, facets, release.sealed_queries, request.seed, request.baseline, request.test
    )
    effect = None
    if request.hard_negatives:
        effect = measure_hard_negatives(rows, qrels, release.pooled, measures, request.seed)
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
        runs=_evaluate_systems(release, facets, systems, request.seed),
        comparisons=comparisons,
        leaderboards=boards,
        query_ids=qrels.query_ids,
        query_texts=tuple(release.texts[name] for name in qrels.query_ids),
        sealed_count=None,
        seed=request.seed,
        resamples=RESAMPLES,
        versions={"goldgrade": __version__, "numpy": version("numpy")},
        hard_negatives=effect,
        pool_unjudged=compute_unjudged_share(release.pooled, qrels.pair_ids),
        coverage=release.coverage,
        summaries=_summarize_facets(scores, facets, release.sealed_queries, request),
        mark=release.mark,
        apart=release.apart,
        context={system.name: system.context for system in systems if system.context},
        lists={system.name: system.stored_lists for system in systems if system.stored_lists},
    )


def _evaluate_systems(
    release: EvaluatedRelease, facets: Sequence[Facet], systems: Sequence[ScoredSystem], seed: int
) -> tuple[EvaluatedSystem, ...]:
    """Compute the results of each system on its own, before systems are compared."""
    scores = [system.mean for system in systems]
    sealed = release.sealed_queries
    by_facet = {facet.name: compute_facet_figures(scores, facet, sealed) for facet in facets}
    measures = [measure.name for measure in scores[0].measures]
    return tuple(
        EvaluatedSystem(
            name=system.name,
            files=tuple(
                describe_run(run, scores, release, seed)
                for run, scores in zip(system.runs, system.scores, strict=True)
            ),
            overall=overall,
            traffic=estimate_traffic_figures(system.mean, release.drawn),
            strata={facet: kinds[index] for facet, kinds in by_facet.items()},
            seeds=_compute_run_figures(system.scores),
            per_query=convert_to_values(dict(zip(measures, system.mean.values.T, strict=True))),
        )
        for index, (system, overall) in enumerate(zip(systems, compute_means(scores), strict=True))
    )


def _summarize_facets(
    systems: Mapping[str, RunScores], facets: Sequence[Facet], sealed: Mask, request: EvaluateRequest
) -> tuple[StrataSummary, ...]:
    """Summarize each facet of the coverage map by the first measure that can compare systems."""
    comparable = [measure for measure in next(iter(systems.values())).measures if measure.compares]
    if not comparable:
        return ()
    measure = comparable[0].name
    values = np.stack([scores.of(measure) for scores in systems.values()])
    return tuple(
        summarize_strata(
            list(systems), measure, values, facet, seed=request.seed, sealed=sealed, baseline=request.baseline
        )
        for facet in facets
        if facet.name in COVERAGE
    )


def _compute_run_figures(runs: Sequence[RunScores]) -> dict[str, tuple[float | None, ...]]:
    """Compute each measure for every run of one system; empty if the system has a single run."""
    if len(runs) == 1:
        return {}
    return {
        measure.name: tuple(average(run.values[:, column]) for run in runs)
        for column, measure in enumerate(runs[0].measures)
    }
