"""How a file is read: its format, by its name or its beginning, its encoding and its delimiter; and the rows
of CSV, TSV and TREC's qrels.

A row is the line on which it begins and its cells by name. A row with more or fewer cells than the header is
noted as a problem.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.characters import unquote_formula
from curation.core.text import pluralize
from curation.ingest.readers import trec
from curation.ingest.readers.bounds import MAX_LINE_LENGTH
from curation.ingest.readers.lines import text_lines
from curation.ingest.readers.problems import Problems

FORMATS = ("jsonl", "csv", "tsv", "parquet", "xlsx", "qrels", "trec", "smart")
QRELS_COLUMNS = ("query", "iteration", "document", "grade")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".qrels": "qrels",
}
_SEPARATOR = re.compile(r'\s*"?sep=([^"\r\n])"?\s*', re.IGNORECASE)

Row = tuple[int, dict[str, Any]]
_DELIMITERS = ",;\t|"
_CASE = ("query", "docid", "rating")
"""Header of a case of Quepid, in which a query without ratings is a line of one cell."""


class FileLayout(NamedTuple):
    """Format, encoding and columns of a file; a format of None is found from the file.

    Attributes
    ----------
    columns: names of the columns of a table without a header (`header` False).
    """

    format: str | None = None
    encoding: str = "utf-8"
    columns: tuple[str, ...] | None = None
    header: bool = True


def find_format(path: Path, layout: FileLayout, problems: Problems) -> str:
    """Return the format of a file: the requested format, or the format by the file's name or beginning.

    Raises
    ------
    InputError: the requested format is unknown, or the file shows no format.
    """
    if layout.format is not None:
        if layout.format not in FORMATS:
            problems.stop(f"there is no format {layout.format!r}", f"Formats: {', '.join(FORMATS)}.")
        return layout.format
    format = _SUFFIXES.get(suffix_of(path)) or _format_of_content(path, layout)
    if format is None:
        problems.stop(
            "neither its name nor its beginning tells what format it is in",
            f"Name it with --format ({', '.join(FORMATS)}).",
        )
    return format


def suffix_of(path: Path) -> str:
    """Return the ending of a file's name in small letters, without .gz."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def check_layout(format: str, layout: FileLayout, problems: Problems) -> None:
    """Refuse names of columns for a format without such names, and a table without a header and names."""
    if format in ("csv", "tsv"):
        if layout.columns is None and not layout.header:
            problems.stop("--no-header needs the columns' names", "Give them as --columns time,query.")
        if layout.columns is not None and layout.header:
            problems.stop(
                "--columns is for a file that does not name its columns", "Give --no-header with it."
            )
    elif layout.columns is not None or not layout.header:
        problems.stop(f"is {format}, where --columns and --no-header have no meaning")


def separator_of(line: str) -> str:
    """Return the delimiter that Excel's line `sep=;` names; '' for other lines."""
    match = _SEPARATOR.fullmatch(line)
    return match[1] if match else ""


def _format_of_content(path: Path, layout: FileLayout) -> str | None:
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return "parquet"
    ignored = Problems(path)  # reading the file reports them
    lines = text_lines(path, layout.encoding, ignored, Counter())
    start = [line.rstrip("\n") for line in islice(lines, 20) if not line.isspace()]
    if not start:
        return "jsonl"
    if sign := separator_of(start[0]):
        return "tsv" if sign == "\t" else "csv"
    if trec.BEGINNING.match(start[0]):
        return "trec"
    if start[0].startswith(".I"):
        return "smart"
    if start[0].lstrip().startswith(("{", "[")):
        return "jsonl"
    if layout.columns is not None and len(layout.columns) == 1:
        return "tsv"
    if _even(line.count("\t") for line in start):
        return "tsv"
    if all(map(_is_qrel, (line for line in start if not line.startswith("#")))):
        return "qrels"
    return "csv" if _even(len(row) - 1 for row in csv.reader(start)) else None


def _even(counts: Iterable[int]) -> bool:
    """Return whether all lines have the same number of delimiters, which is not 0."""
    numbers = set(counts)
    return len(numbers) == 1 and numbers != {0}


def _is_qrel(line: str) -> bool:
    cells = line.split()
    return len(cells) == len(QRELS_COLUMNS) and cells[-1].lstrip("-").isdecimal()


