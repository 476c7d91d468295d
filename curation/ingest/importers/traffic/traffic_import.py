"""Import of a query log from one file: the log is read, cleaned and stored.

A query log may have tens of millions of rows and is therefore processed by columns: each distinct text is
cleaned and stored once, and each row consists of a few numbers. The log is cleaned before any row reaches the
database (`traffic.cleaning`), and only a keyed hash of each session is stored. The id of an import is a hash
of the file's content, fields and rules; a second import with the same id changes nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curation.core.digests import canonical_json, digest, file_digest
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.importers.personal_data import Redacted, redact
from curation.ingest.importers.traffic.cleaning import (
    UNKNOWN_TIME,
    CleaningRules,
    clean_rows,
    clean_texts,
    count_personal_data,
)
from curation.ingest.importers.traffic.known_rows import KNOWN, KNOWN_ROWS, refuse_grown_log
from curation.ingest.importers.traffic.log_columns import Terms, read_log
from curation.ingest.importers.traffic.stored_rows import (
    LogCounts,
    append_traffic,
    hash_sessions,
    read_key,
    store_log,
)
from curation.ingest.outcome import (
    MAX_NAMES,
    ImportOutcome,
    describe_fields,
    describe_personal_data,
    describe_replaced,
)
from curation.ingest.readers.fields import TrafficFields, file_fields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.times import NO_TIME, check_date_order
from curation.store import COMMAND_LINE, Cursor, Store

BATCH = 1_000_000  # number of rows that are written together
_DELETE_KNOWN = f"DELETE FROM traffic WHERE (import_id, line) IN ({KNOWN_ROWS})"  # noqa: S608  from above
_METADATA = "--map metadata"
_SESSIONS = next(field.usual_names for field in file_fields(TrafficFields) if field.name == "session")
_ALIKE = {
    "time": re.compile(r"time|date|day|when|(?:^|_)(?:at|ts)$", re.IGNORECASE),
    "session": re.compile(
        r"session|visit|user|client|cookie|device|token|anonym|(?:^|[._])(?:ip|u?id)$", re.IGNORECASE
    ),
}
"""Patterns of names that look like a field that cleaning needs."""
_NEWER_FIELDS = ("metadata", "date_order")
"""Fields that count for the id of an import only if a person uses them, so that older imports keep their ids.
"""
_COUNTED = "rows traffic queries sessions segments first last unknown_times same_source".split()
DATE_ORDER = "Numeric dates such as 03/04/2026 are read with --date-order mdy (month first) or dmy."


@dataclass(frozen=True)
class TrafficImport:
    """The result of importing traffic.

    Attributes
    ----------
    is_new: False if the project already had the same import, so that nothing changed.
    rows: number of imported rows. traffic: sum of the rows' counts. queries: number of distinct normalized
    queries.
    first, last: the earliest and the latest time in the log, UTC. unknown_times: number of rows without a
    readable time. unreadable_time: example of a time that could not be read.
    same_source: number of other imports of files with this name, whose rows also count.
    personal: number of rows with each kind of personal data in the query, the segment or a further field.
    left_out: number of rows that were left out for each reason.
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

    @property
    def outcome(self) -> ImportOutcome:
        """Return the outcome of the traffic import as counts and sentences."""
        summary = "Imported the log" if self.is_new else "Nothing changed: the project already has this log"
        summary += f"{self._describe_missing_fields()}."
        figures = {"queries asked": self.traffic, "rows": self.rows, "distinct queries": self.queries}
        figures |= {"sessions": self.sessions, "segments": self.segments}
        remarks = [describe_fields(self.fields)]
        if self.first and self.last:
            remarks.append(f"From {self.first:%d %b %Y %H:%M} to {self.last:%d %b %Y %H:%M} UTC.")
        remarks += [*self._time_remarks(), *describe_personal_data(self.personal, "rows", "not stored")]
        remarks += describe_replaced(self.replaced)
        return ImportOutcome(self.is_new, summary, "rows", figures, self.left_out, remarks)

    def _describe_missing_fields(self) -> str:
        """Say which fields the log lacks for cleaning, such as sessions, and which columns look like them; ''
        if no field is missing."""
        missing = [name for name in _ALIKE if getattr(self.fields, name) is None]
        alike = {name: [*filter(_ALIKE[name].search, self.fields.unused)][:MAX_NAMES] for name in missing}
        hints = [f"--map {name}={column}" for name, columns in alike.items() for column in columns]
        hint = f" (if a field has it: {', '.join(hints)})" if hints else ""
        lacks = (
            f", but found no {' and no '.join(missing)}{hint}, so turned pages and robots count as queries"
        )
        return lacks if missing else ""

    def _time_remarks(self) -> Iterator[str]:
        if self.fields.time and self.unknown_times:
            example = f", such as {self.unreadable_time}" if self.unreadable_time else ""
            rows = pluralize(self.unknown_times, "row has", "rows have")
            yield f"{rows} no readable time{example}."
            if self.unreadable_time and self.fields.date_order is None:
                yield DATE_ORDER
        if self.same_source:
            plural = "earlier imports of files of this name count"
            imports = pluralize(self.same_source, "earlier import of a file of this name counts", plural)
            yield f"Note: {imports} as well."


