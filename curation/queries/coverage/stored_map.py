"""The stored coverage map, with the names that leads give its clusters.

A coverage map is written once and read as a whole. A cluster is named by its most central entities until a
lead gives the cluster a name. Maps are read with the latest names of clusters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from curation.core.digests import canonical_json, to_json_value
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.operation import PlainResult
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.importers.personal_data import redact
from curation.people.annotators import require_author
from curation.queries.coverage.clusters import Cluster
from curation.queries.coverage.coverage_map import CoverageMap, compute_map_id, make_map, make_parameters
from curation.queries.coverage.entities import Entity
from curation.queries.coverage.partitions import Partitions
from curation.queries.requests import CoverageRequest
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, fetch, get_setting, record_event, utc_now
from curation.store.documents import current_snapshot, refuse_held
from curation.store.settings import put_setting

CURRENT_MAP = "coverage"
"""Name of the setting with the id of the current coverage map."""
MAX_NAME_LENGTH = 80
"""Largest number of characters of a cluster's name."""


class ClusterName(NamedTuple):
    """A name that a lead gave a cluster. `revision` numbers the cluster's names from 0."""

    number: int
    revision: int
    name: str
    author: str
    named_at: datetime

    @property
    def sentences(self) -> list[str]:
        """Return a sentence with the name of the cluster."""
        return [f"Cluster {self.number} is now called {self.name!r}."]


def find_map(store: Store, request: CoverageRequest, progress: Progress = silent) -> CoverageMap:
    """Make and store the coverage map of the corpus, or read the stored map.

    Raises
    ------
    NotFoundError: see `coverage_map.make_parameters`.
    RefusedError: there is no corpus, the corpus changed while the map was made, the extra `dense` is not
        installed, or the model cannot be loaded.
    """
    parameters = make_parameters(request)
    with store.reading() as cursor:
        snapshot = current_snapshot(cursor)
        refuse_held(cursor, "coverage")
        map_id = compute_map_id(snapshot, parameters)
        stored_map = read_map(cursor, map_id) if has_map(cursor, map_id) else None
    coverage_map = stored_map or make_map(store, snapshot, request, progress)
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
        raise RefusedError("The corpus changed while the map was being made. Make the map again.")
    if get_setting(cursor, CURRENT_MAP) != coverage_map.map_id:
        put_setting(cursor, CURRENT_MAP, coverage_map.map_id)
        counts = {"clusters": len(coverage_map.clusters), "regions": len(coverage_map.regions)}
        event = {"map_id": coverage_map.map_id, **counts, **to_json_value(coverage_map.parameters)}
        record_event(cursor, "coverage map", event)
    if not has_map(cursor, coverage_map.map_id):
        _append_map(cursor, coverage_map)


def has_map(cursor: Cursor, map_id: str) -> bool:
    """Return whether the project has a coverage map."""
    return bool(cursor.execute("SELECT 1 FROM coverage_maps WHERE map_id = ?", [map_id]).fetchall())


def read_current_map_id(cursor: Cursor) -> str:
    """Return the id of the current coverage map.

    Raises
    ------
    RefusedError: there is no map, or the map is of an older corpus.
    """
    snapshot = current_snapshot(cursor)
    map_id = get_setting(cursor, CURRENT_MAP)
    command = "`goldgrade coverage` makes the map."
    if map_id is None:
        raise RefusedError("The project has no coverage map yet.", command=command)
    sql = "SELECT snapshot_id FROM coverage_maps WHERE map_id = ?"
    [(map_snapshot,)] = cursor.execute(sql, [map_id]).fetchall()
    if map_snapshot != snapshot:
        raise RefusedError("The coverage map belongs to an older corpus.", command=command)
    return map_id


def read_map(cursor: Cursor, map_id: str, all_partitions: bool = True) -> CoverageMap:
    """Read a coverage map with the latest names of its clusters.

    Parameters
    ----------
    all_partitions: read the partitions of all resolutions; reading only the map's resolution is faster.
    """
    sql = "SELECT snapshot_id, parameters, left_out FROM coverage_maps WHERE map_id = ?"
    [(snapshot_id, parameters, left_out)] = cursor.execute(sql, [map_id]).fetchall()
    settings = json.loads(parameters)
    entities = _read_rows(cursor, "name, description, neighbours", "coverage_entities", "place", map_id)
    documents = _read_rows(cursor, "document_id, entities", "coverage_documents", "document_id", map_id)
    document_entities = {document_id: tuple(indices) for document_id, indices in documents}
    return CoverageMap(
        map_id=map_id,
        snapshot_id=snapshot_id,
        parameters=settings,
        entities=[Entity(name, description) for name, description, _ in entities],
        neighbours=[neighbours for *_, neighbours in entities],
        document_entities=document_entities,
        clusters=_read_clusters(cursor, map_id, document_entities, settings["least_documents"]),
        partitions=_read_partitions(cursor, map_id, settings, all_partitions),
        left_out=json.loads(left_out),
        dismissed=read_dismissed(cursor, map_id),
    )


