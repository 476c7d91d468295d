"""A traffic log by columns: each distinct text once, and a few numbers a row.

Two ways lead to the same columns. Any file can be read row by row; a plain CSV, TSV or Parquet in blocks
(`files.blocks`), of which each distinct text is looked at once and all times at the same time. What
the second cannot read as the first would, it leaves to the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.files.blocks import Block, NotPlain
from curation.files.fields import TrafficFields
from curation.files.parquet.values import is_moment, microseconds_of, odd_moment
from curation.files.records import Records
from curation.files.times import (
    ASK_FOR_ORDER,
    UNREAD,
    doubtful_zone,
    is_numeric_date,
    microseconds,
    not_in_order,
    numeric_date,
    parse_time,
    parse_times,
    text_buffers,
)
from curation.files.values import text_of, whole_number
from curation.files.written_times import zone_in_doubt
from curation.sources.traffic.cleaning import UNKNOWN_TIME
from curation.statistics.arrays import Mask
from curation.store.release_parts import batched
from curation.text import canonical_json

LARGEST_COUNT = 10**12
"""Of one row; with it the sum of a million rows still fits 64 bits."""
_SLICE = 100_000
_NONE = -1


@dataclass(frozen=True)
class Terms:
    """Distinct texts, shape (T,), and each row's number among them, shape (R,); -1 is none."""

    texts: pa.StringArray
    rows: NDArray[np.int32]

    def __iter__(self) -> Iterator[str]:
        """The texts, a slice of them in memory at a time."""
        for start in range(0, len(self.texts), _SLICE):
            yield from self.texts.slice(start, _SLICE).to_pylist()

    def column(self, keep: Mask, stored: pa.Array) -> pa.DictionaryArray:
        """What is stored for each text, by the rows to keep."""
        codes = self.rows[keep]
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), stored)


class Log(NamedTuple):
    """The rows with a query, in the order of the file; all arrays of shape (R,).

    Attributes
    ----------
    metadata: the further fields that have a value, as JSON objects.
    times: microseconds since 1970, UTC, or UNKNOWN_TIME.
    empty: rows without a query.
    unreadable_time: the first time that could not be read, and its line.
    """

    texts: Terms
    segments: Terms
    sessions: Terms
    metadata: Terms
    lines: NDArray[np.int64]
    times: NDArray[np.int64]
    counts: NDArray[np.int64]
    empty: int
    unreadable_time: str | None

    @property
    def traffic(self) -> int:
        """The sum of the counts."""
        parts = range(0, len(self.counts), 1_000_000)
        return sum(int(self.counts[start : start + 1_000_000].sum()) for start in parts)


def read_log(records: Records, fields: TrafficFields) -> Log:
    """The columns of a log.

    Raises
    ------
    InputError: the file cannot be read, has counts that are not whole numbers from 1 to LARGEST_COUNT, or
        numeric dates that the order which is said does not allow.
    """
    try:
        return _by_column(records, fields)
    except NotPlain:
        return _by_row(records, fields)


def known_count(text: str) -> int | None:
    """A count that can be taken, or None."""
    number = whole_number(text)
    return number if number is not None and 1 <= number <= LARGEST_COUNT else None


class _Rows:
    """The rows met so far: the parts of each column. `empty` and `unreadable_time` are those of `Log`."""

    def __init__(self) -> None:
        self._columns: list[list[Any]] = [[] for _ in range(7)]
        self.empty = 0
        self.unreadable_time: str | None = None

    def add(self, *parts: Any) -> None:
        """Texts, segments, sessions and metadata of some rows, and their lines, times and counts."""
        for column, part in zip(self._columns, parts, strict=True):
            column.append(part)

    def log(self) -> Log:
        """All rows; nothing is held here afterwards."""
        texts, segments, sessions, metadata = map(_united, self._columns[:4])
        lines, times, counts = map(_joined, self._columns[4:])
        return Log(
            texts, segments, sessions, metadata, lines, times, counts, self.empty, self.unreadable_time
        )


# ── Row by row ──────────────────────────────────────────────────────────────────────────────────


def _by_row(records: Records, fields: TrafficFields) -> Log:
    rows = _Rows()
    for some in batched(_values(records, fields, rows), _SLICE):
        *texts, lines, times, counts = zip(*some, strict=True)
        terms = [pa.array([text or None for text in column], pa.string()) for column in texts]
        numbers = [np.array(column, np.int64) for column in (lines, times, counts)]
        rows.add(*(column.dictionary_encode() for column in terms), *numbers)
    return rows.log()


def _values(records: Records, fields: TrafficFields, rows: _Rows) -> Iterator[tuple[str | int, ...]]:
    """Of each row with a query its text, segment, session and metadata, its line, time and count."""
    names = fields.metadata
    for line, values in records:
        text = text_of(values.get(fields.query or ""))
        if not text or text.isspace():
            rows.empty += 1
            continue
        count = 1 if fields.count is None else known_count(text_of(values.get(fields.count)))
        if count is None:
            _refuse_count(records, line, fields, values)
            continue
        time = _time(rows, line, records, values.get(fields.time) if fields.time else None, fields.date_order)
        segment, session = (
            text_of(values.get(name)).strip() if name else "" for name in (fields.segment, fields.session)
        )
        metadata = _json(names, [text_of(values.get(name)) for name in names]) if names else ""
        yield text, segment, session, metadata, line, time, count


