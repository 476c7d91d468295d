"""Limits on the cells of a spreadsheet, checked before the calamine library reads the file.

Calamine allocates all cells from the first to the last, so that a cell at XFD1048576 would need 550 GB and
end the process. Therefore calamine reads a copy of the XML parts, after a check that their cells are within
the limits.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from curation.ingest.readers.bounds import OutOfBoundsError, open_zip, read_part

MAX_CELLS = 5_000_000
"""Greatest number of cells in a sheet and of texts in a file, which need 450 MB and 15 seconds."""
_REFERENCE = re.compile(r"([A-Za-z]{0,3})([0-9]{1,7})")
_ROWS, _COLUMNS = 1_048_576, 16_384


class BrokenSheetError(Exception):
    """Error: a spreadsheet is damaged; the message is a clause about the damage."""


def copy_checked_parts(path: Path) -> io.BytesIO:
    """Return the XML parts of a spreadsheet as a new zip archive.

    Raises
    ------
    OutOfBoundsError: the file unpacks to more bytes than the limit, or its cells are too far apart.
    BrokenSheetError, BadZipFile, and other errors of `zipfile`: the file is damaged.
    """
    copy = io.BytesIO()
    with open_zip(path) as archive, zipfile.ZipFile(copy, "w") as archive_copy:
        for part in archive.infolist():
            if part.filename.lower().endswith((".xml", ".rels")):
                content = read_part(archive, part)
                _PartChecker(part.filename).check(content)
                archive_copy.writestr(part.filename, content)
    copy.seek(0)
    return copy


class _PartChecker:
    """A checker of one XML part of a spreadsheet, which counts rows and columns as calamine does."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._row = self._column = 0  # position of the next cell, if the cell has no reference
        self._cell = (0, 0)
        self._depth = 0  # number of open elements, from the cell on
        self._cells = self._height = self._right = 0
        self._left = _COLUMNS

    def check(self, content: bytes) -> None:
        """Check an XML part of a spreadsheet, and raise an error if it has a problem."""
        parser = expat.ParserCreate("UTF-8")
        parser.StartElementHandler, parser.EndElementHandler = self._start_element, self._end_element
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        try:
            parser.Parse(content, True)
        except expat.ExpatError as error:
            raise BrokenSheetError(f"{self._name} is damaged: {error}") from error

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        if self._depth:
            self._depth += 1
            if self._depth == 2:
                self._count_cell()
            return
        name, reference = tag.rpartition(":")[2], attributes.get("r")
        if name == "row" and reference is not None:
            self._row, _ = self._parse_reference(reference)
        elif name == "c":
            self._cell = (self._row, self._column)
            if reference is not None:
                self._cell = self._parse_reference(reference)
            self._column = self._cell[1]
            self._depth = 1
        elif name == "sst" and int(attributes.get("uniqueCount") or 0) > MAX_CELLS:
            raise OutOfBoundsError(f"declares more than {MAX_CELLS:,} texts")

    def _end_element(self, tag: str) -> None:
        if self._depth:
            self._depth -= 1
            self._column += not self._depth
        elif tag.rpartition(":")[2] == "row":
            self._row, self._column = self._row + 1, 0

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise BrokenSheetError(f"{self._name} has a DOCTYPE, which is not allowed in a spreadsheet")

    def _parse_reference(self, text: str) -> tuple[int, int]:
        """Return the row and column (from 0) of a reference such as B7; the column of a whole row is -1."""
        match = _REFERENCE.fullmatch(text)
        row, column = (int(match[2]), _column_number(match[1])) if match else (0, 0)
        if not 1 <= row <= _ROWS or column > _COLUMNS:
            raise BrokenSheetError(f"{self._name} refers to the cell {text[:20]!r}, which no sheet can have")
        return row - 1, column - 1

    def _count_cell(self) -> None:
        """Count a cell, and check the size of the rectangle of cells that calamine would allocate."""
        row, column = self._cell
        self._cells += 1
        self._height = max(self._height, row + 1)
        self._left, self._right = min(self._left, column), max(self._right, column + 1)
        if max(self._cells, self._height * (self._right - self._left)) > MAX_CELLS:
            problem = f"has a cell in row {row + 1:,} and column {column + 1:,}"
            raise OutOfBoundsError(f"{problem}, which makes a sheet of more than {MAX_CELLS:,} cells")


def _column_number(letters: str) -> int:
    """Return a column's number from its letters: 1 for A; 0 if there are no letters."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
