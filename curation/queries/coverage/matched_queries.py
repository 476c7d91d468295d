"""The current queries and the traffic, matched with the entities of a coverage map.

The traffic is the `MAX_TRAFFIC_TEXTS` texts that were asked most. Matching a new text needs the embedding
model of the map; earlier matches are stored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.ingest.importers.queries import read_active_queries
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.matching import EntityMatch, MatchingRule, match_entities
from curation.queries.coverage.measures import Clusters
from curation.retrieval.embedding_model import find_model
from curation.retrieval.embeddings import BFLOAT16, embed
from curation.store import Cursor, Query, Store, append_rows

MAX_TRAFFIC_TEXTS = 5_000
"""Largest number of texts of the traffic that are matched, the most asked texts first."""

_MOST_ASKED = """
    SELECT normalised, sum(count)::BIGINT AS times, (sum(sum(count)) OVER ())::BIGINT
    FROM traffic WHERE normalised <> '' GROUP BY normalised ORDER BY times DESC, normalised LIMIT ?
"""


class MatchedQueries(NamedTuple):
    """The current queries and the traffic, with the entities that their texts are about.

    Attributes
    ----------
    traffic: normalized texts with their numbers of searches, the most asked text first.
    searches: number of searches of the whole traffic.
    matches: normalized text → its match.
    """

    queries: list[Query]
    traffic: list[tuple[str, int]]
    searches: int
    matches: dict[str, EntityMatch]

    @property
    def texts(self) -> set[str]:
        """Return the normalized texts of the queries and of the traffic."""
        return {query.normalised for query in self.queries} | {text for text, _ in self.traffic}

    @property
    def unmatched(self) -> list[Query]:
        """Return the queries that are not yet matched with entities."""
        return [query for query in self.queries if query.normalised not in self.matches]

    def find_query_clusters(self, rule: MatchingRule, cluster_of: Sequence[int]) -> list[Clusters]:
        """Find the clusters C(q) of each query."""
        return [rule.find_clusters(self.matches[query.normalised], cluster_of) for query in self.queries]

    def find_traffic_clusters(self, rule: MatchingRule, cluster_of: list[int]) -> list[tuple[Clusters, int]]:
        """Find the clusters and the number of searches of each text of the traffic."""
        return [(rule.find_clusters(self.matches[text], cluster_of), count) for text, count in self.traffic]

    def keep_matched(self) -> MatchedQueries:
        """Keep only the queries and the traffic whose texts were matched."""
        return self._replace(
            queries=[query for query in self.queries if query.normalised in self.matches],
            traffic=[(text, searches) for text, searches in self.traffic if text in self.matches],
        )


def match_queries(store: Store, coverage_map: CoverageMap, model: str, progress: Progress) -> MatchedQueries:
    """Read the current queries and the traffic, match the texts that have no match yet, and store these
    matches.

    Raises
    ------
    RefusedError: the map was made with another model, or the model cannot be loaded.
    """
    map_model = coverage_map.parameters["model"]
    if find_model(model).name != map_model:
        raise RefusedError(
            f"The coverage map was made with the model {map_model}, not with the given model.",
            command=f"Give --model {map_model}.",
        )
    with store.reading() as cursor:
        matched = read_matched_queries(cursor, coverage_map.map_id)
    return matched._replace(matches=match_new_texts(store, coverage_map, matched.texts, model, progress))


def read_matched_queries(cursor: Cursor, map_id: str) -> MatchedQueries:
    """Read the current queries and the traffic, with the stored matches."""
    rows = cursor.execute(_MOST_ASKED, [MAX_TRAFFIC_TEXTS]).fetchall()
    traffic = [(text, searches) for text, searches, _ in rows]
    all_searches = rows[0][2] if rows else 0
    return MatchedQueries(read_active_queries(cursor), traffic, all_searches, read_matches(cursor, map_id))


def match_new_texts(
    store: Store, coverage_map: CoverageMap, texts: Collection[str], model: str, progress: Progress = silent
) -> dict[str, EntityMatch]:
    """Match and store the texts that have no match yet, and return all of the map's matches by normalized
    text.

    Raises
    ------
    NotFoundError, RefusedError: see `match_texts`.
    """
    with store.reading() as cursor:
        matches = read_matches(cursor, coverage_map.map_id)
    new_texts = sorted(set(texts) - matches.keys())
    if new_texts:
        new_matches = match_texts(store, new_texts, coverage_map, model, progress)
        match_by_text = dict(zip(new_texts, new_matches, strict=True))
        with store.transaction(appends=True) as cursor:
            write_matches(cursor, coverage_map.map_id, match_by_text)
        matches |= match_by_text
    return matches


def match_texts(
    store: Store, texts: Sequence[str], coverage_map: CoverageMap, model: str, progress: Progress = silent
) -> list[EntityMatch]:
    """Find the map's entities that each text is about; store only embeddings, not the matches.

    Raises
    ------
    NotFoundError, RefusedError: see `retrieval.embeddings.embed`.
    """
    if not coverage_map.entities or not texts:
        return [EntityMatch((), ()) for _ in texts]
    entity_texts = [entity.text for entity in coverage_map.entities]
    is_half_precision = coverage_map.parameters.get("precision") == BFLOAT16  # absent in older maps
    entity_vectors = embed(store, entity_texts, "document", model, progress, is_half_precision)
    query_vectors = embed(store, texts, "query", model, progress)
    names = [entity.name for entity in coverage_map.entities]
    max_by_meaning = int(coverage_map.parameters["matching"]["most_by_meaning"])
    return match_entities(texts, names, query_vectors, entity_vectors, max_by_meaning)


def read_matches(cursor: Cursor, map_id: str) -> dict[str, EntityMatch]:
    """Read the stored match with entities of each normalized text that was matched."""
    sql = """
        SELECT normalised, by_phrase, by_meaning, kept
        FROM coverage_texts LEFT JOIN coverage_kept USING (map_id, normalised)
        WHERE map_id = ? ORDER BY normalised
    """
    rows = cursor.execute(sql, [map_id]).fetchall()
    return {
        text: EntityMatch(tuple(phrase), tuple(meaning), None if kept is None else tuple(kept))
        for text, phrase, meaning, kept in rows
    }


def write_matches(cursor: Cursor, map_id: str, matches: Mapping[str, EntityMatch]) -> None:
    """Store matches with entities of texts that have no stored match."""
    stored_texts = read_matches(cursor, map_id).keys()
    new_matches = [(text, match) for text, match in matches.items() if text not in stored_texts]
    rows = [(text, list(match.by_phrase), list(match.by_meaning)) for text, match in new_matches]
    append_rows(cursor, "coverage_texts", rows, ("normalised", "by_phrase", "by_meaning"), map_id=map_id)