def import_traffic(
    store: Store,
    path: Path,
    fields: TrafficFields | None = None,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    rules: CleaningRules | None = None,
    author: str = COMMAND_LINE,
) -> TrafficImport:
    """Import a query log, cleaned by `rules`.

    Raises
    ------
    InputError: the file cannot be read, has no column of queries, a count that is not a whole number from 1
        to `MAX_COUNT`, a date that does not fit the stated order, or no row after cleaning; the order of
        dates is unknown; or a further field has ids of people or sessions.
    RefusedError: the counts of all logs would exceed `MAX_TRAFFIC`; or the log contains an earlier log
        whose rows cannot be compared one by one.
    """
    rules = rules or CleaningRules()
    check_date_order(fields.date_order if fields else None)
    records = Records(path, layout, progress, is_log=True)
    used = choose_columns(records, fields or TrafficFields())
    import_id = _make_id(path, records.format, layout or FileLayout(), used, rules)
    with store.reading() as cursor:
        if _is_stored(cursor, import_id):
            return summarise_import(cursor, import_id, records.source, used)
        key = read_key(cursor)
    table, counts = clean_log(records, used, import_id, rules, key)
    if not table.num_rows:
        records.refuse_empty("query", counts.left_out)
    with store.transaction(appends=True) as cursor:
        is_new = not _is_stored(cursor, import_id)
        if is_new:
            rows = append_traffic(cursor, table.to_batches(BATCH), counts, key)
            _store_rows(cursor, import_id, records.source, rows, counts, rules, author)
        del table  # the summary needs as much memory to count distinct texts
        summary = summarise_import(cursor, import_id, records.source, used)
    return replace(
        summary, is_new=is_new, unreadable_time=counts.unreadable_time, replaced=dict(counts.replaced)
    )


def choose_columns(records: Records, requested: TrafficFields) -> TrafficFields:
    if requested.query is None and "action_name" in records.columns:
        records.problems.stop(
            "is a log of events (it has the field action_name), which would count a query once for each "
            "click",
            "Import the log of queries (ubi_queries) instead, or import this log anyway with --map "
            "query=COLUMN.",
        )
    used = records.resolve(requested)
    if identifying := {name for name in requested.metadata if name in (used.session, *_SESSIONS)}:
        names = ", ".join(map(repr, sorted(identifying)))
        problem = f"{_METADATA} names {names}, which identifies people"
        records.refuse_columns(f"{problem}: goldgrade keeps only a keyed hash of sessions (--map session)")
    return replace(used, metadata=tuple(sorted(set(used.metadata))))


def _make_id(path: Path, format: str, layout: FileLayout, fields: TrafficFields, rules: CleaningRules) -> str:
    names = {name: value for name, value in asdict(fields).items() if value or name not in _NEWER_FIELDS}
    del names["columns"]  # does not count for the id
    cleaning = asdict(rules)
    if not rules.known_rows:
        del cleaning["known_rows"]  # older imports keep their ids
    return digest("traffic", file_digest(path), format, layout.encoding, layout.columns, names, cleaning)


def _is_stored(cursor: Cursor, import_id: str) -> bool:
    return bool(cursor.execute("SELECT 1 FROM traffic_imports WHERE import_id = ?", [import_id]).fetchall())


