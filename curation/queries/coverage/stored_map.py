"""The stored coverage map, the names of its clusters, and the queries and traffic matched against the map.

A coverage map is written once and read as a whole. A cluster is named by its most central entities until a
lead gives the cluster a name. Maps are read with the latest names of clusters.

The current queries and the traffic, the `MAX_ASKED` texts that were asked most, are matched against the map.
Matching a new text needs the embedding model of the map; earlier matches are stored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from curation.core.digests import canonical_json, to_json_value
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.importers.personal_data import redact
from curation.ingest.importers.queries import active_queries
from curation.people.annotators import require_author
from curation.queries.coverage.clusters import Cluster
from curation.queries.coverage.coverage_map import (
    CoverageMap,
    EntityMatch,
    MatchingRule,
    make_map,
    map_id_of,
    map_parameters,
    match_texts,
)
from curation.queries.coverage.entities import Entity
from curation.queries.coverage.measures import Clusters
from curation.queries.coverage.partitions import Partitions
from curation.queries.requests import CoverageRequest
from curation.retrieval.embedding_model import find_model
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Query,
    Store,
    append_rows,
    fetch,
    get_setting,
    put_setting,
    record_event,
    utc_now,
)
from curation.store.documents import current_snapshot, refuse_held

CURRENT_MAP = "coverage"
"""Name of the setting with the id of the current coverage map."""
MAX_NAME_LENGTH = 80
"""Largest number of characters of a cluster's name."""

MAX_ASKED = 5_000
"""Largest number of texts of the traffic that are matched, the most asked texts first."""
_MOST_ASKED = """
    SELECT normalised, sum(count)::BIGINT AS times, (sum(sum(count)) OVER ())::BIGINT
    FROM traffic WHERE normalised <> '' GROUP BY normalised ORDER BY times DESC, normalised LIMIT ?
"""


class ClusterName(NamedTuple):
    """A name that a lead gave a cluster. `revision` counts the cluster's names from 0."""

    number: int
    revision: int
    name: str
    author: str
    named_at: datetime


def find_map(store: Store, request: CoverageRequest, progress: Progress = silent) -> CoverageMap:
    """Make and store the coverage map of the corpus, or read the stored map.

    Raises
    ------
    NotFoundError: see `coverage_map.map_parameters`.
    RefusedError: there is no corpus, the corpus changed while the map was made, the extra `dense` is not
        installed, or the model cannot be loaded.
    """
    parameters = map_parameters(request)
    with store.reading() as cursor:
        snapshot = current_snapshot(cursor)
        refuse_held(cursor, "coverage")
        map_id = map_id_of(snapshot, parameters)
        known = read_map(cursor, map_id) if has_map(cursor, map_id) else None
    coverage_map = known or make_map(store, snapshot, request, progress)
    with store.transaction(appends=True) as cursor:
        write_map(cursor, coverage_map)
    return coverage_map


def write_map(cursor: Cursor, coverage_map: CoverageMap) -> None:
    """Make a coverage map the current map, and store the map unless the project has it.

    Raises
    ------
    RefusedError: the corpus has changed since the map was made.
    """
    if current_snapshot(cursor) != coverage_map.snapshot_id:
        raise RefusedError("The corpus changed while its map was made. Make the map again.")
    if get_setting(cursor, CURRENT_MAP) != coverage_map.map_id:
        put_setting(cursor, CURRENT_MAP, coverage_map.map_id)
        clusters = {"clusters": len(coverage_map.clusters), "regions": len(coverage_map.regions)}
        record_event(
            cursor,
            "coverage map",
            {"map_id": coverage_map.map_id, **clusters, **to_json_value(coverage_map.parameters)},
        )
    if not has_map(cursor, coverage_map.map_id):
        _append_map(cursor, coverage_map)


def has_map(cursor: Cursor, map_id: str) -> bool:
    """Tell whether the project has a coverage map."""
    return bool(cursor.execute("SELECT 1 FROM coverage_maps WHERE map_id = ?", [map_id]).fetchall())


