"""The rows of a spreadsheet: of its only sheet with any, below a first row of names."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from curation.files.bounds import OutOfBoundsError, refuse_large_zip
from curation.files.problems import Problems

_AS_CSV = "save the table as CSV"
_ONE_SHEET = "Save the one that is meant as CSV, or remove the others."


def sheet_rows(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each row and its values by name; formulas have the values that they had when saved.

    Raises
    ------
    InputError: openpyxl is not installed; the file is none, unpacks to too much, or has several sheets.
    """
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError:
        problems.stop("is a spreadsheet, which needs openpyxl", f"pip install goldset[xlsx], or {_AS_CSV}.")
    try:
        refuse_large_zip(path)
        with closing(load_workbook(path, read_only=True, data_only=True)) as book:
            filled = [sheet for sheet in book.worksheets if next(_filled(sheet), None)]
            if len(filled) > 1:
                names = ", ".join(sheet.title for sheet in filled)
                problems.stop(f"has {len(filled)} sheets with rows ({names}); expected one", _ONE_SHEET)
            yield from _named(_filled(filled[0]), problems) if filled else ()
    except (OutOfBoundsError, zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        problems.stop(f"cannot be read as a spreadsheet: {error}", f"Expected xlsx; else {_AS_CSV}.")


def _filled(sheet: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
    rows = enumerate(sheet.iter_rows(values_only=True), 1)
    return ((number, row) for number, row in rows if any(cell not in (None, "") for cell in row))


def _named(
    rows: Iterator[tuple[int, tuple[Any, ...]]], problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    _, first = next(rows)
    names = [str(cell).strip() if cell is not None else "" for cell in first]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        problems.stop(f"the first row names {', '.join(map(repr, twice))} more than once", "Name them apart.")
    for number, row in rows:
        if any(cell not in (None, "") for cell, name in zip(row, names, strict=False) if not name):
            problems.add(number, "a cell in a column without a name", "Name each column in the first row.")
        yield number, {name: cell for name, cell in zip(names, row, strict=False) if name}
