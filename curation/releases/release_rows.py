"""Frozen releases as they are stored: parts, sums, the id, and the documents they pin.

    release_id = SHA-256 (all 64 hex digits) of the canonical JSON of [[part, sha256], …], ordered by part

With each part's SHA-256 the manifest keeps a CRC-32 of every line: with it an alteration can be named to
the line. The manifest also names the versions that froze the release, which are not part of the id, and has a
sum of itself and of the other columns: name, time and who froze it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import InputError, NotFoundError
from curation.core.text import canonical_json
from curation.queries.sampling.frame.limits import ReleasedQueries
from curation.store import Cursor, Document, Store, fetch
from curation.store.documents import StoredDocuments
from curation.store.release_parts import PartText, batched, read_part

FORMAT = 2
"""The form of a release's content."""
NOT_COUNTED = ("pilot", "practice")
"""Kinds of rounds whose judgments never count."""
SUFFIX, FORMER_SUFFIX = ".goldgrade", ".goldset"
"""What the names of packed releases end with."""
MARK = "frozen against the gate"
"""What is said of a release whose labels do not have the agreement that its project demands."""
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


class Pin(NamedTuple):
    """The version of a document that a release holds."""

    document_id: str
    content_hash: str


def rounded(value: Any) -> Any:
    """The value with all floats at six significant digits: the last ones are the machine's, not ours."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def without_relevant(
    queries: Iterable[Mapping[str, Any]], qrels: Iterable[Mapping[str, Any]], relevant_grade: int
) -> list[str]:
    """The ids of a release's queries that have no relevant document."""
    relevant = {row["query_id"] for row in qrels if row["grade"] >= relevant_grade}
    return [row["query_id"] for row in queries if row["query_id"] not in relevant]


def release_id_of(sums: Mapping[str, str]) -> str:
    """The id of a release from part → SHA-256."""
    return hashlib.sha256(canonical_json(sorted(sums.items())).encode("utf-8")).hexdigest()


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


def released_queries(store: Store) -> ReleasedQueries:
    """The queries of all releases, for a draw that leaves them out."""
    with store.reading() as cursor:
        ids = {row.name: row.release_id for row in list_releases(cursor)}
        queries = {
            release_id: read_part(cursor, release_id, "queries")
            for (release_id,) in cursor.execute(_WITH_QUERIES).fetchall()
        }
    return ReleasedQueries(
        ids, {release_id: [row["query_id"] for row in rows] for release_id, rows in queries.items()}
    )


def is_file(reference: str) -> bool:
    """Whether a release is named by a file, not by its name or id."""
    return "/" in reference or os.sep in reference or reference.endswith((SUFFIX, FORMER_SUFFIX))


def begins_id(reference: str) -> bool:
    """Whether it can be the beginning of a release id, long enough to be meant so."""
    return re.fullmatch(r"[0-9a-f]{6,64}", reference) is not None


def graded_pairs(row: ReleaseRow) -> int | None:
    """How many grades a release has by its manifest; None where that was altered, which verifying says."""
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
    """What must be known of a release with so many half-judged grades; nothing where there is none."""
    verb = "has" if count == 1 else "have"
    return [f"{count:,} of these grades {verb} fewer opinions than were planned."] * bool(count)


def find_release(cursor: Cursor, name: str) -> ReleaseRow:
    """The release of that name, or the first one whose id is that or begins so.

    Raises
    ------
    InputError: releases of several ids begin so.
    NotFoundError: there is none; names those there are.
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


def gate_override_of(header: Mapping[str, Any]) -> str | None:
    """The mark of a release that was frozen against the gate, with what spoke against it; None for others.

    Whatever names the release carries it: `marked` next to its name, `mark_sentence` above its figures.
    """
    if not header.get("override"):
        return None
    against = (shortfall(check["figure"], check["state"]) for check in header["override"]["against"])
    return f"{MARK}: {' and '.join(against)}"


def shortfall(figure: str, state: str) -> str:
    """What speaks against labels: a figure of the gate that is missed or undefined."""
    return f"{figure} is {'too low' if state == 'missed' else 'not known'}"


def marked(name: str, mark: str | None) -> str:
    """The name of a release, with its mark in short."""
    return f"{name} ({MARK})" if mark else name


def mark_sentence(name: str, mark: str | None) -> list[str]:
    """What must be known of a marked release before its figures are read; none of others."""
    if not mark:
        return []
    return [f"{name} was {mark}. Its grades are not shown to be as reliable as the project demands."]


def release_marks(cursor: Cursor) -> dict[str, str]:
    """Name → mark, of the releases that have one."""
    found = {}
    for row in list_releases(cursor):
        try:
            mark = gate_override_of(next(iter(read_part(cursor, row.release_id, "release")), {}))
        except (ValueError, KeyError, TypeError):
            continue  # altered: verifying says so
        if mark:
            found[row.name] = mark
    return found


def pinned_documents(store: Store, pins: Sequence[Pin]) -> Iterator[tuple[Pin, Document | None]]:
    """Each pinned version, or None where the project no longer has it; a lease for each batch."""
    import pyarrow as pa

    for batch in batched(pins):
        hashes = pa.array([pin.content_hash for pin in batch], pa.string())
        held = {document.content_hash: document for document in StoredDocuments(store, hashes)}
        yield from ((pin, held.get(pin.content_hash)) for pin in batch)