def current_map_id(cursor: Cursor) -> str:
    """Find the id of the current coverage map.

    Raises
    ------
    RefusedError: there is no map, or the map is of an older corpus.
    """
    snapshot = current_snapshot(cursor)
    map_id = get_setting(cursor, CURRENT_MAP)
    if map_id is None:
        raise RefusedError(
            "The project has no coverage map yet.", command="`goldgrade coverage` makes the map."
        )
    [(of,)] = cursor.execute("SELECT snapshot_id FROM coverage_maps WHERE map_id = ?", [map_id]).fetchall()
    if of != snapshot:
        raise RefusedError(
            "The coverage map is of an older corpus. Make a map of the current corpus.",
            command="`goldgrade coverage` makes the map.",
        )
    return map_id


def read_map(cursor: Cursor, map_id: str, all_partitions: bool = True) -> CoverageMap:
    """Read a coverage map with the latest names of its clusters.

    Parameters
    ----------
    all_partitions: read the partitions of all resolutions; reading only the map's resolution is faster.
    """
    [(snapshot_id, parameters, left_out)] = cursor.execute(
        "SELECT snapshot_id, parameters, left_out FROM coverage_maps WHERE map_id = ?", [map_id]
    ).fetchall()
    settings = json.loads(parameters)
    entities = _read_rows(cursor, "name, description, neighbours", "coverage_entities", "place", map_id)
    documents = _read_rows(cursor, "document_id, entities", "coverage_documents", "document_id", map_id)
    of_documents = {document_id: tuple(places) for document_id, places in documents}
    return CoverageMap(
        map_id=map_id,
        snapshot_id=snapshot_id,
        parameters=settings,
        entities=[Entity(name, description) for name, description, _ in entities],
        neighbours=[neighbours for *_, neighbours in entities],
        of_documents=of_documents,
        clusters=_read_clusters(cursor, map_id, of_documents, settings["least_documents"]),
        partitions=_read_partitions(cursor, map_id, settings, all_partitions),
        left_out=json.loads(left_out),
    )


def central_entities(cursor: Cursor, map_id: str, number: int, most: int) -> tuple[str, ...]:
    """List the names of the most central entities of a cluster, at most `most` of them."""
    sql = "SELECT entities[1:?] FROM coverage_clusters WHERE map_id = ? AND number = ?"
    [(places,)] = cursor.execute(sql, [most, map_id, number]).fetchall()
    sql = "SELECT place, name FROM coverage_entities WHERE map_id = ? AND list_contains(?::INTEGER[], place)"
    names = dict(cursor.execute(sql, [map_id, places]).fetchall())
    return tuple(names[entity] for entity in places)


def documents_of_cluster(cursor: Cursor, map_id: str, number: int) -> list[str]:
    """List the ids of the documents of a cluster, ascending."""
    sql = """
        SELECT document_id FROM coverage_documents d JOIN coverage_clusters c USING (map_id)
        WHERE map_id = ? AND number = ? AND list_has_any(d.entities, c.entities) ORDER BY document_id
    """
    return [row[0] for row in cursor.execute(sql, [map_id, number]).fetchall()]


def rename_cluster(store: Store, number: int, name: str, author: str = COMMAND_LINE) -> ClusterName:
    """Give a cluster of the current map a name. Earlier names stay in the project.

    Raises
    ------
    NotFoundError: the map has no such cluster.
    InputError: the name is empty, too long, the name of another cluster, or holds personal data.
    RefusedError: there is no current map, or the author is no lead.
    """
    name = " ".join(name.split())
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, "lead")
        map_id = current_map_id(cursor)
        names = _current_names(cursor, map_id)
        if number not in names:
            raise NotFoundError(f"The coverage map has no cluster {number}; expected 0 to {len(names) - 1}.")
        _check_name(name, {other: number_of for number_of, other in names.items() if number_of != number})
        before = [row.revision for row in cluster_names(cursor, map_id) if row.number == number]
        row = ClusterName(number, max(before, default=-1) + 1, name, author, utc_now())
        if names[number] != name:
            append_rows(cursor, "cluster_names", [row], map_id=map_id)
            detail = {"map_id": map_id, "cluster": number, "name": name, "before": names[number]}
            record_event(cursor, "rename cluster", detail, author)
    return row


