"""What the queries in force cover: the measures, cluster by cluster, over resolutions, and the gaps.

The queries are those to be judged or judged already; traffic is the texts that were asked most. All measures
are given over regions, and over all clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.core.progress import Progress, silent
from curation.core.reports.page import Section, Table
from curation.core.statistics.arrays import Ints
from curation.core.text import isolated, percent
from curation.queries.coverage.asked import MOST_ASKED, AskedOfCorpus, clusters_at, match_asked
from curation.queries.coverage.clusters import documents_of
from curation.queries.coverage.coverage_map import CoverageMap, MapSettings, make_map, map_id_of
from curation.queries.coverage.matching import ALTERNATIVES, rule_of
from curation.queries.coverage.measures import (
    ENOUGH,
    Clusters,
    CoverageMeasures,
    count_in_clusters,
    measure_coverage,
    spread,
)
from curation.queries.coverage.resolution import Partitions
from curation.queries.coverage.stored_map import has_map, read_map, write_map
from curation.store import Store
from curation.store.documents import current_snapshot, refuse_held

IDS_OUTSIDE = 10
ANY_RULE = "any of these"
NO_CLUSTER = "queries that are about no entity of the corpus"
BY_RULE = "queries that the language model has not read: the rule without one says what they are about"
SCATTERED = "queries that are about no cluster: what they were matched to is not enough"
UNASKED_PART = "searches for texts that are asked less than the {:,} counted"


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
    """The lowest and the highest value over seeds; None where no seed gives one."""

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
    recovered: share of the corpus in regions that other draws of it give, too; see
    `queries.coverage.resolution`. all_msc, all_scc, all_zqc: as those without the prefix, over all clusters
    instead of regions.
    """

    resolution: float
    clusters: Span
    regions: Span
    rand_index: float | None
    recovered: float | None
    msc: Span
    scc: Span
    zqc: Span
    all_msc: Span
    all_scc: Span
    all_zqc: Span


