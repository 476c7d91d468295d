"""Traffic: raw logged queries, with the time, segment, session and count that the log knows of them.

A log may have tens of millions of rows, so it is held by columns: each distinct text is normalised and kept
once, a row is a few numbers. An import is known by the file's content and how its fields were understood; a
second one of the same changes nothing.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curation.errors import RefusedError
from curation.progress import Progress, silent
from curation.sources.numbers import whole_number
from curation.sources.records import Layout, Records, text_of
from curation.sources.times import microseconds, parse_time
from curation.store import Cursor, Store, append, record_event, utc_now
from curation.text import canonical_json, digest, normalise_query

# The first of each that a file has; user_query, timestamp, client_id and application are those of UBI.
QUERY_FIELDS = ("user_query", "query", "search_term", "q", "text")
TIME_FIELDS = ("time", "timestamp")
SEGMENT_FIELDS = ("segment", "application")
SESSION_FIELDS = ("session", "session_id", "client_id", "user", "user_id")
COUNT_FIELDS = ("count",)

LARGEST_COUNT = 10**12
LARGEST_TRAFFIC = 10**18
"""Bounds of one count and of their sum, so that every sum of traffic fits the 64 bits that carry it."""

_COUNTED = "rows traffic queries sessions segments first last unknown_times same_source".split()
_UNKNOWN_TIME = np.iinfo(np.int64).min


@dataclass(frozen=True)
class TrafficFields:
    """The log's names for its fields; None is the usual name, if the log has it."""

    query: str | None = None
    time: str | None = None
    segment: str | None = None
    session: str | None = None
    count: str | None = None


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
    left_out: reason → number of rows.
    """

    import_id: str
    is_new: bool
    rows: int
    traffic: int
    queries: int
    sessions: int
    segments: int
    first: datetime | None
    last: datetime | None
    unknown_times: int
    unreadable_time: str | None
    same_source: int
    fields: TrafficFields
    left_out: dict[str, int]
    replaced: dict[str, int]


class _Terms:
    """Distinct texts, each with a number; None is none of them."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.numbers: dict[str, int] = {}

    def add(self, text: str) -> None:
        self.codes.append(self.numbers.setdefault(text, len(self.numbers)) if text else -1)

    def column(self, change: Callable[[str], str] = str) -> pa.DictionaryArray:
        """The texts by row, each distinct one changed once."""
        codes = np.frombuffer(self.codes, dtype=np.int32)
        texts = pa.array(map(change, self.numbers), type=pa.string(), size=len(self.numbers))
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts)


@dataclass
class _Columns:
    """The rows of a log, by column."""

    texts: _Terms = field(default_factory=_Terms)
    segments: _Terms = field(default_factory=_Terms)
    sessions: _Terms = field(default_factory=_Terms)
    lines: array[int] = field(default_factory=lambda: array("q"))
    times: array[int] = field(default_factory=lambda: array("q"))
    counts: array[int] = field(default_factory=lambda: array("q"))
    left_out: Counter[str] = field(default_factory=Counter)
    unreadable_time: str | None = None

    def table(self, import_id: str) -> dict[str, Any]:
        times = np.frombuffer(self.times, dtype=np.int64)
        identity = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(len(times), np.int8)), pa.array([import_id])
        )
        return {
            "import_id": identity,
            "line": pa.array(np.frombuffer(self.lines, dtype=np.int64)),
            "text": self.texts.column(),
            "normalised": self.texts.column(normalise_query),
            "time": pa.array(times, mask=times == _UNKNOWN_TIME).cast(pa.timestamp("us")),
            "segment": self.segments.column(),
            "session": self.sessions.column(),
            "count": pa.array(np.frombuffer(self.counts, dtype=np.int64)),
        }


def import_traffic(
    store: Store,
    path: Path,
    fields: TrafficFields | None = None,
    layout: Layout | None = None,
    progress: Progress = silent,
) -> TrafficImport:
    """Take a log of queries into the project.

    Raises
    ------
    InputError: the file cannot be read, has no column of queries, or counts that are not whole numbers
        from 1 to `LARGEST_COUNT`.
    RefusedError: the counts of all logs together would exceed `LARGEST_TRAFFIC`.
    """
    records = Records(path, layout, progress)
    used = _fields(records, fields or TrafficFields())
    import_id = _import_id(path, records.format, layout or Layout(), used)
    with store.reading() as cursor:
        held = _left_out(cursor, import_id)
        if held is not None:
            return _summary(cursor, import_id, records.source, used, held)
    columns = _read(records, used)
    if not columns.lines:
        records.refuse_nothing_taken("query", columns.left_out)
    table = columns.table(import_id)
    with store.transaction() as cursor:
        is_new = _left_out(cursor, import_id) is None
        if is_new:
            _refuse_too_much(cursor, columns)
            _write(cursor, import_id, records.source, table, columns.left_out)
        summary = _summary(cursor, import_id, records.source, used, dict(columns.left_out))
    return replace(summary, is_new=is_new, unreadable_time=columns.unreadable_time, replaced=records.replaced)


