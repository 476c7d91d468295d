"""A coverage map's measures MSC, SCC and ZQC, by each rule for C(q), seed and resolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.core.characters import isolate
from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.core.text import percent
from curation.queries.coverage.clusters import count_documents
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.matched_queries import MatchedQueries
from curation.queries.coverage.matching import ALTERNATIVES, MatchingRule
from curation.queries.coverage.measures import MIN_FOR_SCC, CoverageMeasures, get_clusters, measure_coverage
from curation.queries.coverage.partitions import Partitions

MAX_IDS_SHOWN = 10
ANY_RULE = "any of these"
MEASURES = ("Regions with a query", "Documents in regions with 5 or more queries", "Regions without a query")


class Span(NamedTuple):
    """The lowest and the highest value of a measure over several seeds; None if no seed gives a value."""

    low: float | None
    high: float | None

    def text(self, number_format: str = ".2f") -> str:
        """Return the lowest and highest value as text, one value if equal, or a dash if unknown."""
        if self.low is None or self.high is None:
            return "–"
        low, high = format(self.low, number_format), format(self.high, number_format)
        return (low if low == high else f"{low} to {high}").replace("%", "\u00a0%")


class RuleFigures(NamedTuple):
    """The measures MSC, SCC and ZQC of regions by one rule for C(q), each as a span over the seeds."""

    rule: str
    msc: Span
    scc: Span
    zqc: Span


class DocumentsOutside(NamedTuple):
    """The documents that are in no region: their number, their share of the corpus, and some of their ids."""

    documents: int
    share: float | None
    ids: tuple[str, ...]


class CurveStep(NamedTuple):
    """The number of clusters, the number of regions and the measures at one resolution, each as a span over
    the seeds.

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


def measure_clusters(
    coverage_map: CoverageMap, matched: MatchedQueries, counted_clusters: Sequence[int] | range
) -> CoverageMeasures:
    """Compute the measures of coverage over the clusters with these numbers."""
    entities_by_document = coverage_map.document_entities.values()
    document_clusters = [coverage_map.find_clusters(entities) for entities in entities_by_document]
    rule, cluster_of = coverage_map.rule, coverage_map.cluster_of
    query_clusters = matched.find_query_clusters(rule, cluster_of)
    traffic_clusters = matched.find_traffic_clusters(rule, cluster_of)
    return measure_coverage(counted_clusters, document_clusters, query_clusters, traffic_clusters)


def measure_by_rule(coverage_map: CoverageMap, matched: MatchedQueries) -> list[RuleFigures]:
    """Measure the regions at the map's resolution by each rule, and by all rules together, over the seeds."""
    resolution = coverage_map.parameters["resolution"]
    [partitions] = [tried for tried in coverage_map.partitions if tried.resolution == resolution]
    rules = dict.fromkeys([*ALTERNATIVES, coverage_map.rule])
    by_rule = {rule.name: _measure_seeds(coverage_map, matched, partitions, rule) for rule in rules}
    by_rule[ANY_RULE] = [measures for seeds in list(by_rule.values()) for measures in seeds]
    return [RuleFigures(name, *_find_measure_spans(seeds)) for name, seeds in by_rule.items()]


def measure_step(coverage_map: CoverageMap, matched: MatchedQueries, partitions: Partitions) -> CurveStep:
    """Compute the measures over the regions of each partition at one resolution."""
    measures_by_seed = _measure_seeds(coverage_map, matched, partitions, coverage_map.rule)
    return CurveStep(
        partitions.resolution,
        _find_span([len(np.unique(labels)) for labels in partitions.labels]),
        _find_span([measures.clusters for measures in measures_by_seed]),
        partitions.rand_index,
        partitions.recovered_share,
        *_find_measure_spans(measures_by_seed),
    )


def find_documents_outside(coverage_map: CoverageMap) -> DocumentsOutside:
    """Find the documents of the corpus that are in no region."""
    regions = frozenset(coverage_map.regions)
    ids = [
        document_id
        for document_id, entities in coverage_map.document_entities.items()
        if regions.isdisjoint(coverage_map.find_clusters(entities))
    ]
    total = len(coverage_map.document_entities)
    return DocumentsOutside(len(ids), len(ids) / total if total else None, tuple(ids[:MAX_IDS_SHOWN]))


def build_reliability_section(rule: str, rules: Sequence[RuleFigures], outside: DocumentsOutside) -> Section:
    """Show how far the measures depend on the rule for C(q) and the seed, and the documents in no region."""
    ids = ", ".join(map(isolate, outside.ids)) + (", …" if outside.documents > MAX_IDS_SHOWN else "")
    rows = tuple((row.rule, row.msc.text(".0%"), row.scc.text(".0%"), row.zqc.text(",.0f")) for row in rules)
    _, msc, scc, zqc = rows[-1]
    if len({row[1:] for row in rows}) == 1:
        rows = ((f"All {len(rows) - 1} rules agree", msc, scc, zqc),)
    caption = "Coverage by the rule that assigns clusters to a query: lowest and highest value over seeds"
    return Section(
        "Reliability of these figures",
        f"A query is about the clusters of {rule}. With other rules and seeds, {msc} of the regions have a "
        f"query, {scc} of the documents are in regions with {MIN_FOR_SCC} or more queries, and the number "
        f"of regions without a query is {zqc}.\n"
        f"Documents in no region: {outside.documents:,} ({percent(outside.share)}). {ids}",
        tables=(Table(caption, ("Clusters of", *MEASURES), rows, words=True),),
    )


def _measure_seeds(
    coverage_map: CoverageMap, matched: MatchedQueries, partitions: Partitions, rule: MatchingRule
) -> list[CoverageMeasures]:
    """Compute the measures over the regions of each seed's partition, by one rule for C(q)."""
    document_entities = coverage_map.document_entities
    min_documents = coverage_map.parameters["least_documents"]
    measures_by_seed = []
    for labels in partitions.labels:
        cluster_of: list[int] = labels.tolist()
        regions = np.flatnonzero(count_documents(labels, document_entities) >= min_documents).tolist()
        document_clusters = [get_clusters(row, cluster_of) for row in document_entities.values()]
        query_clusters = matched.find_query_clusters(rule, cluster_of)
        measures_by_seed.append(measure_coverage(regions, document_clusters, query_clusters))
    return measures_by_seed


def _find_measure_spans(measures_by_seed: Sequence[CoverageMeasures]) -> tuple[Span, Span, Span]:
    """Find the spans of MSC, SCC and ZQC over seeds."""
    return (
        _find_span([measures.msc for measures in measures_by_seed]),
        _find_span([measures.scc for measures in measures_by_seed]),
        _find_span([measures.zqc for measures in measures_by_seed]),
    )


def _find_span(values: Sequence[float | None]) -> Span:
    """Find the lowest and the highest of the values that are not None."""
    known = [value for value in values if value is not None]
    return Span(min(known), max(known)) if known else Span(None, None)
