"""The report on how the current queries cover the corpus.

The report counts the current queries, and counts the most asked texts as traffic. All measures of coverage
are given over regions, and over all clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.characters import ISOLATES
from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, percent, pluralize
from curation.queries.coverage import map_measures
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.gaps import (
    ClusterCoverage,
    CoverageGap,
    build_gap_table,
    count_clusters,
    describe_gaps,
    list_gaps,
    read_titles,
)
from curation.queries.coverage.map_measures import CurveStep, DocumentsOutside, RuleFigures, measure_clusters
from curation.queries.coverage.matched_queries import MAX_TRAFFIC_TEXTS, MatchedQueries, match_queries
from curation.queries.coverage.measures import CoverageMeasures
from curation.queries.coverage.stored_map import find_map
from curation.queries.requests import CoverageRequest
from curation.store import Store

NO_ENTITY = "queries that mention none of the corpus's topics"
BY_RULE = (
    "queries that the language model has not read: the rule without a language model decides their clusters"
)
SCATTERED = "queries without a cluster: too few of their topics are in the same cluster"
UNCOUNTED_TRAFFIC = "searches are not counted: only the {:,} most frequent texts are counted"


@dataclass(frozen=True)
class CoverageReport:
    """The report on how well the current queries cover the corpus.

    Attributes
    ----------
    sentence, gaps: see `queries.coverage.gaps`.
    seed, resolution, least_documents: see `CoverageRequest`.
    chosen: 'by rule' or 'given', for the resolution.
    documents, entities, isolated, queries: numbers of documents, entities, isolated entities and queries.
    rule: rule that decides which clusters a query is about; see `queries.coverage.coverage_map`.
    msc, scc, zqc: measures over regions, as in `regions`.
    rules: these measures by each rule, including the rule of the map; the last entry is over all rules.
    outside: documents in no region.
    regions, all_clusters: all measures over regions, and over all clusters.
    synthetic: number of queries that a language model wrote.
    without_synthetic: measures over regions without the synthetic queries; None without such queries.
    traffic_counted: counted searches as a share of all searches; None without traffic.
    clusters: clusters by number, the largest first.
    curve: measures by resolution.
    left_out: reason → number.
    """

    sentence: str
    gaps: list[CoverageGap]
    map_id: str
    seed: int
    resolution: float
    chosen: str
    model: str
    least_documents: int
    documents: int
    entities: int
    isolated: int
    queries: int
    rule: str
    msc: float | None
    scc: float | None
    zqc: int
    rules: list[RuleFigures]
    outside: DocumentsOutside
    regions: CoverageMeasures
    all_clusters: CoverageMeasures
    synthetic: int
    without_synthetic: CoverageMeasures | None
    traffic_counted: float | None
    clusters: list[ClusterCoverage]
    curve: list[CurveStep]
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Say how many regions, and which share of the documents, have no query."""
        return [self.sentence]

    @property
    def details(self) -> list[str]:
        """Return sentences on the method: the numbers of entities and queries, and the seed's effect."""
        reliability = map_measures.build_reliability_section(self.rule, self.rules, self.outside).sentence
        lines = [
            f"{pluralize(self.regions.clusters, 'region')} at a resolution of {self.resolution:g}, "
            f"{self.chosen}.",
            f"{pluralize(self.documents, 'document')}, {self.entities:,} entities ({self.isolated:,} "
            f"isolated), {pluralize(self.queries, 'query', 'queries')}, {self.synthetic:,} of them "
            f"synthetic. A region is a group of {pluralize(self.least_documents, 'document')} or more. "
            f"The seed is {self.seed}.",
            *ISOLATES.sub("", reliability).splitlines(),
        ]
        if self.traffic_counted is not None:
            lines.append(f"The counted texts cover {percent(self.traffic_counted, 1)} of the searches.")
        return [*lines, *describe_left_out(self.left_out)]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of the regions without a query."""
        return (build_gap_table(self.gaps),)

    @property
    def method_tables(self) -> tuple[Table, ...]:
        """Return tables of the measures, also by rule and by resolution, and of the regions."""
        reliability = map_measures.build_reliability_section(self.rule, self.rules, self.outside).tables
        return (self._measure_table(), *reliability, self._curve_table(), self._region_table())

    def _measure_table(self) -> Table:
        measures = {"regions": self.regions, "all clusters": self.all_clusters}
        if self.without_synthetic:
            measures["regions, without synthetic queries"] = self.without_synthetic
        return Table(
            "Coverage by the queries",
            ("of", "clusters", "MSC", "by mass", "by traffic", "SCC", "ZQC"),
            tuple((name, figures.clusters, *figures[3:]) for name, figures in measures.items()),
        )

    def _curve_table(self) -> Table:
        rows = (
            (
                *(f"{step.resolution:g}", step.clusters.text(",.0f"), step.regions.text(",.0f")),
                *(step.rand_index, step.recovered),
                *(step.msc.text(), step.scc.text(), step.zqc.text(",.0f")),
            )
            for step in self.curve
        )
        return Table(
            "Coverage by resolution: lowest and highest value over seeds",
            ("γ", "clusters", "regions", "ARI between seeds", "recovered", "MSC", "SCC", "ZQC"),
            tuple(rows),
        )

    def _region_table(self) -> Table:
        rows = tuple(
            (region.number, region.name, region.documents, region.entities, region.queries, region.searches)
            for region in self.clusters
            if region.is_region
        )
        columns = ("region", "name", "documents", "entities", "queries", "searches")
        return Table(pluralize(len(rows), "region"), columns, rows)


def find_coverage(store: Store, request: CoverageRequest, progress: Progress = silent) -> CoverageReport:
    """Make the map of the corpus, or read the stored map, make it the current map, and measure the queries.

    Raises
    ------
    NotFoundError, RefusedError: see `find_map`.
    """
    coverage_map = find_map(store, request, progress)
    matched = match_queries(store, coverage_map, request.model, progress)
    regions = measure_clusters(coverage_map, matched, coverage_map.regions)
    by_people = matched._replace(queries=[query for query in matched.queries if query.source != "synthetic"])
    synthetic = len(matched.queries) - len(by_people.queries)
    counts = count_clusters(coverage_map, matched)
    with store.reading() as cursor:
        gaps = read_titles(cursor, coverage_map, list_gaps(coverage_map, counts))
    counted_searches = sum(searches for _, searches in matched.traffic)
    parameters = ("seed", "resolution", "chosen", "model", "least_documents")
    return CoverageReport(
        sentence=describe_gaps(coverage_map, counts),
        gaps=gaps,
        map_id=coverage_map.map_id,
        **{name: coverage_map.parameters[name] for name in parameters},
        documents=len(coverage_map.document_entities),
        entities=len(coverage_map.entities),
        isolated=sum(not neighbours for neighbours in coverage_map.neighbours),
        queries=len(matched.queries),
        rule=coverage_map.rule.name,
        rules=map_measures.measure_by_rule(coverage_map, matched),
        outside=map_measures.find_documents_outside(coverage_map),
        msc=regions.msc,
        scc=regions.scc,
        zqc=regions.zqc,
        regions=regions,
        all_clusters=measure_clusters(coverage_map, matched, range(len(coverage_map.clusters))),
        synthetic=synthetic,
        without_synthetic=(
            measure_clusters(coverage_map, by_people, coverage_map.regions) if synthetic else None
        ),
        traffic_counted=counted_searches / matched.searches if matched.searches else None,
        clusters=counts,
        curve=[map_measures.measure_step(coverage_map, matched, tried) for tried in coverage_map.partitions],
        left_out=coverage_map.left_out | _count_left_out(coverage_map, matched, counted_searches),
    )


def _count_left_out(coverage_map: CoverageMap, matched: MatchedQueries, counted: int) -> dict[str, int]:
    """Count, by reason, the queries and searches that the measures leave out or treat differently."""
    rule = coverage_map.rule
    matches = [matched.matches[query.normalised] for query in matched.queries]
    without_entity = sum(not match.entities for match in matches)
    without_cluster = sum(not found for found in matched.find_query_clusters(rule, coverage_map.cluster_of))
    unread = sum(match.kept is None for match in matches) - without_entity if rule.by_model else 0
    reasons = {
        NO_ENTITY: without_entity,
        SCATTERED: without_cluster - without_entity,
        BY_RULE: unread,
        UNCOUNTED_TRAFFIC.format(MAX_TRAFFIC_TEXTS): matched.searches - counted,
    }
    return {reason: count for reason, count in reasons.items() if count}
