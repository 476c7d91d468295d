"""Traffic: raw logged queries, with the time, segment, session and count that the log knows of them.

A log may have tens of millions of rows, so it is held by columns (`ingest.importers.traffic.clean_log`). An
import is known by the file's content and how its fields were understood and cleaned; a second import of the
same changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import canonical_json, digest, file_digest
from curation.ingest.importers.traffic.clean_log import LogCounts, clean_log
from curation.ingest.importers.traffic.cleaning import (
    CleaningRules,
)
from curation.ingest.importers.traffic.known_rows import KNOWN, KNOWN_ROWS, refuse_grown_log
from curation.ingest.importers.traffic.session_keys import keep_session_key, session_key
from curation.ingest.readers.columns import file_fields
from curation.ingest.readers.fields import TrafficFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.numeric_dates import check_date_order
from curation.ingest.readers.records import Records
from curation.store import COMMAND_LINE, Cursor, Store, append_batches, append_rows, record_event, utc_now

BATCH = 1_000_000  # rows that are written together
LARGEST_TRAFFIC = 10**18
"""Bound of the sum of all counts, so that every sum of traffic fits the 64 bits that carry it."""

_DELETE_KNOWN = f"DELETE FROM traffic WHERE (import_id, line) IN ({KNOWN_ROWS})"  # noqa: S608  from above
_METADATA = "--metadata-field"
_SESSIONS = next(field.usual for field in file_fields(TrafficFields) if field.name == "session")
_NEWER_FIELDS = ("metadata", "date_order")
"""They are in an import's id only where they are used: older imports keep theirs."""
_COUNTED = "rows traffic queries sessions segments first last unknown_times same_source".split()


class FilesRead(NamedTuple):
    """Of a log's files, how many were read now, how many before, and how many of those are not there now.

    same: the name of a file whose content was read already → the name that it was read by.
    """

    read: int
    known: int
    gone: int
    same: dict[str, str]


@dataclass(frozen=True)
class TrafficImport:
    """A log in the project.

    Attributes
    ----------
    is_new: False if the project held the same import already; nothing was changed then.
    rows: rows of the log that were taken; `traffic` is the sum of their counts.
    queries: distinct normalised queries.
    first, last: the earliest and the latest time, UTC.
    unknown_times: rows without a time that could be read; `unreadable_time` is one of those in the file.
    same_source: other imports from a file of this name, whose rows count as well.
    personal: kind of personal data → rows in which it was found, in the query, the segment or a further
        field, whether replaced or left out.
    left_out: reason → number of rows.
    files: of a log of several files.
    """

    import_id: str
    rows: int
    traffic: int
    queries: int
    sessions: int
    segments: int
    first: datetime | None
    last: datetime | None
    unknown_times: int
    same_source: int
    fields: TrafficFields
    personal: dict[str, int]
    left_out: dict[str, int]
    is_new: bool = False
    unreadable_time: str | None = None
    replaced: dict[str, int] = field(default_factory=dict)
    files: FilesRead | None = None


def import_traffic(
    store: Store,
    path: Path,
    fields: TrafficFields | None = None,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    rules: CleaningRules | None = None,
    author: str = COMMAND_LINE,
) -> TrafficImport:
    """Take a log of queries into the project, cleaned by `rules`.

    Raises
    ------
    InputError: the file cannot be read, has no column of queries, counts that are not whole numbers from 1
        to `LARGEST_COUNT`, dates that the order which is said does not allow, or nothing that is left after
        cleaning; an unknown order; or ids of people or sessions were asked for as a further field.
    RefusedError: the counts of all logs together would exceed `LARGEST_TRAFFIC`; or the log is an earlier one
        that has grown, of which rows cannot be known one by one.
    """
    rules = rules or CleaningRules()
    check_date_order(fields.date_order if fields else None)
    records = Records(path, layout, progress)
    used = resolved_fields(records, fields or TrafficFields())
    import_id = _import_id(path, records.format, layout or FileLayout(), used, rules)
    with store.reading() as cursor:
        if _is_held(cursor, import_id):
            return import_summary(cursor, import_id, records.source, used)
        key = session_key(cursor)
    table, counts = clean_log(records, used, import_id, rules, key)
    if not table.num_rows:
        records.refuse_nothing_taken("query", counts.left_out)
    with store.transaction(appends=True) as cursor:
        is_new = not _is_held(cursor, import_id)
        if is_new:
            rows = append_traffic(cursor, table.to_batches(BATCH), counts, key)
            _store(cursor, import_id, records.source, rows, counts, rules, author)
        del table  # the summary counts distinct texts, for which it takes as much
        summary = import_summary(cursor, import_id, records.source, used)
    return replace(summary, is_new=is_new, **counts.of_reading)


