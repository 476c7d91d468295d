"""Reading of a query log as columns, with each distinct text once.

A plain CSV, TSV or Parquet is read in blocks (`ingest.readers.blocks`), about twenty times as fast as row by
row. Rows of other files are collected into blocks of texts. In each block, each distinct text is processed
once, and all times are parsed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.digests import canonical_json
from curation.core.errors import InputError
from curation.core.statistics.arrays import Ints, Mask
from curation.ingest.importers.traffic.cleaning import UNKNOWN_TIME
from curation.ingest.readers.arrow_values import column_to_microseconds, format_odd_time, is_time_type
from curation.ingest.readers.blocks import Block, NeedsRowReader
from curation.ingest.readers.fields import TrafficFields
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.record_source import Record
from curation.ingest.readers.records import Records
from curation.ingest.readers.time_columns import UNREAD, parse_times
from curation.ingest.readers.times import (
    ASK_FOR_ORDER,
    describe_wrong_order,
    is_numeric_date,
    parse_numeric_date,
    parse_time,
    to_microseconds,
)
from curation.ingest.readers.values import parse_whole_number, to_text

MAX_COUNT = 10**12
"""Greatest count of a row; the counts of a million rows still sum to a 64-bit number."""
_SLICE = 100_000
_COUNTS = "Correct these counts, or leave their rows out of the file."
NONE = -1
"""Text number of a row without a text."""


@dataclass(frozen=True)
class Terms:
    """Distinct texts, shape (T,), and the number of each row's text, shape (R,), where -1 means no text."""

    texts: pa.StringArray
    rows: NDArray[np.int32]

    def __iter__(self) -> Iterator[str]:
        """Yield the distinct texts one by one, keeping only one slice of them in memory as Python texts."""
        for start in range(0, len(self.texts), _SLICE):
            yield from self.texts.slice(start, _SLICE).to_pylist()

    def column(self, keep: Mask, stored: pa.Array) -> pa.DictionaryArray:
        """Return a column with each kept row's text, in the form in which the project stores it."""
        codes = self.rows[keep]
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), stored)


