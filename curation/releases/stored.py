"""Frozen releases as they are stored: parts, sums, the id, and the documents they pin.

    release_id = SHA-256 (all 64 hex digits) of the canonical JSON of [[part, sha256], …], ordered by part

Beside each part's SHA-256 the manifest keeps a CRC-32 of every line: with it an alteration can be named to
the line. The manifest also names the versions that froze the release, which are not part of the id, and has a
sum of itself and of the other columns: name, time and who froze it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple
from zlib import crc32

from curation.errors import NotFoundError, RefusedError
from curation.releases.lines import batched
from curation.sampling.frame.limits import ReleasedQueries
from curation.store import Cursor, Document, Store, fetch
from curation.store.documents import documents_by_hash
from curation.store.release_parts import packed_parts, pieces_of_text, stored_text, unpacked
from curation.text import canonical_json

FORMAT = 2
"""The form of a release's content."""
BESIDE = ("pilot", "practice")
"""Kinds of rounds whose judgments never count."""
NO_NUMBER = "somebody who judged nothing of this release"

_WITH_QUERIES = "SELECT DISTINCT release_id FROM release_parts WHERE part = 'queries' ORDER BY release_id"

Table = list[dict[str, Any]]
"""The rows of a part."""


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


class PartSum(NamedTuple):
    """What the manifest says about a part; `line_sums` is 8 hex digits for each line."""

    sha256: str
    lines: int
    line_sums: str


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


def part_sum(content: str) -> PartSum:
    """The sums of a part's text."""
    return sum_of_pieces(pieces_of_text(content))


def sum_of_pieces(pieces: Iterable[str]) -> PartSum:
    """The sums of a part's text that comes in pieces, each of whole lines."""
    sha256, line_sums, lines = hashlib.sha256(), [], 0
    for piece in pieces:
        content = piece.encode("utf-8")
        sha256.update(content)
        found = content.removesuffix(b"\n").split(b"\n") if content else []
        lines += len(found)
        line_sums.append("".join(map("{:08x}".format, map(crc32, found))))
    return PartSum(sha256.hexdigest(), lines, "".join(line_sums))


def part_lines(content: str) -> list[str]:
    """The lines of a part, without their ends."""
    return content.removesuffix("\n").split("\n") if content else []


def line_sum(line: str) -> int:
    """CRC-32: small, and certain to differ where up to 32 bits in a row do."""
    return crc32(line.encode("utf-8"))


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
        texts = {
            release_id: stored_text(cursor, release_id, "queries")
            for (release_id,) in cursor.execute(_WITH_QUERIES).fetchall()
        }
    return ReleasedQueries(
        ids, {release_id: [row["query_id"] for row in walked(text)] for release_id, text in texts.items()}
    )


def graded_pairs(row: ReleaseRow) -> int | None:
    """How many grades a release has by its manifest; None where that was altered, which verifying says."""
    try:
        return int(json.loads(row.manifest)["parts"]["qrels"]["lines"])
    except (ValueError, KeyError, TypeError):
        return None


def find_release(cursor: Cursor, name: str) -> ReleaseRow:
    """The release of that name.

    Raises
    ------
    NotFoundError: there is none; names those there are.
    """
    releases = {row.name: row for row in list_releases(cursor)}
    if name in releases:
        return releases[name]
    names = list(releases)
    have = f"It has {', '.join(names)}." if names else "It has none yet."
    command = "" if names else "`goldset freeze NAME` makes one."
    raise NotFoundError(f"The project has no release {name!r}. {have}", command=command)


def read_parts(cursor: Cursor, release_id: str, parts: Sequence[str] | None = None) -> dict[str, str]:
    """Part → text; of all parts, or of these."""
    found = packed_parts(cursor, release_id, parts)
    return {part: "".join(unpacked(pieces)) for part, pieces in found.items()}


def part_rows(content: str) -> Table:
    """The rows of a part."""
    return list(walked(content))


def walked(content: str) -> Iterator[dict[str, Any]]:
    """The rows of a part, one by one."""
    return rows_of_pieces(pieces_of_text(content))


def rows_of_pieces(pieces: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The rows of a part whose text comes in pieces, one by one."""
    for piece in pieces:
        lines = part_lines(piece)
        rows = json.loads(f"[{','.join(lines)}]")  # at once, which takes half as long as one by one
        if len(rows) != len(lines):
            raise ValueError("a line is no JSON value, or several")
        yield from rows


def parsed_part(name: str, part: str, content: str) -> Table:
    """The rows of a part of the release of that name.

    Raises
    ------
    RefusedError: the part is not JSON, though it agrees with its sum.
    """
    with json_only(name, part):
        return part_rows(content)


@contextmanager
def json_only(name: str, part: str) -> Iterator[None]:
    """Refuse what is found not to be JSON within the block.

    Raises
    ------
    RefusedError: as `parsed_part`.
    """
    try:
        yield
    except ValueError:
        raise RefusedError(
            f"The part {part!r} of the release {name!r} agrees with its sum, yet it is not JSON: it was not "
            "written by goldset. Freeze again under another name."
        ) from None


def pinned_documents(store: Store, pins: Sequence[Pin]) -> Iterator[tuple[Pin, Document | None]]:
    """Each pinned version, or None where the project no longer has it; a lease for each batch."""
    for batch in batched(pins):
        with store.reading() as cursor:
            held = documents_by_hash(cursor, [pin.content_hash for pin in batch])
        yield from ((pin, held.get(pin.content_hash)) for pin in batch)