def _json(names: tuple[str, ...], values: list[str]) -> str:
    """The fields with a value as a JSON object; '' where none has one."""
    known = {name: bare for name, value in zip(names, values, strict=True) if (bare := value.strip())}
    return canonical_json(known) if known else ""


def _refuse_count(records: Records, line: int, fields: TrafficFields, values: dict[str, Any]) -> None:
    found = text_of(values.get(fields.count or ""))
    records.problems.add(
        line,
        f"the count in {fields.count!r} is {found!r}; expected a whole number from 1 to {LARGEST_COUNT:,}",
        "Correct these counts, or leave their rows out of the file.",
    )


def _time(rows: _Rows, line: int, records: Records, value: Any, order: str | None) -> int:
    if value is None or value == "":
        return UNKNOWN_TIME
    time = parse_time(value)
    numeric = time is None and order is not None and is_numeric_date(value)
    if numeric and order is not None:
        time = numeric_date(value, order)
    if time is not None:
        return microseconds(time)
    if numeric and order is not None:
        records.problems.add(line, not_in_order(value, order), ASK_FOR_ORDER)
    elif rows.unreadable_time is None:
        rows.unreadable_time = _unreadable(text_of(value), records.unit, line)
    return UNKNOWN_TIME


def _unreadable(text: str, unit: str, line: int) -> str:
    doubt = zone_in_doubt(text.strip())
    return f"{text[:60]!r} on {unit} {line}" + (f" ({doubtful_zone(doubt)})" if doubt else "")


# ── By column ───────────────────────────────────────────────────────────────────────────────────


class _Parts:
    """The blocks read so far, by column."""

    def __init__(self, fields: TrafficFields, unit: str) -> None:
        self._fields, self._unit = fields, unit
        self.rows = _Rows()

    def add(self, block: Block) -> None:
        """Take the rows of a block that have a query."""
        block = self._typed(block)
        texts = block.columns[self._fields.query or ""].dictionary_encode()
        blank = _blank(texts)
        if blank.any():
            self.rows.empty += int(blank.sum())
            kept = pa.array(~blank)
            columns = {name: column.filter(kept) for name, column in block.columns.items()}
            block, texts = Block(block.lines[~blank], columns), texts.filter(kept)
        fields = self._fields
        segments, sessions = (_stripped(block, name) for name in (fields.segment, fields.session))
        metadata = _combined(block, fields.metadata)
        times, counts = self._times(block), _counts(block, fields.count)
        if len(block.lines):
            self.rows.add(texts, segments, sessions, metadata, block.lines, times, counts)

    def _typed(self, block: Block) -> Block:
        """The columns as texts, but for times that are times."""
        time = self._fields.time
        columns = {
            name: column if name == time and is_moment(column.type) else _texts(column)
            for name, column in block.columns.items()
        }
        return Block(block.lines, columns)

    def _times(self, block: Block) -> NDArray[np.int64]:
        if self._fields.time is None:
            return np.full(len(block.lines), UNKNOWN_TIME)
        texts = block.columns[self._fields.time]
        if is_moment(texts.type):
            return self._moments(texts, block)
        times, unread = parse_times(texts)
        if self._fields.date_order is not None and len(unread):
            unread = _take_numeric_dates(times, unread, texts, self._fields.date_order)
        if len(unread):
            self._note_unread(texts[int(unread[0])].as_py(), int(block.lines[unread[0]]))
        return np.where(times == UNREAD, UNKNOWN_TIME, times)

    def _moments(self, column: pa.Array, block: Block) -> NDArray[np.int64]:
        """Times of Parquet, as `times.parse_time` gives them."""
        times, known, odd = microseconds_of(column)
        for row in odd:
            time = parse_time(text := odd_moment(column, row))
            if time is None:
                self._note_unread(text, int(block.lines[row]))
            else:
                times[row], known[row] = microseconds(time), True
        return np.where(known, times, UNKNOWN_TIME)

    def _note_unread(self, text: str, line: int) -> None:
        if self.rows.unreadable_time is None:
            self.rows.unreadable_time = _unreadable(text, self._unit, line)


def _take_numeric_dates(
    times: NDArray[np.int64], unread: NDArray[np.int64], texts: pa.StringArray, order: str
) -> NDArray[np.int64]:
    """Fill in the times of numeric dates; returns the numbers of what is still unread.

    Raises
    ------
    NotPlain: one has no reading in this order, which is a problem of its line.
    """
    found = texts.take(pa.array(unread)).dictionary_encode()
    known = found.dictionary.to_pylist()
    numeric = np.array([is_numeric_date(text) for text in known], bool)
    read = [numeric_date(text, order) for text in known]
    values = np.array([UNREAD if time is None else microseconds(time) for time in read], np.int64)
    if (values[numeric] == UNREAD).any():
        raise NotPlain
    of_rows = found.indices.to_numpy()
    times[unread] = values[of_rows]
    left: NDArray[np.int64] = unread[~numeric[of_rows]]
    return left


