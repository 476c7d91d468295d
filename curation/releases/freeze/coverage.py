"""The coverage of a release: clusters of its queries, their dispersion and alignment, and the 3 × 3 grid.

It is of the coverage map in force, if that is of the release's corpus. Two parts hold it, and evaluation
reads nothing else:

    coverage        one row: the map and what decided it, its regions and other clusters with a query, and the
                    boundaries of the tertiles
    query_coverage  for each query its clusters, Δ and J (`queries.coverage.measures`), and its cell: the
    thirds,
                    null where the figure is undefined or not cut

Δ and J rest on the release's own grades, and the boundaries on the queries of all its parts. A release of a
project without such a map has neither part, and the id that it always had.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from curation.core.errors import NotFoundError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import normalise_query
from curation.queries.coverage.asked import matches_of
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.measures import Clusters, QueryShape, Tertiles, cell_of, make_grid, query_shape
from curation.queries.coverage.stored_map import IN_FORCE, map_in_force, read_map
from curation.releases.freeze.content import ReleaseDraft
from curation.releases.release_rows import rounded
from curation.store import Cursor, Store, get_setting

Cuts = tuple[Tertiles | None, Tertiles | None]
"""Where dispersion and alignment are cut in three."""


class FrozenCoverage(NamedTuple):
    """What of the coverage map is in the release.

    Attributes
    ----------
    regions: regions of the corpus; `regions_asked` are those with a query of the release.
    queries: queries of the release that are in a cluster.
    in_grid: queries with a cell of the grid: those with a relevant document that is in a cluster.
    why_not: why the release has no coverage, though the project has a map; the rest is then None or 0.
    """

    map_id: str | None
    regions: int = 0
    regions_asked: int = 0
    queries: int = 0
    in_grid: int = 0
    why_not: str | None = None


def read_map_in_force(cursor: Cursor) -> CoverageMap | str | None:
    """The map of the corpus in force, why it cannot be used, or None where there never was one."""
    if get_setting(cursor, IN_FORCE) is None:
        return None
    try:
        return read_map(cursor, map_in_force(cursor), all_partitions=False)
    except RefusedError as error:
        return str(error)


def add_coverage(
    store: Store, draft: ReleaseDraft, found: CoverageMap | str | None, progress: Progress = silent
) -> FrozenCoverage | None:
    """Add the coverage by the map, if there is one.

    Raises
    ------
    RefusedError: queries were not matched against the map yet, and its model cannot be loaded.
    """
    if not isinstance(found, CoverageMap):
        return None if found is None else FrozenCoverage(None, why_not=found)
    clusters = _clusters_of_queries(store, draft, found, progress)
    shapes = _shapes(draft, found, clusters)
    grid = make_grid(shapes)
    cuts = (None, None) if grid is None else (_rounded(grid.dispersion), _rounded(grid.alignment))
    asked = frozenset().union(*clusters.values())
    rows = [_query_row(query_id, clusters[query_id], shapes[query_id], cuts) for query_id in sorted(clusters)]
    draft.tables["coverage"] = [_map_row(draft, found, asked, cuts)]
    draft.tables["query_coverage"] = rows
    return FrozenCoverage(
        map_id=found.map_id,
        regions=len(found.regions),
        regions_asked=len(asked.intersection(found.regions)),
        queries=sum(map(bool, clusters.values())),
        in_grid=sum(row["cell"] is not None for row in rows),
    )


def _clusters_of_queries(
    store: Store, draft: ReleaseDraft, coverage_map: CoverageMap, progress: Progress
) -> dict[str, Clusters]:
    texts = {row["query_id"]: normalise_query(row["text"]) for row in draft.tables["queries"]}
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
    draft: ReleaseDraft, coverage_map: CoverageMap, clusters: dict[str, Clusters]
) -> dict[str, QueryShape | None]:
    """Query id → its dispersion and alignment, by the release's own grades."""
    least = draft.split.parameters["relevant_grade"]
    relevant: dict[str, list[Clusters]] = {query_id: [] for query_id in clusters}
    for row in draft.tables["qrels"]:
        if row["grade"] >= least:
            relevant[row["query_id"]].append(
                coverage_map.clusters_of(coverage_map.of_documents.get(row["document_id"], ()))
            )
    return {query_id: _shape(own, relevant[query_id]) for query_id, own in clusters.items()}


def _shape(own: Clusters, relevant: list[Clusters]) -> QueryShape | None:
    """With the digits that a release keeps, so that they and the boundaries tell the cell."""
    shape = query_shape(own, relevant)
    return None if shape is None else QueryShape(*map(rounded, shape))


def _rounded(cuts: Tertiles | None) -> Tertiles | None:
    return None if cuts is None else Tertiles(*map(rounded, cuts))


def _map_row(draft: ReleaseDraft, coverage_map: CoverageMap, asked: Clusters, cuts: Cuts) -> dict[str, Any]:
    kept = [cluster for cluster in coverage_map.clusters if cluster.is_region or cluster.number in asked]
    spread, aligned = cuts
    return {
        "map_id": coverage_map.map_id,
        "parameters": rounded(dict(coverage_map.parameters)),
        "relevant_grade": draft.split.parameters["relevant_grade"],
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
