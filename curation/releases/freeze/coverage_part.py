"""The parts 'coverage' and 'query_coverage' of a release, measured with the project's coverage map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from curation.core.characters import normalise_query
from curation.core.errors import NotFoundError, RefusedError
from curation.core.progress import Progress
from curation.core.text import pluralize
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.matched_queries import match_new_texts
from curation.queries.coverage.measures import Clusters
from curation.queries.coverage.query_shapes import QueryShape, Tertiles, find_cell, find_cuts, measure_shape
from curation.queries.coverage.stored_map import CURRENT_MAP, read_current_map_id, read_map
from curation.releases.checksums import round_floats
from curation.releases.part_rows import PartRows
from curation.store import Cursor, Store, get_setting


def read_current_map(cursor: Cursor) -> CoverageMap | str | None:
    """Read the coverage map of the corpus, or the reason why the map is unusable; None if the project has no
    map."""
    if get_setting(cursor, CURRENT_MAP) is None:
        return None
    try:
        return read_map(cursor, read_current_map_id(cursor), all_partitions=False)
    except RefusedError as error:
        return str(error)


def measure_coverage(
    store: Store,
    coverage_map: CoverageMap,
    queries: PartRows,
    qrels: PartRows,
    relevant_grade: int,
    progress: Progress,
) -> tuple[str, dict[str, PartRows]]:
    """Measure how the graded queries cover the corpus; return a sentence about the coverage, and its tables.

    Raises
    ------
    RefusedError: queries were not matched against the map yet, and its model cannot be loaded.
    """
    clusters = _match_queries(store, queries, coverage_map, progress)
    shapes = _compute_shapes(qrels, relevant_grade, coverage_map, clusters)
    cuts = [cut and Tertiles(*map(round_floats, cut)) for cut in find_cuts(shapes.values())]
    query_clusters = frozenset().union(*clusters.values())
    rows = [_make_row(query_id, clusters[query_id], shapes[query_id], cuts) for query_id in sorted(clusters)]
    in_grid = sum(row["cell"] is not None for row in rows)
    reached = len(query_clusters.intersection(coverage_map.regions))
    sentence = (
        f"Coverage map {coverage_map.map_id[:12]}…: {sum(map(bool, clusters.values())):,} of "
        f"{pluralize(len(clusters), 'query', 'queries')} are in a cluster, "
        f"{reached:,} of {pluralize(len(coverage_map.regions), 'region')} "
        f"have a query, and {pluralize(in_grid, 'query falls', 'queries fall')} in a cell of the grid."
    )
    map_row = _make_map_row(relevant_grade, coverage_map, query_clusters, cuts)
    return sentence, {"coverage": [map_row], "query_coverage": rows}


def _match_queries(
    store: Store, queries: PartRows, coverage_map: CoverageMap, progress: Progress
) -> dict[str, Clusters]:
    texts = {row["query_id"]: normalise_query(row["text"]) for row in queries}
    model = coverage_map.parameters["model"]
    try:
        matches = match_new_texts(store, coverage_map, set(texts.values()), model, progress)
    except (NotFoundError, RefusedError) as error:
        raise RefusedError(
            "Some queries of the release are not in the coverage map yet, and only its model "
            f"{model} can add them: {error} Nothing was frozen. Measure coverage on a machine that has the "
            "model.",
            command="`goldgrade coverage` measures coverage.",
        ) from error
    return {query_id: coverage_map.find_query_clusters(matches[text]) for query_id, text in texts.items()}


def _compute_shapes(
    qrels: PartRows, relevant_grade: int, coverage_map: CoverageMap, clusters: dict[str, Clusters]
) -> dict[str, QueryShape | None]:
    """Map each query id to dispersion and alignment, computed from the grades of the release.

    The figures are rounded as in the release, so that figures and boundaries determine the cell of a query.
    """
    relevant: dict[str, list[Clusters]] = {query_id: [] for query_id in clusters}
    for row in qrels:
        if row["grade"] >= relevant_grade:
            relevant[row["query_id"]].append(
                coverage_map.find_clusters(coverage_map.document_entities.get(row["document_id"], ()))
            )
    shapes = {query_id: measure_shape(asked, relevant[query_id]) for query_id, asked in clusters.items()}
    return {query_id: shape and QueryShape(*map(round_floats, shape)) for query_id, shape in shapes.items()}


def _make_map_row(
    relevant_grade: int, coverage_map: CoverageMap, query_clusters: Clusters, cuts: Sequence[Tertiles | None]
) -> dict[str, Any]:
    clusters = [
        {"number": row.number, "name": row.name, "documents": len(row.documents), "region": row.is_region}
        for row in coverage_map.clusters
        if row.is_region or row.number in query_clusters
    ]
    dispersion, alignment = cuts
    return {
        "map_id": coverage_map.map_id,
        "parameters": round_floats(dict(coverage_map.parameters)),
        "relevant_grade": relevant_grade,
        "clusters": clusters,
        "dispersion": dispersion and dispersion._asdict(),
        "alignment": alignment and alignment._asdict(),
    }


def _make_row(
    query_id: str, clusters: Clusters, shape: QueryShape | None, cuts: Sequence[Tertiles | None]
) -> dict[str, Any]:
    row: dict[str, Any] = {"query_id": query_id, "clusters": sorted(clusters)}
    if shape is None:
        return row | {"dispersion": None, "alignment": None, "cell": None}
    cell = find_cell(shape, *cuts)
    return row | shape._asdict() | {"cell": None if cell is None else list(cell)}
