"""The rows of text tables: CSV, TSV and TREC's qrels.

Each row is given with the number of its first line, and its cells by column name. A row with more or fewer
cells than the header is reported as a problem.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from curation.core.characters import unquote_formula
from curation.core.text import pluralize
from curation.ingest.readers.bounds import MAX_LINE_LENGTH
from curation.ingest.readers.problems import Problems

QRELS_COLUMNS = ("query", "iteration", "document", "grade")
Row = tuple[int, dict[str, Any]]
_SEPARATOR = re.compile(r'\s*"?sep=([^"\r\n])"?\s*', re.IGNORECASE)

_DELIMITERS = ",;\t|"
_NO_VALUE = re.compile(r'^"?\(not set\)"?,|,"?Grand total"?\s*$')
_QUEPID_HEADER = ("query", "docid", "rating")
"""Header of an exported case of the tool Quepid, in which a query without ratings is a line of one cell."""


def find_separator(line: str) -> str:
    """Return the delimiter in a line such as Excel's `sep=;`; '' for other lines."""
    match = _SEPARATOR.fullmatch(line)
    return match[1] if match else ""


csv.field_size_limit(MAX_LINE_LENGTH)  # a document may be larger than the 128 KB that the module allows


class TextTable:
    """The rows of a CSV or TSV file.

    Attributes
    ----------
    delimiter: delimiter between cells, known after the first row was read.

    Parameters
    ----------
    columns: names of the columns of a table without a header.
    """

    def __init__(
        self, lines: Iterator[str], is_csv: bool, columns: Sequence[str] | None, problems: Problems
    ) -> None:
        self._lines = lines
        self._is_csv = is_csv
        self._columns = columns
        self._problems = problems
        self.delimiter = "\t"

    def __iter__(self) -> Iterator[Row]:
        beginning = _read_up_to_text(self._lines)
        if self._is_csv and beginning and beginning[-1].startswith("# ---"):
            beginning, self._lines = _skip_comments([*beginning, *self._lines])
        mark = find_separator(beginning[-1]) if beginning else ""
        if mark:
            beginning[-1] = "\n"
        reader = self._csv_reader(chain(beginning, self._lines), beginning[-1] if beginning else "", mark)
        rows = _number_rows(reader, self._problems)
        names = self._columns or self._read_header(rows)
        width = len(names)
        for number, row in rows:
            row = [unquote_formula(cell) for cell in row] if self._is_csv else row
            if len(row) == 1 and tuple(names) == _QUEPID_HEADER:
                row = [row[0], "", ""]
            if len(row) == width:
                yield number, dict(zip(names, row, strict=True))
            elif row:
                more = "…" if width > 8 else ""
                expected = f"expected {width} ({', '.join(names[:8])}{more})"
                self._problems.add(number, f"{pluralize(len(row), 'cell')}, {expected}")
            elif width == 1 and not (mark and number == len(beginning)):
                yield number, {names[0]: ""}

    def _csv_reader(self, lines: Iterable[str], first: str, separator: str) -> Any:
        if not self._is_csv:
            return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)
        self.delimiter = separator or _find_delimiter(first, self._columns)
        return csv.reader(lines, delimiter=self.delimiter, strict=True)

    def _read_header(self, rows: Iterator[tuple[int, list[str]]]) -> tuple[str, ...]:
        filled = (row for _, row in rows if len(row) > 1 or any(map(str.strip, row)))
        names = tuple(name.strip() for name in next(filled, []))
        refuse_names_twice(names, self._problems)
        return names


def read_qrels_rows(lines: Iterable[str], problems: Problems) -> Iterator[Row]:
    """Yield the lines of a qrels file in TREC's format, leaving out blank lines and comments."""
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) == len(QRELS_COLUMNS):
            yield number, dict(zip(QRELS_COLUMNS, cells, strict=True))
        else:
            problems.add(number, f"{pluralize(len(cells), 'cell')}, expected 4 ({', '.join(QRELS_COLUMNS)})")


def refuse_names_twice(names: Iterable[str], problems: Problems) -> None:
    """Reject a table that has two columns with the same name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        problem = f"the header names {', '.join(map(repr, twice))} more than once"
        problems.stop(problem, "Give each column its own name.")


def _read_up_to_text(lines: Iterator[str]) -> list[str]:
    """Return the lines up to and including the first line that is not blank."""
    first_lines: list[str] = []
    for line in lines:
        first_lines.append(line)
        if line.strip():
            break
    return first_lines


def _skip_comments(lines: list[str]) -> tuple[list[str], Iterator[str]]:
    """Return the lines up to the header of the file's last table, and this table's rows.

    Google Analytics writes comments before each table of a CSV file. The comments become blank lines, and so
    do the rows of the total and of unknown values.
    """
    comments = max(number for number, line in enumerate(lines, 1) if line.startswith("#"))
    table = iter(["\n" if _NO_VALUE.search(line) else line for line in lines[comments:]])
    return ["\n"] * comments + _read_up_to_text(table), table


def _find_delimiter(first: str, columns: Sequence[str] | None) -> str:
    """Return a CSV file's delimiter: the character that yields as many cells as columns, or that the header
    contains."""
    for delimiter in _DELIMITERS:
        if columns is not None and len(next(csv.reader([first], delimiter=delimiter), [])) == len(columns):
            return delimiter
        if columns is None and delimiter in first:
            return delimiter
    return ","


def _number_rows(reader: Any, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield a CSV reader's rows with the numbers of their first lines; unreadable rows become problems."""
    line = 0
    while True:
        try:
            for row in reader:
                first_line, line = line + 1, reader.line_num
                yield first_line, row
            return
        except csv.Error as error:
            reason = "the quoted cell has no closing quote" if "end of data" in str(error) else str(error)
            problems.add(line + 1, f"broken CSV: {reason}", 'Inside quotes, write a quote twice: "".')
            line = reader.line_num
