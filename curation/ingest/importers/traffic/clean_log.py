"""A log read and cleaned: the columns to store, and what was counted.

Each distinct text is cleaned and kept once, a row is a few numbers. It is cleaned before any of it reaches
the database (`ingest.importers.traffic.cleaning`), and of a session only a keyed hash is stored
(`ingest.importers.traffic.session_keys`).
"""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from curation.core.text import canonical_json
from curation.ingest.importers.redaction.personal_data import Redacted, redact
from curation.ingest.importers.traffic.cleaning import (
    UNKNOWN_TIME,
    CleaningRules,
    LogRows,
    clean_rows,
    clean_texts,
    count_personal,
)
from curation.ingest.importers.traffic.log import Log, Terms, read_log
from curation.ingest.importers.traffic.session_keys import keyed
from curation.ingest.readers.fields import TrafficFields
from curation.ingest.readers.imported_times import NO_TIME
from curation.ingest.readers.records import Records

DATE_ORDER = "Numeric dates such as 03/04/2026 are read with --date-order mdy (month first) or dmy."


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


def clean_log(
    records: Records, fields: TrafficFields, import_id: str, rules: CleaningRules, key: str, after: int = 0
) -> tuple[pa.Table, LogCounts]:
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
    segments, in_segments = _redacted(log.segments, redact)
    metadata, in_metadata = _redacted(log.metadata, _redacted_fields)
    times = log.times[keep]
    identity = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(times), np.int8)), pa.array([import_id]))
    table = {
        "import_id": identity,
        "line": pa.array(log.lines[keep] + after),
        "text": log.texts.column(keep, texts.texts),
        "normalised": log.texts.column(keep, texts.normalised),
        "time": pa.array(times, mask=times == UNKNOWN_TIME).cast(pa.timestamp("us")),
        "segment": log.segments.column(keep, segments),
        "session": log.sessions.column(
            keep, pa.array(keyed(log.sessions, key), pa.string(), size=len(log.sessions.texts))
        ),
        "count": pa.array(log.counts[keep]),
    }
    if len(log.metadata.texts):
        table["metadata"] = log.metadata.column(keep, metadata)
    personal = count_personal(
        [
            (log.texts.rows, texts.personal),
            (log.segments.rows, in_segments),
            (log.metadata.rows, in_metadata),
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
    return pa.table(table), counts


def _redacted(terms: Terms, change: Callable[[str], Redacted]) -> tuple[pa.StringArray, dict[str, list[int]]]:
    """What is stored for each text, and kind of personal data → numbers of those that held it."""
    personal: dict[str, list[int]] = {}

    def texts() -> Iterator[str]:
        for number, term in enumerate(terms):
            found = change(term)
            for kind in found.kinds:
                personal.setdefault(kind, []).append(number)
            yield found.text

    return pa.array(texts(), pa.string(), size=len(terms.texts)), personal


def _redacted_fields(fields: str) -> Redacted:
    known = json.loads(fields) if fields else {}  # '' means no row
    found = {name: redact(value) for name, value in known.items()}
    text = canonical_json({name: value.text for name, value in found.items()})
    return Redacted(text, sum((value.kinds for value in found.values()), Counter()))


NOTHING = LogCounts(0, 0, 0, Counter(), Counter(), Counter(), ())
