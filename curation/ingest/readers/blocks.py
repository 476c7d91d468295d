"""Reading of CSV, TSV and Parquet files in blocks of columns.

Reading by blocks is about twenty times as fast as reading row by row. The reference reader is
`records.Records`, which reads row by row and reports problems. Arrow reads a block of lines only if Arrow and
the reference reader must find the same cells: each line has its own line end, no line is blank, and quotes
surround whole cells and occur nowhere else. Python's CSV reader reads all other blocks. A problem or a
replaced character raises NeedsRowReader; the caller then reads the file again with the reference reader,
which reports the problem.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from curation.core.characters import unquote_formula
from curation.ingest.readers.arrow_values import to_plain_column
from curation.ingest.readers.bounds import MAX_LINE_LENGTH, OutOfBoundsError
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.lines import open_unpacked
from curation.ingest.readers.parquet import READ_ERRORS, read_parquet_batches

BLOCK_SIZE = 1 << 25
_PARQUET_ROWS = 1 << 18  # number of Parquet rows in a block
_CONTROL_BLANKS = b"\x0b\x0c\x1c\x1d\x1e\x1f"
_WIDE_BLANKS = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""White-space characters of `str.split` besides spaces, tabs, line ends and `_CONTROL_BLANKS`."""
_BLANKS = re.compile(rb"  +")
_QUOTED_FORMULA = re.compile(rb"'[=+\-@\t\r]")
_MAX_BYTES = 1 << 31  # largest offset of Arrow's strings, in bytes
_BOM = codecs.BOM_UTF8
_ENCODINGS = ("utf-8", "utf-8-sig", "ascii", "iso8859-1", "cp1252")


class NeedsRowReader(Exception):  # noqa: N818 — no error of a person's: a way that is not open
    """Error: the file cannot be read in blocks of columns and must be read row by row."""


class Block(NamedTuple):
    """Rows of a table: the line (from 1) on which each row begins, shape (R,), and the columns.

    Columns of a text file are texts; columns of Parquet keep their types.
    """

    lines: NDArray[np.int64]
    columns: dict[str, pa.Array]


def read_blocks(path: Path, layout: FileLayout, delimiter: str, wanted: Sequence[str]) -> Iterator[Block]:
    """Yield the rows of a table without blank lines, which count as rows only in a one-column table.

    Parameters
    ----------
    layout: layout of the file, with the names of all columns. In the format 'csv' quotes surround cells, and
        in 'tsv' quotes are characters. In 'trec' any white space separates cells, and "#" begins a comment.

    Raises
    ------
    NeedsRowReader: only the reference reader can read this file or report its problem. The error may come
    at any block.
    """
    if codecs.lookup(layout.encoding).name not in _ENCODINGS or not layout.columns:
        raise NeedsRowReader
    try:
        with open_unpacked(path) as data:
            yield from _TableReader(layout, delimiter, wanted, data).blocks()
    except (EOFError, zlib.error, gzip.BadGzipFile, OutOfBoundsError):
        raise NeedsRowReader from None


def read_parquet_blocks(path: Path, wanted: Sequence[str]) -> Iterator[Block]:
    """Yield the rows of a Parquet file, with columns of any type; all text types become plain strings.

    Raises
    ------
    NeedsRowReader: the file cannot be read, or several columns have the same name.
    """
    try:
        row = 1
        for batch in read_parquet_batches(path, _PARQUET_ROWS, [*dict.fromkeys(wanted)]):
            lines = np.arange(row, row + batch.num_rows)
            yield Block(lines, {name: to_plain_column(batch.column(name)) for name in wanted})
            row += batch.num_rows
    except (*READ_ERRORS, KeyError, OutOfBoundsError):
        raise NeedsRowReader from None


