"""Traffic: raw logged queries, with the time, segment, session and count that the log knows of them.

A log may have tens of millions of rows, so it is held by columns: each distinct text is cleaned and kept
once, a row is a few numbers. It is cleaned before any of it reaches the database
(`sources.traffic.cleaning`), and of a session only a keyed hash is stored (`sources.traffic.session_keys`).
An import is known by the file's content and how its fields were understood and cleaned; a second import of
the same changes nothing. A log that was exported again holds rows of an earlier one: a row with the same
session, time, segment, text and count is known, as often as one earlier log has it.
"""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from curation.errors import RefusedError
from curation.files.fields import TrafficFields, file_fields
from curation.files.formats import FileLayout
from curation.files.records import Records
from curation.files.times import NO_TIME, check_date_order
from curation.progress import Progress, silent
from curation.sources.redaction.personal_data import Redacted, redact
from curation.sources.traffic.cleaning import (
    UNKNOWN_TIME,
    CleaningRules,
    LogRows,
    clean_rows,
    clean_texts,
    count_personal,
)
from curation.sources.traffic.log import Log, Terms, read_log
from curation.sources.traffic.session_keys import keep_session_key, keyed, session_key
from curation.store import COMMAND_LINE, Cursor, Store, append_batches, append_rows, record_event, utc_now
from curation.text import canonical_json, digest, file_digest

BATCH = 1_000_000  # rows that are written together
LARGEST_TRAFFIC = 10**18
"""Bound of the sum of all counts, so that every sum of traffic fits the 64 bits that carry it."""

KNOWN = "a row that an earlier log has: the same session, time, segment, text and count"
KNOWN_ROWS = """
WITH dated AS (FROM traffic WHERE session IS NOT NULL OR time IS NOT NULL),
added AS (
    SELECT *, row_number() OVER (
        PARTITION BY session, time, segment, text, count
        ORDER BY list_position($log, import_id), line) AS place
    FROM dated WHERE list_contains($log, import_id)),
counted AS (
    SELECT session, time, segment, text, count, count(*) AS times
    FROM dated WHERE NOT list_contains($log, import_id)
    GROUP BY import_id, session, time, segment, text, count),
held AS (
    SELECT session, time, segment, text, count, max(times) AS times FROM counted GROUP BY ALL)
SELECT a.import_id, a.line FROM added a JOIN held h ON a.text = h.text AND a.count = h.count
    AND a.session IS NOT DISTINCT FROM h.session AND a.time IS NOT DISTINCT FROM h.time
    AND a.segment IS NOT DISTINCT FROM h.segment
WHERE a.place <= h.times
"""
"""The rows of a log, `$log` being its imports in order, that an earlier one has."""
_DELETE_KNOWN = f"DELETE FROM traffic WHERE (import_id, line) IN ({KNOWN_ROWS})"  # noqa: S608  from above
LEAST_COMPARED = 10
SAME_LOG = 0.95
"""A log is an earlier one that has grown if it has this share of its different rows, of 10 or more."""
_GROWN_LOG = """
WITH added AS (
    SELECT session, time, segment, text, list(DISTINCT count) AS counts
    FROM traffic WHERE list_contains($log, import_id) GROUP BY ALL),
earlier AS (
    SELECT import_id, session, time, segment, text, list(DISTINCT count) AS counts
    FROM traffic WHERE NOT list_contains($log, import_id) GROUP BY ALL),
compared AS (
    SELECT e.import_id, a.text IS NOT NULL AS is_held,
        a.text IS NOT NULL AND (
            (e.session IS NULL AND e.time IS NULL) OR NOT list_has_all(e.counts, a.counts)) AS is_unclear
    FROM earlier e LEFT JOIN added a ON a.text = e.text AND a.session IS NOT DISTINCT FROM e.session
        AND a.time IS NOT DISTINCT FROM e.time AND a.segment IS NOT DISTINCT FROM e.segment)
SELECT import_id, any_value(i.source), count(*) FILTER (is_held), count(*)
FROM compared JOIN traffic_imports i USING (import_id)
GROUP BY import_id
HAVING bool_or(is_unclear) AND count(*) >= $least AND count(*) FILTER (is_held) >= $share * count(*)
ORDER BY count(*) DESC, import_id LIMIT 1
"""
_METADATA = "--metadata-field"
DATE_ORDER = "Numeric dates such as 03/04/2026 are read with --date-order mdy (month first) or dmy."
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


class LogCounts(NamedTuple):
    """What was counted in reading and cleaning a log.

    Attributes
    ----------
    lines: of the file, up to the last one with a query.
    traffic: the sum of the counts of all rows.
    sessions: distinct ones.
    personal: kind → rows with personal data; `left_out` and `replaced` are those of `TrafficImport`.
    unreadable_times: the first time that could not be read, if there is one.
    """

    lines: int
    traffic: int
    sessions: int
    personal: Counter[str]
    left_out: Counter[str]
    replaced: Counter[str]
    unreadable_times: tuple[str, ...]

    def plus(self, other: LogCounts) -> LogCounts:
        """The counts of both."""
        return LogCounts(*map(operator.add, self, other))

    @property
    def of_reading(self) -> dict[str, Any]:
        """The attributes of a `TrafficImport` that the project does not keep."""
        return {"unreadable_time": next(iter(self.unreadable_times), None), "replaced": dict(self.replaced)}


