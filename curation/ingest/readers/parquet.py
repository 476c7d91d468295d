"""Rows of a Parquet file, read within size limits.

Only the columns that fields use are read, so that an unused column may have any type or be damaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.ingest.readers.arrow_values import is_known_zone, is_text_type, to_python_values
from curation.ingest.readers.bounds import PARQUET_FACTOR, OutOfBoundsError, max_unpacked_size, refuse_larger
from curation.ingest.readers.lines import ZONE, clean_value
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.text_tables import refuse_names_twice

READ_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, RuntimeError)
"""Errors that Arrow raises for a damaged file, or for a feature that Arrow does not support."""
MAX_ROWS = 2_000
_BYTES_PER_VALUE = 50
"""Bytes added to each value in size checks, because a kilobyte can repeat a value 100 million times."""


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a Parquet file, verify checksums while reading, and read 96-bit times in microseconds.

    Arrow's default, nanoseconds, would change years before 1678 and after 2261.
    """
    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us", page_checksum_verification=True)


def read_parquet_batches(
    path: Path, most_rows: int, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file in batches of `most_rows` rows, or fewer if the values may be large.

    Parameters
    ----------
    columns: names of the columns to read; None reads all columns.

    Raises
    ------
    OutOfBoundsError: the file unpacks to more bytes than the limit.
    """
    limit = max_unpacked_size(path, PARQUET_FACTOR)
    with open_parquet(path) as file:
        wanted = list(file.schema_arrow.names if columns is None else columns)
        groups = range(file.num_row_groups)
        refuse_larger(limit, sum(file.metadata.row_group(group).total_byte_size for group in groups))
        largest_row = max((_compute_row_size(file, group, wanted) for group in groups), default=1)
        unpacked = 0
        for batch in file.iter_batches(min(most_rows, max(1, limit // largest_row)), columns=wanted):
            batch = batch.select(wanted)  # a name with a dot is also a path into a column of objects
            unpacked += sum(map(_compute_size, batch.columns))
            refuse_larger(limit, unpacked)
            yield batch


def read_parquet_rows(
    path: Path, columns: Sequence[str] | None = None, most_rows: int = MAX_ROWS
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file by column name, with Python values (`arrow_values.to_python_values`).

    Raises
    ------
    OutOfBoundsError: the file unpacks to more bytes than the limit. `READ_ERRORS`: the file cannot be read.
    """
    for batch in read_parquet_batches(path, most_rows, columns):
        values = map(to_python_values, batch.columns)
        names = batch.schema.names
        yield from (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))


def find_unknown_zones(path: Path) -> dict[str, str]:
    """Return each column's time zone if it is unknown; times in these columns are read as UTC."""
    with open_parquet(path) as file:
        fields = list(file.schema_arrow)
    zoned = {field.name: field.type.tz for field in fields if pa.types.is_timestamp(field.type)}
    return {name: zone for name, zone in zoned.items() if not is_known_zone(zone)}


def shorten_error(error: BaseException) -> str:
    """Return the first line of an Arrow error's message."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _find_read_error(path: Path, columns: Sequence[str] | None, rows: int) -> str:
    try:
        next(read_parquet_rows(path, columns, rows), None)
    except OutOfBoundsError:
        return ""  # reading the file reports the limit
    except READ_ERRORS as error:
        return shorten_error(error)
    return ""


def _compute_row_size(file: pq.ParquetFile, group: int, wanted: list[str]) -> int:
    """Return the largest possible size in bytes of a row in a row group, if columns are lists of fixed
    length."""
    group_metadata = file.metadata.row_group(group)
    leaves = (file.schema.column(number) for number in range(group_metadata.num_columns))
    lists = [
        number
        for number, leaf in enumerate(leaves)
        if leaf.max_repetition_level and any(f"{leaf.path}.".startswith(f"{name}.") for name in wanted)
    ]
    if lists:  # reading a row reports damage; describing a damaged column would end the process
        next(file.iter_batches(1, row_groups=[group], columns=wanted), None)
    values = max((group_metadata.column(number).num_values for number in lists), default=0)
    return max(1, int(group_metadata.total_byte_size * max(1, -(-values // max(1, group_metadata.num_rows)))))


def _compute_size(column: pa.Array) -> int:
    """Return the size of a column's values in bytes, counting every repetition of a value."""
    kind = column.type
    if pa.types.is_map(kind):
        return _compute_size(column.keys) + _compute_size(column.items) + _BYTES_PER_VALUE * len(column)
    if pa.types.is_nested(kind):
        inner = column.flatten()
        return sum(map(_compute_size, inner if isinstance(inner, list) else [inner]))
    if pa.types.is_dictionary(kind) and is_text_type(kind.value_type):
        lengths = pc.binary_length(column.dictionary.cast(pa.large_binary()))
        size = pc.sum(lengths.take(column.indices)).as_py() or 0
    else:
        size = column.nbytes
    return int(size) + _BYTES_PER_VALUE * len(column)


class ParquetTable:
    """A reader of a Parquet file's rows.

    damaged: Arrow's error for each column that cannot be read, known after `read_first_rows` was called.
    """

    def __init__(self, path: Path, problems: Problems, replaced: Counter[str]) -> None:
        self._path, self._problems, self._replaced = path, problems, replaced
        self.damaged: dict[str, str] = {}

    def read_first_rows(self, number: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return the first rows of all readable columns; add unreadable columns to `damaged`."""
        try:
            with open_parquet(self._path) as file:
                names = list(file.schema_arrow.names)
            refuse_names_twice(names, self._problems)
            if _find_read_error(self._path, None, number):
                errors = {name: _find_read_error(self._path, [name], number) for name in names}
                self.damaged = {name: error for name, error in errors.items() if error}
        except READ_ERRORS as error:
            self._problems.stop(f"cannot be read as Parquet: {shorten_error(error)}")
        if names and len(self.damaged) == len(names):
            self._problems.stop(f"cannot be read as Parquet: {self.damaged[names[0]]}")
        return self._rows([name for name in names if name not in self.damaged], number)

    def read_all_rows(self, wanted: Sequence[str] | None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return all rows, with values of the used columns; None stands for all columns."""
        if wanted is None and self.damaged:
            self.refuse_damaged([*self.damaged])
        self._replaced.clear()
        self.note_zones(wanted)
        return self._rows(wanted, MAX_ROWS)

    def refuse_damaged(self, names: Sequence[str]) -> NoReturn:
        """Reject the file, because a field uses one of its damaged columns."""
        problem = "; ".join(f"the column {name!r} cannot be read: {self.damaged[name]}" for name in names)
        self._problems.stop(problem, "Export the file again, without this column if it is not needed.")

    def note_zones(self, columns: Collection[str] | None) -> None:
        """Count these columns' unknown time zones, for the import's report; None stands for all columns."""
        for name, zone in find_unknown_zones(self._path).items():
            if columns is None or name in columns:
                self._replaced[f"{ZONE} {zone!r} of {name!r}"] = 1

    def _rows(self, columns: Sequence[str] | None, most_rows: int) -> Iterator[tuple[int, dict[str, Any]]]:
        number = 0
        try:
            for number, fields in enumerate(read_parquet_rows(self._path, columns, most_rows), 1):
                yield number, {name: clean_value(value, self._replaced) for name, value in fields.items()}
        except OutOfBoundsError as error:
            self._problems.stop(
                f"{error} after row {number}", "Expected one record per row: look at this row."
            )
        except READ_ERRORS as error:
            where = f" after row {number}" if number else ""
            self._problems.stop(f"cannot be read as Parquet{where}: {shorten_error(error)}")
