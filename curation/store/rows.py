"""Reading and appending rows: tuples, columns and Arrow tables between Python and the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from curation.store.project_file import Cursor

if TYPE_CHECKING:
    import pyarrow as pa

Row = TypeVar("Row", bound=tuple[Any, ...])


def utc_now() -> datetime:
    """Return the present time in the form that is stored with new rows: UTC, without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def load_arrow() -> None:
    """Import pyarrow before a lease of the file begins, because the import takes a second of processor time.

    The first conversion of a list to Arrow also imports pandas if pandas is installed.
    """
    import pyarrow as pa

    pa.array([0])


def append(cursor: Cursor, table: str, columns: Mapping[str, Sequence[Any]]) -> int:
    """Append rows to a table, given as columns (name → values, of one length), and return their number.

    The names of table and columns must come from code, never from input. Values get the column types of the
    table, because a column of only None has no type.
    """
    import pyarrow as pa  # the import takes a third of a command's start, and most write nothing

    rows = pa.table(dict(columns), schema=_read_column_types(cursor, table, columns))
    return _insert(cursor, table, rows.schema.names, rows) if rows.num_rows else 0


def append_batches(cursor: Cursor, table: str, batches: Iterable[pa.RecordBatch]) -> int:
    """Append rows to a table in batches with the same columns, and return the number of rows.

    Only one batch is converted at a time. Rows given to `append` stay in memory until the transaction ends.
    """
    import pyarrow as pa

    remaining_batches = iter(batches)
    first_batch = next(remaining_batches, None)
    if first_batch is None:
        return 0
    schema = _read_column_types(cursor, table, first_batch.schema.names)
    typed_batches = (
        row_batch
        for batch in chain([first_batch], remaining_batches)
        for row_batch in pa.Table.from_batches([batch]).cast(schema).to_batches()
    )
    return _insert(cursor, table, schema.names, pa.RecordBatchReader.from_batches(schema, typed_batches))


@contextmanager
def reading_arrow(cursor: Cursor, **tables: Any) -> Iterator[None]:
    """Let SQL inside a `with` block read Arrow tables by name."""
    for name, table in tables.items():
        cursor.register(name, table)
    yield
    for name in tables:
        cursor.unregister(name)


def append_rows(
    cursor: Cursor, table: str, rows: Sequence[tuple[Any, ...]], names: Sequence[str] = (), **constants: Any
) -> int:
    """Append tuples to a table, and return the number of appended rows.

    Parameters
    ----------
    names: the columns of the tuples; by default the fields of NamedTuples.
    constants: further columns, which have the same value in all rows.
    """
    if not rows:
        return 0
    columns = {name: [value] * len(rows) for name, value in constants.items()}
    column_names = names or rows[0]._fields  # type: ignore[attr-defined]
    columns |= dict(zip(column_names, map(list, zip(*rows, strict=True)), strict=True))
    return append(cursor, table, columns)


def append_revision(cursor: Cursor, table: str, key: str, value: str, **columns: Any) -> int:
    """Append a row as the next revision of the object with its key; return the revision, counted from 0."""
    sql = f"SELECT coalesce(max(revision) + 1, 0) FROM {table} WHERE {key} = ?"  # noqa: S608  names from code
    [(revision,)] = cursor.execute(sql, [value]).fetchall()
    append_rows(cursor, table, [(value, revision)], (key, "revision"), **columns)
    return int(revision)


def fetch(cursor: Cursor, row: type[Row], sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
    """Fetch rows as tuples of type `row`, whose fields are the columns in order."""
    return [row(*values) for values in cursor.execute(sql, list(parameters)).fetchall()]


def _read_column_types(cursor: Cursor, table: str, names: Iterable[str]) -> pa.Schema:
    cursor.execute("SELECT 1").fetchall()  # a result of fetchone() that is half read blocks what follows
    return cursor.sql(f"SELECT {', '.join(names)} FROM {table} LIMIT 0").to_arrow_table().schema  # noqa: S608


def _insert(cursor: Cursor, table: str, columns: Iterable[str], rows: Any) -> int:
    column_list = ", ".join(columns)
    with reading_arrow(cursor, incoming_rows=rows):
        sql = f"INSERT INTO {table} ({column_list}) SELECT {column_list} FROM incoming_rows"  # noqa: S608
        return int(cursor.execute(sql).fetchall()[0][0])
