"""Coverage of the SMART collections by their own queries: the tables of docs/coverage.md.

For MED and CISI: what the map is, how it depends on resolution and seed, what the queries cover, and Δ and J
of the queries by the collection's relevant documents. A second run reads map and embeddings from the project.

Usage: python -m benchmarks.bench_coverage SMART_FOLDER PROJECT_FOLDER [med|cisi]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from curation.coverage.coverage_map import CoverageMap, MapSettings
from curation.coverage.grid import QueryShape, make_grid, query_shape
from curation.coverage.matching import EntityMatch
from curation.coverage.measures import Clusters
from curation.coverage.report import CoverageReport, Span, find_coverage
from curation.coverage.stored_map import map_in_force, read_map, read_texts
from curation.project import init_project
from curation.sources.corpus import import_corpus
from curation.sources.queries import active_queries
from curation.sources.query_import import import_queries
from curation.store import Query, Store, open_store
from tests.support.smart import qrels, records

COLLECTIONS = ("med", "cisi")


def project(smart: Path, name: str, folder: Path) -> Store:
    """A project with the collection's documents and queries."""
    path = folder / f"{name}.duckdb"
    if path.exists():
        return open_store(path)
    store = init_project(path).store
    for kind, suffix in (("documents", "ALL"), ("queries", "QRY")):
        rows = records(smart / name / f"{name.upper()}.{suffix}")
        source = folder / f"{name}.{kind}.jsonl"
        source.write_text("\n".join(json.dumps({"id": key, "text": text}) for key, text in rows.items()))
        (import_corpus if kind == "documents" else import_queries)(store, source)
    return store


def show(name: str, store: Store, relevant: dict[str, dict[str, int]]) -> None:
    started = perf_counter()
    report = find_coverage(store, MapSettings(seed=0))
    print(f"\n{name}: {perf_counter() - started:.0f} s")
    print(f"{report.documents:,} documents, {report.entities:,} entities, {report.loners:,} loners")
    print(f"γ = {report.resolution:g} ({report.chosen}), {report.left_out}")
    for what, found in (("regions", report.regions), ("all", report.all_clusters)):
        print(what, found)
    show_curve(report)
    show_shapes(store, relevant)


def show_curve(report: CoverageReport) -> None:
    print(
        "\n| γ | clusters | regions | adjusted Rand index | MSC | SCC | ZQC |\n|--:|--:|--:|--:|--:|--:|--:|"
    )
    for step in report.curve:
        counts = [between(span, 0) for span in (step.clusters, step.regions)]
        shares = [between(span, 2) for span in (step.msc, step.scc)]
        index = "–" if step.rand_index is None else f"{step.rand_index:.2f}"
        cells = [f"{step.resolution:g}", *counts, index, *shares, between(step.zqc, 0)]
        print(f"| {' | '.join(cells)} |")


def between(span: Span, digits: int) -> str:
    low, high = (f"{value:,.{digits}f}" if value is not None else "–" for value in span)
    return low if low == high else f"{low} to {high}"


def show_shapes(store: Store, relevant: dict[str, dict[str, int]]) -> None:
    with store.reading() as cursor:
        found = read_map(cursor, map_in_force(cursor))
        matches = read_texts(cursor, found.map_id)
        queries = active_queries(cursor)
    print("\n| γ | Δ | J |\n|--:|--:|--:|")
    for tried in found.partitions:
        shapes = shapes_of(queries, matches, found, relevant, tried.labels[0].tolist())
        print(
            f"| {tried.resolution:g} | {' | '.join(summary(shapes, name) for name in QueryShape._fields)} |"
        )
    grid = make_grid(shapes_of(queries, matches, found, relevant, found.cluster_of))
    assert grid is not None
    print(grid.dispersion, grid.alignment, f"{len(grid.left_out)} queries without a relevant document")
    for row in range(3):
        print([sum(cell == (row, column) for cell in grid.cells.values()) for column in range(3)])


def shapes_of(
    queries: list[Query],
    matches: dict[str, EntityMatch],
    found: CoverageMap,
    relevant: dict[str, dict[str, int]],
    cluster_of: list[int],
) -> dict[str, QueryShape | None]:
    """The shape of each query by the clusters of one partition."""

    def clusters(places: Sequence[int]) -> Clusters:
        return frozenset(cluster_of[place] for place in places)

    return {
        query.query_id: query_shape(
            clusters(matches[query.normalised].entities),
            [clusters(found.of_documents[key]) for key in relevant.get(query.query_id, {})],
        )
        for query in queries
    }


def summary(shapes: dict[str, QueryShape | None], figure: str) -> str:
    values = np.array([getattr(shape, figure) for shape in shapes.values() if shape])
    return f"{values.mean():.2f} ({values.min():.2f} to {values.max():.2f})"


if __name__ == "__main__":
    for collection in sys.argv[3:] or COLLECTIONS:
        made = project(Path(sys.argv[1]), collection, Path(sys.argv[2]))
        show(collection, made, qrels(Path(sys.argv[1]) / collection / f"{collection.upper()}.REL"))