def read_central_entities(cursor: Cursor, map_id: str, number: int, limit: int) -> tuple[str, ...]:
    """Read the names of a cluster's most central entities, at most `limit` of them."""
    sql = "SELECT entities[1:?] FROM coverage_clusters WHERE map_id = ? AND number = ?"
    [(entities,)] = cursor.execute(sql, [limit, map_id, number]).fetchall()
    sql = "SELECT place, name FROM coverage_entities WHERE map_id = ? AND list_contains(?::INTEGER[], place)"
    names = dict(cursor.execute(sql, [map_id, entities]).fetchall())
    return tuple(names[entity] for entity in entities)


def read_cluster_documents(cursor: Cursor, map_id: str, number: int) -> list[str]:
    """List the ids of a cluster's documents, ascending."""
    sql = """
        SELECT document_id FROM coverage_documents d JOIN coverage_clusters c USING (map_id)
        WHERE map_id = ? AND number = ? AND list_has_any(d.entities, c.entities) ORDER BY document_id
    """
    return [row[0] for row in cursor.execute(sql, [map_id, number]).fetchall()]


def rename_cluster(store: Store, number: int, name: str, author: str = COMMAND_LINE) -> ClusterName:
    """Give a cluster of the current map a name; earlier names stay in the project.

    Raises
    ------
    NotFoundError: the map has no such cluster.
    InputError: the name is empty, too long, the name of another cluster, or holds personal data.
    RefusedError: there is no current map, or the author is not a lead.
    """
    name = " ".join(name.split())
    with store.transaction(appends=True) as cursor:
        map_id, names = _find_cluster(cursor, number, author)
        _check_name(name, {given: cluster for cluster, given in names.items() if cluster != number})
        revisions = [row.revision for row in read_cluster_names(cursor, map_id) if row.number == number]
        row = ClusterName(number, max(revisions, default=-1) + 1, name, author, utc_now())
        if names[number] != name:
            append_rows(cursor, "cluster_names", [row], map_id=map_id)
            detail = {"map_id": map_id, "cluster": number, "name": name, "before": names[number]}
            record_event(cursor, "rename cluster", detail, author)
    return row


def dismiss_region(
    store: Store, number: int, dismissed: bool = True, author: str = COMMAND_LINE
) -> PlainResult:
    """Dismiss a region of the current map as not a topic, or undo the dismissal.

    Raises
    ------
    NotFoundError: the map has no such cluster.
    RefusedError: there is no current map, or the author is not a lead.
    """
    with store.transaction(appends=True) as cursor:
        map_id, names = _find_cluster(cursor, number, author)
        if (number in read_dismissed(cursor, map_id)) != dismissed:
            sql = "SELECT count(*) FROM dismissed_regions WHERE map_id = ? AND number = ?"
            [(revision,)] = cursor.execute(sql, [map_id, number]).fetchall()
            row = [map_id, number, revision, dismissed, author, utc_now()]
            cursor.execute("INSERT INTO dismissed_regions VALUES (?, ?, ?, ?, ?, ?)", row)
            detail = {"map_id": map_id, "cluster": number, "dismissed": dismissed}
            record_event(cursor, "dismiss region", detail, author)
    verb = "is dismissed as no topic" if dismissed else "counts as a topic again"
    return PlainResult((f"Region {number}, {names[number]!r}, {verb}.",))


def _find_cluster(cursor: Cursor, number: int, author: str) -> tuple[str, dict[int, str]]:
    """Return the current map's id and its clusters' names, for a lead who changes a cluster of this map."""
    require_author(cursor, author, "lead")
    map_id = read_current_map_id(cursor)
    names = _current_names(cursor, map_id)
    if number not in names:
        raise NotFoundError(f"The coverage map has no cluster {number}; expected 0 to {len(names) - 1}.")
    return map_id, names


def read_dismissed(cursor: Cursor, map_id: str) -> frozenset[int]:
    """Read the numbers of the regions that a lead dismissed as not a topic."""
    sql = """
        SELECT number FROM dismissed_regions WHERE map_id = ?
        GROUP BY number HAVING arg_max(dismissed, revision)
    """
    return frozenset(number for (number,) in cursor.execute(sql, [map_id]).fetchall())


def read_cluster_names(cursor: Cursor, map_id: str) -> list[ClusterName]:
    """Read the latest names that leads gave to clusters of a map, by number."""
    sql = """
        SELECT number, revision, name, author, named_at FROM cluster_names WHERE map_id = ?
        QUALIFY row_number() OVER (PARTITION BY number ORDER BY revision DESC) = 1 ORDER BY number
    """
    return fetch(cursor, ClusterName, sql, [map_id])


