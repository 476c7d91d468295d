"""Gaps of coverage: regions with no query, or with too few queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from curation.core.reports.charts import BarGroup
from curation.core.reports.tables import Table
from curation.core.text import percent, pluralize
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.matched_queries import MatchedQueries
from curation.queries.coverage.measures import MIN_FOR_SCC, count_by_cluster, spread_over_clusters
from curation.store import Cursor
from curation.store.documents import snapshot_titles

TITLES_SHOWN = 3
MAX_TITLE_LENGTH = 60
_QUERY_CLASSES: dict[str, Callable[[int], bool]] = {
    "no query": lambda queries: not queries,
    "1 to 4 queries": lambda queries: 0 < queries < MIN_FOR_SCC,
    "5 queries or more": lambda queries: queries >= MIN_FOR_SCC,
}


class ClusterCoverage(NamedTuple):
    """A cluster with its counts of entities, documents, queries and searches.

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


class CoverageGap(NamedTuple):
    """A region with no query or too few queries.

    Attributes
    ----------
    missing: how many queries the region lacks.
    titles: titles of the documents that have most of the region's entities; see `read_titles`.
    is_telling: whether the name has several words or is from a lead; a single word such as "side" says too
        little.
    """

    number: int
    name: str
    documents: tuple[str, ...]
    searches: float | None
    entities: tuple[str, ...]
    missing: int = 1
    titles: tuple[str, ...] = ()
    is_telling: bool = True

    @property
    def label(self) -> str:
        """Return the region's name, or the titles of typical documents if the name says too little."""
        return self.name if self.is_telling else " · ".join(map(shorten_title, self.titles))


def count_clusters(coverage_map: CoverageMap, matched: MatchedQueries) -> list[ClusterCoverage]:
    """Count the entities, documents, queries and searches of each cluster of the map."""
    rule, cluster_of = coverage_map.rule, coverage_map.cluster_of
    queries = count_by_cluster(matched.find_query_clusters(rule, cluster_of))
    searches = spread_over_clusters(matched.find_traffic_clusters(rule, cluster_of))
    return [
        ClusterCoverage(
            number=cluster.number,
            name=cluster.name,
            is_region=cluster.is_region,
            entities=len(cluster.entities),
            documents=len(cluster.documents),
            queries=queries.get(cluster.number, 0),
            searches=round(searches.get(cluster.number, 0.0), 6) if matched.traffic else None,
        )
        for cluster in coverage_map.clusters
    ]


def list_gaps(
    coverage_map: CoverageMap, counts: list[ClusterCoverage], fill: bool = False
) -> list[CoverageGap]:
    """Find the regions without a query that nobody dismissed.

    The regions are ordered by searches × documents, then by documents, then by number.

    Parameters
    ----------
    counts: clusters by number.
    fill: find the regions with some queries, but fewer than `MIN_FOR_SCC`, the largest region first.
    """
    gap_sizes = range(1, MIN_FOR_SCC) if fill else range(1)
    gaps = [
        CoverageGap(
            number=cluster.number,
            name=cluster.name,
            documents=cluster.documents,
            searches=counts[cluster.number].searches,
            entities=tuple(coverage_map.entities[entity].name for entity in cluster.entities),
            missing=MIN_FOR_SCC - counts[cluster.number].queries if fill else 1,
            is_telling=" " in cluster.name or cluster.name != coverage_map.entities[cluster.entities[0]].name,
        )
        for cluster in coverage_map.clusters
        if cluster.is_region
        and counts[cluster.number].queries in gap_sizes
        and cluster.number not in coverage_map.dismissed
    ]
    weights = {gap.number: 0.0 if fill else (gap.searches or 0) * len(gap.documents) for gap in gaps}
    return sorted(gaps, key=lambda gap: (-weights[gap.number], -len(gap.documents), gap.number))


def read_titles(cursor: Cursor, coverage_map: CoverageMap, gaps: Sequence[CoverageGap]) -> list[CoverageGap]:
    """Give each gap the titles of the documents that have most of the region's entities."""
    typical = {}
    for gap in gaps:
        entities = set(coverage_map.clusters[gap.number].entities)
        shares = {name: len(entities & {*coverage_map.document_entities[name]}) for name in gap.documents}
        typical[gap.number] = sorted(gap.documents, key=lambda name: (-shares[name], name))[:TITLES_SHOWN]
    ids = [name for names in typical.values() for name in names]
    titles = snapshot_titles(cursor, coverage_map.snapshot_id, ids)
    return [gap._replace(titles=tuple(titles[name] for name in typical[gap.number])) for gap in gaps]


def measure_shares(coverage_map: CoverageMap, counts: Sequence[ClusterCoverage]) -> list[BarGroup]:
    """Measure the shares of the regions, and of their documents, with no query, 1 to 4 queries, and more.

    A document that is in several regions counts for each of them in equal parts. Dismissed regions do not
    count.
    """
    topics = coverage_map.topics
    regions_of_documents = map(coverage_map.find_clusters, coverage_map.document_entities.values())
    masses = spread_over_clusters((clusters.intersection(topics), 1) for clusters in regions_of_documents)
    total = sum(masses.values()) or 1.0
    rows = []
    for name, is_inside in _QUERY_CLASSES.items():
        inside = [number for number in topics if is_inside(counts[number].queries)]
        mass = sum(masses.get(number, 0.0) for number in inside)
        rows.append((name, (len(inside) / max(1, len(topics)), mass / total)))
    return rows


def describe_gaps(coverage_map: CoverageMap, counts: Sequence[ClusterCoverage]) -> str:
    """Return the sentence on how many regions, and which share of the documents, have no query."""
    _, (_, share) = measure_shares(coverage_map, counts)[0]
    without = sum(not counts[number].queries for number in coverage_map.topics)
    regions = pluralize(len(coverage_map.topics), "region")
    dismissed = f" {len(coverage_map.dismissed):,} more are no topic." if coverage_map.dismissed else ""
    return f"{without:,} of {regions}, {percent(share)} of the documents, have no query.{dismissed}"


def build_gap_table(gaps: Sequence[CoverageGap]) -> Table:
    """Show the regions without a query, with their names and the titles of typical documents."""
    rows = (
        (gap.number, gap.label, len(gap.documents), gap.searches, "; ".join(map(shorten_title, gap.titles)))
        for gap in gaps
    )
    columns = ("region", "name", "documents", "searches", "such as")
    return Table(f"{pluralize(len(gaps), 'region')} without a query", columns, tuple(rows), words=True)


def shorten_title(title: str) -> str:
    """Shorten a long title, which is a document's beginning if the document has no title."""
    return title if len(title) <= MAX_TITLE_LENGTH else f"{title[: MAX_TITLE_LENGTH - 1].rstrip()}…"