NOTHING = LogCounts(0, 0, 0, Counter(), Counter(), Counter(), ())


class CleanLog(NamedTuple):
    """The columns to store, and what was counted."""

    table: pa.Table
    counts: LogCounts


class _Redacted(NamedTuple):
    """What is stored for each text of a column, and kind of personal data → numbers of those that held it."""

    texts: pa.StringArray
    personal: dict[str, list[int]]


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
    clean = clean_log(records, used, import_id, rules, key)
    counts = clean.counts
    if not clean.table.num_rows:
        records.refuse_nothing_taken("query", counts.left_out)
    with store.transaction(appends=True) as cursor:
        is_new = not _is_held(cursor, import_id)
        if is_new:
            rows = append_traffic(cursor, clean.table.to_batches(BATCH), counts, key)
            _store(cursor, import_id, records.source, rows, counts, rules, author)
        del clean  # the summary counts distinct texts, for which it takes as much
        summary = import_summary(cursor, import_id, records.source, used)
    return replace(summary, is_new=is_new, **counts.of_reading)


def _read_timed(records: Records, fields: TrafficFields) -> Log:
    """The log in a file.

    Raises
    ------
    InputError: as `read_log` says; or it has times, and none can be read.
    """
    log = read_log(records, fields)
    if log.unreadable_time and (log.times == UNKNOWN_TIME).all():
        found = f"no time in {fields.time!r} could be read, such as {log.unreadable_time}"
        records.problems.stop(found, f"{NO_TIME} {DATE_ORDER}")
    return log


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
            "goldset keeps a keyed hash alone (--session-field)"
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


def clean_log(
    records: Records, fields: TrafficFields, import_id: str, rules: CleaningRules, key: str, after: int = 0
) -> CleanLog:
    """Read a log, whose lines come after so many others, and make the columns to store.

    Raises
    ------
    InputError: as `read_log` says; or it has times, and none can be read.
    """
    log = _read_timed(records, fields)
    texts = clean_texts(log.texts.texts, rules)
    keep, left_out = clean_rows(
        LogRows(log.texts.rows, log.sessions.rows, log.times, log.counts), texts, rules
    )
    segments, metadata = _redacted(log.segments, redact), _redacted(log.metadata, _redacted_fields)
    times = log.times[keep]
    identity = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(times), np.int8)), pa.array([import_id]))
    table = {
        "import_id": identity,
        "line": pa.array(log.lines[keep] + after),
        "text": log.texts.column(keep, texts.texts),
        "normalised": log.texts.column(keep, texts.normalised),
        "time": pa.array(times, mask=times == UNKNOWN_TIME).cast(pa.timestamp("us")),
        "segment": log.segments.column(keep, segments.texts),
        "session": log.sessions.column(
            keep, pa.array(keyed(log.sessions, key), pa.string(), size=len(log.sessions.texts))
        ),
        "count": pa.array(log.counts[keep]),
    }
    if len(log.metadata.texts):
        table["metadata"] = log.metadata.column(keep, metadata.texts)
    personal = count_personal(
        [
            (log.texts.rows, texts.personal),
            (log.segments.rows, segments.personal),
            (log.metadata.rows, metadata.personal),
        ]
    )
    empty = Counter({"empty query": log.empty})
    counts = LogCounts(
        lines=int(log.lines[-1]) if len(log.lines) else 0,
        traffic=log.traffic,
        sessions=len(log.sessions.texts),
        personal=Counter(personal),
        left_out=empty + Counter(left_out),
        replaced=Counter(records.replaced),
        unreadable_times=(log.unreadable_time,) if log.unreadable_time else (),
    )
    return CleanLog(pa.table(table), counts)


def _redacted(terms: Terms, change: Callable[[str], Redacted]) -> _Redacted:
    personal: dict[str, list[int]] = {}

    def texts() -> Iterator[str]:
        for number, term in enumerate(terms):
            found = change(term)
            for kind in found.kinds:
                personal.setdefault(kind, []).append(number)
            yield found.text

    return _Redacted(pa.array(texts(), pa.string(), size=len(terms.texts)), personal)


def _redacted_fields(fields: str) -> Redacted:
    known = json.loads(fields) if fields else {}  # '' means no row
    found = {name: redact(value) for name, value in known.items()}
    text = canonical_json({name: value.text for name, value in found.items()})
    return Redacted(text, sum((value.kinds for value in found.values()), Counter()))


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


def refuse_grown_log(cursor: Cursor, imports: list[str]) -> None:
    """Refuse a log that an earlier one is a part of, where rows cannot be known one by one.

    Such rows have neither session nor time, or a count that has changed since.
    """
    values = {"log": imports, "least": LEAST_COMPARED, "share": SAME_LOG}
    rows = cursor.execute(_GROWN_LOG, values).fetchall()
    if rows:
        earlier, source, matching, total = rows[0]
        raise RefusedError(
            f"This looks like the log {earlier[:8]} ({source}), exported again: it has {matching:,} of the "
            f"{total:,} different rows of that one, and not all of them can be recognised, because they have "
            "no session or time, or another count. Nothing was imported, for they would count twice. Delete "
            "the earlier log first; or take all rows, if both logs count.",
            command=f"`goldset import delete-log {earlier[:8]}` deletes it; --known-rows takes all.",
        )


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