@dataclass(frozen=True)
class CoverageReport:
    """What the queries in force cover of the corpus.

    Attributes
    ----------
    seed, resolution, chosen, least_documents: see `MapSettings`; `chosen`: 'by rule' or 'given'.
    documents, entities, isolated, queries: how many there are.
    rule: which clusters of its entities a query is about; see `queries.coverage.matching`.
    msc, scc, zqc: over regions, as in `regions`.
    rules: the same by each of the rules, that of the map with them; the last is over all of these.
    outside: documents in no region.
    regions, all_clusters: all measures over regions, and over every cluster.
    synthetic: queries that a language model wrote.
    without_synthetic: over regions, without those; None where there are none.
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


def find_coverage(store: Store, settings: MapSettings, progress: Progress = silent) -> CoverageReport:
    """Make the map of the corpus, or read it if the project has it, put it in force, and measure the queries.

    Raises
    ------
    InputError, NotFoundError, RefusedError: see `find_map`.
    """
    found = find_map(store, settings, progress)
    return _report(found, match_asked(store, found, settings.model, progress))


def find_map(
    store: Store, settings: MapSettings, progress: Progress = silent, in_force: bool = True
) -> CoverageMap:
    """Make the map of the corpus and store it, or read it if the project has it.

    Raises
    ------
    InputError, NotFoundError: see `MapSettings.parameters`.
    RefusedError: there is no corpus, it changed meanwhile, the extra `dense` is not installed, or the model
        cannot be loaded.
    """
    parameters = settings.parameters()
    with store.reading() as cursor:
        snapshot = current_snapshot(cursor)
        refuse_held(cursor, "coverage")
        map_id = map_id_of(snapshot, parameters)
        known = read_map(cursor, map_id) if has_map(cursor, map_id) else None
    found = known or make_map(store, snapshot, settings, progress)
    with store.transaction(appends=True) as cursor:
        write_map(cursor, found, in_force)
    return found


def _report(coverage_map: CoverageMap, asked: AskedOfCorpus) -> CoverageReport:
    rule, regions = rule_of(coverage_map.parameters), measured(coverage_map, asked, coverage_map.regions)
    others = asked._replace(queries=[query for query in asked.queries if query.source != "synthetic"])
    synthetic = len(asked.queries) - len(others.queries)
    counted = sum(times for _, times in asked.traffic)
    matches = [asked.matches[query.normalised] for query in asked.queries]
    nowhere = sum(not match.entities for match in matches)
    unread = sum(match.kept is None for match in matches) - nowhere if rule.by_model else 0
    scattered = sum(not held for held in asked.of_queries(rule, coverage_map.cluster_of)) - nowhere
    rest = UNASKED_PART.format(MOST_ASKED)
    reasons = {
        **coverage_map.left_out,
        NO_CLUSTER: nowhere,
        SCATTERED: scattered,
        BY_RULE: unread,
        rest: asked.searches - counted,
    }
    return CoverageReport(
        map_id=coverage_map.map_id,
        seed=coverage_map.parameters["seed"],
        resolution=coverage_map.parameters["resolution"],
        chosen=coverage_map.parameters["chosen"],
        model=coverage_map.parameters["model"],
        least_documents=coverage_map.parameters["least_documents"],
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
        left_out={reason: number for reason, number in reasons.items() if number},
    )


def figures_by_rule(coverage_map: CoverageMap, asked: AskedOfCorpus) -> list[RuleFigures]:
    """The figures of regions at the resolution of the map, by each rule over the seeds, and over all."""
    rules = dict.fromkeys([*ALTERNATIVES, rule_of(coverage_map.parameters)])
    by_rule: dict[str, list[CoverageMeasures]] = {rule.name: [] for rule in rules}
    [tried] = [
        tried
        for tried in coverage_map.partitions
        if tried.resolution == coverage_map.parameters["resolution"]
    ]
    for labels in tried.labels:
        regions, held, cluster_of = _regions_of(
            coverage_map, labels, int(coverage_map.parameters["least_documents"])
        )
        for rule in rules:
            by_rule[rule.name].append(measure_coverage(regions, held, asked.of_queries(rule, cluster_of)))
    every = [one for seeds in by_rule.values() for one in seeds]
    return [RuleFigures(name, *_spans(seeds)) for name, seeds in {**by_rule, ANY_RULE: every}.items()]


def _spans(measured: Sequence[CoverageMeasures]) -> tuple[Span, Span, Span]:
    """MSC, SCC and ZQC."""
    msc, scc, zqc = zip(*((one.msc, one.scc, one.zqc) for one in measured), strict=True)
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
        f"query, is {msc}, SCC, the share of documents in regions with {ENOUGH} queries, {scc}, and ZQC, "
        f"regions without a query, {zqc}.\n"
        f"Documents in no region: {outside.documents:,} ({percent(outside.share)}). {first}",
        tables=(Table(caption, ("clusters of", "MSC", "SCC", "ZQC"), rows, words=True),),
    )


def measured(
    coverage_map: CoverageMap, asked: AskedOfCorpus, counted: Sequence[int] | range
) -> CoverageMeasures:
    """The measures over clusters by number."""
    of_documents = [coverage_map.clusters_of(places) for places in coverage_map.of_documents.values()]
    by = (rule_of(coverage_map.parameters), coverage_map.cluster_of)
    return measure_coverage(counted, of_documents, asked.of_queries(*by), asked.of_traffic(*by))


def of_clusters(coverage_map: CoverageMap, asked: AskedOfCorpus) -> list[ClusterCoverage]:
    """The map's clusters by number, and what asks for each."""
    by = (rule_of(coverage_map.parameters), coverage_map.cluster_of)
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
    least = int(coverage_map.parameters["least_documents"])
    measured = [_of_partition(coverage_map, asked, labels, least) for labels in tried.labels]
    whole = [_of_partition(coverage_map, asked, labels, 0) for labels in tried.labels]
    clusters = span([len(np.unique(labels)) for labels in tried.labels])
    regions = span([one.clusters for one in measured])
    known = (tried.resolution, clusters, regions, tried.rand_index, tried.recovered_share)
    return CurveStep(*known, *_spans(measured), *_spans(whole))


def _of_partition(
    coverage_map: CoverageMap, asked: AskedOfCorpus, labels: Ints, least: int
) -> CoverageMeasures:
    regions, held, cluster_of = _regions_of(coverage_map, labels, least)
    return measure_coverage(regions, held, asked.of_queries(rule_of(coverage_map.parameters), cluster_of))


def _regions_of(
    coverage_map: CoverageMap, labels: Ints, least: int
) -> tuple[list[int], list[Clusters], list[int]]:
    """The regions of a partition, the clusters of each document, and the cluster of each entity."""
    cluster_of: list[int] = labels.tolist()
    held = [clusters_at(places, cluster_of) for places in coverage_map.of_documents.values()]
    return np.flatnonzero(documents_of(labels, coverage_map.of_documents) >= least).tolist(), held, cluster_of


def span(values: Sequence[float | None]) -> Span:
    known = [value for value in values if value is not None]
    return Span(min(known), max(known)) if known else Span(None, None)
