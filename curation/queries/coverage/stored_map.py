"""The stored coverage map: written once, read back whole, and the texts that were matched against it.

A lead can give a cluster another name than that of its most central entities; maps are read with the names
in force.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.text import amount, canonical_json, plain
from curation.ingest.importers.redaction.personal_data import redact
from curation.people.annotators import require_author
from curation.queries.coverage.clusters import Cluster
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.entities import Entity
from curation.queries.coverage.entity_linking import EntityMatch
from curation.queries.coverage.resolution import Partitions
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Store,
    append_rows,
    fetch,
    get_setting,
    put_setting,
    record_event,
    utc_now,
)
from curation.store.documents import current_snapshot

IN_FORCE = "coverage"
"""The setting that has the id of the map in force."""
LONGEST_NAME = 80
"""Characters of a name that a lead gives."""


class ClusterName(NamedTuple):
    """What a lead calls a cluster; `revision` counts from 0."""

    number: int
    revision: int
    name: str
    author: str
    named_at: datetime


def write_map(cursor: Cursor, coverage_map: CoverageMap, in_force: bool = True) -> None:
    """Store a map, unless the project has it, and put it in force where that is asked for.

    Raises
    ------
    RefusedError: the corpus has changed since the map was made.
    """
    if current_snapshot(cursor) != coverage_map.snapshot_id:
        raise RefusedError("The corpus changed while its map was made. Make the map again.")
    if in_force and get_setting(cursor, IN_FORCE) != coverage_map.map_id:
        put_setting(cursor, IN_FORCE, coverage_map.map_id)
        clusters = {"clusters": len(coverage_map.clusters), "regions": len(coverage_map.regions)}
        record_event(
            cursor,
            "coverage map",
            {"map_id": coverage_map.map_id, **clusters, **plain(coverage_map.parameters)},
        )
    if not has_map(cursor, coverage_map.map_id):
        _append_map(cursor, coverage_map)


def has_map(cursor: Cursor, map_id: str) -> bool:
    """Whether the project has this map."""
    return bool(cursor.execute("SELECT 1 FROM coverage_maps WHERE map_id = ?", [map_id]).fetchall())


def map_in_force(cursor: Cursor) -> str:
    """The id of the map in force.

    Raises
    ------
    RefusedError: there is none, or it is of an older corpus.
    """
    snapshot = current_snapshot(cursor)
    map_id = get_setting(cursor, IN_FORCE)
    if map_id is None:
        raise RefusedError(
            "The project has no coverage map yet. Make one first.", command="`goldgrade coverage` does."
        )
    [(of,)] = cursor.execute("SELECT snapshot_id FROM coverage_maps WHERE map_id = ?", [map_id]).fetchall()
    if of != snapshot:
        raise RefusedError(
            "The coverage map is of an older corpus. Make one of the corpus in force.",
            command="`goldgrade coverage` does.",
        )
    return map_id


def read_map(cursor: Cursor, map_id: str, all_partitions: bool = True) -> CoverageMap:
    """The map, as `make_map` gave it, with the names in force.

    Parameters
    ----------
    all_partitions: without those of other resolutions the map is read faster.
    """
    [(snapshot_id, parameters, left_out)] = cursor.execute(
        "SELECT snapshot_id, parameters, left_out FROM coverage_maps WHERE map_id = ?", [map_id]
    ).fetchall()
    settings = json.loads(parameters)
    entities = _rows(cursor, "name, description, neighbours", "coverage_entities", "place", map_id)
    held = _rows(cursor, "document_id, entities", "coverage_documents", "document_id", map_id)
    of_documents = {document_id: tuple(places) for document_id, places in held}
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


class ClusterTopic(NamedTuple):
    """What a cluster is about: its name, and the names of its most central entities."""

    name: str
    entities: tuple[str, ...]


def read_topic(cursor: Cursor, map_id: str, number: int, most: int) -> ClusterTopic:
    """The topic of one cluster of a map, with so many entities at most."""
    sql = "SELECT entities[1:?] FROM coverage_clusters WHERE map_id = ? AND number = ?"
    [(places,)] = cursor.execute(sql, [most, map_id, number]).fetchall()
    sql = "SELECT place, name FROM coverage_entities WHERE map_id = ? AND list_contains(?::INTEGER[], place)"
    names = dict(cursor.execute(sql, [map_id, places]).fetchall())
    return ClusterTopic(_names_in_force(cursor, map_id)[number], tuple(names[place] for place in places))


def documents_of_cluster(cursor: Cursor, map_id: str, number: int) -> list[str]:
    """The ids of the documents of one cluster of a map, ascending."""
    sql = """
        SELECT document_id FROM coverage_documents d JOIN coverage_clusters c USING (map_id)
        WHERE map_id = ? AND number = ? AND list_has_any(d.entities, c.entities) ORDER BY document_id
    """
    return [row[0] for row in cursor.execute(sql, [map_id, number]).fetchall()]


def rename_cluster(store: Store, number: int, name: str, author: str = COMMAND_LINE) -> ClusterName:
    """Give a cluster of the map in force a name; what it was called before stays in the project.

    Raises
    ------
    NotFoundError: the map has no such cluster.
    InputError: the name is empty, too long or another cluster's, or holds personal data.
    RefusedError: there is no map in force, or the author is no lead.
    """
    name = " ".join(name.split())
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, "lead")
        map_id = map_in_force(cursor)
        names = _names_in_force(cursor, map_id)
        if number not in names:
            raise NotFoundError(f"The coverage map has no cluster {number}; expected 0 to {len(names) - 1}.")
        _check_name(name, {other: held for held, other in names.items() if held != number})
        before = [row.revision for row in cluster_names(cursor, map_id) if row.number == number]
        row = ClusterName(number, max(before, default=-1) + 1, name, author, utc_now())
        if names[number] != name:
            append_rows(cursor, "cluster_names", [row], map_id=map_id)
            detail = {"map_id": map_id, "cluster": number, "name": name, "before": names[number]}
            record_event(cursor, "rename cluster", detail, author)
    return row


def cluster_names(cursor: Cursor, map_id: str) -> list[ClusterName]:
    """The names in force that leads gave to clusters of a map, by number."""
    sql = """
        SELECT number, revision, name, author, named_at FROM cluster_names WHERE map_id = ?
        QUALIFY row_number() OVER (PARTITION BY number ORDER BY revision DESC) = 1 ORDER BY number
    """
    return fetch(cursor, ClusterName, sql, [map_id])


def _names_in_force(cursor: Cursor, map_id: str) -> dict[int, str]:
    made = dict(_rows(cursor, "number, name", "coverage_clusters", "number", map_id))
    return made | {row.number: row.name for row in cluster_names(cursor, map_id)}


def _check_name(name: str, others: Mapping[str, int]) -> None:
    if not name:
        raise InputError("The name is empty; expected some words.")
    if len(name) > LONGEST_NAME:
        raise InputError(f"The name has {amount(len(name), 'character')}; expected {LONGEST_NAME} or fewer.")
    if redact(name).kinds:
        raise InputError("The name holds personal data, which goldgrade does not store. Write it without.")
    if name in others:
        raise InputError(f"Cluster {others[name]} is called {name!r} already; expected another name.")


def read_texts(cursor: Cursor, map_id: str) -> dict[str, EntityMatch]:
    """Normalised text → the entities that it is about, of the texts matched so far."""
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


def write_kept(cursor: Cursor, map_id: str, kept: Mapping[str, Sequence[int]]) -> None:
    """Store what a language model kept of texts that nobody else has stored meanwhile."""
    known = read_texts(cursor, map_id)
    new = [(text, list(places)) for text, places in kept.items() if known[text].kept is None]
    append_rows(cursor, "coverage_kept", new, ("normalised", "kept"), map_id=map_id)


def write_texts(cursor: Cursor, map_id: str, matches: Mapping[str, EntityMatch]) -> None:
    """Store matches of texts that nobody else has stored meanwhile."""
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
    entities = zip(
        range(len(coverage_map.entities)), coverage_map.entities, coverage_map.neighbours, strict=True
    )
    rows = [(place, entity.name, entity.description, joined) for place, entity, joined in entities]
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
    documents_of: dict[int, list[str]] = {}
    for document_id, places in of_documents.items():
        for place in places:
            documents_of.setdefault(place, []).append(document_id)
    given = {row.number: row.name for row in cluster_names(cursor, map_id)}
    found = []
    for number, name, entities in _rows(
        cursor, "number, name, entities", "coverage_clusters", "number", map_id
    ):
        documents = sorted({held for place in entities for held in documents_of.get(place, [])})
        is_region = len(documents) >= least_documents
        found.append(Cluster(number, given.get(number, name), tuple(entities), tuple(documents), is_region))
    return found


def _read_partitions(
    cursor: Cursor, map_id: str, settings: Mapping[str, Any], of_all: bool
) -> list[Partitions]:
    recovered: dict[float, list[float]] = dict(settings.get("recovered", []))  # maps of before have none
    sql = """
        SELECT resolution, rand_index, labels FROM coverage_partitions
        WHERE map_id = ? AND (? OR resolution = ?) ORDER BY resolution, seed
    """
    rows = cursor.execute(sql, [map_id, of_all, settings["resolution"]]).fetchall()
    found = []
    for (tried, rand_index), group in groupby(rows, key=lambda row: row[:2]):
        labels = [np.array(row[2], np.int64) for row in group]
        found.append(Partitions(tried, labels, rand_index, tuple(recovered.get(tried, ()))))
    return found


def _rows(cursor: Cursor, columns: str, table: str, order: str, map_id: str) -> list[tuple[Any, ...]]:
    sql = f"SELECT {columns} FROM {table} WHERE map_id = ? ORDER BY {order}"  # noqa: S608  names from above
    return cursor.execute(sql, [map_id]).fetchall()
