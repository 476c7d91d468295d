"""What is asked of the corpus: the queries in force and the traffic, matched against a map text by text.

Traffic is the `MOST_ASKED` texts that were asked most. Matching a text needs the model of the map; what was
matched before is read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.ingest.importers.queries import active_queries
from curation.queries.coverage.coverage_map import CoverageMap, match_texts
from curation.queries.coverage.entity_linking import EntityMatch
from curation.queries.coverage.matching import MatchingRule
from curation.queries.coverage.measures import (
    AskedText,
    Clusters,
)
from curation.queries.coverage.stored_map import read_texts, write_texts
from curation.retrieval.embeddings import find_model
from curation.store import Cursor, Query, Store

MOST_ASKED = 5_000


class AskedOfCorpus(NamedTuple):
    """The queries and the traffic, and the entities that their texts are about.

    Attributes
    ----------
    traffic: normalised text and searches, the most asked first.
    searches: of all texts of the traffic.
    matches: by normalised text.
    """

    queries: list[Query]
    traffic: list[tuple[str, int]]
    searches: int
    matches: dict[str, EntityMatch]

    @property
    def texts(self) -> set[str]:
        """The normalised texts of all."""
        return {query.normalised for query in self.queries} | {text for text, _ in self.traffic}

    @property
    def unmatched(self) -> list[Query]:
        """The queries that were not matched yet."""
        return [query for query in self.queries if query.normalised not in self.matches]

    def of_queries(self, rule: MatchingRule, cluster_of: Sequence[int]) -> list[Clusters]:
        """C(q) of each query."""
        return [rule.clusters(self.matches[query.normalised], cluster_of) for query in self.queries]

    def of_traffic(self, rule: MatchingRule, cluster_of: Sequence[int]) -> list[AskedText]:
        """The clusters and searches of each text of the traffic."""
        return [
            AskedText(rule.clusters(self.matches[text], cluster_of), times) for text, times in self.traffic
        ]

    def matched(self) -> AskedOfCorpus:
        """Those whose texts were matched."""
        return self._replace(
            queries=[query for query in self.queries if query.normalised in self.matches],
            traffic=[(text, times) for text, times in self.traffic if text in self.matches],
        )


def read_asked(cursor: Cursor, map_id: str) -> AskedOfCorpus:
    """What is asked now, with the matches that are stored."""
    traffic, searches = _most_asked(cursor)
    return AskedOfCorpus(active_queries(cursor), traffic, searches, read_texts(cursor, map_id))


def match_asked(store: Store, coverage_map: CoverageMap, model: str, progress: Progress) -> AskedOfCorpus:
    """What is asked now; texts that were not matched against this map yet are, and are stored.

    Raises
    ------
    RefusedError: the map is of another model, or that cannot be loaded.
    """
    of_map = coverage_map.parameters["model"]
    if find_model(model).name != of_map:
        raise RefusedError(
            f"The coverage map was made with the model {of_map}, and another one was given.",
            command=f"Give --model {of_map}.",
        )
    with store.reading() as cursor:
        asked = read_asked(cursor, coverage_map.map_id)
    return asked._replace(matches=matches_of(store, coverage_map, asked.texts, model, progress))


def matches_of(
    store: Store, coverage_map: CoverageMap, texts: Collection[str], model: str, progress: Progress = silent
) -> dict[str, EntityMatch]:
    """Normalised text → the entities that it is about, of these texts and all that were matched before.

    Texts that were not matched against this map yet are, and are stored.

    Raises
    ------
    NotFoundError, RefusedError: see `coverage_map.match_texts`.
    """
    with store.reading() as cursor:
        matches = read_texts(cursor, coverage_map.map_id)
    missing = sorted(set(texts) - matches.keys())
    if missing:
        new = dict(zip(missing, match_texts(store, missing, coverage_map, model, progress), strict=True))
        with store.transaction(appends=True) as cursor:
            write_texts(cursor, coverage_map.map_id, new)
        matches |= new
    return matches


def clusters_at(places: Sequence[int], cluster_of: Sequence[int]) -> Clusters:
    """The clusters of entities by their places; `cluster_of` has the cluster of each entity."""
    return frozenset(cluster_of[place] for place in places)


def _most_asked(cursor: Cursor) -> tuple[list[tuple[str, int]], int]:
    """The texts asked most with their searches, and the searches of all texts."""
    rows = cursor.execute(
        "SELECT normalised, sum(count)::BIGINT AS times FROM traffic WHERE normalised <> '' "
        "GROUP BY normalised ORDER BY times DESC, normalised LIMIT ?",
        [MOST_ASKED],
    ).fetchall()
    [(searches,)] = cursor.execute(
        "SELECT coalesce(sum(count), 0)::BIGINT FROM traffic WHERE normalised <> ''"
    ).fetchall()
    return rows, int(searches)
