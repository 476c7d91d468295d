"""Evaluating runs on a release: from a release's name and run files to tables of figures.

Of a sealed part the tables have no value of a single query, and no figures of fewer than ten. What computes
with values of single queries does it in here, before they are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

from curation import __version__
from curation.errors import InputError, RefusedError
from curation.evaluation.figures.means import MeasureFigure, mean_figures, mean_of
from curation.evaluation.figures.refusal import RefusalFigures, run_refusal
from curation.evaluation.figures.reranking import DEPTHS, RerankingDepth, check_depths, reranking
from curation.evaluation.figures.strata import OtherMeans, StratumFigures, facet_figures, other_means
from curation.evaluation.figures.traffic import TrafficFigure, traffic_figures
from curation.evaluation.inputs.facets import Facet, chosen_facets
from curation.evaluation.inputs.release import EvaluatedRelease, read_release
from curation.evaluation.inputs.run_seconds import RunSeconds
from curation.evaluation.inputs.system_runs import ReadingOptions, RunSource, SystemRun, read_run
from curation.evaluation.metrics.measures import Measure, measures_for
from curation.evaluation.metrics.rankings import TieCounts
from curation.evaluation.metrics.scores import RunScores, mean_scores, score_rows
from curation.progress import Progress, silent
from curation.statistics.intervals import RESAMPLES
from curation.store import COMMAND_LINE, Store, record_event

DEFAULT_FACETS = ("stratum",)


class EvaluationOptions(NamedTuple):
    """What is asked for besides release and runs.

    Attributes
    ----------
    split: a part or 'all'; None is all parts that are not sealed.
    measures: by name; None are the default ones.
    by: facets whose values get figures of their own.
    relevant: least grade of a relevant document; None is every grade above the lowest.
    first_stage: the system whose candidates the others rerank; None is no such figures.
    depths: to which its candidates are reranked.
    """

    split: str | None = None
    measures: Sequence[str] | None = None
    by: Sequence[str] = DEFAULT_FACETS
    relevant: int | None = None
    seed: int = 0
    reading: ReadingOptions = ReadingOptions()
    first_stage: str | None = None
    depths: Sequence[int] = DEPTHS


class SeedSpread(NamedTuple):
    """How one measure differs between several runs of one system.

    Attributes
    ----------
    mean, sd: over the runs' means; the standard deviation of a sample.
    """

    runs: int
    mean: float | None
    sd: float | None
    values: tuple[float | None, ...]


class RunFacts(NamedTuple):
    """What a run's file held for the evaluated queries; see `SystemRun` and `TieCounts`.

    Attributes
    ----------
    missing: evaluated queries without a document; they have 0.
    refusal: what this run does with unanswerable queries.
    """

    source: str
    places: int
    missing: int
    unknown_documents: int
    against_scores: int
    ties: TieCounts
    left_out: dict[str, int]
    seconds: RunSeconds | None
    refusal: RefusalFigures


@dataclass(frozen=True)
class EvaluatedSystem:
    """The figures of one system, by measure.

    Attributes
    ----------
    files: one for each run.
    traffic: estimates for all searches; empty where no evaluated query was drawn from the traffic.
    strata: facet → value → figures.
    seeds: empty for a system with one run.
    per_query: measure → value of each of `Evaluation.query_ids`; None where a sealed part was evaluated.
    """

    name: str
    files: tuple[RunFacts, ...]
    overall: Mapping[str, MeasureFigure]
    traffic: Mapping[str, TrafficFigure]
    others: Mapping[str, OtherMeans]
    strata: Mapping[str, Mapping[str, StratumFigures]]
    seeds: Mapping[str, SeedSpread]
    per_query: Mapping[str, tuple[float | None, ...]] | None


@dataclass(frozen=True)
class Evaluation:
    """What systems reach on parts of a release.

    Attributes
    ----------
    sealed: the parts that are sealed; with any there is nothing by query.
    relevant_grade: least grade of a relevant document, for binary measures.
    without_relevant: queries left out of binary measures because they have no relevant document.
    about: measure → what it computes.
    query_ids: None where a sealed part was evaluated.
    first_stage, reranking: whose candidates the other systems rerank, and the figures at each depth; None
        and empty where none was named.
    """

    release: str
    release_id: str
    parts: tuple[str, ...]
    sealed: tuple[str, ...]
    queries: int
    scale: tuple[int, ...]
    relevant_grade: int
    without_relevant: int
    measures: tuple[str, ...]
    about: Mapping[str, str]
    runs: tuple[EvaluatedSystem, ...]
    query_ids: tuple[str, ...] | None
    seed: int
    resamples: int
    versions: Mapping[str, str]
    first_stage: str | None
    reranking: tuple[RerankingDepth, ...]


def evaluate(
    store: Store,
    release_name: str,
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
    reason: why a sealed part is scored; it is logged first.

    Raises
    ------
    InputError: options that mean nothing here, or run files that cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: a sealed part is scored without a reason; the release cannot be used.
    """
    if not runs:
        raise InputError("No run was named: give at least one, as in --run bm25.trec.")
    _check_first_stage(options, [source.name for source in runs])
    release = read_release(store, release_name, options.split, options.relevant)
    measures = measures_for(release.qrels.scale, options.measures)
    facets = chosen_facets(release.facets, options.by)
    if release.sealed:
        _log(store, release, runs, reason, actor)
    read: dict[str, list[SystemRun]] = {}
    for source in runs:
        read.setdefault(source.name, []).append(read_run(source, release, options.reading, progress))
    scored: dict[str, list[RunScores]] = {}
    for number, (name, found) in enumerate(read.items(), 1):
        scored[name] = [score_rows(run.rows, release.qrels, measures) for run in found]
        progress("scoring systems", number, len(read))
    return _evaluation(release, measures, facets, read, scored, options)


