"""The report on coverage: the measures, each cluster, each resolution, and the gaps.

The report on coverage counts the current queries, and counts the most asked texts as traffic. All measures of
coverage are given over regions, and over all clusters.

A gap is a region with no query, or with too few queries. The stored state of the current coverage map is read
without a model. Queries that were added after the last measurement are not matched yet, and are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.core.characters import ISOLATES, isolated
from curation.core.digests import digest
from curation.core.operation import DEFAULT_MODEL
from curation.core.progress import Progress, silent
from curation.core.reports.page import Section, Table
from curation.core.text import left_out_sentences, percent, pluralize
from curation.queries.coverage.clusters import documents_of
from curation.queries.coverage.coverage_map import ALTERNATIVES, CoverageMap, MatchingRule
from curation.queries.coverage.measures import (
    MIN_FOR_SCC,
    CoverageMeasures,
    clusters_at,
    count_in_clusters,
    measure_coverage,
    spread,
)
from curation.queries.coverage.partitions import Partitions
from curation.queries.coverage.stored_map import (
    MAX_ASKED,
    AskedOfCorpus,
    current_map_id,
    find_map,
    match_asked,
    read_asked,
    read_map,
)
from curation.queries.requests import CoverageRequest
from curation.store import Cursor, Query, Store

IDS_OUTSIDE = 10
ANY_RULE = "any of these"
NO_CLUSTER = "queries that are about no entity of the corpus"
BY_RULE = "queries that the language model has not read: the rule without a model decides their clusters"
SCATTERED = "queries that are about no cluster: too few matched entities are in the same cluster"
UNASKED_PART = "searches for texts other than the {:,} most asked texts, which are counted"

ENTITIES_SHOWN = 6
IDS_SHOWN = 5


class ClusterCoverage(NamedTuple):
    """A cluster with its numbers of entities, documents, queries and searches.

    Attributes
    ----------
    searches: number of searches of the traffic, each spread evenly over its clusters; None without traffic.
    """

    number: int
    name: str
    is_region: bool
    entities: int
    documents: int
    queries: int
    searches: float | None


class Span(NamedTuple):
    """The lowest and the highest value of a measure over several seeds; None if no seed gives a value."""

    low: float | None
    high: float | None

    def text(self, form: str = ".2f") -> str:
        """Write the lowest and highest value, one value if both are equal, or a dash for unknown values."""
        if self.low is None or self.high is None:
            return "–"
        low, high = format(self.low, form), format(self.high, form)
        return low if low == high else f"{low} to {high}"


class RuleFigures(NamedTuple):
    """MSC, SCC and ZQC of regions by one rule for C(q), each as a span over the seeds."""

    rule: str
    msc: Span
    scc: Span
    zqc: Span


class DocumentsOutside(NamedTuple):
    """The documents in no region: number, share of the corpus, and first ids."""

    documents: int
    share: float | None
    ids: tuple[str, ...]


class CurveStep(NamedTuple):
    """Clusters, regions and measures at one resolution, each as a span over the seeds.

    Attributes
    ----------
    rand_index: mean adjusted Rand index between the seeds' partitions, without isolated entities.
    recovered: share of the corpus in regions that other draws of documents give too (`coverage.partitions`).
    """

    resolution: float
    clusters: Span
    regions: Span
    rand_index: float | None
    recovered: float | None
    msc: Span
    scc: Span
    zqc: Span


@dataclass(frozen=True)
class CoverageReport:
    """The coverage of the corpus by the current queries.

    Attributes
    ----------
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
        """Count the regions, and the regions with and without a query."""
        share = "unknown" if self.msc is None else percent(self.msc)
        return [
            f"{pluralize(self.regions.clusters, 'region')} at a resolution of {self.resolution:g}, "
            f"{self.chosen}. {share} of the regions have a query; {self.zqc:,} have no query."
        ]

    @property
    def details(self) -> list[str]:
        """Count documents, entities and queries, and write how far the measures depend on rule and seed."""
        counted = self.traffic_counted
        return [
            f"{pluralize(self.documents, 'document')}, {self.entities:,} entities ({self.isolated:,} "
            f"isolated), {pluralize(self.queries, 'query', 'queries')}, {self.synthetic:,} of them "
            f"synthetic. A region is a cluster with {pluralize(self.least_documents, 'document')} or more. "
            f"The seed is {self.seed}.",
            *ISOLATES.sub("", reach_section(self.rule, self.rules, self.outside).sentence).splitlines(),
            *(
                []
                if counted is None
                else [f"The counted texts make up {percent(counted, 1)} of the searches."]
            ),
            *left_out_sentences(self.left_out),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Show the measures, the measures by rule and by resolution, and the regions, the largest first."""
        apart = self.without_synthetic
        measures = {"regions": self.regions, "all clusters": self.all_clusters}
        measures |= {"regions, without synthetic queries": apart} if apart else {}
        covered = Table(
            "Coverage by the queries",
            ("of", "clusters", "MSC", "by mass", "by traffic", "SCC", "ZQC"),
            tuple((name, figures.clusters, *figures[3:]) for name, figures in measures.items()),
        )
        curve = Table(
            "Regions by resolution: lowest and highest value over seeds",
            ("γ", "clusters", "regions", "ARI between seeds", "recovered", "MSC", "SCC", "ZQC"),
            tuple(
                (
                    *(f"{step.resolution:g}", step.clusters.text(",.0f"), step.regions.text(",.0f")),
                    *(step.rand_index, step.recovered),
                    *(step.msc.text(), step.scc.text(), step.zqc.text(",.0f")),
                )
                for step in self.curve
            ),
        )
        regions = tuple(
            (region.number, region.name, region.documents, region.entities, region.queries, region.searches)
            for region in self.clusters
            if region.is_region
        )
        columns = ("region", "name", "documents", "entities", "queries", "searches")
        reach = reach_section(self.rule, self.rules, self.outside).tables
        return (covered, *reach, curve, Table(pluralize(len(regions), "region"), columns, regions))


def find_coverage(store: Store, request: CoverageRequest, progress: Progress = silent) -> CoverageReport:
    """Make the map of the corpus, or read the stored map, make it the current map, and measure the queries.

    Raises
    ------
    NotFoundError, RefusedError: see `find_map`.
    """
    coverage_map = find_map(store, request, progress)
    asked = match_asked(store, coverage_map, request.model, progress)
    rule = coverage_map.rule
    regions = measured(coverage_map, asked, coverage_map.regions)
    others = asked._replace(queries=[query for query in asked.queries if query.source != "synthetic"])
    synthetic = len(asked.queries) - len(others.queries)
    counted = sum(times for _, times in asked.traffic)
    matches = [asked.matches[query.normalised] for query in asked.queries]
    nowhere = sum(not match.entities for match in matches)
    unread = sum(match.kept is None for match in matches) - nowhere if rule.by_model else 0
    scattered = sum(not clusters for clusters in asked.of_queries(rule, coverage_map.cluster_of)) - nowhere
    reasons = {NO_CLUSTER: nowhere, SCATTERED: scattered, BY_RULE: unread}
    reasons |= {UNASKED_PART.format(MAX_ASKED): asked.searches - counted}
    chosen = ("seed", "resolution", "chosen", "model", "least_documents")
    return CoverageReport(
        map_id=coverage_map.map_id,
        **{name: coverage_map.parameters[name] for name in chosen},
        documents=len(coverage_map.of_documents),
        entities=len(coverage_map.entities),
        isolated=sum(not neighbours for neighbours in coverage_map.neighbours),
        queries=len(asked.queries),
        rule=rule.name,
        rules=figures_by_rule(coverage_map, asked),
        outside=documents_outside(coverage_map),
        msc=regions.msc,
        scc=regions.scc,
        zqc=regions.zqc,
        regions=regions,
        all_clusters=measured(coverage_map, asked, range(len(coverage_map.clusters))),
        synthetic=synthetic,
        without_synthetic=measured(coverage_map, others, coverage_map.regions) if synthetic else None,
        traffic_counted=counted / asked.searches if asked.searches else None,
        clusters=of_clusters(coverage_map, asked),
        curve=[_curve_step(coverage_map, asked, tried) for tried in coverage_map.partitions],
        left_out=coverage_map.left_out | {reason: number for reason, number in reasons.items() if number},
    )


def figures_by_rule(coverage_map: CoverageMap, asked: AskedOfCorpus) -> list[RuleFigures]:
    """Measure the regions at the map's resolution by each rule, and by all rules together, over the seeds."""
    resolution = coverage_map.parameters["resolution"]
    [tried] = [tried for tried in coverage_map.partitions if tried.resolution == resolution]
    rules = dict.fromkeys([*ALTERNATIVES, coverage_map.rule])
    by_rule = {rule.name: _measure_seeds(coverage_map, asked, tried, rule) for rule in rules}
    every = [measures for seeds in by_rule.values() for measures in seeds]
    return [RuleFigures(name, *_measure_spans(seeds)) for name, seeds in {**by_rule, ANY_RULE: every}.items()]


def _measure_spans(measured: Sequence[CoverageMeasures]) -> tuple[Span, Span, Span]:
    """Compute the spans of MSC, SCC and ZQC over seeds."""
    msc, scc, zqc = zip(*((measures.msc, measures.scc, measures.zqc) for measures in measured), strict=True)
    return span(msc), span(scc), span(zqc)


def documents_outside(coverage_map: CoverageMap) -> DocumentsOutside:
    """Find the documents of the corpus that are in no region."""
    regions = frozenset(coverage_map.regions)
    ids = [
        name
        for name, places in coverage_map.of_documents.items()
        if regions.isdisjoint(coverage_map.clusters_of(places))
    ]
    whole = len(coverage_map.of_documents)
    return DocumentsOutside(len(ids), len(ids) / whole if whole else None, tuple(ids[:IDS_OUTSIDE]))


def reach_section(rule: str, rules: Sequence[RuleFigures], outside: DocumentsOutside) -> Section:
    """Show how far the measures depend on the rule for C(q) and the seed, and the documents in no region."""
    first = ", ".join(map(isolated, outside.ids)) + (", …" if outside.documents > IDS_OUTSIDE else "")
    rows = tuple((rule.rule, rule.msc.text(), rule.scc.text(), rule.zqc.text(",.0f")) for rule in rules)
    _, msc, scc, zqc = rows[-1]
    caption = "Regions by rule for a query's clusters: lowest and highest value over seeds"
    return Section(
        "Reliability of these figures",
        f"A query is about the clusters of {rule}. With other rules and seeds, MSC, the share of regions "
        f"with a query, is {msc}; SCC, the share of documents in regions with {MIN_FOR_SCC} queries, is "
        f"{scc}; and ZQC, the number of regions without a query, is {zqc}.\n"
        f"Documents in no region: {outside.documents:,} ({percent(outside.share)}). {first}",
        tables=(Table(caption, ("clusters of", "MSC", "SCC", "ZQC"), rows, words=True),),
    )


def measured(
    coverage_map: CoverageMap, asked: AskedOfCorpus, counted: Sequence[int] | range
) -> CoverageMeasures:
    """Compute the measures of coverage over the clusters with these numbers."""
    of_documents = [coverage_map.clusters_of(places) for places in coverage_map.of_documents.values()]
    by = (coverage_map.rule, coverage_map.cluster_of)
    return measure_coverage(counted, of_documents, asked.of_queries(*by), asked.of_traffic(*by))


def of_clusters(coverage_map: CoverageMap, asked: AskedOfCorpus) -> list[ClusterCoverage]:
    """Count for each cluster of the map its entities, documents, queries and searches."""
    by = (coverage_map.rule, coverage_map.cluster_of)
    queries = count_in_clusters(asked.of_queries(*by))
    searches = spread(asked.of_traffic(*by))
    return [
        ClusterCoverage(
            number=cluster.number,
            name=cluster.name,
            is_region=cluster.is_region,
            entities=len(cluster.entities),
            documents=len(cluster.documents),
            queries=queries.get(cluster.number, 0),
            searches=round(searches.get(cluster.number, 0.0), 6) if asked.traffic else None,
        )
        for cluster in coverage_map.clusters
    ]


def _curve_step(coverage_map: CoverageMap, asked: AskedOfCorpus, tried: Partitions) -> CurveStep:
    """Compute the measures over the regions of each partition of one resolution."""
    seeds = _measure_seeds(coverage_map, asked, tried, coverage_map.rule)
    counts = (
        span([len(np.unique(labels)) for labels in tried.labels]),
        span([measures.clusters for measures in seeds]),
    )
    return CurveStep(
        tried.resolution, *counts, tried.rand_index, tried.recovered_share, *_measure_spans(seeds)
    )


def _measure_seeds(
    coverage_map: CoverageMap, asked: AskedOfCorpus, tried: Partitions, rule: MatchingRule
) -> list[CoverageMeasures]:
    """Compute the measures over the regions of each seed's partition, by one rule for C(q)."""
    least, measured = coverage_map.parameters["least_documents"], []
    for labels in tried.labels:
        cluster_of: list[int] = labels.tolist()
        regions = np.flatnonzero(documents_of(labels, coverage_map.of_documents) >= least).tolist()
        of_documents = [clusters_at(places, cluster_of) for places in coverage_map.of_documents.values()]
        measured.append(measure_coverage(regions, of_documents, asked.of_queries(rule, cluster_of)))
    return measured


def span(values: Sequence[float | None]) -> Span:
    """Find the lowest and the highest known value."""
    known = [value for value in values if value is not None]
    return Span(min(known), max(known)) if known else Span(None, None)


@dataclass(frozen=True)
class CoverageState:
    """The stored state of coverage: the clusters of the current map with their queries and gaps.

    Attributes
    ----------
    map: the current map, without the partitions of other resolutions.
    clusters: clusters by number.
    queries: number of a cluster → its queries by id; clusters without a query are absent.
    gaps: gaps in the order of searches × documents.
    regions: measures over regions.
    nowhere: queries that are not about any cluster.
    unmatched: queries that were not matched yet.
    reach: how far the measures depend on the rule for C(q) and the seed, and the documents in no region.
    """

    map: CoverageMap
    clusters: list[ClusterCoverage]
    queries: dict[int, list[Query]]
    gaps: list[CoverageGap]
    regions: CoverageMeasures
    nowhere: list[Query]
    unmatched: list[Query]
    reach: Section


def read_state(cursor: Cursor) -> CoverageState:
    """Read the stored state of coverage.

    Raises
    ------
    RefusedError: there is no map of the current corpus.
    """
    coverage_map = read_map(cursor, current_map_id(cursor), all_partitions=False)
    everything = read_asked(cursor, coverage_map.map_id)
    asked = everything.matched()
    queries: dict[int, list[Query]] = {}
    nowhere = []
    for query in asked.queries:
        clusters = coverage_map.clusters_of_query(asked.matches[query.normalised])
        for number in clusters:
            queries.setdefault(number, []).append(query)
        if not clusters:
            nowhere.append(query)
    counted = of_clusters(coverage_map, asked)
    return CoverageState(
        map=coverage_map,
        clusters=counted,
        queries=queries,
        gaps=gaps_of(coverage_map, counted),
        regions=measured(coverage_map, asked, coverage_map.regions),
        nowhere=nowhere,
        unmatched=everything.unmatched,
        reach=reach_section(
            coverage_map.rule.name, figures_by_rule(coverage_map, asked), documents_outside(coverage_map)
        ),
    )


def state_fingerprint(cursor: Cursor) -> str:
    """Compute a short text from the audit trail that changes whenever coverage may have changed."""
    events = cursor.execute("SELECT count(*), max(rowid) FROM events").fetchall()
    sql = "SELECT (SELECT count(*) FROM coverage_texts), (SELECT count(*) FROM coverage_kept)"
    return digest(str(events), str(cursor.execute(sql).fetchall()))


class CoverageGap(NamedTuple):
    """A region with no query or too few queries. `missing` is the number of queries that the region lacks."""

    number: int
    name: str
    documents: tuple[str, ...]
    searches: float | None
    entities: tuple[str, ...]
    missing: int = 1


def find_gaps(store: Store, model: str = DEFAULT_MODEL, progress: Progress = silent) -> list[CoverageGap]:
    """Find the regions without a query, ordered by searches × documents, then by documents, then by number.

    Raises
    ------
    RefusedError: there is no map of the current corpus, the map was made with another model, or the model
        cannot be loaded.
    """
    with store.reading() as cursor:
        coverage_map = read_map(cursor, current_map_id(cursor))
    asked = match_asked(store, coverage_map, model, progress)
    return gaps_of(coverage_map, of_clusters(coverage_map, asked))


def gaps_of(
    coverage_map: CoverageMap, counted: Sequence[ClusterCoverage], fill: bool = False
) -> list[CoverageGap]:
    """Find the regions without a query, in the order of `find_gaps`.

    Parameters
    ----------
    counted: clusters by number.
    fill: find the regions with some queries, but fewer than `MIN_FOR_SCC`, the largest region first.
    """
    gaps = [
        CoverageGap(
            number=cluster.number,
            name=cluster.name,
            documents=cluster.documents,
            searches=counted[cluster.number].searches,
            entities=tuple(coverage_map.entities[entity].name for entity in cluster.entities),
            missing=MIN_FOR_SCC - counted[cluster.number].queries if fill else 1,
        )
        for cluster in coverage_map.clusters
        if cluster.is_region and counted[cluster.number].queries in (range(1, MIN_FOR_SCC) if fill else (0,))
    ]
    asked = {gap.number: 0.0 if fill else (gap.searches or 0) * len(gap.documents) for gap in gaps}
    return sorted(gaps, key=lambda gap: (-asked[gap.number], -len(gap.documents), gap.number))


def gap_table(gaps: Sequence[CoverageGap]) -> Table:
    """Show the regions without a query, with their most central entities and first documents."""
    rows = (
        (
            gap.number,
            ", ".join(gap.entities[:ENTITIES_SHOWN]),
            len(gap.documents),
            gap.searches,
            ", ".join(gap.documents[:IDS_SHOWN]) + (", …" if len(gap.documents) > IDS_SHOWN else ""),
        )
        for gap in gaps
    )
    columns = ("region", "most central entities", "documents", "searches", "ids")
    return Table(f"{pluralize(len(gaps), 'region')} without a query", columns, tuple(rows))
