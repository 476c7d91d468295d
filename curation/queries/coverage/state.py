"""The state of coverage as stored: the map in force, what asks for each cluster, and the gaps.

No model is needed. Queries added since coverage was measured are not matched yet, and count nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.reports.page import Section
from curation.core.text import digest
from curation.queries.coverage.asked import read_asked
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.find_gaps import CoverageGap, gaps_of
from curation.queries.coverage.matching import rule_of
from curation.queries.coverage.measures import CoverageMeasures
from curation.queries.coverage.report import (
    ClusterCoverage,
    documents_outside,
    figures_by_rule,
    measured,
    of_clusters,
    reach_section,
)
from curation.queries.coverage.stored_map import map_in_force, read_map
from curation.store import Cursor, Query


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
    found = read_map(cursor, map_in_force(cursor), all_partitions=False)
    everything = read_asked(cursor, found.map_id)
    asked = everything.matched()
    queries: dict[int, list[Query]] = {}
    nowhere = []
    for query in asked.queries:
        held = found.clusters_of_query(asked.matches[query.normalised])
        for number in held:
            queries.setdefault(number, []).append(query)
        if not held:
            nowhere.append(query)
    counted = of_clusters(found, asked)
    return CoverageState(
        map=found,
        clusters=counted,
        queries=queries,
        gaps=gaps_of(found, counted),
        regions=measured(found, asked, found.regions),
        nowhere=nowhere,
        unmatched=everything.unmatched,
        reach=reach_section(
            rule_of(found.parameters).name, figures_by_rule(found, asked), documents_outside(found)
        ),
    )


def state_fingerprint(cursor: Cursor) -> str:
    """A short text that changes whenever the state could: what changes a project is in its audit trail."""
    events = cursor.execute("SELECT count(*), max(rowid) FROM events").fetchall()
    sql = "SELECT (SELECT count(*) FROM coverage_texts), (SELECT count(*) FROM coverage_kept)"
    return digest(str(events), str(cursor.execute(sql).fetchall()))
