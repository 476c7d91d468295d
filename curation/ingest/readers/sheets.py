"""The rows of a spreadsheet (xlsx).

The file must have one visible sheet with rows, and the sheet's first row names the columns.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.core.text import join_names
from curation.ingest.readers.bounds import OutOfBoundsError
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.sheet_bounds import BrokenSheetError, copy_checked_parts
from curation.ingest.readers.text_tables import refuse_names_twice
from curation.ingest.readers.values import EXACT

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

_AS_CSV = "save the table as CSV"
_ONE_SHEET = "Save one sheet as CSV, or remove the other sheets."
_SHOW = "Unhide the sheet, or save it as CSV."
_NAMES_FIRST = "Name each column in the first row, and delete the rows above the names."
_UNMERGE = "Give each row a value: unmerge the cells, and fill in the empty cells."
Cells = dict[int, Any]
Rows = Iterator[tuple[int, Cells]]
# RuntimeError covers encrypted files, and features of zip that Python lacks (NotImplementedError).
_DAMAGE = (
    *(OutOfBoundsError, BrokenSheetError, zipfile.BadZipFile, zlib.error),
    *(EOFError, OSError, RuntimeError, ValueError),
)


def read_sheet_rows(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each row's number and its values by column name; formulas yield their saved values.

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
        book = CalamineWorkbook.from_filelike(copy_checked_parts(path))
        yield from _name_cells(_find_only_sheet(book, problems), problems)
    except (*_DAMAGE, CalamineError) as error:
        _refuse_sheet(error, problems)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # an error in calamine itself; no subclass of Exception
            raise
        _refuse_sheet(error, problems)


def _refuse_sheet(error: BaseException, problems: Problems) -> None:
    problems.stop(f"cannot be read as a spreadsheet: {error}", f"Expected xlsx; else {_AS_CSV}.")


def _find_only_sheet(book: CalamineWorkbook, problems: Problems) -> Rows:
    """Return the non-empty rows of the only visible sheet with rows; hidden sheets are ignored."""
    from python_calamine import SheetVisibleEnum

    sheets = {sheet.name: book.get_sheet_by_name(sheet.name) for sheet in book.sheets_metadata}
    filled = {name: sheet for name, sheet in sheets.items() if next(_read_filled_rows(sheet), None)}
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
    return _read_filled_rows(sheet)


def _read_filled_rows(sheet: CalamineSheet) -> Rows:
    """Yield each non-empty row's number (from 1), and its values by column number (from 0)."""
    left = (sheet.start or (0, 0))[1]
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = {column: _convert_cell(cell) for column, cell in enumerate(row, left) if cell != ""}
        if cells:
            yield number, cells


def _convert_cell(cell: Any) -> Any:
    """Convert a whole double to an integer, and a date to a time; return other values unchanged."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return int(cell)
    is_day = isinstance(cell, date) and not isinstance(cell, datetime)
    return datetime.combine(cell, time()) if is_day else cell


def _name_cells(rows: Rows, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    _, header = next(rows, (0, {}))
    names = {column: name for column, cell in header.items() if (name := str(cell).strip())}
    refuse_names_twice(names.values(), problems)
    for number, cells in rows:
        if cells.keys() - names.keys():
            problems.add(number, "a cell in a column without a name", _NAMES_FIRST)
        yield number, {name: cells.get(column) for column, name in names.items()}
