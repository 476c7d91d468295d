"""Evaluating runs on a release: from a release's name and run files to tables of figures.

Of a sealed part the tables have no value of a single query, and no figures of fewer than ten. What computes
with values of single queries does it in here, before they are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from curation.errors import InputError, RefusedError
from curation.evaluation.assembly import assembled
from curation.evaluation.comparison.deciding import check_deciding
from curation.evaluation.comparison.other_labels import with_other_labels
from curation.evaluation.comparison.similar_lists import FirstPlaces, first_places
from curation.evaluation.derived_figures import without_telling_lists
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.figures.means import mean_figures
from curation.evaluation.figures.reranking import check_depths
from curation.evaluation.inputs.facets import Facet, chosen_facets
from curation.evaluation.inputs.release import EvaluatedRelease, read_release
from curation.evaluation.inputs.subtopic_file import SubtopicFacts, read_subtopics
from curation.evaluation.inputs.system_runs import RunSource, SystemRun, read_run
from curation.evaluation.metrics.measures import Measure, measures_for
from curation.evaluation.metrics.rankings import rank
from curation.evaluation.metrics.scores import RunScores, score_ranking
from curation.evaluation.sealed.disclosure import (
    EarlierRun,
    SeenLists,
    refuse_what_tells_of_single_queries,
    secrets,
    seen_lists,
)
from curation.evaluation.sealed.ladder_looks import with_ladder_values
from curation.evaluation.sealed.looking import (
    BUSY,
    PlannedLooks,
    ScoredRun,
    SealedLog,
    reason_for,
    run_sum_of,
    take_looks,
)
from curation.evaluation.sealed.part_ladder import scored_by
from curation.evaluation.sealed.plausibility import (
    Plausibility,
    plausibility,
    refuse_implausible,
    seen_pairs,
)
from curation.evaluation.sealed.precision import refuse_fine_measures, rounded_figures
from curation.progress import Progress, silent
from curation.releases.verify import Opened
from curation.statistics.arrays import Mask
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
    _check_first_stage(options, [source.name for source in runs])
    release = read_release(store, release_name, options.split, options.relevant)
    systems = len({source.name for source in runs})
    release, subtopics = _with_subtopics(release, options, progress)
    measures, facets = _measures_and_facets(release, options, systems)
    _check_label_draws(options, release)
    why = reason_for(store, release, reason, actor) if release.sealed else ""
    read: dict[str, list[SystemRun]] = {}
    for source in runs:
        read.setdefault(source.name, []).append(read_run(source, release, options.reading, progress))
    scored, lists = _scores(release, measures, read, progress)

    def shown(secrets: Mapping[str, Sequence[Mask]] | None = None) -> Evaluation:
        found = assembled(release, measures, facets, read, scored, lists, options, secrets)
        return replace(found, subtopics=subtopics)

    if not release.sealed:
        return _with_other_labels(store, shown(), release, measures, read, options)
    look = _look_of(store, release, measures, read, options)
    rows = {name: [run.rows for run in found] for name, found in read.items()}

    def plan(log: SealedLog) -> PlannedLooks[Evaluation]:
        found = shown(_secrets(release, look, log.earlier))
        found = rounded_figures(without_telling_lists(found, release, rows))
        runs = _scored_runs(release, found, read, scored, look)
        inside = [one for system in found.runs for one in rows[system.name]]
        runs = with_ladder_values(store, release, log.ladders, inside, runs)
        return PlannedLooks(found, runs, _asked(found, facets, options, look))

    evaluation, taken = take_looks(store, release, plan, why, actor, busy=BUSY)
    return replace(evaluation, looks=taken)


def evaluate_read(
    release: EvaluatedRelease,
    read: Mapping[str, Sequence[SystemRun]],
    options: EvaluationOptions = EvaluationOptions(),
    progress: Progress = silent,
) -> Evaluation:
    """Score runs that were read, on parts that are not sealed; no project is needed for it.

    Parameters
    ----------
    read: system → its runs.
    options: `split`, `relevant` and `reading` are the release's and the runs' already.

    Raises
    ------
    InputError: options that mean nothing here.
    RefusedError: a part is sealed.
    """
    if release.sealed:
        raise RefusedError(f"{', '.join(release.sealed)} is sealed: score it by the release's name.")
    if options.label_draws:
        raise InputError("Labels are drawn as a project's annotators differ: score by its release's name.")
    _check_first_stage(options, [name for name, runs in read.items() for _ in runs])
    measures, facets = _measures_and_facets(release, options, len(read))
    scored, lists = _scores(release, measures, read, progress)
    return assembled(release, measures, facets, read, scored, lists, options)


def _measures_and_facets(
    release: EvaluatedRelease, options: EvaluationOptions, systems: int
) -> tuple[tuple[Measure, ...], list[Facet]]:
    """What is computed, and for which kinds of queries; stops where the release does not allow it."""
    measures = measures_for(release.qrels.scale, options.measures)
    facets = chosen_facets(release.facets, options.by)
    if options.pool_sample is not None:
        _refuse_declared_sample(release)
    _check_turning(options, release, measures, systems)
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
    if options.label_draws < 0:
        raise InputError(f"Draws of labels, {options.label_draws}: expected 0 or more.")
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
    read: Mapping[str, Sequence[SystemRun]],
    options: EvaluationOptions,
) -> Evaluation:
    """The evaluation, with the order under other labels where that was asked for and there is an order."""
    order = evaluation.order
    if not options.label_draws or order is None or not order.views:
        return evaluation
    measure = next(one for one in measures if one.name == order.measure)
    rows = {name: [run.rows for run in runs] for name, runs in read.items()}
    draws, seed = options.label_draws, options.seed
    order = with_other_labels(store, release, order, rows, measure, seed=seed, draws=draws)
    return replace(evaluation, order=order)


def _scores(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    progress: Progress,
) -> tuple[dict[str, list[RunScores]], dict[str, FirstPlaces]]:
    """The scores of each system's runs, and the first places of its first; a whole ranking is not kept."""
    scored: dict[str, list[RunScores]] = {}
    lists = {}
    for number, (name, found) in enumerate(read.items(), 1):
        for run in found:
            ranking = rank(run.rows, release.qrels)
            scored.setdefault(name, []).append(score_ranking(ranking, release.qrels, measures))
            if name not in lists:
                lists[name] = first_places(run.rows, ranking)
        progress("scoring systems", number, len(read))
    return scored, lists