def _by_column(records: Records, fields: TrafficFields) -> Log:
    named = (fields.query, fields.time, fields.segment, fields.session, fields.count, *fields.metadata)
    parts, done = _Parts(fields, records.unit), 0
    try:
        for block in _ahead(records.blocks([*dict.fromkeys(name for name in named if name is not None)])):
            parts.add(block)
            done += len(block.lines)
            records.report_progress(done)
    except pa.ArrowException:
        raise NotPlain from None
    records.report_progress(done, done)
    log = parts.rows.log()
    pa.default_memory_pool().release_unused()  # what the blocks took; sorting needs it next
    return log


def _ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """The same blocks, each read while the one before it is taken."""
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, blocks, None)
        while (block := following.result()) is not None:
            following = reader.submit(next, blocks, None)
            yield block


def _texts(column: pa.Array) -> pa.StringArray:
    """A column of Parquet as `values.text_of` gives its values."""
    if not pa.types.is_string(column.type) and not pa.types.is_integer(column.type):
        raise NotPlain
    found = column.cast(pa.string()).fill_null("")
    offsets, signs = text_buffers(found)
    if (signs[offsets[0] : offsets[-1]] == 0).any():
        raise NotPlain
    return found


def _blank(texts: pa.DictionaryArray) -> NDArray[np.bool_]:
    """Which rows hold nothing but white space."""
    values = texts.dictionary
    odd = _bordered_oddly(values)
    blank = np.zeros(len(values), bool)
    blank[odd] = [not text or text.isspace() for text in values.take(pa.array(odd)).to_pylist()]
    of_rows: NDArray[np.bool_] = blank[texts.indices.to_numpy()]
    return of_rows


def _bordered_oddly(values: pa.StringArray) -> NDArray[np.int64]:
    """Numbers of the texts that are empty, or begin or end with something else than a visible ASCII sign."""
    offsets, signs = text_buffers(values)
    full = offsets[1:] > offsets[:-1]
    odd = ~full
    for at in (offsets[:-1][full], offsets[1:][full] - 1):
        odd[full] |= (signs[at] <= 32) | (signs[at] >= 127)
    return np.flatnonzero(odd)


def _stripped(block: Block, name: str | None) -> pa.DictionaryArray:
    """A column's texts without the white space around them; null where nothing is left."""
    if name is None:
        return pa.DictionaryArray.from_arrays(
            pa.nulls(len(block.lines), pa.int32()), pa.array([], pa.string())
        )
    found = block.columns[name].dictionary_encode()
    if not len(_bordered_oddly(found.dictionary)):
        return found
    numbers: dict[str, int] = {}
    bare = (text.strip() for text in found.dictionary.to_pylist())
    mapping = [numbers.setdefault(text, len(numbers)) if text else _NONE for text in bare]
    codes = np.array(mapping, np.int32)[found.indices.to_numpy()]
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(numbers, pa.string()))


def _combined(block: Block, names: tuple[str, ...]) -> pa.DictionaryArray:
    """Each row's further fields as JSON, a combination written once; null where none has a value."""
    if not names:
        return _stripped(block, None)
    columns = [_stripped(block, name) for name in names]
    codes = [column.indices.fill_null(_NONE).to_numpy().astype(np.int64) for column in columns]
    which = np.zeros(len(block.lines), np.int64)
    for column, numbers in zip(columns, codes, strict=True):
        which = np.unique(which * (len(column.dictionary) + 1) + numbers + 1, return_inverse=True)[1]
    first = np.unique(which, return_index=True)[1]
    values = [column.take(pa.array(first)).to_pylist() for column in columns]
    texts = [_json(names, [value or "" for value in row]) for row in zip(*values, strict=True)]
    filled = np.array([bool(text) for text in texts], bool)
    return pa.DictionaryArray.from_arrays(
        pa.array(which.astype(np.int32), mask=~filled[which]), pa.array(texts, pa.string())
    )


def _counts(block: Block, name: str | None) -> NDArray[np.int64]:
    if name is None:
        return np.ones(len(block.lines), np.int64)
    found = block.columns[name].dictionary_encode()
    counts = [known_count(text) for text in found.dictionary.to_pylist()]
    if None in counts:
        raise NotPlain
    of_rows: NDArray[np.int64] = np.array(counts, np.int64)[found.indices.to_numpy()]
    return of_rows


def _united(parts: list[pa.DictionaryArray]) -> Terms:
    """One numbering for the texts of all blocks; the parts are let go of."""
    if not parts:
        return Terms(pa.array([], pa.string()), np.empty(0, np.int32))
    chunks = pa.chunked_array(parts).unify_dictionaries().chunks
    parts.clear()
    rows = np.concatenate([chunk.indices.fill_null(_NONE).to_numpy() for chunk in chunks])
    return Terms(chunks[0].dictionary, rows.astype(np.int32, copy=False))


def _joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    whole: NDArray[np.int64] = np.concatenate(parts) if parts else np.empty(0, np.int64)
    parts.clear()
    return whole