def cluster_names(cursor: Cursor, map_id: str) -> list[ClusterName]:
    """Read the latest names that leads gave to clusters of a map, by number."""
    sql = """
        SELECT number, revision, name, author, named_at FROM cluster_names WHERE map_id = ?
        QUALIFY row_number() OVER (PARTITION BY number ORDER BY revision DESC) = 1 ORDER BY number
    """
    return fetch(cursor, ClusterName, sql, [map_id])


def _current_names(cursor: Cursor, map_id: str) -> dict[int, str]:
    made = dict(_read_rows(cursor, "number, name", "coverage_clusters", "number", map_id))
    return made | {row.number: row.name for row in cluster_names(cursor, map_id)}


def _check_name(name: str, others: Mapping[str, int]) -> None:
    if not name:
        raise InputError("The name is empty; expected a name for the cluster.")
    if len(name) > MAX_NAME_LENGTH:
        raise InputError(
            f"The name has {pluralize(len(name), 'character')}; expected {MAX_NAME_LENGTH} or fewer."
        )
    if redact(name).kinds:
        raise InputError("The name holds personal data, which goldgrade does not store. Remove the data.")
    if name in others:
        raise InputError(f"Cluster {others[name]} is called {name!r} already; expected another name.")


def read_texts(cursor: Cursor, map_id: str) -> dict[str, EntityMatch]:
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


def write_texts(cursor: Cursor, map_id: str, matches: Mapping[str, EntityMatch]) -> None:
    """Store matches with entities of texts that have no stored match."""
    known = read_texts(cursor, map_id)
    new = [
        (text, list(match.by_phrase), list(match.by_meaning))
        for text, match in matches.items()
        if text not in known
    ]
    append_rows(cursor, "coverage_texts", new, ("normalised", "by_phrase", "by_meaning"), map_id=map_id)


def _append_map(cursor: Cursor, coverage_map: CoverageMap) -> None:
    key = coverage_map.map_id
    cursor.execute(
        "INSERT INTO coverage_maps VALUES (?, ?, ?, ?, ?)",
        [
            key,
            coverage_map.snapshot_id,
            canonical_json(coverage_map.parameters),
            canonical_json(coverage_map.left_out),
            utc_now(),
        ],
    )
    entities = zip(coverage_map.entities, coverage_map.neighbours, strict=True)
    rows = [(place, *entity, neighbours) for place, (entity, neighbours) in enumerate(entities)]
    append_rows(cursor, "coverage_entities", rows, ("place", "name", "description", "neighbours"), map_id=key)
    documents = [(name, list(places)) for name, places in coverage_map.of_documents.items()]
    append_rows(cursor, "coverage_documents", documents, ("document_id", "entities"), map_id=key)
    clusters = [(cluster.number, cluster.name, list(cluster.entities)) for cluster in coverage_map.clusters]
    append_rows(cursor, "coverage_clusters", clusters, ("number", "name", "entities"), map_id=key)
    seed = int(coverage_map.parameters["seed"])
    partitions = [
        (tried.resolution, seed + step, tried.rand_index, labels.tolist())
        for tried in coverage_map.partitions
        for step, labels in enumerate(tried.labels)
    ]
    names = ("resolution", "seed", "rand_index", "labels")
    append_rows(cursor, "coverage_partitions", partitions, names, map_id=key)


def _read_clusters(
    cursor: Cursor, map_id: str, of_documents: Mapping[str, Sequence[int]], least_documents: int
) -> list[Cluster]:
    rows = _read_rows(cursor, "number, name, entities", "coverage_clusters", "number", map_id)
    cluster_of = {entity: number for number, _, entities in rows for entity in entities}
    documents: dict[int, list[str]] = {number: [] for number, *_ in rows}
    for document_id, places in sorted(of_documents.items()):
        for number in {cluster_of[entity] for entity in places}:
            documents[number].append(document_id)
    given = {row.number: row.name for row in cluster_names(cursor, map_id)}
    return [
        Cluster(
            *(number, given.get(number, name), tuple(entities), tuple(documents[number])),
            is_region=len(documents[number]) >= least_documents,
        )
        for number, name, entities in rows
    ]


