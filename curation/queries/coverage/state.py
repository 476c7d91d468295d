"""The stored state of coverage: the clusters of the current map with their queries and gaps.

The state is read without a model. Queries that were added after the last measurement are not matched yet, and
are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.digests import digest
from curation.core.reports.charts import BarGroup
from curation.core.reports.page import Section
from curation.queries.coverage import map_measures
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.gaps import (
    ClusterCoverage,
    CoverageGap,
    count_clusters,
    describe_gaps,
    list_gaps,
    measure_shares,
    read_titles,
)
from curation.queries.coverage.matched_queries import read_matched_queries
from curation.queries.coverage.measures import CoverageMeasures
from curation.queries.coverage.stored_map import read_current_map_id, read_map
from curation.store import Cursor, Query


@dataclass(frozen=True)
class CoverageState:
    """The stored state of coverage: the clusters of the current map with their queries and gaps.

    Attributes
    ----------
    map: the current map, without the partitions of other resolutions.
    clusters: clusters by number.
    queries: number of a cluster → its queries by id; clusters without a query are absent.
    gaps: gaps in the order of searches × documents.
    sentence: how many regions, and which share of the documents, have no query.
    shares: see `queries.coverage.gaps.measure_shares`.
    regions: measures over regions.
    unassigned: queries that are not about any cluster.
    unmatched: queries that were not matched yet.
    reliability: how far the measures depend on the rule for C(q) and the seed, and the documents in no
        region.
    """

    map: CoverageMap
    clusters: list[ClusterCoverage]
    queries: dict[int, list[Query]]
    gaps: list[CoverageGap]
    sentence: str
    shares: list[BarGroup]
    regions: CoverageMeasures
    unassigned: list[Query]
    unmatched: list[Query]
    reliability: Section


def read_state(cursor: Cursor) -> CoverageState:
    """Read the clusters of the current coverage map, with their queries and gaps.

    Raises
    ------
    RefusedError: there is no map of the current corpus.
    """
    coverage_map = read_map(cursor, read_current_map_id(cursor), all_partitions=False)
    current = read_matched_queries(cursor, coverage_map.map_id)
    matched = current.keep_matched()
    queries: dict[int, list[Query]] = {}
    unassigned = []
    for query in matched.queries:
        clusters = coverage_map.find_query_clusters(matched.matches[query.normalised])
        for number in clusters:
            queries.setdefault(number, []).append(query)
        if not clusters:
            unassigned.append(query)
    counts = count_clusters(coverage_map, matched)
    rule_figures = map_measures.measure_by_rule(coverage_map, matched)
    outside = map_measures.find_documents_outside(coverage_map)
    return CoverageState(
        map=coverage_map,
        clusters=counts,
        queries=queries,
        gaps=read_titles(cursor, coverage_map, list_gaps(coverage_map, counts)),
        sentence=describe_gaps(coverage_map, counts),
        shares=measure_shares(coverage_map, counts),
        regions=map_measures.measure_clusters(coverage_map, matched, coverage_map.regions),
        unassigned=unassigned,
        unmatched=current.unmatched,
        reliability=map_measures.build_reliability_section(coverage_map.rule.name, rule_figures, outside),
    )


def compute_state_fingerprint(cursor: Cursor) -> str:
    """Compute a short text from the audit trail; the text changes whenever coverage may have changed."""
    events = cursor.execute("SELECT count(*), max(rowid) FROM events").fetchall()
    sql = "SELECT (SELECT count(*) FROM coverage_texts), (SELECT count(*) FROM coverage_kept)"
    return digest(str(events), str(cursor.execute(sql).fetchall()))
