"""Rows of a spreadsheet (xlsx): the file must have one visible sheet with rows, and the sheet's first row
names the columns.

The library calamine allocates all cells from the first to the last, so that a cell at XFD1048576 would need
550 GB and end the process. Therefore calamine reads a copy of the XML parts, after a check that their cells
are within the limits.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from xml.parsers import expat

from curation.core.text import join_names
from curation.ingest.readers.bounds import OutOfBoundsError, open_zip, read_part
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.text_tables import refuse_names_twice
from curation.ingest.readers.values import EXACT

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

MAX_CELLS = 5_000_000
"""Greatest number of cells in a sheet, including empty cells, and of texts in a file: as many cells need 450
MB and 15 seconds.
"""
_PLACE = re.compile(r"([A-Za-z]{0,3})([0-9]{1,7})")
_ROWS, _COLUMNS = 1_048_576, 16_384
_AS_CSV = "save the table as CSV"
_ONE_SHEET = "Save one sheet as CSV, or remove the other sheets."
_SHOW = "Show the sheet in the spreadsheet, or save it as CSV."
_NAMES_FIRST = "Name each column in the first row, and delete the rows above the names."
_UNMERGE = "Give each row a value: unmerge the cells, and fill in the empty cells."
Cells = dict[int, Any]
Rows = Iterator[tuple[int, Cells]]


class BrokenSheetError(Exception):
    """Error: a spreadsheet is damaged. The message is a clause about the damage."""


_DAMAGE = (
    *(OutOfBoundsError, BrokenSheetError, zipfile.BadZipFile, zlib.error),
    *(EOFError, OSError, RuntimeError, ValueError, NotImplementedError),
)


def checked_copy(path: Path) -> io.BytesIO:
    """Return the XML parts of a spreadsheet as a new zip archive.

    Raises
    ------
    OutOfBoundsError: the file unpacks to more bytes than the limit, or its cells are too far apart.
    BrokenSheetError, BadZipFile, and other errors of `zipfile`: the file is damaged.
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
    """Check of one XML part of a spreadsheet, which counts rows and columns as calamine does."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._row = self._column = 0  # where the next cell is if it does not say so
        self._cell = (0, 0)
        self._depth = 0  # elements open from the cell on
        self._cells = self._height = self._right = 0
        self._left = _COLUMNS

    def check(self, content: bytes) -> None:
        """Raise the error about the problem of this XML part."""
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
        name, cell = tag.rpartition(":")[2], attributes.get("r")
        if name == "row" and cell is not None:
            self._row, _ = self._place_of(cell)
        elif name == "c":
            self._cell = (self._row, self._column) if cell is None else self._place_of(cell)
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

    def _place_of(self, text: str) -> tuple[int, int]:
        """Return row and column, from 0, of a cell reference such as B7; the column is -1 for the reference
        of a whole row.
        """
        cell = _PLACE.fullmatch(text)
        row, column = (int(cell[2]), _column_number(cell[1])) if cell else (0, 0)
        if not 1 <= row <= _ROWS or column > _COLUMNS:
            raise BrokenSheetError(f"{self._name} names the cell {text[:20]!r}, which no sheet has")
        return row - 1, column - 1

    def _count_cell(self) -> None:
        """Count a cell, and check the size of the rectangle of cells that calamine would allocate from the
        first row on.
        """
        row, column = self._cell
        self._cells += 1
        self._height = max(self._height, row + 1)
        self._left, self._right = min(self._left, column), max(self._right, column + 1)
        if max(self._cells, self._height * (self._right - self._left)) > MAX_CELLS:
            raise OutOfBoundsError(
                f"has a cell in row {row + 1:,} and column {column + 1:,}, which makes a sheet of more than "
                f"{MAX_CELLS:,} cells"
            )


def _column_number(letters: str) -> int:
    """Return the number of a column from its letters: 1 for A; 0 without letters."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def read_sheet_rows(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of each row, and the row's values by column name; formulas have their saved values.

    Raises
    ------
    InputError: calamine is not installed; the file is damaged or too large, has no visible sheet with rows or
    several such sheets, or has cells merged over rows.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ModuleNotFoundError:
        way_out = f"pip install python-calamine, or {_AS_CSV}."
        problems.stop("is a spreadsheet, which needs python-calamine", way_out)
    try:
        book = CalamineWorkbook.from_filelike(checked_copy(path))
        yield from _named_rows(_only_sheet(book, problems), problems)
    except (*_DAMAGE, CalamineError) as error:
        _refuse_sheet(error, problems)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what calamine did not foresee; it is no Exception
            raise
        _refuse_sheet(error, problems)


def _refuse_sheet(error: BaseException, problems: Problems) -> None:
    problems.stop(f"cannot be read as a spreadsheet: {error}", f"Expected xlsx; else {_AS_CSV}.")


def _only_sheet(book: CalamineWorkbook, problems: Problems) -> Rows:
    """Return the non-empty rows of the only visible sheet with rows; hidden sheets are ignored."""
    from python_calamine import SheetVisibleEnum

    sheets = {sheet.name: book.get_sheet_by_name(sheet.name) for sheet in book.sheets_metadata}
    filled = {name: sheet for name, sheet in sheets.items() if next(_filled_rows(sheet), None)}
    hidden = {sheet.name for sheet in book.sheets_metadata if sheet.visible != SheetVisibleEnum.Visible}
    visible = [name for name in filled if name not in hidden]
    if len(visible) > 1:
        problem = f"has {len(visible)} sheets with rows ({join_names(visible, 10)}); expected one"
        problems.stop(problem, _ONE_SHEET)
    if filled and not visible:
        problems.stop(f"has no visible sheet with rows; hidden: {join_names([*filled], 10)}", _SHOW)
    if not visible:
        return iter(())
    sheet = filled[visible[0]]
    if any(last > first for (first, _), (last, _) in sheet.merged_cell_ranges or ()):
        problems.stop("has cells that are merged over several rows", _UNMERGE)
    return _filled_rows(sheet)


def _filled_rows(sheet: CalamineSheet) -> Rows:
    """Yield the number of each non-empty row, from 1, and the row's values by column number, from 0."""
    left = (sheet.start or (0, 0))[1]
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = {column: _cell_value(cell) for column, cell in enumerate(row, left) if cell != ""}
        if cells:
            yield number, cells


def _cell_value(cell: Any) -> Any:
    """Convert a whole double to an integer, and a day to the time at which the day begins; return other
    values unchanged.
    """
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return int(cell)
    is_day = isinstance(cell, date) and not isinstance(cell, datetime)
    return datetime.combine(cell, time()) if is_day else cell


def _named_rows(rows: Rows, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    _, header = next(rows, (0, {}))
    names = {column: name for column, cell in header.items() if (name := str(cell).strip())}
    refuse_names_twice(names.values(), problems)
    for number, cells in rows:
        if cells.keys() - names.keys():
            problems.add(number, "a cell in a column without a name", _NAMES_FIRST)
        yield number, {name: cells.get(column) for column, name in names.items()}
