"""Write the tables of docs/coverage.md: what the maps of MED, CISI and Icecat say of their own queries.

For each collection: the map, the curve over γ, C(q) by each rule, and who wins over regions. Tables that the
page has no place for are printed. Projects are kept in the folder, with their embeddings: the first run takes
long (for Icecat about half an hour of one processor), another a few minutes.

Usage: python -m docs.make_coverage PROJECT_FOLDER [med|cisi|icecat ...] [--systems bm25,dense,hybrid]
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks import coverage_matching
from benchmarks.coverage_matching import COLLECTIONS, CoverageCollection, collection
from curation.core.progress import silent
from curation.core.request import DEFAULT_MODEL
from curation.evaluation.figures.aggregations import AGGREGATIONS, summarize_strata
from curation.evaluation.scoring.facets import CLUSTER, Facet
from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.qrels import make_qrels
from curation.evaluation.scoring.run_scores import score_run
from curation.ingest.importers.queries import read_active_queries
from curation.pooling.systems import Systems
from curation.queries.coverage.clusters import count_documents
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.matched_queries import match_queries
from curation.queries.coverage.matching import EntityMatch
from curation.queries.coverage.measures import Clusters, get_clusters
from curation.queries.coverage.query_shapes import QueryShape, measure_shape
from curation.queries.coverage.report import CoverageReport, find_coverage
from curation.queries.coverage.stored_map import read_current_map_id, read_map
from curation.queries.requests import CoverageRequest
from curation.store.documents import current_corpus

TARGET = Path(__file__).with_name("coverage.md")
MARKED = re.compile(r"(<!-- generated: ([a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
SYSTEMS = ("bm25", "dense", "hybrid")
DEPTH = 100
FINEST = 60.0
NDCG = "ndcg@10"
Scored = dict[str, dict[str, float]]


def scores(found: CoverageCollection, systems: Sequence[str]) -> Scored:
    """System → query → nDCG@10, by the collection's grades."""
    with found.store.reading() as cursor:
        documents, queries = current_corpus(cursor), read_active_queries(cursor)
    judged = [query for query in queries if found.grades.get(query.query_id)]
    rows = [(key, name, grade) for key, held in found.grades.items() for name, grade in held.items()]
    qrels = make_qrels(rows, scale=(0, *range(1, 1 + max(grade for *_, grade in rows))))
    made = Systems(found.store, systems, documents, DEFAULT_MODEL)
    runs = {}
    for system, lists in made.search(judged, DEPTH, silent).items():
        run = {
            query.query_id: {hit.document_id: hit.score or 0.0 for hit in hits}
            for query, hits in zip(judged, lists, strict=True)
        }
        made_scores = score_run(run, qrels, parse_measures([NDCG]))
        values = zip(made_scores.query_ids, made_scores.of(NDCG).tolist(), strict=True)
        runs[system] = {query_id: value for query_id, value in values if not np.isnan(value)}
    return runs


def tables(found: CoverageCollection, systems: Sequence[str]) -> dict[str, str]:
    """Name of a table → its lines."""
    report = find_coverage(found.store, CoverageRequest(seed=0))
    with found.store.reading() as cursor:
        made = read_map(cursor, read_current_map_id(cursor))
    asked = match_queries(found.store, made, DEFAULT_MODEL, silent)
    matches = {query.query_id: asked.matches[query.normalised] for query in asked.queries}
    relevant = found.relevant
    judged = {key: match for key, match in matches.items() if relevant.get(key)}
    scored = scores(found, systems)
    return {
        f"{found.name} map": "".join(_map(report, made, judged, relevant)),
        f"{found.name} curve": "".join(_curve(report)),
        f"{found.name} matching": coverage_matching.table(found),
        f"{found.name} wins": "".join(_wins(made, judged, relevant, scored)),
    }