def _store_rows(
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
        known_count = int(cursor.execute(_DELETE_KNOWN, {"log": [import_id]}).fetchall()[0][0])
        rows -= known_count
        counts = counts._replace(left_out=counts.left_out + Counter({KNOWN: known_count}))
    store_log(cursor, import_id, source, rows, counts, author)


def summarise_import(cursor: Cursor, import_id: str, source: str, fields: TrafficFields) -> TrafficImport:
    """Return the result of an import that the project has stored."""
    row = cursor.execute(
        """
        SELECT count(*), coalesce(sum(count), 0)::BIGINT, count(DISTINCT normalised), count(DISTINCT session),
               count(DISTINCT segment), min(time), max(time), count(*) - count(time),
               (SELECT count(*) FROM traffic_imports WHERE source = $source AND import_id <> $import
                AND import_id NOT IN (SELECT import_id FROM traffic_files)),
               (SELECT map(list(kind ORDER BY kind), list(rows ORDER BY kind))
                FROM traffic_personal_data WHERE import_id = $import),
               (SELECT left_out::MAP(TEXT, BIGINT) FROM traffic_imports WHERE import_id = $import)
        FROM traffic WHERE import_id = $import
        """,
        {"source": source, "import": import_id},
    ).fetchall()[0]
    *counts, personal, left_out = row
    count_of: dict[str, Any] = dict(zip(_COUNTED, counts, strict=True))
    return TrafficImport(import_id, fields=fields, personal=personal or {}, left_out=left_out, **count_of)


def clean_log(
    records: Records, fields: TrafficFields, import_id: str, rules: CleaningRules, key: str
) -> tuple[pa.Table, LogCounts]:
    """Read and clean a query log; return its columns and counts.

    Raises
    ------
    InputError: see `read_log`; or the log has times, but no time can be read.
    """
    log = read_log(records, fields)
    if log.unreadable_time and (log.times == UNKNOWN_TIME).all():
        problem = f"no time in {fields.time!r} could be read, such as {log.unreadable_time}"
        records.problems.stop(problem, f"{NO_TIME} {DATE_ORDER}")
    texts = clean_texts(log.texts.texts, rules)
    keep, left_out = clean_rows(log.texts.rows, log.sessions.rows, log.times, log.counts, texts, rules)
    segments, in_segments = _redact(log.segments, redact)
    metadata, in_metadata = _redact(log.metadata, _redacted_fields)
    times = log.times[keep]
    identity = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(times), np.int8)), pa.array([import_id]))
    table = {
        "import_id": identity,
        "line": pa.array(log.lines[keep]),
        "text": log.texts.column(keep, texts.texts),
        "normalised": log.texts.column(keep, texts.normalised),
        "time": pa.array(times, mask=times == UNKNOWN_TIME).cast(pa.timestamp("us")),
        "segment": log.segments.column(keep, segments),
        "session": log.sessions.column(
            keep, pa.array(hash_sessions(log.sessions, key), pa.string(), size=len(log.sessions.texts))
        ),
        "count": pa.array(log.counts[keep]),
    }
    if len(log.metadata.texts):
        table["metadata"] = log.metadata.column(keep, metadata)
    personal = count_personal_data(
        [(log.texts.rows, texts.personal), (log.segments.rows, in_segments), (log.metadata.rows, in_metadata)]
    )
    empty = Counter({records.why_empty: log.empty})
    counts = LogCounts(
        traffic=log.traffic,
        sessions=len(log.sessions.texts),
        personal=Counter(personal),
        left_out=empty + Counter(left_out),
        replaced=Counter(records.replaced),
        unreadable_time=log.unreadable_time,
    )
    return pa.table(table), counts


def _redact(terms: Terms, mask: Callable[[str], Redacted]) -> tuple[pa.StringArray, dict[str, list[int]]]:
    """Return the form in which each text is stored, and, by kind of personal data, the indexes of the texts
    that had it."""
    personal: dict[str, list[int]] = {}

    def texts() -> Iterator[str]:
        for number, term in enumerate(terms):
            redacted = mask(term)
            for kind in redacted.kinds:
                personal.setdefault(kind, []).append(number)
            yield redacted.text

    return pa.array(texts(), pa.string(), size=len(terms.texts)), personal


def _redacted_fields(fields: str) -> Redacted:
    values = json.loads(fields) if fields else {}  # '' means no row
    redacted = {name: redact(value) for name, value in values.items()}
    text = canonical_json({name: value.text for name, value in redacted.items()})
    return Redacted(text, sum((value.kinds for value in redacted.values()), Counter()))
