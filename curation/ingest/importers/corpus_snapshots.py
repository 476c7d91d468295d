"""Snapshots of the corpus: the version of each document, identified by a hash of the ids and versions.

The same documents therefore always give the same snapshot, a changed document adds one row, and every older
snapshot stays complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pyarrow as pa

from curation.core.digests import digest
from curation.core.errors import RefusedError
from curation.store import Cursor, append, get_setting, put_setting, utc_now
from curation.store.documents import HELD, count_versions, is_held, snapshot_versions, version_hashes


class KnownVersions(NamedTuple):
    """The document versions in a project: the current version of each id, and all content hashes. held:
    whether the corpus has only documents that search engines returned.
    """

    snapshot: str | None
    versions: dict[str, str]
    hashes: frozenset[str]
    held: bool


def compute_snapshot_id(versions: Mapping[str, str]) -> str:
    """Return the id of a snapshot: a hash of its sorted (document id, content hash) pairs."""
    return digest(sorted(versions.items()))


def read_known_versions(cursor: Cursor) -> KnownVersions:
    """Return the document versions that the project has."""
    snapshot = get_setting(cursor, "corpus")
    versions = snapshot_versions(cursor, snapshot)
    return KnownVersions(snapshot, versions, version_hashes(cursor), is_held(cursor))


def write_corpus(
    cursor: Cursor,
    before: KnownVersions,
    versions: Mapping[str, str],
    batches: Iterable[pa.Table],
    source: str,
    is_held: bool,
) -> str:
    """Store a snapshot of the corpus with its new versions, make the snapshot current, and return its id.

    Parameters
    ----------
    before: versions of documents in the project at the time of the comparison.
    is_held: whether the corpus has only documents that search engines returned.

    Raises
    ------
    RefusedError: another process changed the corpus during the import.
    """
    if get_setting(cursor, "corpus") != before.snapshot or count_versions(cursor) != len(before.hashes):
        raise RefusedError("Another import changed the corpus, so nothing was imported. Import again.")
    for batch in batches:
        append(cursor, "documents", dict(zip(batch.column_names, batch.columns, strict=True)))
    snapshot = compute_snapshot_id(versions)
    if not cursor.execute("SELECT 1 FROM corpus_snapshots WHERE snapshot_id = ?", [snapshot]).fetchone():
        row = [snapshot, len(versions), source, utc_now()]
        cursor.execute("INSERT INTO corpus_snapshots VALUES (?, ?, ?, ?)", row)
        ids = sorted(versions)
        columns = {"document_id": ids, "content_hash": [versions[document_id] for document_id in ids]}
        append(cursor, "snapshot_documents", {"snapshot_id": [snapshot] * len(ids), **columns})
    put_setting(cursor, "corpus", snapshot)
    if is_held or before.held:
        put_setting(cursor, HELD, snapshot if is_held else "")
    return snapshot
