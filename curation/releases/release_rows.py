"""Frozen releases as the project stores them: a row for each name, their manifests, and their documents.

With each part's SHA-256 the manifest keeps a CRC-32 of every line: with it an alteration can be named to
the line. The manifest also names the versions that froze the release, which are not part of the id, and has a
sum of itself and of the other columns: name, time and who froze it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import canonical_json
from curation.core.errors import InputError, NotFoundError
from curation.store import Cursor, Document, Store, fetch
from curation.store.documents import StoredDocuments
from curation.store.release_parts import PartText, batched, read_part

FORMAT = 2
"""The form of a release's content."""
NOT_COUNTED = ("pilot", "practice")
"""Kinds of rounds whose judgments never count."""
SUFFIX, FORMER_SUFFIX = ".goldgrade", ".goldset"
"""What the names of packed releases end with."""
NO_NUMBER = "somebody who judged nothing of this release"
_WITH_QUERIES = "SELECT DISTINCT release_id FROM release_parts WHERE part = 'queries' ORDER BY release_id"
Table = list[dict[str, Any]]
"""The rows of a part."""
PartRows = Table | PartText
"""The rows of a part of a release that is made: a list where there are few."""


class ReleaseRow(NamedTuple):
    """A release by its name; `manifest` is JSON."""

    name: str
    release_id: str
    manifest: str
    frozen_at: datetime
    frozen_by: str


def without_relevant(
    queries: Iterable[Mapping[str, Any]], qrels: Iterable[Mapping[str, Any]], relevant_grade: int
) -> list[str]:
    """The ids of a release's queries that have no relevant document."""
    relevant = {row["query_id"] for row in qrels if row["grade"] >= relevant_grade}
    return [row["query_id"] for row in queries if row["query_id"] not in relevant]


def signed_row(
    name: str, release_id: str, manifest: Mapping[str, Any], frozen_at: datetime, frozen_by: str
) -> ReleaseRow:
    """The row of a release; its manifest has the SHA-256 of the canonical JSON of all the rest as `sum`."""
    rest = {key: value for key, value in manifest.items() if key != "sum"}
    whole = canonical_json([name, release_id, rest, frozen_at.isoformat(), frozen_by])
    signed = rest | {"sum": hashlib.sha256(whole.encode("utf-8")).hexdigest()}
    return ReleaseRow(name, release_id, canonical_json(signed), frozen_at, frozen_by)


def list_releases(cursor: Cursor) -> list[ReleaseRow]:
    """All releases in the order of freezing; times do not count, because a clock may step back."""
    sql = "SELECT name, release_id, manifest, frozen_at, frozen_by FROM releases ORDER BY rowid"
    return fetch(cursor, ReleaseRow, sql)


def released_queries(store: Store) -> dict[str, list[str]]:
    """Release id → its queries, of all releases, for a draw that leaves them out."""
    with store.reading() as cursor:
        return {
            release_id: [row["query_id"] for row in read_part(cursor, release_id, "queries")]
            for (release_id,) in cursor.execute(_WITH_QUERIES).fetchall()
        }


def is_file(reference: str) -> bool:
    """Whether a release is named by a file, not by its name or id."""
    return "/" in reference or os.sep in reference or reference.endswith((SUFFIX, FORMER_SUFFIX))


def begins_id(reference: str) -> bool:
    """Whether it can be the beginning of a release id, long enough to be meant so."""
    return re.fullmatch(r"[0-9a-f]{6,64}", reference) is not None


def graded_pairs(row: ReleaseRow) -> int | None:
    """How many grades a release has by its manifest; None if that was altered, which verifying says."""
    try:
        return int(json.loads(row.manifest)["parts"]["qrels"]["lines"])
    except (ValueError, KeyError, TypeError):
        return None


def half_judged(row: ReleaseRow) -> int:
    """How many of its grades rested on fewer opinions than were planned, as far as it says."""
    try:
        return int(json.loads(row.manifest).get("half_judged", 0))
    except (ValueError, AttributeError, TypeError):
        return 0  # altered: verifying says so


def half_judged_sentence(count: int) -> list[str]:
    """What readers of a release with so many half-judged grades must know; nothing for 0."""
    verb = "has" if count == 1 else "have"
    return [f"{count:,} of these grades {verb} fewer opinions than were planned."] * bool(count)


def find_release(cursor: Cursor, name: str) -> ReleaseRow:
    """The release of that name, or the first one whose id is that or begins so.

    Raises
    ------
    InputError: releases of several ids begin so.
    NotFoundError: it does not exist; names those there are.
    """
    releases = {row.name: row for row in list_releases(cursor)}
    if name in releases:
        return releases[name]
    if begins_id(name):
        of_id = {
            row.release_id: row for row in reversed(releases.values()) if row.release_id.startswith(name)
        }
        if len(of_id) > 1:
            named = ", ".join(sorted(f"{row.name} ({row.release_id[:16]}…)" for row in of_id.values()))
            raise InputError(
                f"{len(of_id)} releases have an id that begins with {name}: {named}. Give more of it."
            )
        if of_id:
            return next(iter(of_id.values()))
    names = list(releases)
    have = f"It has {', '.join(names)}." if names else "It has none yet."
    command = "" if names else "`goldgrade freeze NAME` makes one."
    raise NotFoundError(f"The project has no release {name!r}. {have}", command=command)


def pinned_documents(store: Store, versions: Mapping[str, str]) -> Iterator[tuple[str, Document | None]]:
    """The documents of these ids and content hashes, None if the project no longer has one; in batches."""
    import pyarrow as pa

    for batch in batched(versions.items()):
        hashes = pa.array([content_hash for _, content_hash in batch], pa.string())
        documents = {document.content_hash: document for document in StoredDocuments(store, hashes)}
        yield from ((document_id, documents.get(content_hash)) for document_id, content_hash in batch)