class _Look(NamedTuple):
    """System → for each of its runs how it is named, what a look sees of its lists, and what they are made
    of."""

    names: dict[str, list[str]]
    seen: dict[str, list[SeenLists]]
    plausible: dict[str, list[Plausibility]]


def _look_of(
    store: Store,
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    options: EvaluationOptions,
) -> _Look:
    """What a look would see; stops where lists are implausible."""
    pairs = seen_pairs(store, release)
    plausible = {
        name: [plausibility(run.rows, release, measures, pairs) for run in runs]
        for name, runs in read.items()
    }
    names = {
        name: [name if len(runs) == 1 else f"{name} ({run.source})" for run in runs]
        for name, runs in read.items()
    }
    refuse_implausible(release, list(chain(*names.values())), list(chain(*plausible.values())))
    derived = options.first_stage is not None or options.hard_negatives or release.pool_sample is not None
    looked_at = [*measures, Measure("map")] if derived else measures  # lists are cut from the whole ones
    return _Look(
        names,
        {name: [seen_lists(run.rows, release, looked_at) for run in runs] for name, runs in read.items()},
        plausible,
    )


def _secrets(release: EvaluatedRelease, look: _Look, earlier: Sequence[EarlierRun]) -> dict[str, list[Mask]]:
    """Refuse runs whose figures would tell of single queries, and find what others may not tell."""
    names, seen = list(chain(*look.names.values())), list(chain(*look.seen.values()))
    refuse_what_tells_of_single_queries(release, names, seen, earlier)
    masks = iter(secrets(release, names, seen, earlier))
    return {name: [mask for _ in runs for mask in next(masks)] for name, runs in look.seen.items()}


def _asked(
    evaluation: Evaluation, facets: Sequence[Facet], options: EvaluationOptions, look: _Look
) -> dict[str, Any]:
    """What makes a look at a run another one at the same run: also the runs that it is compared with."""
    together = sorted(run_sum_of(own) for runs in look.seen.values() for own in runs)
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
        "baseline": baseline and [run_sum_of(own) for own in look.seen[baseline]],
        "wanted": options.comparison.wanted if len(together) > 1 else None,
        "deciding": options.comparison.deciding if len(together) > 1 else None,
    }


def _scored_runs(
    release: EvaluatedRelease,
    evaluation: Evaluation,
    read: Mapping[str, Sequence[SystemRun]],
    scored: Mapping[str, Sequence[RunScores]],
    look: _Look,
) -> list[ScoredRun]:
    """Each run with what its look stores; of several runs of one system each has figures of its own."""
    found = []
    for system in evaluation.runs:
        name, scores = system.name, scored[system.name]
        figures = [system.overall] if len(scores) == 1 else rounded_figures(mean_figures(scores))
        seen, shares = look.seen[name], look.plausible[name]
        for run, own, figure, sums, made_of in zip(read[name], scores, figures, seen, shares, strict=True):
            values = {scored_by(own.measures[0], release.qrels.relevant): own.values[:, 0]}
            found.append(ScoredRun(name, run.source, sums, values, figure, made_of))
    return found


def _check_first_stage(options: EvaluationOptions, names: Sequence[str]) -> None:
    """Stop where the first stage is no run, or several."""
    if options.first_stage is None:
        return
    check_depths(options.depths)
    known, times = sorted(set(names)), names.count(options.first_stage)
    if times != 1:
        what = "several runs have that name" if times else "no run has that name"
        raise InputError(
            f"The first stage {options.first_stage}: {what}; expected one of {', '.join(known)}, with one "
            "run."
        )
    if len(known) < 2:
        raise InputError(
            f"The first stage {options.first_stage}: there is no other run that reranks its candidates."
        )


def _check_turning(
    options: EvaluationOptions, release: EvaluatedRelease, measures: Sequence[Measure], systems: int
) -> None:
    """Stop where documents that could turn an order are asked for and cannot be named."""
    if options.turning and systems < 2:
        raise InputError(
            "Documents that could turn the order are looked for between two systems, and there is one: add "
            "another run.",
            command="--turning needs a second --run NAME=FILE.",
        )
    if options.turning and release.sealed:
        raise InputError(
            "Documents that could turn the order are named by query, and "
            f"{', '.join(release.sealed)} is sealed: choose a part that is not."
        )
    if options.turning and not (measures[0].by_engine and measures[0].compares):
        raise InputError(
            f"Documents that could turn the order are found by the first measure, and {measures[0].name} is "
            "none that can be computed again for each document: name another one first, such as ndcg_exp@10."
        )
