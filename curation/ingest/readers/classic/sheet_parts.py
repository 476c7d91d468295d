"""The parts of a spreadsheet, looked through before calamine reads them.

Calamine lays out all cells from the first to the last, so a cell at XFD1048576 needs 550 GB, and a process
that cannot have them is ended. It is handed a copy of the parts that are XML, with cells within bounds.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from curation.ingest.readers.bounds import OutOfBoundsError, open_zip, read_part

MOST_CELLS = 5_000_000
"""Cells of a sheet, those without a value included, and texts of a file: 450 MB and 15 seconds."""
_PLACE = re.compile(r"([A-Za-z]{0,3})([0-9]{1,7})")
_ROWS, _COLUMNS = 1_048_576, 16_384


class BrokenSheetError(Exception):
    """The file is damaged; the message is a part of a sentence."""


def checked_copy(path: Path) -> io.BytesIO:
    """The parts of a spreadsheet that are XML, as a zip.

    Raises
    ------
    OutOfBoundsError: it unpacks to too much, or its cells are too far apart. BrokenSheetError, BadZipFile,
        and what else `zipfile` raises: it is damaged.
    """
    copy = io.BytesIO()
    with open_zip(path) as archive, zipfile.ZipFile(copy, "w") as whole:
        for part in archive.infolist():
            if part.filename.lower().endswith((".xml", ".rels")):
                content = read_part(archive, part)
                _SheetPart(part.filename).check(content)
                whole.writestr(part.filename, content)
    copy.seek(0)
    return copy


class _SheetPart:
    """One part being looked through: where its cells are, as calamine counts rows and columns."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._row = self._column = 0  # where the next cell is if it does not say so
        self._cell = (0, 0)
        self._depth = 0  # elements open from the cell on
        self._cells = self._height = self._right = 0
        self._left = _COLUMNS

    def check(self, content: bytes) -> None:
        """Raise what is wrong with the part."""
        parser = expat.ParserCreate("UTF-8")
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        try:
            parser.Parse(content, True)
        except expat.ExpatError as error:
            raise BrokenSheetError(f"{self._name} is damaged: {error}") from error

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._depth:
            self._depth += 1
            if self._depth == 2:
                self._count()
            return
        name, place = tag.rpartition(":")[2], attributes.get("r")
        if name == "row" and place is not None:
            self._row, _ = self._place(place)
        elif name == "c":
            self._cell = (self._row, self._column) if place is None else self._place(place)
            self._column = self._cell[1]
            self._depth = 1
        elif name == "sst" and int(attributes.get("uniqueCount") or 0) > MOST_CELLS:
            raise OutOfBoundsError(f"says that it has more than {MOST_CELLS:,} texts")

    def _end(self, tag: str) -> None:
        if self._depth:
            self._depth -= 1
            self._column += not self._depth
        elif tag.rpartition(":")[2] == "row":
            self._row, self._column = self._row + 1, 0

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise BrokenSheetError(f"{self._name} has a DOCTYPE, which no spreadsheet has")

    def _place(self, text: str) -> tuple[int, int]:
        """Row and column from 0 of a place such as B7; the place of a row has the column -1."""
        place = _PLACE.fullmatch(text)
        row, column = (int(place[2]), _number(place[1])) if place else (0, 0)
        if not 1 <= row <= _ROWS or column > _COLUMNS:
            raise BrokenSheetError(f"{self._name} names the place {text[:20]!r}, which no sheet has")
        return row - 1, column - 1

    def _count(self) -> None:
        """Count the cell, which may have a value; rows are laid out from the first of the sheet on."""
        row, column = self._cell
        self._cells += 1
        self._height = max(self._height, row + 1)
        self._left, self._right = min(self._left, column), max(self._right, column + 1)
        if max(self._cells, self._height * (self._right - self._left)) > MOST_CELLS:
            raise OutOfBoundsError(
                f"has a cell in row {row + 1:,} and column {column + 1:,}, which makes a sheet of more than "
                f"{MOST_CELLS:,} cells"
            )


def _number(letters: str) -> int:
    """The number of a column from 1, as A is; 0 without letters."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
