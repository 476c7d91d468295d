"""What the queries in force cover: the measures, cluster by cluster, over resolutions, and the gaps.

The queries are those to be judged or judged already; traffic is the texts that were asked most. All measures
are given over regions, and over all clusters.

A gap is a region that no query, or too few queries, ask about. The stored state of the map in force is read
without a model; queries added since coverage was measured are not matched yet, and count nowhere.
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
BY_RULE = "queries that the language model has not read: the rule without one says what they are about"
SCATTERED = "queries that are about no cluster: what they were matched to is not enough"
UNASKED_PART = "searches for texts that are asked less than the {:,} counted"

ENTITIES_SHOWN = 6
IDS_SHOWN = 5


class ClusterCoverage(NamedTuple):
    """A cluster and what asks for it.

    Attributes
    ----------
    searches: of the traffic, each spread evenly over its clusters; None without traffic.
    """

    number: int
    name: str
    is_region: bool
    entities: int
    documents: int
    queries: int
    searches: float | None


class Span(NamedTuple):
    """The lowest and the highest value over seeds; None if no seed gives one."""

    low: float | None
    high: float | None

    def text(self, form: str = ".2f") -> str:
        """Both as people read them, or the one that both are; a dash where they are unknown."""
        if self.low is None or self.high is None:
            return "–"
        low, high = format(self.low, form), format(self.high, form)
        return low if low == high else f"{low} to {high}"


class RuleFigures(NamedTuple):
    """MSC, SCC and ZQC of regions by one rule for C(q), each over the seeds."""

    rule: str
    msc: Span
    scc: Span
    zqc: Span


class DocumentsOutside(NamedTuple):
    """Documents in no region: how many, their share of all, and the first ids."""

    documents: int
    share: float | None
    ids: tuple[str, ...]


class CurveStep(NamedTuple):
    """Regions at one resolution, each figure over the seeds tried.

    Attributes
    ----------
    rand_index: mean adjusted Rand index between the seeds, without isolated entities.
    recovered: share of the corpus in regions that other draws of it give, too; see `coverage.partitions`.
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
    """What the queries in force cover of the corpus.

    Attributes
    ----------
    seed, resolution, chosen, least_documents: see `CoverageRequest`; `chosen`: 'by rule' or 'given'.
    documents, entities, isolated, queries: how many there are.
    rule: which clusters of its entities a query is about; see `queries.coverage.coverage_map`.
    msc, scc, zqc: over regions, as in `regions`.
    rules: the same figures by each rule, including the rule of the map; the last entry is over all rules.
    outside: documents in no region.
    regions, all_clusters: all measures over regions, and over every cluster.
    synthetic: queries that a language model wrote.
    without_synthetic: over regions, without those; None without any.
    traffic_counted: share of the searches that the texts counted are; None without traffic.
    clusters: by number, the largest first.
    curve: by resolution.
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
        """How many regions there are, and how many have a query."""
        share = "unknown" if self.msc is None else percent(self.msc)
        return [
            f"{pluralize(self.regions.clusters, 'region')} at a resolution of {self.resolution:g}, "
            f"{self.chosen}. {share} of them have a query; {self.zqc:,} have none."
        ]

    @property
    def details(self) -> list[str]:
        """What was counted, how far the figures hold, and what was left out."""
        counted = self.traffic_counted
        return [
            f"{pluralize(self.documents, 'document')}, {self.entities:,} entities ({self.isolated:,} "
            f"isolated), {pluralize(self.queries, 'query', 'queries')}, {self.synthetic:,} of them "
            f"synthetic. A region is a cluster with {pluralize(self.least_documents, 'document')} or more; "
            f"seed {self.seed}.",
            *ISOLATES.sub("", reach_section(self.rule, self.rules, self.outside).sentence).splitlines(),
            *([] if counted is None else [f"The texts counted are {percent(counted, 1)} of the searches."]),
            *left_out_sentences(self.left_out),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The measures, how far they hold, resolution by resolution, and the regions, the largest first."""
        apart = self.without_synthetic
        measures = {"regions": self.regions, "all clusters": self.all_clusters}
        measures |= {"regions, without synthetic queries": apart} if apart else {}
        covered = Table(
            "What the queries cover",
            ("of", "clusters", "MSC", "by mass", "by traffic", "SCC", "ZQC"),
            tuple(map(_measure_row, measures.items())),
        )
        curve = Table(
            "Regions by resolution: lowest and highest of the seeds",
            ("γ", "clusters", "regions", "same by seed (ARI)", "recovered", "MSC", "SCC", "ZQC"),
            tuple(map(_curve_row, self.curve)),
        )
        regions = tuple(
            (region.number, region.name, region.documents, region.entities, region.queries, region.searches)
            for region in self.clusters
            if region.is_region
        )
        columns = ("region", "name", "documents", "entities", "queries", "searches")
        reach = reach_section(self.rule, self.rules, self.outside).tables
        return (covered, *reach, curve, Table(pluralize(len(regions), "region"), columns, regions))