def resolved_fields(records: Records, asked: TrafficFields) -> TrafficFields:
    if asked.query is None and "action_name" in records.columns:
        records.problems.stop(
            "is a log of events (it has the field action_name), which repeats a query for each of its clicks",
            "Import the log of queries (ubi_queries) instead, or insist with --query-field.",
        )
    used = records.resolve(asked)
    if people := {name for name in asked.metadata if name in (used.session, *_SESSIONS)}:
        records.refuse_columns(
            f"{_METADATA} names {', '.join(map(repr, sorted(people)))}, which tells people apart: of that "
            "goldgrade keeps a keyed hash alone (--session-field)"
        )
    return replace(used, metadata=tuple(sorted(set(used.metadata))))


def _import_id(
    path: Path, format: str, layout: FileLayout, fields: TrafficFields, rules: CleaningRules
) -> str:
    names = {name: value for name, value in asdict(fields).items() if value or name not in _NEWER_FIELDS}
    del names["columns"]  # what else the file has
    cleaning = asdict(rules)
    if not rules.known_rows:
        del cleaning["known_rows"]  # ids are those of older imports
    return digest("traffic", file_digest(path), format, layout.encoding, layout.columns, names, cleaning)


def _is_held(cursor: Cursor, import_id: str) -> bool:
    return bool(cursor.execute("SELECT 1 FROM traffic_imports WHERE import_id = ?", [import_id]).fetchall())


def append_traffic(cursor: Cursor, batches: Iterable[pa.RecordBatch], counts: LogCounts, key: str) -> int:
    """Append clean rows, and return their number.

    Raises
    ------
    RefusedError: the counts of all logs together would exceed `LARGEST_TRAFFIC`; or meanwhile the project got
        another key of sessions.
    """
    held = cursor.execute("SELECT coalesce(sum(count), 0) FROM traffic").fetchall()[0][0]
    total = int(held) + counts.traffic
    if total > LARGEST_TRAFFIC:
        raise RefusedError(
            f"With this log the counts would sum to {total:,}; at most {LARGEST_TRAFFIC:,} can be added up. "
            "Nothing was imported: see whether --count-field names the right field, or divide its counts."
        )
    if counts.sessions:
        keep_session_key(cursor, key)
    return append_batches(cursor, "traffic", batches)


def _store(
    cursor: Cursor,
    import_id: str,
    source: str,
    rows: int,
    counts: LogCounts,
    rules: CleaningRules,
    author: str,
) -> None:
    earlier = cursor.execute("SELECT 1 FROM traffic_imports LIMIT 1").fetchall()
    if earlier and not rules.known_rows:
        refuse_grown_log(cursor, [import_id])
        known = int(cursor.execute(_DELETE_KNOWN, {"log": [import_id]}).fetchall()[0][0])
        rows -= known
        counts = counts._replace(left_out=counts.left_out + Counter({KNOWN: known}))
    store_import(cursor, import_id, source, rows, counts, author)


def store_import(
    cursor: Cursor, import_id: str, source: str, rows: int, counts: LogCounts, author: str
) -> None:
    """Store what an import took and left out, with a line in the audit trail."""
    values = [import_id, source, rows, canonical_json(counts.left_out), utc_now()]
    cursor.execute("INSERT INTO traffic_imports VALUES (?, ?, ?, ?, ?)", values)
    kinds = sorted(counts.personal.items())
    append_rows(cursor, "traffic_personal_data", kinds, ("kind", "rows"), import_id=import_id)
    detail = {"rows": rows, "personal data": counts.personal, "left_out": counts.left_out}
    record_event(cursor, "import traffic", {"source": source, "import": import_id, **detail}, author)


def import_summary(cursor: Cursor, import_id: str, source: str, fields: TrafficFields) -> TrafficImport:
    """An import as the project holds it."""
    row = cursor.execute(
        """
        SELECT count(*), coalesce(sum(count), 0)::BIGINT, count(DISTINCT normalised), count(DISTINCT session),
               count(DISTINCT segment), min(time), max(time), count(*) - count(time),
               (SELECT count(*) FROM traffic_imports WHERE source = $source AND import_id <> $import
                AND import_id NOT IN (SELECT import_id FROM traffic_files))
        FROM traffic WHERE import_id = $import
        """,
        {"source": source, "import": import_id},
    ).fetchall()[0]
    left_out = cursor.execute(
        "SELECT left_out::MAP(TEXT, BIGINT) FROM traffic_imports WHERE import_id = ?", [import_id]
    ).fetchall()
    personal = cursor.execute(
        "SELECT kind, rows FROM traffic_personal_data WHERE import_id = ? ORDER BY kind", [import_id]
    ).fetchall()
    counted: dict[str, Any] = dict(zip(_COUNTED, row, strict=True))
    return TrafficImport(
        import_id, fields=fields, personal=dict(personal), left_out=dict(left_out[0][0]), **counted
    )
