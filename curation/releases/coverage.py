"""What a release says about its coverage: the map, its regions, and the boundaries of the grid."""

from __future__ import annotations

from typing import Any, NamedTuple

from curation.core.characters import normalise_query
from curation.core.errors import NotFoundError, RefusedError
from curation.core.progress import Progress
from curation.core.text import pluralize
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.measures import (
    Clusters,
    Cuts,
    QueryShape,
    Tertiles,
    cell_of,
    cuts_of,
    query_shape,
)
from curation.queries.coverage.stored_map import IN_FORCE, map_in_force, matches_of, read_map
from curation.releases.release_id import rounded
from curation.releases.release_rows import PartRows
from curation.releases.verify import FrozenRelease
from curation.store import Cursor, Store, get_setting


class ReleasedCoverage(NamedTuple):
    """The coverage of a release.

    Attributes
    ----------
    resolution, seed, least_documents: that made the map's regions.
    regions: of the whole corpus. regions_asked: those with a query of the release, of any part.
    relevant_grade: least grade of the relevant documents that dispersion and alignment are of.
    dispersion, alignment: where the figure is cut in three. None if it is not: it is unknown, or
        mostly one value.
    """

    map_id: str
    resolution: float
    seed: int
    least_documents: int
    regions: int
    regions_asked: int
    relevant_grade: int
    dispersion: Tertiles | None
    alignment: Tertiles | None


def released_coverage(release: FrozenRelease) -> ReleasedCoverage | None:
    """The coverage of a release; None if it has no such value."""
    rows = release.rows("coverage")
    if not rows:
        return None
    row, parameters = rows[0], rows[0]["parameters"]
    regions = {cluster["number"] for cluster in row["clusters"] if cluster["region"]}
    asked = {number for query in release.rows("query_coverage") for number in query["clusters"]}
    return ReleasedCoverage(
        map_id=row["map_id"],
        resolution=parameters["resolution"],
        seed=parameters["seed"],
        least_documents=parameters["least_documents"],
        regions=len(regions),
        regions_asked=len(regions & asked),
        relevant_grade=row["relevant_grade"],
        dispersion=row["dispersion"] and Tertiles(**row["dispersion"]),
        alignment=row["alignment"] and Tertiles(**row["alignment"]),
    )


def about_map(coverage: ReleasedCoverage) -> str:
    """Which map it is, and what of it has a query, in sentences."""
    return (
        f"Coverage map {coverage.map_id[:12]}…: {coverage.regions_asked:,} of {coverage.regions:,} regions "
        "of the "
        f"corpus have a query. A region has {coverage.least_documents:,} documents or more; resolution "
        f"{coverage.resolution:g}, seed {coverage.seed}."
    )


def about_grid(coverage: ReleasedCoverage) -> str:
    """What the grid is and where it is cut, in sentences; empty where no query has a cell."""
    figures = {"Δ": coverage.dispersion, "J": coverage.alignment}
    cut = [f"{name} {at.lower:.3f} and {at.upper:.3f}" for name, at in figures.items() if at]
    if not cut:
        return ""
    whole = "".join(
        f" {name} is not cut: too many queries have the same." for name in figures if not figures[name]
    )
    return (
        "Dispersion Δ is high where relevant documents share few clusters, alignment J where the query's are "
        "theirs. Δ needs two relevant documents; with one, J alone makes the cell. Thirds end at "
        f"{', and at '.join(cut)}; relevant is a grade of {coverage.relevant_grade} or more.{whole}"
    )


def read_map_in_force(cursor: Cursor) -> CoverageMap | str | None:
    """The map of the corpus in force, why it cannot be used, or None if there never was one."""
    if get_setting(cursor, IN_FORCE) is None:
        return None
    try:
        return read_map(cursor, map_in_force(cursor), all_partitions=False)
    except RefusedError as error:
        return str(error)