def _measure_row(named: tuple[str, CoverageMeasures]) -> tuple[object, ...]:
    name, measures = named
    shares = (measures.msc, measures.msc_by_mass, measures.msc_by_traffic, measures.scc)
    return name, measures.clusters, *shares, measures.zqc


def _curve_row(step: CurveStep) -> tuple[object, ...]:
    counts = (step.clusters.text(",.0f"), step.regions.text(",.0f"), step.rand_index, step.recovered)
    return f"{step.resolution:g}", *counts, step.msc.text(), step.scc.text(), step.zqc.text(",.0f")


def find_coverage(store: Store, request: CoverageRequest, progress: Progress = silent) -> CoverageReport:
    """Make the map of the corpus, or read it if the project has it, put it in force, and measure the queries.

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
    """The figures of regions at the resolution of the map, by each rule over the seeds, and over all."""
    resolution = coverage_map.parameters["resolution"]
    [tried] = [tried for tried in coverage_map.partitions if tried.resolution == resolution]
    rules = dict.fromkeys([*ALTERNATIVES, coverage_map.rule])
    by_rule = {rule.name: _over_seeds(coverage_map, asked, tried, rule) for rule in rules}
    every = [measures for seeds in by_rule.values() for measures in seeds]
    return [RuleFigures(name, *_spans(seeds)) for name, seeds in {**by_rule, ANY_RULE: every}.items()]


def _spans(measured: Sequence[CoverageMeasures]) -> tuple[Span, Span, Span]:
    """MSC, SCC and ZQC."""
    msc, scc, zqc = zip(*((measures.msc, measures.scc, measures.zqc) for measures in measured), strict=True)
    return span(msc), span(scc), span(zqc)


def documents_outside(coverage_map: CoverageMap) -> DocumentsOutside:
    """The documents of the corpus that are in no region."""
    regions = frozenset(coverage_map.regions)
    ids = [
        name
        for name, places in coverage_map.of_documents.items()
        if regions.isdisjoint(coverage_map.clusters_of(places))
    ]
    whole = len(coverage_map.of_documents)
    return DocumentsOutside(len(ids), len(ids) / whole if whole else None, tuple(ids[:IDS_OUTSIDE]))


def reach_section(rule: str, rules: Sequence[RuleFigures], outside: DocumentsOutside) -> Section:
    """How far MSC, SCC and ZQC depend on the rule for C(q) and on the seed, and what no region has."""
    first = ", ".join(map(isolated, outside.ids)) + (", …" if outside.documents > IDS_OUTSIDE else "")
    rows = tuple((rule.rule, rule.msc.text(), rule.scc.text(), rule.zqc.text(",.0f")) for rule in rules)
    _, msc, scc, zqc = rows[-1]
    caption = "Regions by what a query is about: lowest and highest of the seeds"
    return Section(
        "How far these figures hold",
        f"A query is about the clusters of {rule}. By other rules and seeds MSC, the share of regions with a "
        f"query, is {msc}, SCC, the share of documents in regions with {MIN_FOR_SCC} queries, {scc}, and "
        "ZQC, "
        f"regions without a query, {zqc}.\n"
        f"Documents in no region: {outside.documents:,} ({percent(outside.share)}). {first}",
        tables=(Table(caption, ("clusters of", "MSC", "SCC", "ZQC"), rows, words=True),),
    )


def measured(
    coverage_map: CoverageMap, asked: AskedOfCorpus, counted: Sequence[int] | range
) -> CoverageMeasures:
    """The measures over clusters by number."""
    of_documents = [coverage_map.clusters_of(places) for places in coverage_map.of_documents.values()]
    by = (coverage_map.rule, coverage_map.cluster_of)
    return measure_coverage(counted, of_documents, asked.of_queries(*by), asked.of_traffic(*by))


def of_clusters(coverage_map: CoverageMap, asked: AskedOfCorpus) -> list[ClusterCoverage]:
    """The map's clusters by number, and what asks for each."""
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
    """The measures over the regions of each partition of one resolution."""
    seeds = _over_seeds(coverage_map, asked, tried, coverage_map.rule)
    counts = (
        span([len(np.unique(labels)) for labels in tried.labels]),
        span([measures.clusters for measures in seeds]),
    )
    return CurveStep(tried.resolution, *counts, tried.rand_index, tried.recovered_share, *_spans(seeds))


