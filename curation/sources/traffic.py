"""Traffic: raw logged queries, with the time, segment, session and count that the log knows of them.

A log may have tens of millions of rows, so it is held by columns: each distinct text is cleaned and kept
once, a row is a few numbers. It is cleaned before any of it reaches the database (`sources.cleaning`), and
of a session only a keyed hash is stored (`sources.sessions`). An import is known by the file's content and
how its fields were understood and cleaned; a second one of the same changes nothing.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.errors import RefusedError
from curation.progress import Progress, silent
from curation.sources.cleaning import UNKNOWN_TIME, CleaningRules, Mask, Rows, clean_rows, clean_texts
from curation.sources.numbers import whole_number
from curation.sources.private import redact
from curation.sources.records import Layout, Records, text_of
from curation.sources.sessions import keep_session_key, keyed, session_key
from curation.sources.times import microseconds, parse_time
from curation.store import Cursor, Store, append, record_event, utc_now
from curation.text import canonical_json, digest

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
    personal: kind of personal data → rows in which it was found, whether replaced or left out.
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
    personal: dict[str, int]
    left_out: dict[str, int]
    replaced: dict[str, int]


class _Terms:
    """Distinct texts, each with a number; None is none of them."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.numbers: dict[str, int] = {}

    def add(self, text: str) -> None:
        self.codes.append(self.numbers.setdefault(text, len(self.numbers)) if text else -1)

    @property
    def rows(self) -> NDArray[np.int32]:
        """The number of each row's text; -1 is none."""
        return np.frombuffer(self.codes, dtype=np.int32)

    def column(self, keep: Mask, texts: Iterable[str]) -> pa.DictionaryArray:
        """What is stored for each text, by the rows to keep."""
        codes = self.rows[keep]
        stored = pa.array(texts, type=pa.string(), size=len(self.numbers))
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), stored)


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

    def clean(self, import_id: str, rules: CleaningRules, key: str) -> _Clean:
        """The columns to store."""
        lines, times, counts = (
            np.frombuffer(column, dtype=np.int64) for column in (self.lines, self.times, self.counts)
        )
        texts = clean_texts(self.texts.numbers, rules)
        cleaned = clean_rows(Rows(self.texts.rows, self.sessions.rows, times, counts), texts, rules)
        keep = cleaned.keep
        times = times[keep]
        identity = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(len(times), np.int8)), pa.array([import_id])
        )
        table = {
            "import_id": identity,
            "line": pa.array(lines[keep]),
            "text": self.texts.column(keep, texts.texts),
            "normalised": self.texts.column(keep, texts.normalised),
            "time": pa.array(times, mask=times == UNKNOWN_TIME).cast(pa.timestamp("us")),
            "segment": self.segments.column(keep, (redact(name).text for name in self.segments.numbers)),
            "session": self.sessions.column(keep, (keyed(name, key) for name in self.sessions.numbers)),
            "count": pa.array(counts[keep]),
        }
        return _Clean(table, cleaned.personal, dict(self.left_out + Counter(cleaned.left_out)))


class _Clean(NamedTuple):
    """The columns to store, in how many rows personal data was found, and what is left out."""

    table: dict[str, Any]
    personal: dict[str, int]
    left_out: dict[str, int]


def import_traffic(
    store: Store,
    path: Path,
    fields: TrafficFields | None = None,
    layout: Layout | None = None,
    progress: Progress = silent,
    rules: CleaningRules | None = None,
) -> TrafficImport:
    """Take a log of queries into the project, cleaned by `rules`.

    Raises
    ------
    InputError: the file cannot be read, has no column of queries, counts that are not whole numbers from 1
        to `LARGEST_COUNT`, or nothing that is left after cleaning.
    RefusedError: the counts of all logs together would exceed `LARGEST_TRAFFIC`.
    """
    rules = rules or CleaningRules()
    records = Records(path, layout, progress)
    used = _fields(records, fields or TrafficFields())
    import_id = _import_id(path, records.format, layout or Layout(), used, rules)
    with store.reading() as cursor:
        if _is_held(cursor, import_id):
            return _summary(cursor, import_id, records.source, used)
        key = session_key(cursor)
    columns = _read(records, used)
    clean = columns.clean(import_id, rules, key)
    if not len(clean.table["line"]):
        records.refuse_nothing_taken("query", Counter(clean.left_out))
    with store.transaction() as cursor:
        is_new = not _is_held(cursor, import_id)
        if is_new:
            _refuse_too_much(cursor, columns)
            if columns.sessions.numbers:
                keep_session_key(cursor, key)
            _write(cursor, import_id, records.source, clean)
        summary = _summary(cursor, import_id, records.source, used)
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


def _import_id(path: Path, format: str, layout: Layout, fields: TrafficFields, rules: CleaningRules) -> str:
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return digest("traffic", content, format, layout.encoding, layout.columns, asdict(fields), asdict(rules))


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
        return UNKNOWN_TIME
    time = parse_time(value)
    if time is not None:
        return microseconds(time)
    if columns.unreadable_time is None:
        columns.unreadable_time = f"{text_of(value)[:60]!r} on {unit} {line}"
    return UNKNOWN_TIME


def _is_held(cursor: Cursor, import_id: str) -> bool:
    return bool(cursor.execute("SELECT 1 FROM traffic_imports WHERE import_id = ?", [import_id]).fetchall())


def _refuse_too_much(cursor: Cursor, columns: _Columns) -> None:
    held = cursor.execute("SELECT coalesce(sum(count), 0) FROM traffic").fetchall()[0][0]
    total = int(held) + sum(columns.counts)
    if total > LARGEST_TRAFFIC:
        raise RefusedError(
            f"With this log the counts would sum to {total:,}; at most {LARGEST_TRAFFIC:,} can be added up. "
            "Nothing was imported: see whether --count-field names the right field, or divide its counts."
        )


def _write(cursor: Cursor, import_id: str, source: str, clean: _Clean) -> None:
    rows = append(cursor, "traffic", clean.table)
    cursor.execute(
        "INSERT INTO traffic_imports VALUES (?, ?, ?, ?, ?)",
        [import_id, source, rows, canonical_json(clean.left_out), utc_now()],
    )
    kinds, found = list(clean.personal), list(clean.personal.values())
    personal: dict[str, list[Any]] = {"import_id": [import_id] * len(kinds), "kind": kinds, "rows": found}
    append(cursor, "traffic_personal_data", personal)
    counts = {"rows": rows, "personal data": clean.personal, "left_out": clean.left_out}
    record_event(cursor, "import traffic", {"source": source, "import": import_id, **counts})


def _summary(cursor: Cursor, import_id: str, source: str, fields: TrafficFields) -> TrafficImport:
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
    left_out = cursor.execute(
        "SELECT left_out::MAP(TEXT, BIGINT) FROM traffic_imports WHERE import_id = ?", [import_id]
    ).fetchall()
    personal = cursor.execute(
        "SELECT kind, rows FROM traffic_personal_data WHERE import_id = ? ORDER BY kind", [import_id]
    ).fetchall()
    counted: dict[str, Any] = dict(zip(_COUNTED, row, strict=True))
    return TrafficImport(
        import_id,
        is_new=False,
        unreadable_time=None,
        fields=fields,
        personal=dict(personal),
        left_out=dict(left_out[0][0]),
        replaced={},
        **counted,
    )