def _current_names(cursor: Cursor, map_id: str) -> dict[int, str]:
    computed_names = dict(_read_rows(cursor, "number, name", "coverage_clusters", "number", map_id))
    return computed_names | {row.number: row.name for row in read_cluster_names(cursor, map_id)}


def _check_name(name: str, cluster_of_name: Mapping[str, int]) -> None:
    """Reject a name that is unsuitable or already belongs to another cluster."""
    if not name:
        raise InputError("The name is empty; expected a name for the cluster.")
    if len(name) > MAX_NAME_LENGTH:
        length = pluralize(len(name), "character")
        raise InputError(f"The name has {length}; expected {MAX_NAME_LENGTH} or fewer.")
    if redact(name).kinds:
        raise InputError("The name contains personal data, which goldgrade does not store. Remove it.")
    if name in cluster_of_name:
        cluster = cluster_of_name[name]
        raise InputError(f"Cluster {cluster} is called {name!r} already; expected another name.")


def _append_map(cursor: Cursor, coverage_map: CoverageMap) -> None:
    map_id = coverage_map.map_id
    parameters, left_out = canonical_json(coverage_map.parameters), canonical_json(coverage_map.left_out)
    row = [map_id, coverage_map.snapshot_id, parameters, left_out, utc_now()]
    cursor.execute("INSERT INTO coverage_maps VALUES (?, ?, ?, ?, ?)", row)
    entities = zip(coverage_map.entities, coverage_map.neighbours, strict=True)
    entity_rows = [(index, *entity, neighbours) for index, (entity, neighbours) in enumerate(entities)]
    columns: tuple[str, ...] = ("place", "name", "description", "neighbours")
    append_rows(cursor, "coverage_entities", entity_rows, columns, map_id=map_id)
    documents = [(name, list(indices)) for name, indices in coverage_map.document_entities.items()]
    append_rows(cursor, "coverage_documents", documents, ("document_id", "entities"), map_id=map_id)
    clusters = [(cluster.number, cluster.name, list(cluster.entities)) for cluster in coverage_map.clusters]
    append_rows(cursor, "coverage_clusters", clusters, ("number", "name", "entities"), map_id=map_id)
    seed = int(coverage_map.parameters["seed"])
    partitions = [
        (tried.resolution, seed + offset, tried.rand_index, labels.tolist())
        for tried in coverage_map.partitions
        for offset, labels in enumerate(tried.labels)
    ]
    columns = ("resolution", "seed", "rand_index", "labels")
    append_rows(cursor, "coverage_partitions", partitions, columns, map_id=map_id)


def _read_clusters(
    cursor: Cursor, map_id: str, document_entities: Mapping[str, Sequence[int]], min_documents: int
) -> list[Cluster]:
    rows = _read_rows(cursor, "number, name, entities", "coverage_clusters", "number", map_id)
    cluster_of = {entity: number for number, _, entities in rows for entity in entities}
    documents: dict[int, list[str]] = {number: [] for number, *_ in rows}
    for document_id, indices in sorted(document_entities.items()):
        for number in {cluster_of[entity] for entity in indices}:
            documents[number].append(document_id)
    given_names = {row.number: row.name for row in read_cluster_names(cursor, map_id)}
    return [
        Cluster(
            *(number, given_names.get(number, name), tuple(entities), tuple(documents[number])),
            is_region=len(documents[number]) >= min_documents,
        )
        for number, name, entities in rows
    ]


def _read_partitions(
    cursor: Cursor, map_id: str, settings: Mapping[str, Any], all_partitions: bool
) -> list[Partitions]:
    recovered: dict[float, list[float]] = dict(settings.get("recovered", []))  # absent in older maps
    sql = """
        SELECT resolution, rand_index, labels FROM coverage_partitions
        WHERE map_id = ? AND (? OR resolution = ?) ORDER BY resolution, seed
    """
    rows = cursor.execute(sql, [map_id, all_partitions, settings["resolution"]]).fetchall()
    partitions = []
    for (resolution, rand_index), seed_rows in groupby(rows, key=lambda row: row[:2]):
        labels = [np.array(row[2], np.int64) for row in seed_rows]
        shares = tuple(recovered.get(resolution, ()))
        partitions.append(Partitions(resolution, labels, rand_index, shares))
    return partitions


def _read_rows(cursor: Cursor, columns: str, table: str, order: str, map_id: str) -> list[tuple[Any, ...]]:
    sql = f"SELECT {columns} FROM {table} WHERE map_id = ? ORDER BY {order}"  # noqa: S608  names from above
    return cursor.execute(sql, [map_id]).fetchall()