def _read_partitions(
    cursor: Cursor, map_id: str, settings: Mapping[str, Any], of_all: bool
) -> list[Partitions]:
    recovered: dict[float, list[float]] = dict(settings.get("recovered", []))  # maps of before have none
    sql = """
        SELECT resolution, rand_index, labels FROM coverage_partitions
        WHERE map_id = ? AND (? OR resolution = ?) ORDER BY resolution, seed
    """
    rows = cursor.execute(sql, [map_id, of_all, settings["resolution"]]).fetchall()
    partitions = []
    for (tried, rand_index), group in groupby(rows, key=lambda row: row[:2]):
        labels = [np.array(row[2], np.int64) for row in group]
        partitions.append(Partitions(tried, labels, rand_index, tuple(recovered.get(tried, ()))))
    return partitions


def _read_rows(cursor: Cursor, columns: str, table: str, order: str, map_id: str) -> list[tuple[Any, ...]]:
    sql = f"SELECT {columns} FROM {table} WHERE map_id = ? ORDER BY {order}"  # noqa: S608  names from above
    return cursor.execute(sql, [map_id]).fetchall()


class AskedOfCorpus(NamedTuple):
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
        """Normalized texts of the queries and of the traffic."""
        return {query.normalised for query in self.queries} | {text for text, _ in self.traffic}

    @property
    def unmatched(self) -> list[Query]:
        """Queries that are not matched with entities yet."""
        return [query for query in self.queries if query.normalised not in self.matches]

    def of_queries(self, rule: MatchingRule, cluster_of: Sequence[int]) -> list[Clusters]:
        """Find the clusters C(q) of each query."""
        return [rule.clusters(self.matches[query.normalised], cluster_of) for query in self.queries]

    def of_traffic(self, rule: MatchingRule, cluster_of: Sequence[int]) -> list[tuple[Clusters, int]]:
        """Find the clusters and the number of searches of each text of the traffic."""
        return [(rule.clusters(self.matches[text], cluster_of), times) for text, times in self.traffic]

    def matched(self) -> AskedOfCorpus:
        """Keep only the queries and the traffic whose texts were matched."""
        return self._replace(
            queries=[query for query in self.queries if query.normalised in self.matches],
            traffic=[(text, times) for text, times in self.traffic if text in self.matches],
        )


def read_asked(cursor: Cursor, map_id: str) -> AskedOfCorpus:
    """Read the current queries and the traffic, with the matches that are stored."""
    rows = cursor.execute(_MOST_ASKED, [MAX_ASKED]).fetchall()
    traffic = [(text, times) for text, times, _ in rows]
    searches = rows[0][2] if rows else 0
    return AskedOfCorpus(active_queries(cursor), traffic, searches, read_texts(cursor, map_id))


def match_asked(store: Store, coverage_map: CoverageMap, model: str, progress: Progress) -> AskedOfCorpus:
    """Read the current queries and the traffic, and match and store the texts that have no match yet.

    Raises
    ------
    RefusedError: the map was made with another model, or the model cannot be loaded.
    """
    of_map = coverage_map.parameters["model"]
    if find_model(model).name != of_map:
        raise RefusedError(
            f"The coverage map was made with the model {of_map}, and a different model was given.",
            command=f"Give --model {of_map}.",
        )
    with store.reading() as cursor:
        asked = read_asked(cursor, coverage_map.map_id)
    return asked._replace(matches=matches_of(store, coverage_map, asked.texts, model, progress))


def matches_of(
    store: Store, coverage_map: CoverageMap, texts: Collection[str], model: str, progress: Progress = silent
) -> dict[str, EntityMatch]:
    """Match and store the texts that have no match yet, and return all matches of the map by normalized text.

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