class Log(NamedTuple):
    """The rows of a query log that have a query, in the order of the file; all arrays have shape (R,).

    Attributes
    ----------
    metadata: further fields with values, as JSON objects.
    times: microseconds since 1970, UTC, or UNKNOWN_TIME.
    empty: number of rows without a query.
    unreadable_time: first time that could not be read, with its line.
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
        """Return the sum of the counts of all rows."""
        parts = range(0, len(self.counts), 1_000_000)
        return sum(int(self.counts[start : start + 1_000_000].sum()) for start in parts)


def read_log(records: Records, fields: TrafficFields) -> Log:
    """Read a query log as columns, with each distinct text once.

    Raises
    ------
    InputError: the file cannot be read, a count is not a whole number from 1 to MAX_COUNT, or a numeric date
    does not fit the stated order of day and month.
    """
    try:
        return read_by_block(records, fields)
    except NeedsRowReader:
        return read_by_row(records, fields)


def read_by_block(records: Records, fields: TrafficFields) -> Log:
    """Read the query log in blocks of rows.

    Raises
    ------
    NeedsRowReader: the rows have to be read one by one, or the file has a problem.
    """
    parts, done = _LogBuilder(fields, records.unit, None), 0
    try:
        for block in _read_ahead(records.blocks(_column_names(fields))):
            parts.add(to_text_block(block, fields))
            done += len(block.lines)
            records.report_progress(done)
    except pa.ArrowException:
        raise NeedsRowReader from None
    records.report_progress(done, done)
    log = parts.log()
    pa.default_memory_pool().release_unused()  # memory of the blocks, for the sorting that follows
    return log


def read_by_row(records: Records, fields: TrafficFields) -> Log:
    """Read the query log row by row; see `read_log` for the errors raised."""
    parts = _LogBuilder(fields, records.unit, records.problems)
    for block in _read_row_blocks(records, _column_names(fields)):
        parts.add(block)
    records.problems.check()
    return parts.log()


def parse_count(text: str) -> int | None:
    """Return the count in a text; None if the text is not a valid count."""
    number = parse_whole_number(text)
    return number if number is not None and 1 <= number <= MAX_COUNT else None


def _column_names(fields: TrafficFields) -> list[str]:
    names = (fields.query, fields.time, fields.segment, fields.session, fields.count, *fields.metadata)
    return [*dict.fromkeys(name for name in names if name is not None)]


def to_text_block(block: Block, fields: TrafficFields) -> Block:
    """Return a block with its columns converted to texts, except for a column of times."""
    columns = {
        name: column if name == fields.time and is_time_type(column.type) else to_plain_texts(column)
        for name, column in block.columns.items()
    }
    return Block(block.lines, columns)


def _read_row_blocks(records: Records, names: Sequence[str]) -> Iterator[Block]:
    rows: list[Record] = []
    with suppress(InputError):  # recorded in the file's problems and raised with the other problems
        for record in records:
            rows.append(record)
            if len(rows) == _SLICE:
                yield _make_block(rows, names)
                rows.clear()
    if rows:
        yield _make_block(rows, names)


def _make_block(rows: Sequence[Record], names: Sequence[str]) -> Block:
    columns = {name: _make_text_array([to_text(row.fields.get(name)) for row in rows]) for name in names}
    return Block(np.array([row.line for row in rows], np.int64), columns)


def _make_text_array(texts: list[str]) -> pa.StringArray:
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:  # bytes of another encoding, which are among the file's problems
        return pa.array([text.encode(errors="replace").decode() for text in texts], pa.string())


class _LogBuilder:
    """Parts of each column of a query log, collected from the blocks read so far.

    Parameters
    ----------
    problems: problems of the file; None if a problem means that rows have to be read one by one.
    """

    def __init__(self, fields: TrafficFields, unit: str, problems: Problems | None) -> None:
        self._fields, self._unit, self._problems = fields, unit, problems
        self._column_parts: list[list[Any]] = [[] for _ in range(7)]
        self._empty = 0
        self._unreadable_time: str | None = None

    def add(self, block: Block) -> None:
        """Add those rows of a block that have a query."""
        texts = block.columns[self._fields.query or ""].dictionary_encode()
        is_blank = find_blank_rows(texts)
        if is_blank.any():
            self._empty += int(is_blank.sum())
            is_kept = pa.array(~is_blank)
            columns = {name: column.filter(is_kept) for name, column in block.columns.items()}
            block, texts = Block(block.lines[~is_blank], columns), texts.filter(is_kept)
        fields = self._fields
        segments, sessions = (strip_column(block, name) for name in (fields.segment, fields.session))
        metadata = combine_fields(block, fields.metadata)
        counts, times = self._read_counts(block), self._read_times(block)
        if len(block.lines):
            parts = (texts, segments, sessions, metadata, block.lines, times, counts)
            for column, values in zip(self._column_parts, parts, strict=True):
                column.append(values)

    def log(self) -> Log:
        """Return all rows of the query log, and release the collected parts' memory."""
        texts, segments, sessions, metadata = map(_join_texts, self._column_parts[:4])
        lines, times, counts = map(_join_numbers, self._column_parts[4:])
        numbers = (lines, times, counts, self._empty, self._unreadable_time)
        return Log(texts, segments, sessions, metadata, *numbers)

    def _note(self, line: int, problem: str, way_out: str) -> None:
        if self._problems is None:
            raise NeedsRowReader
        self._problems.add(line, problem, way_out)

    def _read_counts(self, block: Block) -> Ints:
        name = self._fields.count
        if name is None:
            return np.ones(len(block.lines), np.int64)
        texts = block.columns[name].dictionary_encode()
        distinct_counts = [parse_count(text) or 0 for text in texts.dictionary.to_pylist()]
        counts: Ints = np.array(distinct_counts, np.int64)[texts.indices.to_numpy()]
        for row in np.flatnonzero(counts == 0).tolist():
            text = block.columns[name][row].as_py()
            expected = f"expected a whole number from 1 to {MAX_COUNT:,}"
            self._note(int(block.lines[row]), f"the count in {name!r} is {text!r}; {expected}", _COUNTS)
        return counts

    def _read_times(self, block: Block) -> Ints:
        if self._fields.time is None:
            return np.full(len(block.lines), UNKNOWN_TIME)
        texts = block.columns[self._fields.time]
        if is_time_type(texts.type):
            return self._read_parquet_times(texts, block)
        times, unread = parse_times(texts)
        if self._fields.date_order is not None and len(unread):
            unread = self._fill_numeric_dates(times, unread, block, self._fields.date_order)
        if len(unread):
            self._note_unread(texts[int(unread[0])].as_py(), int(block.lines[unread[0]]))
        return np.where(times == UNREAD, UNKNOWN_TIME, times)

    def _read_parquet_times(self, column: pa.Array, block: Block) -> Ints:
        """Return the times of a Parquet column in the form returned by `times.parse_time`."""
        times, is_known, odd_rows = column_to_microseconds(column)
        for row in odd_rows:
            time = parse_time(text := format_odd_time(column, row))
            if time is None:
                self._note_unread(text, int(block.lines[row]))
            else:
                times[row], is_known[row] = to_microseconds(time), True
        return np.where(is_known, times, UNKNOWN_TIME)

    def _note_unread(self, text: str, line: int) -> None:
        if self._unreadable_time is None:
            self._unreadable_time = f"{text[:60]!r} on {self._unit} {line}"

    def _fill_numeric_dates(self, times: Ints, unread: Ints, block: Block, order: str) -> Ints:
        """Fill in the times of numeric dates; return the row numbers whose times are still unread."""
        dates = block.columns[self._fields.time or ""].take(pa.array(unread)).dictionary_encode()
        distinct_texts = dates.dictionary.to_pylist()
        is_numeric = np.array([is_numeric_date(text) for text in distinct_texts], bool)
        parsed = [parse_numeric_date(text, order) for text in distinct_texts]
        values = np.array([UNREAD if time is None else to_microseconds(time) for time in parsed], np.int64)
        codes = dates.indices.to_numpy()
        times[unread] = values[codes]
        for row in np.flatnonzero((is_numeric & (values == UNREAD))[codes]).tolist():
            line = int(block.lines[unread[row]])
            self._note(line, describe_wrong_order(distinct_texts[codes[row]], order), ASK_FOR_ORDER)
        still_unread: Ints = unread[~is_numeric[codes]]
        return still_unread