def _over_seeds(
    coverage_map: CoverageMap, asked: AskedOfCorpus, tried: Partitions, rule: MatchingRule
) -> list[CoverageMeasures]:
    """The measures over the regions of each seed's partition, by one rule for C(q)."""
    least, measured = coverage_map.parameters["least_documents"], []
    for labels in tried.labels:
        cluster_of: list[int] = labels.tolist()
        regions = np.flatnonzero(documents_of(labels, coverage_map.of_documents) >= least).tolist()
        of_documents = [clusters_at(places, cluster_of) for places in coverage_map.of_documents.values()]
        measured.append(measure_coverage(regions, of_documents, asked.of_queries(rule, cluster_of)))
    return measured


def span(values: Sequence[float | None]) -> Span:
    known = [value for value in values if value is not None]
    return Span(min(known), max(known)) if known else Span(None, None)


@dataclass(frozen=True)
class CoverageState:
    """What is known of the clusters of the map in force.

    Attributes
    ----------
    map: without the partitions of other resolutions and seeds.
    clusters: by number.
    queries: number of a cluster → the queries about it, by id; clusters without any are absent.
    gaps: by searches × documents.
    regions: the measures over regions.
    nowhere: queries that are about no entity.
    unmatched: queries that were not matched yet.
    reach: how far the figures depend on the rule for C(q) and on the seed, and what is in no region.
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
    """The state of the map in force.

    Raises
    ------
    RefusedError: there is no map of the corpus in force.
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
    """A short text that changes whenever the state could: what changes a project is in its audit trail."""
    events = cursor.execute("SELECT count(*), max(rowid) FROM events").fetchall()
    sql = "SELECT (SELECT count(*) FROM coverage_texts), (SELECT count(*) FROM coverage_kept)"
    return digest(str(events), str(cursor.execute(sql).fetchall()))


class CoverageGap(NamedTuple):
    """A region without a query, or with too few, with all its documents; `missing`: queries to be written."""

    number: int
    name: str
    documents: tuple[str, ...]
    searches: float | None
    entities: tuple[str, ...]
    missing: int = 1


def find_gaps(store: Store, model: str = DEFAULT_MODEL, progress: Progress = silent) -> list[CoverageGap]:
    """The regions of the map in force without a query, by searches × documents, then documents, then number.

    Raises
    ------
    RefusedError: there is no map of the corpus in force, it is of another model, or that cannot be loaded.
    """
    with store.reading() as cursor:
        coverage_map = read_map(cursor, current_map_id(cursor))
    asked = match_asked(store, coverage_map, model, progress)
    return gaps_of(coverage_map, of_clusters(coverage_map, asked))


def gaps_of(
    coverage_map: CoverageMap, counted: Sequence[ClusterCoverage], fill: bool = False
) -> list[CoverageGap]:
    """The regions without a query, in the order of `find_gaps`.

    Parameters
    ----------
    counted: the clusters by number.
    fill: instead those that lack queries to have the `MIN_FOR_SCC` of SCC, the one with most documents first.
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
    """The regions without a query, with their most central entities and the first of their documents."""
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
