"""The rows of a Parquet file as records, with what is wrong with its columns.

Columns that cannot be read are damage only where somebody reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from curation.ingest.readers.bounds import OutOfBoundsError
from curation.ingest.readers.lines import ZONE, cleaned_value
from curation.ingest.readers.parquet.rows import (
    MOST_ROWS,
    READ_ERRORS,
    column_names,
    first_line,
    parquet_rows,
    unknown_zones,
    unread_columns,
)
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.text_tables import refuse_names_twice


class ParquetTable:
    """One Parquet file; `damaged` is column → why it cannot be read, known after `first_rows`."""

    def __init__(self, path: Path, problems: Problems, replaced: Counter[str]) -> None:
        self._path, self._problems, self._replaced = path, problems, replaced
        self.damaged: dict[str, str] = {}

    def first_rows(self, number: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """The first rows, of all columns that can be read; the others are noted."""
        try:
            names = column_names(self._path)
            refuse_names_twice(names, self._problems)
            self.damaged = unread_columns(self._path, number)
        except READ_ERRORS as error:
            self._problems.stop(f"cannot be read as Parquet: {first_line(error)}")
        if names and len(self.damaged) == len(names):
            self._problems.stop(f"cannot be read as Parquet: {self.damaged[names[0]]}")
        return self._rows([name for name in names if name not in self.damaged], number)

    def all_rows(self, wanted: Sequence[str] | None) -> Iterator[tuple[int, dict[str, Any]]]:
        """All rows, of the columns that are used; None is all."""
        if wanted is None and self.damaged:
            self.refuse_damaged([*self.damaged])
        self._replaced.clear()
        self.note_zones(wanted)
        return self._rows(wanted, MOST_ROWS)

    def refuse_damaged(self, names: Sequence[str]) -> NoReturn:
        """Stop with a sentence: somebody reads these columns."""
        found = "; ".join(f"the column {name!r} cannot be read: {self.damaged[name]}" for name in names)
        self._problems.stop(found, "Export the file again, without this column if nothing needs it.")

    def note_zones(self, used: Collection[str] | None) -> None:
        """Count the time zones that nobody knows, of these columns or all."""
        for name, zone in unknown_zones(self._path).items():
            if used is None or name in used:
                self._replaced[f"{ZONE} {zone!r} of {name!r}"] = 1

    def _rows(self, columns: Sequence[str] | None, most_rows: int) -> Iterator[tuple[int, dict[str, Any]]]:
        number = 0
        try:
            for number, fields in enumerate(parquet_rows(self._path, columns, most_rows), 1):
                yield number, {name: cleaned_value(value, self._replaced) for name, value in fields.items()}
        except OutOfBoundsError as error:
            self._problems.stop(f"{error} after row {number}", "Expected one record a row: look at it there.")
        except READ_ERRORS as error:
            where = f" after row {number}" if number else ""
            self._problems.stop(f"cannot be read as Parquet{where}: {first_line(error)}")
