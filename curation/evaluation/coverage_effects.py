"""Effects of coverage's figures on scores: how far Δ, J, the grid and the clusters explain how runs do.

The variance of nDCG@10 that dispersion Δ explains, that of recall@100 that alignment J explains, and σ of
both within the cells of the 3 × 3 grid and within clusters (Klearman et al. 2026); see `statistics.explained`
for the tests, and for what chance alone explains. All of it by regions and by all clusters, for the map in
force, and over every resolution and seed that the map has tried.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.coverage.clusters import EntityMatch, documents_of
from curation.coverage.coverage_map import CoverageMap, map_in_force, read_map
from curation.coverage.measures import (
    ENOUGH,
    Cell,
    Clusters,
    QueryGrid,
    QueryShape,
    make_grid,
    possible_cells,
    query_shape,
)
from curation.coverage.report import Span, clusters_at, match_asked, span
from curation.errors import InputError, RefusedError
from curation.progress import Progress, silent
from curation.retrieval.embeddings import DEFAULT_MODEL
from curation.scoring.inputs.release import EvaluatedRelease, read_release
from curation.scoring.inputs.system_runs import ReadingOptions, RunSource, read_run
from curation.scoring.metrics.engine import RunScores, mean_scores, score_rows
from curation.scoring.metrics.measures import measures_named
from curation.statistics.explained import (
    ExplainedByFigure,
    SpreadWithin,
    explained_by_figure,
    spread_within,
)
from curation.store import Store

NDCG, RECALL = "ndcg@10", "recall@100"
MEASURES = (NDCG, RECALL)
WITHOUT_RELEVANT = "queries without a relevant document"
UNMATCHED = "queries that are not in force in the project"
NO_REGION = "queries whose relevant documents are in no region"
FEW = f"regions with fewer than {ENOUGH} queries in the grid: their cells are not counted"

Values = Mapping[str, Mapping[str, float]]
"""Measure → query id → value."""


class PlacedQueries(NamedTuple):
    """Queries in one partition: C(q), Δ and J, by the clusters that are counted."""

    clusters: dict[str, Clusters]
    shapes: dict[str, QueryShape | None]


class SystemEffects(NamedTuple):
    """What explains the scores of one system.

    Attributes
    ----------
    dispersion: nDCG@10 by Δ.
    alignment: recall@100 by J.
    grid, clusters: measure → σ overall and within the cells of the grid, and within the clusters of C(q).
    """

    system: str
    dispersion: ExplainedByFigure
    alignment: ExplainedByFigure
    grid: dict[str, SpreadWithin]
    clusters: dict[str, SpreadWithin]


class EffectsStep(NamedTuple):
    """The effects on one system by regions at one resolution, from the lowest to the highest of the seeds.

    Attributes
    ----------
    dispersion, alignment: r².
    overall: σ of nDCG@10 of the queries in regions.
    in_grid, in_clusters: σ of nDCG@10 within.
    grid, clusters: share of the variance of nDCG@10 explained, corrected for chance.
    """

    system: str
    resolution: float
    dispersion: Span
    alignment: Span
    overall: Span
    in_grid: Span
    grid: Span
    in_clusters: Span
    clusters: Span


class CellFigures(NamedTuple):
    """A cell of the grid (`coverage.measures.Cell`), and the mean of each system's nDCG@10.

    Attributes
    ----------
    means: system → mean; None without a query.
    """

    dispersion: int | None
    alignment: int | None
    queries: int
    means: dict[str, float | None]


class RegionCells(NamedTuple):
    """The strata of a region: its queries that have a cell of the grid, and how many cells these fill."""

    number: int
    name: str
    queries: int
    filled: int
    possible: int


@dataclass(frozen=True)
class CoverageEffects:
    """What explains the scores of runs on a release.

    Attributes
    ----------
    resolution: of the map in force; `seed` is that of the permutations.
    shapes: mean of Δ and J over regions, and over all clusters, as (Δ, J); None without any.
    grid: by regions; None where no query has a cell.
    cells: the cells that it can have, by dispersion and alignment.
    strata: region × cell, of the regions with `ENOUGH` queries in the grid or more.
    regions, all_clusters: by system, with tests.
    curve: by system and resolution.
    left_out: reason → queries.
    """

    release: str
    map_id: str
    resolution: float
    seed: int
    queries: int
    shapes: dict[str, tuple[float | None, float] | None]
    grid: QueryGrid | None
    cells: list[CellFigures]
    strata: list[RegionCells]
    regions: list[SystemEffects]
    all_clusters: list[SystemEffects]
    curve: list[EffectsStep]
    left_out: dict[str, int]


def coverage_effects(
    store: Store,
    release_name: str,
    runs: Sequence[RunSource],
    split: str | None = None,
    reading: ReadingOptions = ReadingOptions(),
    seed: int = 0,
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
) -> CoverageEffects:
    """Read the release's grades and the runs, and the map in force, and see what explains the scores.

    Parameters
    ----------
    split: a part that is not sealed; by default all of them.

    Raises
    ------
    InputError: no run was named, or a run cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: the part is sealed; there is no map of the corpus in force, or it is of another model.
    """
    if not runs:
        raise InputError("No run was named: give at least one.", command="For example: --run bm25.trec.")
    release = read_release(store, release_name, split)
    if release.sealed:
        raise RefusedError(
            f"{', '.join(release.sealed)} is sealed, and figures by cell and cluster tell of few queries. "
            "Name a part that is not sealed."
        )
    scored = _scored(release, runs, reading, progress)
    with store.reading() as cursor:
        found = read_map(cursor, map_in_force(cursor))
    asked = match_asked(store, found, model, progress)
    matches = {query.query_id: asked.matches[query.normalised] for query in asked.queries}
    relevant = _relevant(release)
    kept = {key: match for key, match in matches.items() if relevant.get(key)}
    left_out = {
        WITHOUT_RELEVANT: sum(not relevant.get(key) for key in release.qrels.query_ids),
        UNMATCHED: sum(key not in matches for key in relevant),
    }
    return effects_of(found, release_name, kept, relevant, scored, seed, left_out)


def effects_of(
    found: CoverageMap,
    release_name: str,
    matches: Mapping[str, EntityMatch],
    relevant: Mapping[str, Sequence[str]],
    scored: Mapping[str, Values],
    seed: int,
    left_out: Mapping[str, int],
) -> CoverageEffects:
    """What explains the scores of systems.

    Parameters
    ----------
    matches: query id → the entities that it may be about.
    relevant: query id → its relevant documents.
    scored: system → measure → query id → value.
    left_out: reason → queries that are missing already.
    """
    by_regions = place_queries(found, matches, relevant, found.cluster_of, found.regions)
    by_all = place_queries(found, matches, relevant, found.cluster_of, None)
    grid = make_grid(by_regions.shapes)
    nowhere = sum(shape is None for shape in by_regions.shapes.values())
    cells, strata = _cells(grid, scored), _strata(found, by_regions, grid)
    few = len(found.regions) - len(strata)
    return CoverageEffects(
        release=release_name,
        map_id=found.map_id,
        resolution=float(found.parameters["resolution"]),
        seed=seed,
        queries=len(matches),
        shapes={"regions": _mean_shape(by_regions), "all_clusters": _mean_shape(by_all)},
        grid=grid,
        cells=cells,
        strata=strata,
        regions=[_effects(name, values, by_regions, seed) for name, values in scored.items()],
        all_clusters=[_effects(name, values, by_all, seed) for name, values in scored.items()],
        curve=[step for name in scored for step in _curve(found, name, scored[name], matches, relevant)],
        left_out={key: n for key, n in {**left_out, NO_REGION: nowhere, FEW: few}.items() if n},
    )


def place_queries(
    found: CoverageMap,
    matches: Mapping[str, EntityMatch],
    relevant: Mapping[str, Sequence[str]],
    cluster_of: Sequence[int],
    counted: Collection[int] | None,
) -> PlacedQueries:
    """C(q), Δ and J of queries in a partition.

    Parameters
    ----------
    cluster_of: the cluster of each entity.
    counted: the clusters that count, such as the regions; None: all.
    """
    kept = frozenset(cluster_of if counted is None else counted)
    clusters, shapes = {}, {}
    for query_id, match in sorted(matches.items()):
        own = found.clusters_of_query(match, cluster_of) & kept
        held = [
            clusters_at(found.of_documents[document_id], cluster_of) & kept
            for document_id in relevant.get(query_id, ())
            if document_id in found.of_documents
        ]
        clusters[query_id], shapes[query_id] = own, query_shape(own, held)
    return PlacedQueries(clusters, shapes)


def _effects(system: str, values: Values, placed: PlacedQueries, seed: int | None) -> SystemEffects:
    grid = make_grid(placed.shapes)
    cells = {} if grid is None else {query_id: (cell,) for query_id, cell in grid.cells.items()}
    return SystemEffects(
        system=system,
        dispersion=_by_figure(values[NDCG], placed, "dispersion", seed),
        alignment=_by_figure(values[RECALL], placed, "alignment", seed),
        grid={name: _within(values[name], cells, seed) for name in MEASURES},
        clusters={name: _within(values[name], placed.clusters, seed) for name in MEASURES},
    )


def _by_figure(
    values: Mapping[str, float], placed: PlacedQueries, figure: str, seed: int | None
) -> ExplainedByFigure:
    known = [
        (values[key], getattr(shape, figure))
        for key, shape in placed.shapes.items()
        if shape and key in values and getattr(shape, figure) is not None
    ]
    scores, figures = np.array(known, float).reshape(-1, 2).T
    return explained_by_figure(scores, figures, seed)


def _within(
    values: Mapping[str, float], strata: Mapping[str, Collection[object]], seed: int | None
) -> SpreadWithin:
    known = [key for key in sorted(strata) if key in values]
    return spread_within(np.array([values[key] for key in known]), [strata[key] for key in known], seed)


def _curve(
    found: CoverageMap,
    system: str,
    values: Values,
    matches: Mapping[str, EntityMatch],
    relevant: Mapping[str, Sequence[str]],
) -> list[EffectsStep]:
    least = int(found.parameters["least_documents"])
    steps = []
    for tried in found.partitions:
        of_seeds = []
        for labels in tried.labels:
            regions = np.flatnonzero(documents_of(labels, found.of_documents) >= least).tolist()
            placed = place_queries(found, matches, relevant, labels.tolist(), regions)
            of_seeds.append(_effects(system, values, placed, None))
        steps.append(_step(system, tried.resolution, of_seeds))
    return steps


def _step(system: str, resolution: float, of_seeds: Sequence[SystemEffects]) -> EffectsStep:
    return EffectsStep(
        system=system,
        resolution=resolution,
        dispersion=span([found.dispersion.share for found in of_seeds]),
        alignment=span([found.alignment.share for found in of_seeds]),
        overall=span([found.grid[NDCG].overall for found in of_seeds]),
        in_grid=span([found.grid[NDCG].within for found in of_seeds]),
        grid=span([found.grid[NDCG].share for found in of_seeds]),
        in_clusters=span([found.clusters[NDCG].within for found in of_seeds]),
        clusters=span([found.clusters[NDCG].share for found in of_seeds]),
    )


def _cells(grid: QueryGrid | None, scored: Mapping[str, Values]) -> list[CellFigures]:
    if grid is None:
        return []
    found = []
    for place in possible_cells(grid.cells.values()):
        queries = [query_id for query_id, cell in grid.cells.items() if cell == place]
        means = {
            name: _mean([values[NDCG][key] for key in queries if key in values[NDCG]])
            for name, values in scored.items()
        }
        found.append(CellFigures(*place, len(queries), means))
    return found


def _strata(found: CoverageMap, placed: PlacedQueries, grid: QueryGrid | None) -> list[RegionCells]:
    """The cells that the queries of each region fill, where it has enough of them, by number."""
    if grid is None:
        return []
    held: dict[int, list[Cell]] = {}
    for query_id, cell in grid.cells.items():
        for number in placed.clusters[query_id]:
            held.setdefault(number, []).append(cell)
    possible = len(possible_cells(grid.cells.values()))
    return [
        RegionCells(number, found.clusters[number].name, len(cells), len(set(cells)), possible)
        for number, cells in sorted(held.items())
        if len(cells) >= ENOUGH
    ]


def _mean_shape(placed: PlacedQueries) -> tuple[float | None, float] | None:
    known = [shape for shape in placed.shapes.values() if shape is not None]
    if not known:
        return None
    spread = _mean([shape.dispersion for shape in known if shape.dispersion is not None])
    aligned = float(np.mean([shape.alignment for shape in known]))
    return None if spread is None else round(spread, 6), round(aligned, 6)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _relevant(release: EvaluatedRelease) -> dict[str, list[str]]:
    qrels = release.qrels
    documents = qrels.documents.to_pylist()
    found: dict[str, list[str]] = {}
    for place in np.flatnonzero(qrels.grade >= qrels.relevant).tolist():
        found.setdefault(qrels.query_ids[qrels.query[place]], []).append(documents[qrels.document[place]])
    return found


def _scored(
    release: EvaluatedRelease, runs: Sequence[RunSource], reading: ReadingOptions, progress: Progress
) -> dict[str, Values]:
    measures = measures_named(MEASURES)
    read: dict[str, list[RunScores]] = {}
    for source in runs:
        rows = read_run(source, release, reading, progress).rows
        read.setdefault(source.name, []).append(score_rows(rows, release.qrels, measures))
    return {name: values_of_queries(mean_scores(scores)) for name, scores in read.items()}


def values_of_queries(scores: RunScores) -> dict[str, dict[str, float]]:
    """Measure → query id → value, of the queries that have one."""
    return {
        name: {
            query_id: value
            for query_id, value in zip(scores.query_ids, scores.of(name).tolist(), strict=True)
            if not np.isnan(value)
        }
        for name in MEASURES
    }