class _TableReader:
    """A reader of one text table, with the current line number and the pattern of regular lines."""

    def __init__(self, layout: FileLayout, delimiter: str, wanted: Sequence[str], data: IO[bytes]) -> None:
        self._delimiter, self._wanted, self._data = delimiter, wanted, data
        self._names, self._has_header = layout.columns or (), layout.header
        self._encoding = codecs.lookup(layout.encoding).name
        self._is_quoted, self._is_spaced = layout.format == "csv", layout.format == "trec"
        self._line = 1
        sign = re.escape(delimiter)
        cell = rf'(?:"(?:[^"]++|"")*+"|[^"{sign}\r\n]*+)'
        self._regular = re.compile(rf"(?:{cell}(?:{sign}{cell})*+(?:\r?\n|\Z))*+".encode())

    def blocks(self) -> Iterator[Block]:
        start = self._data.readline(MAX_LINE_LENGTH)
        if self._encoding.startswith("utf-8"):
            start = start.removeprefix(_BOM)
        if self._has_header:
            self._skip_header(start)
            start = b""
        while raw := start + self._data.read(BLOCK_SIZE):
            start = b""
            yield self._parse_block(self._read_whole_rows(raw))

    def _read_whole_rows(self, raw: bytes) -> bytes:
        """Read on to the next line end that is outside a quoted cell, judging by the number of quotes so
        far."""
        chunks = [raw] if raw.endswith(b"\n") else [raw, self._read_rest_of_line()]
        quotes = sum(part.count(b'"') for part in chunks) if self._is_quoted else 0
        extra_bytes = 0
        while quotes % 2 and extra_bytes < BLOCK_SIZE and (line := self._read_rest_of_line()):
            chunks.append(line)
            quotes += line.count(b'"')
            extra_bytes += len(line)
        return b"".join(chunks)

    def _read_rest_of_line(self) -> bytes:
        line = self._data.readline(MAX_LINE_LENGTH)
        if len(line) == MAX_LINE_LENGTH:
            raise NeedsRowReader
        return line

    def _skip_header(self, raw: bytes) -> None:
        text = self._to_utf8(raw).decode()
        if text.count("\r") != text.count("\r\n"):
            raise NeedsRowReader
        try:
            names: list[str] = next(self._csv_reader(iter([text])), [])
        except csv.Error:
            raise NeedsRowReader from None
        if tuple(name.strip() for name in names) != self._names:
            raise NeedsRowReader  # the header continues on the next line, or begins later
        self._line += 1

    def _to_utf8(self, raw: bytes) -> bytes:
        """Return the bytes of the block, converted to UTF-8."""
        if b"\0" in raw:
            raise NeedsRowReader
        if raw.isascii():
            return raw
        try:
            text = raw.decode("utf-8" if self._encoding == "utf-8-sig" else self._encoding)
        except UnicodeDecodeError:
            raise NeedsRowReader from None
        return raw if self._encoding.startswith("utf-8") else text.encode()

    def _csv_reader(self, lines: Iterator[str]) -> Any:
        if self._is_quoted:
            return csv.reader(lines, delimiter=self._delimiter, strict=True)
        return csv.reader(lines, delimiter=self._delimiter, quoting=csv.QUOTE_NONE)

    def _parse_block(self, raw: bytes) -> Block:
        raw = self._to_utf8(raw)
        if len(raw) >= _MAX_BYTES:
            raise NeedsRowReader
        if self._is_spaced:
            return self._parse_spaced_lines(raw)
        block = self._parse_by_arrow(raw) if self._is_regular(raw) else None
        return block or self._parse_by_row(raw)

    def _parse_spaced_lines(self, raw: bytes) -> Block:
        """Return the rows of lines in which the white space between cells was replaced by one space."""
        lines = raw.count(b"\n")
        plain = _normalise_spaces(raw)
        block = self._parse_by_arrow(plain) if self._is_regular(plain) else None
        if block is None:
            raise NeedsRowReader
        self._line += lines - plain.count(b"\n")  # blank lines at the end
        return block

    def _is_regular(self, raw: bytes) -> bool:
        if raw.startswith((b"\n", b"\r\n", _BOM)) or b"\n\n" in raw or b"\n\r\n" in raw:
            return False
        if b"\r" in raw and raw.count(b"\r") != raw.count(b"\r\n"):
            return False
        return not self._is_quoted or b'"' not in raw or self._regular.fullmatch(raw) is not None

    def _parse_by_arrow(self, raw: bytes) -> Block | None:
        """Return the rows as Arrow reads them; None if Arrow does not find exactly one row per line."""
        names = [str(number) for number in range(len(self._names))]
        arrow_names = {name: names[self._names.index(name)] for name in self._wanted}
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(raw),
                pa_csv.ReadOptions(column_names=names, block_size=max(len(raw), 1 << 10) + 1),
                pa_csv.ParseOptions(
                    delimiter=self._delimiter,
                    quote_char='"' if self._is_quoted else False,
                    ignore_empty_lines=False,
                ),
                pa_csv.ConvertOptions(
                    include_columns=list(dict.fromkeys(arrow_names.values())),
                    column_types=dict.fromkeys(arrow_names.values(), pa.string()),
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            return None
        rows = raw.count(b"\n") + (not raw.endswith(b"\n"))
        if table.num_rows != rows:
            return None
        lines = np.arange(self._line, self._line + rows)
        self._line += rows
        columns = {name: table.column(number).combine_chunks() for name, number in arrow_names.items()}
        if self._is_quoted and _QUOTED_FORMULA.search(raw):
            columns = {
                name: pc.replace_substring_regex(column, r"^'('*[=+\-@\t\r])", r"\1")
                for name, column in columns.items()
            }
        return Block(lines, columns)

    def _parse_by_row(self, raw: bytes) -> Block:
        reader = self._csv_reader(io.StringIO(raw.decode(), newline="" if self._is_quoted else None))
        width = len(self._names)
        line_numbers: list[int] = []
        rows: list[list[str]] = []
        row_start = 0
        try:
            for row in reader:
                if len(row) == width:
                    rows.append(row)
                    line_numbers.append(self._line + row_start)
                elif not row and width == 1:
                    rows.append([""])
                    line_numbers.append(self._line + row_start)
                elif row:
                    raise NeedsRowReader
                row_start = reader.line_num
        except csv.Error:
            raise NeedsRowReader from None
        self._line += row_start
        if self._is_quoted:
            rows = [[*map(unquote_formula, row)] for row in rows]
        indexes = {name: self._names.index(name) for name in self._wanted}
        cells = {name: [row[index] for row in rows] for name, index in indexes.items()}
        columns = {name: pa.array(texts, pa.string()) for name, texts in cells.items()}
        return Block(np.array(line_numbers, np.int64), columns)


def _normalise_spaces(raw: bytes) -> bytes:
    """Return the lines with one space between cells, and without trailing blank lines.

    Raises
    ------
    NeedsRowReader: a line has a comment, or white space other than spaces and tabs.
    """
    if raw.startswith(b"#") or b"\n#" in raw or any(blank in raw for blank in _CONTROL_BLANKS):
        raise NeedsRowReader
    if not raw.isascii() and _WIDE_BLANKS.search(raw.decode()):
        raise NeedsRowReader
    if b"\r" in raw:
        if raw.count(b"\r") != raw.count(b"\r\n"):
            raise NeedsRowReader
        raw = raw.replace(b"\r\n", b"\n")
    raw = raw.replace(b"\t", b" ")
    if b"  " in raw:
        raw = _BLANKS.sub(b" ", raw)
    raw = raw.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")
    return raw.rstrip(b"\n") + b"\n" if raw.endswith(b"\n") else raw