def beir_file(path: Path, name: str) -> Path:
    """Return the file `name` (or `name`.gz) of a BEIR folder; return other paths as they are."""
    if not path.is_dir():
        return path
    for candidate in (path / name, path / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    way_out = f"Expected a file, or a BEIR folder with {name} in it."
    return Problems(path).stop(f"is a folder without {name}", way_out)


csv.field_size_limit(MAX_LINE_LENGTH)  # a document may be larger than the 128 KB that the module allows


class TextTable:
    """Rows of a CSV or TSV file.

    Attributes
    ----------
    delimiter: known when the first row is read.
    """

    def __init__(self, lines: Iterator[str], format: str, layout: FileLayout, problems: Problems) -> None:
        self._lines, self._is_csv, self._columns = lines, format == "csv", layout.columns
        self._problems = problems
        self.delimiter = "\t"

    def __iter__(self) -> Iterator[Row]:
        begin = _up_to_text(self._lines)
        sign = separator_of(begin[-1]) if begin else ""
        if sign:
            begin[-1] = "\n"
        reader = self._reader(chain(begin, self._lines), begin[-1] if begin else "", sign)
        rows = _numbered(reader, self._problems)
        names = self._columns or self._header(rows)
        width = len(names)
        for number, row in rows:
            row = [unquote_formula(cell) for cell in row] if self._is_csv else row
            if len(row) == 1 and tuple(names) == _CASE:
                row = [row[0], "", ""]
            if len(row) == width:
                yield number, dict(zip(names, row, strict=True))
            elif row:
                more = "…" if width > 8 else ""
                expected = f"expected {width} ({', '.join(names[:8])}{more})"
                self._problems.add(number, f"{pluralize(len(row), 'cell')}, {expected}")
            elif width == 1 and not (sign and number == len(begin)):
                yield number, {names[0]: ""}

    def _reader(self, lines: Iterable[str], first: str, sign: str) -> Any:
        if not self._is_csv:
            return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)
        self.delimiter = sign or _delimiter(first, self._columns)
        return csv.reader(lines, delimiter=self.delimiter, strict=True)

    def _header(self, rows: Iterator[tuple[int, list[str]]]) -> tuple[str, ...]:
        filled = (row for _, row in rows if len(row) > 1 or any(map(str.strip, row)))
        names = tuple(name.strip() for name in next(filled, []))
        refuse_names_twice(names, self._problems)
        return names


def qrels_rows(lines: Iterable[str], problems: Problems) -> Iterator[Row]:
    """Yield the lines of TREC's qrels, without blank lines and comments."""
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) == len(QRELS_COLUMNS):
            yield number, dict(zip(QRELS_COLUMNS, cells, strict=True))
        else:
            problems.add(number, f"{pluralize(len(cells), 'cell')}, expected 4 ({', '.join(QRELS_COLUMNS)})")


def refuse_names_twice(names: Iterable[str], problems: Problems) -> None:
    """Refuse a file with two columns of one name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        problem = f"the header names {', '.join(map(repr, twice))} more than once"
        problems.stop(problem, "Give each column its own name.")


def _up_to_text(lines: Iterator[str]) -> list[str]:
    """Return the lines up to the first line that is not blank."""
    begin: list[str] = []
    for line in lines:
        begin.append(line)
        if line.strip():
            break
    return begin


def _delimiter(first: str, columns: Sequence[str] | None) -> str:
    """Return the delimiter of a CSV: it gives as many cells as columns, or its header has it."""
    for delimiter in _DELIMITERS:
        if columns is not None and len(next(csv.reader([first], delimiter=delimiter), [])) == len(columns):
            return delimiter
        if columns is None and delimiter in first:
            return delimiter
    return ","


def _numbered(reader: Any, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV reader with the line on which each begins; rows that cannot be read are
    problems.
    """
    line = 0
    while True:
        try:
            for row in reader:
                begin, line = line + 1, reader.line_num
                yield begin, row
            return
        except csv.Error as error:
            reason = "its quoted cell is never closed" if "end of data" in str(error) else str(error)
            problems.add(line + 1, f"broken CSV: {reason}", 'Inside quotes, a quote is written twice: "".')
            line = reader.line_num