def _log(
    store: Store, release: EvaluatedRelease, runs: Sequence[RunSource], reason: str | None, actor: str
) -> None:
    """Write down who scores a sealed part, and why."""
    if reason is None or not reason.strip():
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release.name!r} is sealed. Who scores a run on it "
            'says why: --reason "why", which is logged with name and time.'
        )
    detail = {
        "release": release.release_id,
        "parts": list(release.sealed),
        "runs": [run.name for run in runs],
        "reason": reason.strip(),
    }
    with store.transaction() as cursor:
        record_event(cursor, "evaluate sealed", detail, actor)


def _evaluation(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    facets: Sequence[Facet],
    read: Mapping[str, Sequence[SystemRun]],
    scored: Mapping[str, Sequence[RunScores]],
    options: EvaluationOptions,
) -> Evaluation:
    seed = options.seed
    systems = {name: mean_scores(found) for name, found in scored.items()}
    scores, sealed = list(systems.values()), release.sealed_queries
    stratum = release.facets["stratum"]
    every = {facet.name: facet for facet in (stratum, *facets)}
    by_facet = {name: facet_figures(scores, facet, seed, sealed) for name, facet in every.items()}
    overall = mean_figures(scores, seed)
    shown = {facet.name for facet in facets}
    evaluated = [
        EvaluatedSystem(
            name=name,
            files=tuple(
                _facts(run, one, release, seed) for run, one in zip(read[name], scored[name], strict=True)
            ),
            overall=overall[place],
            traffic=traffic_figures(systems[name], release.drawn),
            others=other_means(systems[name], stratum, by_facet["stratum"][place]),
            strata={facet: rows[place] for facet, rows in by_facet.items() if facet in shown},
            seeds=_seeds(scored[name]),
            per_query=None if release.sealed else _per_query(systems[name]),
        )
        for place, name in enumerate(systems)
    ]
    qrels = release.qrels
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
        query_ids=None if release.sealed else qrels.query_ids,
        seed=seed,
        resamples=RESAMPLES,
        versions=_versions(),
        first_stage=options.first_stage,
        reranking=_reranking(release, measures, read, options),
    )


def _check_first_stage(options: EvaluationOptions, names: Sequence[str]) -> None:
    """Stop where the first stage is no run, or several."""
    if options.first_stage is None:
        return
    check_depths(options.depths)
    known, times = sorted(set(names)), names.count(options.first_stage)
    if times != 1:
        what = "several runs have that name" if times else "no run has that name"
        raise InputError(
            f"--first-stage {options.first_stage}: {what}; expected one of {', '.join(known)}, with one run."
        )
    if len(known) < 2:
        raise InputError(
            f"--first-stage {options.first_stage}: there is no other run that reranks its candidates."
        )


def _reranking(
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    read: Mapping[str, Sequence[SystemRun]],
    options: EvaluationOptions,
) -> tuple[RerankingDepth, ...]:
    if options.first_stage is None:
        return ()
    rows = {name: [run.rows for run in runs] for name, runs in read.items()}
    [first] = rows.pop(options.first_stage)
    return tuple(reranking(first, rows, release.qrels, measures, options.seed, options.depths))


def _facts(run: SystemRun, scores: RunScores, release: EvaluatedRelease, seed: int) -> RunFacts:
    return RunFacts(
        source=run.source,
        places=run.places,
        missing=int((scores.returned == 0).sum()),
        unknown_documents=run.unknown_documents,
        against_scores=run.against_scores,
        ties=scores.ties,
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
        values = [mean_of(run.values[:, place]) for run in runs]
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
    packages = ("ir-measures", "pytrec-eval-terrier", "numpy")
    return {"goldset": __version__} | {package: version(package) for package in packages}
