"""Evaluating runs on a release: from a release's name and run files to tables of figures.

Of a sealed part the tables have no value of a single query, and no figures of fewer than ten. What computes
with values of single queries does it in here, before they are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from curation.errors import InputError, RefusedError, refuse_problems
from curation.evaluation.assembly import ScoredSystem, assembled, score_system
from curation.evaluation.comparison.order import with_other_labels
from curation.evaluation.evaluation import Evaluation, EvaluationOptions, sealed_evaluation
from curation.evaluation.figures.means import mean_figures
from curation.evaluation.figures.reranking import check_depths
from curation.evaluation.request import RunQuestions, check_deciding, run_problems
from curation.looks.ladder import scored_by
from curation.looks.ladder_looks import with_ladder_values
from curation.looks.limits import (
    EarlierRun,
    Plausibility,
    SeenLists,
    plausibility,
    refuse_fine_measures,
    refuse_implausible,
    refuse_what_tells_of_single_queries,
    rounded_figures,
    secrets,
    seen_lists,
    seen_pairs,
)
from curation.looks.looking import (
    BUSY,
    PlannedLooks,
    ScoredRun,
    SealedLog,
    reason_for,
    run_sum_of,
    take_looks,
)
from curation.progress import Progress, silent
from curation.releases.verify import Opened
from curation.scoring.inputs.release import EvaluatedRelease, Facet, chosen_facets, read_release
from curation.scoring.inputs.subtopic_file import SubtopicFacts, read_subtopics
from curation.scoring.inputs.system_runs import RunSource, SystemRun, read_run, with_whole_documents
from curation.scoring.metrics.engine import RunScores
from curation.scoring.metrics.measures import CHUNK_MEASURES, DEFAULT_MEASURES, Measure, measures_for
from curation.statistics.arrays import Mask
from curation.step import out_of_bounds
from curation.store import COMMAND_LINE, Store


def evaluate_runs(
    store: Store,
    release_name: str | Opened,
    runs: Sequence[RunSource],
    options: EvaluationOptions = EvaluationOptions(),
    reason: str | None = None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> Evaluation:
    """Score run files on a release.

    Parameters
    ----------
    runs: files of one name are several runs of one system.
    reason: why a sealed part is scored; the look is stored before its figures are returned.

    Raises
    ------
    InputError: options that mean nothing here, or run files that cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: a sealed part is scored without a reason, by somebody who may not, or so that figures would
        tell of single queries; the release cannot be used.
    """
    if not runs:
        raise InputError("No run was named: give at least one.", command="For example: --run bm25.trec.")
    _check_runs(options, [source.name for source in runs])
    release = read_release(store, release_name, options.split, options.relevant)
    release, subtopics = _with_subtopics(release, options, progress)
    _measures_and_facets(release, options)
    _check_label_draws(options, release)
    why = reason_for(store, release, reason, actor) if release.sealed else ""
    read: dict[str, list[SystemRun]] = {}
    for source in runs:
        read.setdefault(source.name, []).append(read_run(source, release, options.reading, progress))
    of_chunks = any(run.chunks for found in read.values() for run in found)
    measures, facets = _measures_and_facets(release, options, of_chunks)
    for found in read.values():
        found[:] = [replace(run, rows=with_whole_documents(run.rows, release, measures)) for run in found]
    systems = _scored(release, measures, read, progress)

    def evaluated(secrets: Mapping[str, Sequence[Mask]] | None = None) -> Evaluation:
        figures = assembled(release, measures, facets, systems, options, secrets)
        return replace(figures, subtopics=subtopics)

    if not release.sealed:
        return _with_other_labels(store, evaluated(), release, measures, systems, options)
    seen = _seen_runs(store, release, measures, systems, options)
    rows = {system.name: system.rows for system in systems}

    def plan(log: SealedLog) -> PlannedLooks[Evaluation]:
        shown = sealed_evaluation(evaluated(_secrets(release, seen, log.earlier)), release, rows)
        looks = _scored_runs(release, shown, seen)
        looks = with_ladder_values(store, release, log.ladders, [one.run.rows for one in seen], looks)
        return PlannedLooks(shown, looks, _asked(shown, facets, options, seen))

    evaluation, taken = take_looks(store, release, plan, why, actor, busy=BUSY)
    return replace(evaluation, looks=taken)


def _measures_and_facets(
    release: EvaluatedRelease, options: EvaluationOptions, of_chunks: bool = False
) -> tuple[tuple[Measure, ...], list[Facet]]:
    """What is computed, and for which kinds of queries; stops where the release does not allow it.

    Parameters
    ----------
    of_chunks: whether any run is one of chunks.
    """
    default = CHUNK_MEASURES if of_chunks and release.qrels.evidence is not None else DEFAULT_MEASURES
    measures = measures_for(release.qrels.scale, options.measures, default)
    facets = chosen_facets(release.facets, options.by)
    if options.pool_sample is not None:
        _refuse_declared_sample(release)
    _check_turning(options, release, measures)
    check_deciding(options.comparison.deciding, bool(release.sealed))
    if options.by_query and release.sealed:
        raise RefusedError(
            f"{', '.join(release.sealed)} is sealed, and there is nothing by query of a sealed part.",
            command="Leave --per-query out.",
        )
    if release.sealed:
        refuse_fine_measures(release.sealed, measures)
    for one in measures:
        release.qrels.lacking(one)  # stops where it needs subtopics and there are none
    return measures, facets


def _with_subtopics(
    release: EvaluatedRelease, options: EvaluationOptions, progress: Progress
) -> tuple[EvaluatedRelease, SubtopicFacts | None]:
    """The release with the subtopics of the file that was named, and what that held."""
    if options.subtopics is None:
        return release, None
    asked = measures_for(release.qrels.scale, options.measures)
    if all(one.alpha is None for one in asked):
        raise InputError(
            f"{options.subtopics} has subtopics, and no measure that was asked for uses them.",
            command="Ask for one with --measures, such as ndcg_exp@10,alpha_ndcg@10.",
        )
    return read_subtopics(options.subtopics, release, progress)


def _refuse_declared_sample(release: EvaluatedRelease) -> None:
    if release.pool_sample is not None:
        raise RefusedError(
            f"The release {release.name!r} records which pairs of its pool were drawn for judging and how "
            "likely, and evaluation uses that. Give no bands of ranks.",
            command="Leave --pool-sample out.",
        )
    if release.sealed:
        raise RefusedError(
            f"Nothing is inferred for {', '.join(release.sealed)}, which is sealed. Bands of ranks can be "
            "chosen so that the estimates are of a few queries.",
            command="Leave --pool-sample out.",
        )


def _check_label_draws(options: EvaluationOptions, release: EvaluatedRelease) -> None:
    refuse_problems(out_of_bounds(RunQuestions, {"label_draws": options.label_draws}))
    if options.label_draws and release.sealed:
        raise RefusedError(
            f"Grades of {', '.join(release.sealed)} are not drawn again, because it is sealed.",
            command="Leave --label-draws out.",
        )


def _with_other_labels(
    store: Store,
    evaluation: Evaluation,
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    systems: Sequence[ScoredSystem],
    options: EvaluationOptions,
) -> Evaluation:
    """The evaluation, with the order under other labels where that was asked for and there is an order."""
    order = evaluation.order
    if not options.label_draws or order is None or not order.views:
        return evaluation
    measure = next(one for one in measures if one.name == order.measure)
    rows = {system.name: system.rows for system in systems}
    draws, seed = options.label_draws, options.seed
    order = with_other_labels(store, release, order, rows, measure, seed=seed, draws=draws)
    return replace(evaluation, order=order)


def _scored(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    progress: Progress,
) -> list[ScoredSystem]:
    systems = []
    for number, (name, runs) in enumerate(read.items(), 1):
        systems.append(score_system(name, runs, release, measures))
        progress("scoring systems", number, len(read))
    return systems


class _SeenRun(NamedTuple):
    """A run of a sealed part: how it is named in refusals, what a look sees of its lists, what they hold."""

    system: str
    label: str
    run: SystemRun
    scores: RunScores
    seen: SeenLists
    plausible: Plausibility


def _seen_runs(
    store: Store,
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    systems: Sequence[ScoredSystem],
    options: EvaluationOptions,
) -> list[_SeenRun]:
    """What a look would see of each run; stops where lists are implausible."""
    pairs = seen_pairs(store, release)
    derived = options.first_stage is not None or options.hard_negatives or release.pool_sample is not None
    looked_at = [*measures, Measure("map")] if derived else measures  # lists are cut from the whole ones
    runs = [
        _SeenRun(
            system.name,
            system.name if len(system.runs) == 1 else f"{system.name} ({run.source})",
            run,
            scores,
            seen_lists(run.rows, release, looked_at),
            plausibility(run.rows, release, measures, pairs),
        )
        for system in systems
        for run, scores in zip(system.runs, system.scores, strict=True)
    ]
    refuse_implausible(release, [run.label for run in runs], [run.plausible for run in runs])
    return runs


def _secrets(
    release: EvaluatedRelease, runs: Sequence[_SeenRun], earlier: Sequence[EarlierRun]
) -> dict[str, list[Mask]]:
    """Refuse runs whose figures would tell of single queries, and find what others may not tell."""
    labels, seen = [run.label for run in runs], [run.seen for run in runs]
    refuse_what_tells_of_single_queries(release, labels, seen, earlier)
    by_system: dict[str, list[Mask]] = {}
    for run, masks in zip(runs, secrets(release, labels, seen, earlier), strict=True):
        by_system.setdefault(run.system, []).extend(masks)
    return by_system


def _asked(
    evaluation: Evaluation, facets: Sequence[Facet], options: EvaluationOptions, runs: Sequence[_SeenRun]
) -> dict[str, Any]:
    """What makes a look at a run another one at the same run: also the runs that it is compared with."""
    together = sorted(run_sum_of(run.seen) for run in runs)
    baseline = options.comparison.baseline
    return {
        "parts": evaluation.parts,
        "measures": evaluation.measures,
        "relevant": evaluation.relevant_grade,
        "by": sorted(facet.name for facet in facets),
        "seed": options.seed,
        "first_stage": options.first_stage,
        "depths": options.first_stage and options.depths,
        "hard_negatives": options.hard_negatives,
        "together": together if len(together) > 1 else None,
        "baseline": baseline and [run_sum_of(run.seen) for run in runs if run.system == baseline],
        "wanted": options.comparison.wanted if len(together) > 1 else None,
        "deciding": options.comparison.deciding if len(together) > 1 else None,
    }


def _scored_runs(
    release: EvaluatedRelease, evaluation: Evaluation, runs: Sequence[_SeenRun]
) -> list[ScoredRun]:
    """Each run with what its look stores; of several runs of one system each has figures of its own."""
    overall = {system.name: system.overall for system in evaluation.runs if len(system.files) == 1}
    stored = []
    for run in runs:
        figures = overall.get(run.system) or rounded_figures(mean_figures([run.scores])[0])
        values = {scored_by(run.scores.measures[0], release.qrels.relevant): run.scores.values[:, 0]}
        stored.append(ScoredRun(run.system, run.run.source, run.seen, values, figures, run.plausible))
    return stored


def _check_runs(options: EvaluationOptions, systems: Sequence[str]) -> None:
    """Stop where runs are missing for what is asked, or candidates are reranked to no depth."""
    refuse_problems(run_problems(systems, options.first_stage, options.turning))
    if options.first_stage is not None:
        check_depths(options.depths)


def _check_turning(
    options: EvaluationOptions, release: EvaluatedRelease, measures: Sequence[Measure]
) -> None:
    """Stop where documents that could turn an order are asked for and cannot be named."""
    if options.turning and release.sealed:
        raise InputError(
            "Documents that could change the ranking are named by query, and "
            f"{', '.join(release.sealed)} is sealed: choose a part that is not."
        )
    if options.turning and not (measures[0].by_engine and measures[0].compares):
        raise InputError(
            "Documents that could change the ranking are found by the first measure, and "
            f"{measures[0].name} is none that can be computed again for each document: name another one "
            "first, such as ndcg_exp@10."
        )