def _read_ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the blocks unchanged, while a thread already reads the next block."""
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, blocks, None)
        while (block := following.result()) is not None:
            following = reader.submit(next, blocks, None)
            yield block


def _join_texts(parts: list[pa.DictionaryArray]) -> Terms:
    """Number the distinct texts of all blocks together, and release the parts' memory."""
    if not parts:
        return Terms(pa.array([], pa.string()), np.empty(0, np.int32))
    chunks = pa.chunked_array(parts).unify_dictionaries().chunks
    parts.clear()
    rows = np.concatenate([chunk.indices.fill_null(NONE).to_numpy() for chunk in chunks])
    return Terms(chunks[0].dictionary, rows.astype(np.int32, copy=False))


def _join_numbers(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    joined: NDArray[np.int64] = np.concatenate(parts) if parts else np.empty(0, np.int64)
    parts.clear()
    return joined


def to_plain_texts(column: pa.Array) -> pa.StringArray:
    """Return a Parquet column as texts, in the form returned by `values.to_text`."""
    if not pa.types.is_string(column.type) and not pa.types.is_integer(column.type):
        raise NeedsRowReader
    texts = column.cast(pa.string()).fill_null("")
    if pc.any(pc.match_substring(texts, "\0")).as_py():
        raise NeedsRowReader
    return texts


def find_blank_rows(texts: pa.DictionaryArray) -> Mask:
    """Return which rows hold nothing but white space."""
    is_blank = pc.equal(pc.utf8_trim_whitespace(texts.dictionary), "").take(texts.indices)
    return np.asarray(is_blank.to_numpy(zero_copy_only=False), bool)


def strip_column(block: Block, name: str | None) -> pa.DictionaryArray:
    """Return the texts of a column without surrounding white space; null if a text is only white space."""
    if name is None:
        return pa.nulls(len(block.lines), pa.string()).dictionary_encode()
    texts = pc.utf8_trim_whitespace(block.columns[name])
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts).dictionary_encode()


def combine_fields(block: Block, names: tuple[str, ...]) -> pa.DictionaryArray:
    """Return the further fields of each row as JSON text; null if a row has no values."""
    if not names:
        return strip_column(block, None)
    columns = [strip_column(block, name) for name in names]
    codes = [column.indices.fill_null(NONE).to_numpy().astype(np.int64) for column in columns]
    keys = np.zeros(len(block.lines), np.int64)
    for column, numbers in zip(columns, codes, strict=True):
        keys = np.unique(keys * (len(column.dictionary) + 1) + numbers + 1, return_inverse=True)[1]
    first_rows = np.unique(keys, return_index=True)[1]
    values = [column.take(pa.array(first_rows)).to_pylist() for column in columns]
    texts = [_fields_json(names, [value or "" for value in row]) for row in zip(*values, strict=True)]
    is_filled = np.array([bool(text) for text in texts], bool)
    return pa.DictionaryArray.from_arrays(
        pa.array(keys.astype(np.int32), mask=~is_filled[keys]), pa.array(texts, pa.string())
    )


def _fields_json(names: tuple[str, ...], values: list[str]) -> str:
    """Return the non-empty fields as a JSON object; '' if all fields are empty."""
    filled = {name: text for name, value in zip(names, values, strict=True) if (text := value.strip())}
    return canonical_json(filled) if filled else ""
