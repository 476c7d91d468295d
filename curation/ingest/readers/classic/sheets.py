"""The rows of a spreadsheet: of its only visible sheet with any, below a first row of names."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.core.text import listed
from curation.ingest.readers.bounds import OutOfBoundsError
from curation.ingest.readers.classic.sheet_parts import BrokenSheetError, checked_copy
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.values import EXACT

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

_AS_CSV = "save the table as CSV"
_ONE_SHEET = "Save the one that is meant as CSV, or remove the others."
_SHOW = "Show the sheet in the spreadsheet, or save it as CSV."
_NAMES_FIRST = "Name each column in the first row, and delete what is above the names."
_DAMAGE = (
    *(OutOfBoundsError, BrokenSheetError, zipfile.BadZipFile, zlib.error),
    *(EOFError, OSError, RuntimeError, ValueError, NotImplementedError),
)
_MOST_TITLES = 3
Cells = dict[int, Any]
Rows = Iterator[tuple[int, Cells]]
Merged = dict[int, list[tuple[int, int]]]
"""Row → the columns in which cells begin there that are merged with others, and the last row of each."""


def sheet_rows(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each row and its values by name; formulas have the values that they had when saved.

    A cell that is merged over several rows has its value in each of them. One cell alone above a row of names
    is a title.

    Raises
    ------
    InputError: calamine is not installed; the file is damaged, is larger than can be meant, or has no visible
        sheet with rows, or several; no row names the columns.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ModuleNotFoundError:
        way_out = f"pip install python-calamine, or {_AS_CSV}."
        problems.stop("is a spreadsheet, which needs python-calamine", way_out)
    try:
        book = CalamineWorkbook.from_filelike(checked_copy(path))
        yield from _named(*_only_sheet(book, problems), problems)
    except (*_DAMAGE, CalamineError) as error:
        _refuse(error, problems)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what calamine did not foresee; it is no Exception
            raise
        _refuse(error, problems)


def _refuse(error: BaseException, problems: Problems) -> None:
    problems.stop(f"cannot be read as a spreadsheet: {error}", f"Expected xlsx; else {_AS_CSV}.")


def _only_sheet(book: CalamineWorkbook, problems: Problems) -> tuple[Rows, Merged]:
    """The filled rows of the only visible sheet with any, and its merged cells; hidden ones are no tables."""
    from python_calamine import SheetVisibleEnum

    sheets = {one.name: book.get_sheet_by_name(one.name) for one in book.sheets_metadata}
    filled = {name: sheet for name, sheet in sheets.items() if next(_filled(sheet), None)}
    hidden = {one.name for one in book.sheets_metadata if one.visible != SheetVisibleEnum.Visible}
    visible = [name for name in filled if name not in hidden]
    if len(visible) > 1:
        found = f"has {len(visible)} sheets with rows ({listed(visible, 10)}); expected one"
        problems.stop(found, _ONE_SHEET)
    if filled and not visible:
        are = (
            "is the only one with rows, and is"
            if len(filled) == 1
            else "are the only ones with rows, and are"
        )
        problems.stop(f"has no visible sheet with rows: {listed([*filled], 10)} {are} hidden", _SHOW)
    if not visible:
        return iter(()), {}
    sheet = filled[visible[0]]
    merged: Merged = {}
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        merged.setdefault(first + 1, []).append((column, last + 1))
    return _filled(sheet), merged


def _filled(sheet: CalamineSheet) -> Rows:
    """The number of each row with values, from 1, and its values by column, from 0."""
    left = (sheet.start or (0, 0))[1]
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = {column: _value(cell) for column, cell in enumerate(row, left) if cell != ""}
        if cells:
            yield number, cells


def _value(cell: Any) -> Any:
    """A whole number as such, where calamine has doubles; a day as the moment at which it begins."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return int(cell)
    is_day = isinstance(cell, date) and not isinstance(cell, datetime)
    return datetime.combine(cell, time()) if is_day else cell


def _named(rows: Rows, merged: Merged, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    header, rows = _below_titles(rows)
    if header is None:
        return
    at, cells = header
    names = {column: str(cell).strip() for column, cell in cells.items()}
    names = {column: name for column, name in names.items() if name}
    twice = sorted({name for name in names.values() if [*names.values()].count(name) > 1})
    if twice:
        problems.stop(f"the first row names {', '.join(map(repr, twice))} more than once", "Name them apart.")
    if any(last > at for begin in range(1, at + 1) for _, last in merged.get(begin, ())):
        problems.stop(f"row {at}, of the columns' names, is merged with the next", _NAMES_FIRST)
    for number, cells in _spread(rows, merged):
        if cells.keys() - names.keys():
            problems.add(number, "a cell in a column without a name", _NAMES_FIRST)
        yield number, {name: cells.get(column) for column, name in names.items()}


def _below_titles(rows: Rows) -> tuple[tuple[int, Cells] | None, Rows]:
    """The row of names, and the rows below it. Rows of one cell above a row of several texts are titles."""
    begin = list(islice(rows, _MOST_TITLES + 1))
    titles = len([*takewhile(lambda row: len(row[1]) == 1, begin)])
    if titles < len(begin) and all(isinstance(cell, str) for cell in begin[titles][1].values()):
        begin = begin[titles:]
    return (begin[0] if begin else None), chain(begin[1:], rows)


def _spread(rows: Rows, merged: Merged) -> Rows:
    """The rows, each with the values of the cells above that are merged with its own."""
    going: dict[int, tuple[int, Any]] = {}
    for number, cells in rows:
        above = {column: value for column, (last, value) in going.items() if last >= number}
        going |= {column: (last, cells[column]) for column, last in merged.get(number, ()) if column in cells}
        yield number, above | cells
