"""Tables of text as rows: CSV and TSV with or without a header, and TREC's qrels.

A row is the line on which it begins and its cells by name. What has more or fewer cells than the header is
noted as a problem.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from curation.core.text import amount, unquote_formula
from curation.ingest.readers.bounds import LONGEST_LINE
from curation.ingest.readers.formats import QRELS_COLUMNS, FileLayout, separator_of
from curation.ingest.readers.problems import Problems

Row = tuple[int, dict[str, Any]]
_DELIMITERS = ",;\t|"
_CASE = ("query", "docid", "rating")
"""Header of a case of Quepid, where a query that nobody rated is a line of one cell."""
csv.field_size_limit(LONGEST_LINE)  # a document may be larger than the 128 KB that the module allows


class TextTable:
    """The rows of a CSV or TSV.

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
                self._problems.add(number, f"{amount(len(row), 'cell')}, {expected}")
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
    """The lines of TREC's qrels; empty ones and comments are passed over."""
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) == len(QRELS_COLUMNS):
            yield number, dict(zip(QRELS_COLUMNS, cells, strict=True))
        else:
            problems.add(number, f"{amount(len(cells), 'cell')}, expected 4 ({', '.join(QRELS_COLUMNS)})")


def refuse_names_twice(names: Iterable[str], problems: Problems) -> None:
    """Stop with a sentence where two columns have one name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        found = f"the header names {', '.join(map(repr, twice))} more than once"
        problems.stop(found, "Give each column its own name.")


def _up_to_text(lines: Iterator[str]) -> list[str]:
    """The lines up to the first that is not blank."""
    begin: list[str] = []
    for line in lines:
        begin.append(line)
        if line.strip():
            break
    return begin


def _delimiter(first: str, columns: Sequence[str] | None) -> str:
    """The delimiter of a CSV: the one that gives as many cells as columns, or that its header holds."""
    for delimiter in _DELIMITERS:
        if columns is not None and len(next(csv.reader([first], delimiter=delimiter), [])) == len(columns):
            return delimiter
        if columns is None and delimiter in first:
            return delimiter
    return ","


def _numbered(reader: Any, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV reader with the line on which each begins; rows that cannot be read are problems."""
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