def _map(
    report: CoverageReport,
    made: CoverageMap,
    judged: Mapping[str, EntityMatch],
    relevant: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    kinds = {"regions": (report.regions, made.regions), "all clusters": (report.all_clusters, None)}
    yield (
        f"{report.documents:,} documents, {report.queries:,} queries, {len(judged):,} with a relevant "
        f"document; {report.entities:,} entities, {report.isolated:,} isolated ones. "
        f"γ = {report.resolution:g}, {report.chosen}.\n\n"
    )
    yield "| of | number | MSC | by mass | SCC | ZQC | Δ | J |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"
    for name, (measured, counted) in kinds.items():
        _, placed = _place_queries(made, judged, relevant, made.cluster_of, counted)
        shapes = np.array([shape for shape in placed if shape], float)  # no Δ: nan
        cells = [measured.msc, measured.msc_by_mass, measured.scc]
        shares = " | ".join("–" if value is None else f"{value:.2f}" for value in cells)
        means = " | ".join(
            f"{np.nanmean(column):.2f} ({np.nanmin(column):.2f} to {np.nanmax(column):.2f})"
            for column in shapes.T
        )
        yield f"| {name} | {measured.clusters:,} | {shares} | {measured.zqc:,} | {means} |\n"


def _curve(report: CoverageReport) -> Iterator[str]:
    yield "| γ | regions | recovered | Rand index | MSC | SCC | ZQC |\n"
    yield "|--:|--:|--:|--:|--:|--:|--:|\n"
    for step in report.curve:
        chosen = "**" if step.resolution == report.resolution else ""
        cells = [f"{chosen}{step.resolution:g}{chosen}", step.regions.text(",.0f")]
        cells += [_figure(step.recovered), _figure(step.rand_index)]
        cells += [step.msc.text(), step.scc.text(), step.zqc.text(",.0f")]
        yield f"| {' | '.join(cells)} |\n"


def _place_queries(
    made: CoverageMap,
    matches: Mapping[str, EntityMatch],
    relevant: Mapping[str, Sequence[str]],
    cluster_of: Sequence[int],
    counted: Collection[int] | None,
) -> tuple[dict[str, Clusters], list[QueryShape | None]]:
    """C(q), Δ and J of queries, by the clusters that count; None: all clusters count."""
    kept = frozenset(cluster_of if counted is None else counted)
    clusters, shapes = {}, []
    for query_id, match in sorted(matches.items()):
        own = made.rule.find_clusters(match, cluster_of) & kept
        held = [
            get_clusters(made.document_entities[document_id], cluster_of) & kept
            for document_id in relevant.get(query_id, ())
            if document_id in made.document_entities
        ]
        clusters[query_id] = own
        shapes.append(measure_shape(own, held))
    return clusters, shapes


def _wins(
    made: CoverageMap,
    judged: Mapping[str, EntityMatch],
    relevant: Mapping[str, Sequence[str]],
    scored: Scored,
) -> Iterator[str]:
    """nDCG@10 over regions under each aggregation, and how often the later system is above the first."""
    names, chosen = list(scored), float(made.parameters["resolution"])
    above = " | ".join(f"{name} above {names[0]}" for name in names[1:])
    yield f"| by | γ | strata | empty | {' | '.join(names)} | {above} |\n"
    yield f"|---|--:|--:|--:|{'--:|' * (2 * len(names) - 1)}\n"
    least = int(made.parameters["least_documents"])
    for tried in (step for step in made.partitions if step.resolution in (chosen, FINEST)):
        labels = tried.labels[0]
        regions = np.flatnonzero(count_documents(labels, made.document_entities) >= least).tolist()
        clusters, _ = _place_queries(made, judged, relevant, labels.tolist(), regions)
        queries = list(clusters)
        values = np.array([[scored[name].get(key, np.nan) for key in queries] for name in names])
        masks = {str(one): np.array([one in clusters[key] for key in queries]) for one in regions}
        found = summarize_strata(names, NDCG, values, Facet(CLUSTER, masks), seed=0, baseline=names[0])
        for by in AGGREGATIONS if tried.resolution == chosen else AGGREGATIONS[1:]:
            figures = [found.figures[name][by] for name in names]
            wins = [found.win_rates[name][names[0]][by][0] for name in names[1:]]
            cells = [_figure(figure.value, 3) for figure in figures]
            cells += [_figure(share) for share in wins]
            strata = f"{figures[0].n:,}"
            of = ("", "", "") if by == "overall" else (f"{tried.resolution:g}", strata, f"{found.empty:,}")
            yield f"| {' | '.join([by, *of, *cells])} |\n"


def _figure(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def page(text: str, written: Mapping[str, str]) -> str:
    """The text of docs/coverage.md with these of its tables written again."""
    return MARKED.sub(
        lambda match: match[1] + written[match[2]] + match[3] if match[2] in written else match[0], text
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.collections:
        found = collection(name, asked.folder)
        written = tables(found, asked.systems.split(","))
        text = TARGET.read_text(encoding="utf-8")
        TARGET.write_text(page(text, written), encoding="utf-8")
        for table, lines in written.items():
            if f"<!-- generated: {table} -->" not in text:
                print(f"\n{table}\n\n{lines}", flush=True)
        print(f"wrote the tables of {name}", flush=True)


if __name__ == "__main__":
    main()