def _fields(records: Records, asked: TrafficFields) -> TrafficFields:
    if asked.query is None and "action_name" in records.columns:
        records.problems.stop(
            "is a log of events (it has the field action_name), which repeats a query for each of its clicks",
            "Import the log of queries (ubi_queries) instead, or insist with --query-field.",
        )
    return TrafficFields(
        query=records.need("--query-field", asked.query, QUERY_FIELDS, "the queries"),
        time=records.field("--time-field", asked.time, TIME_FIELDS),
        segment=records.field("--segment-field", asked.segment, SEGMENT_FIELDS),
        session=records.field("--session-field", asked.session, SESSION_FIELDS),
        count=records.field("--count-field", asked.count, COUNT_FIELDS),
    )


def _import_id(path: Path, format: str, layout: Layout, fields: TrafficFields) -> str:
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return digest("traffic", content, format, layout.encoding, layout.columns, asdict(fields))


def _read(records: Records, fields: TrafficFields) -> _Columns:
    columns = _Columns()
    for line, values in records:
        text = text_of(values.get(fields.query or ""))
        if not text or text.isspace():
            columns.left_out["empty query"] += 1
            continue
        count = 1 if fields.count is None else _count(values.get(fields.count))
        if count is None:
            _refuse_count(records, line, fields, values)
            continue
        columns.texts.add(text)
        columns.lines.append(line)
        columns.counts.append(count)
        columns.times.append(
            _time(columns, line, records.unit, values.get(fields.time) if fields.time else None)
        )
        columns.segments.add(text_of(values.get(fields.segment)).strip() if fields.segment else "")
        columns.sessions.add(text_of(values.get(fields.session)).strip() if fields.session else "")
    return columns


def _count(value: Any) -> int | None:
    """A count that can be taken, or None."""
    number = whole_number(text_of(value))
    return number if number is not None and 1 <= number <= LARGEST_COUNT else None


def _refuse_count(records: Records, line: int, fields: TrafficFields, values: dict[str, Any]) -> None:
    found = text_of(values.get(fields.count or ""))
    records.problems.add(
        line,
        f"the count in {fields.count!r} is {found!r}; expected a whole number from 1 to {LARGEST_COUNT:,}",
        "Mend these counts, or leave their rows out of the file.",
    )


def _time(columns: _Columns, line: int, unit: str, value: Any) -> int:
    if value is None or value == "":
        return _UNKNOWN_TIME
    time = parse_time(value)
    if time is not None:
        return microseconds(time)
    if columns.unreadable_time is None:
        columns.unreadable_time = f"{text_of(value)[:60]!r} on {unit} {line}"
    return _UNKNOWN_TIME


def _left_out(cursor: Cursor, import_id: str) -> dict[str, int] | None:
    """What an import that the project holds has left out, or None if it holds no such import."""
    row = cursor.execute(
        "SELECT left_out::MAP(TEXT, BIGINT) FROM traffic_imports WHERE import_id = ?", [import_id]
    ).fetchone()
    return None if row is None else dict(row[0])


def _refuse_too_much(cursor: Cursor, columns: _Columns) -> None:
    held = cursor.execute("SELECT coalesce(sum(count), 0) FROM traffic").fetchall()[0][0]
    total = int(held) + sum(columns.counts)
    if total > LARGEST_TRAFFIC:
        raise RefusedError(
            f"With this log the counts would sum to {total:,}; at most {LARGEST_TRAFFIC:,} can be added up. "
            "Nothing was imported: see whether --count-field names the right field, or divide its counts."
        )


def _write(
    cursor: Cursor, import_id: str, source: str, table: dict[str, Any], left_out: Counter[str]
) -> None:
    rows = append(cursor, "traffic", table)
    cursor.execute(
        "INSERT INTO traffic_imports VALUES (?, ?, ?, ?, ?)",
        [import_id, source, rows, canonical_json(dict(left_out)), utc_now()],
    )
    detail = {"source": source, "import": import_id, "rows": rows, "left_out": dict(left_out)}
    record_event(cursor, "import traffic", detail)


def _summary(
    cursor: Cursor, import_id: str, source: str, fields: TrafficFields, left_out: dict[str, int]
) -> TrafficImport:
    """An import as the project holds it."""
    row = cursor.execute(
        """
        SELECT count(*), sum(count)::BIGINT, count(DISTINCT normalised), count(DISTINCT session),
               count(DISTINCT segment), min(time), max(time), count(*) - count(time),
               (SELECT count(*) FROM traffic_imports WHERE source = ? AND import_id <> ?)
        FROM traffic WHERE import_id = ?
        """,
        [source, import_id, import_id],
    ).fetchall()[0]
    counted: dict[str, Any] = dict(zip(_COUNTED, row, strict=True))
    return TrafficImport(
        import_id,
        is_new=False,
        unreadable_time=None,
        fields=fields,
        left_out=left_out,
        replaced={},
        **counted,
    )