def coverage_tables(
    store: Store,
    coverage_map: CoverageMap,
    queries: PartRows,
    qrels: PartRows,
    relevant_grade: int,
    progress: Progress,
) -> tuple[str, dict[str, PartRows]]:
    """The coverage by the map of queries with these grades: a sentence about it, and its tables.

    Raises
    ------
    RefusedError: queries were not matched against the map yet, and its model cannot be loaded.
    """
    clusters = _clusters_of_queries(store, queries, coverage_map, progress)
    shapes = _shapes(qrels, relevant_grade, coverage_map, clusters)
    spread, aligned = cuts_of(shapes.values())
    cuts = (_rounded(spread), _rounded(aligned))
    asked = frozenset().union(*clusters.values())
    rows = [_query_row(query_id, clusters[query_id], shapes[query_id], cuts) for query_id in sorted(clusters)]
    in_grid = sum(row["cell"] is not None for row in rows)
    reached = len(asked.intersection(coverage_map.regions))
    sentence = (
        f"Coverage map {coverage_map.map_id[:12]}…: {sum(map(bool, clusters.values())):,} of "
        f"{pluralize(len(clusters), 'query', 'queries')} are in a cluster, "
        f"{reached:,} of {pluralize(len(coverage_map.regions), 'region')} "
        f"have a query, and {pluralize(in_grid, 'query has', 'queries have')} a cell of the grid."
    )
    return sentence, {
        "coverage": [_map_row(relevant_grade, coverage_map, asked, cuts)],
        "query_coverage": rows,
    }


def _clusters_of_queries(
    store: Store, queries: PartRows, coverage_map: CoverageMap, progress: Progress
) -> dict[str, Clusters]:
    texts = {row["query_id"]: normalise_query(row["text"]) for row in queries}
    model = coverage_map.parameters["model"]
    try:
        matches = matches_of(store, coverage_map, set(texts.values()), model, progress)
    except (NotFoundError, RefusedError) as error:
        raise RefusedError(
            f"Queries of the release were not matched against the coverage map yet, and its model {model} is "
            f"needed for it: {error} Nothing was frozen. Measure coverage where the model is.",
            command="`goldgrade coverage` does.",
        ) from error
    return {query_id: coverage_map.clusters_of_query(matches[text]) for query_id, text in texts.items()}


def _shapes(
    qrels: PartRows, relevant_grade: int, coverage_map: CoverageMap, clusters: dict[str, Clusters]
) -> dict[str, QueryShape | None]:
    """Query id → its dispersion and alignment, by the release's own grades."""
    relevant: dict[str, list[Clusters]] = {query_id: [] for query_id in clusters}
    for row in qrels:
        if row["grade"] >= relevant_grade:
            relevant[row["query_id"]].append(
                coverage_map.clusters_of(coverage_map.of_documents.get(row["document_id"], ()))
            )
    return {
        query_id: _shape(clusters_of_query, relevant[query_id])
        for query_id, clusters_of_query in clusters.items()
    }


def _shape(asked: Clusters, relevant: list[Clusters]) -> QueryShape | None:
    """With the digits that a release keeps, so that they and the boundaries tell the cell."""
    shape = query_shape(asked, relevant)
    return None if shape is None else QueryShape(*map(rounded, shape))


def _rounded(cuts: Tertiles | None) -> Tertiles | None:
    return None if cuts is None else Tertiles(*map(rounded, cuts))


def _map_row(relevant_grade: int, coverage_map: CoverageMap, asked: Clusters, cuts: Cuts) -> dict[str, Any]:
    kept = [cluster for cluster in coverage_map.clusters if cluster.is_region or cluster.number in asked]
    spread, aligned = cuts
    return {
        "map_id": coverage_map.map_id,
        "parameters": rounded(dict(coverage_map.parameters)),
        "relevant_grade": relevant_grade,
        "clusters": [
            {
                "number": cluster.number,
                "name": cluster.name,
                "documents": len(cluster.documents),
                "region": cluster.is_region,
            }
            for cluster in kept
        ],
        "dispersion": spread and spread._asdict(),
        "alignment": aligned and aligned._asdict(),
    }


def _query_row(query_id: str, clusters: Clusters, shape: QueryShape | None, cuts: Cuts) -> dict[str, Any]:
    row: dict[str, Any] = {"query_id": query_id, "clusters": sorted(clusters)}
    if shape is None:
        return row | {"dispersion": None, "alignment": None, "cell": None}
    cell = cell_of(shape, *cuts)
    return row | shape._asdict() | {"cell": None if cell is None else list(cell)}
