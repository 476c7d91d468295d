"""The content of a project file: every value of it is read, so that no damage stays unseen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb

from curation.core.errors import StoreError
from curation.store import Cursor, migrations
from curation.store.engine_errors import failure, first_line
from curation.store.files import start_engine, stop_engine
from curation.store.on_disk.blocks import damaged_blocks
from curation.store.on_disk.write_ahead_log import log_damage, log_of

Rows = dict[str, int]
"""Table → its number of rows."""


def read_whole_file(path: Path) -> Rows:
    """Take what its log holds into a file, read all of it, and write a row into each table that has one.

    The file is changed only where a log was next to it: the new rows go into a log that is removed.

    Raises
    ------
    StoreError: it is damaged, or no goldgrade project.
    StoreVersionError: a newer goldgrade has written it, or one that is too old.
    """
    damage = log_damage(path)
    if damage:
        raise StoreError(f"{path}: its log is damaged: {damage}.")
    engine = start_engine(f"{path}.tmp")
    try:
        engine.execute("ATTACH ? AS project (TYPE DUCKDB)", [str(path)]).execute("USE project")
        migrations.missing_in(engine, migrations.shipped())
        rows = read_all_rows(engine)
        engine.execute("CHECKPOINT project")
        write_rows(engine)
    except duckdb.Error as error:
        found = failure(error)
        raise StoreError(f"{path}: {found.found if found else first_line(error)}") from error
    finally:
        stop_engine(engine)
    log_of(path).unlink(missing_ok=True)
    with path.open("rb") as file:
        damage = damage_of_blocks(lambda: damaged_blocks(path, file.fileno()))
    if damage:
        raise StoreError(f"{path}: {damage}")
    return rows


def damage_of_blocks(look: Callable[[], list[int]]) -> str:
    """A sentence on the blocks that `look` finds damaged; '' where there are none."""
    try:
        found = look()
    except ValueError as error:
        return f"The file is damaged: {error}."
    if not found:
        return ""
    shown = ", ".join(f"{number:,}" for number in found[:5])
    return (
        f"The file is damaged: of its blocks in use, {len(found):,} have another content than their sums "
        f"say (block {shown}{', …' if len(found) > 5 else ''})."
    )


def read_all_rows(cursor: Cursor) -> Rows:
    """Read every value of every table; DuckDB compares each block that it reads with its checksum."""
    return {name: _read_table(cursor, name) for name in table_names(cursor)}


def table_names(cursor: Cursor) -> list[str]:
    """The tables of the database `project`, by name."""
    sql = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'project' ORDER BY table_name"
    return [str(name) for (name,) in cursor.execute(sql).fetchall()]


_KEYS = """
SELECT table_name, constraint_index, column_name, data_type
FROM (
    SELECT table_name, constraint_index, unnest(constraint_column_names) AS column_name
    FROM duckdb_constraints()
    WHERE database_name = 'project' AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')
) JOIN duckdb_columns() USING (table_name, column_name)
WHERE database_name = 'project' AND data_type IN ('INTEGER', 'VARCHAR')
"""


def write_rows(cursor: Cursor) -> None:
    """Write the first row of each table again, with other keys; committed, for a rollback spares indexes.

    A number is changed only where its key has no text: it may have to stay below another number of the row.
    """
    keys: dict[tuple[str, int], dict[str, str]] = {}
    for table, index, column, kind in cursor.execute(_KEYS).fetchall():
        keys.setdefault((table, index), {})[column] = kind
    other: dict[str, dict[str, str]] = {}
    for (table, _), columns in keys.items():
        changed = [column for column, kind in columns.items() if kind == "VARCHAR"] or columns
        for column in changed:
            plus = "|| ' written'" if columns[column] == "VARCHAR" else "+ 1000000000"
            other.setdefault(table, {})[column] = f"{quoted(column)} {plus} AS {quoted(column)}"
    for name in table_names(cursor):
        row = f"* REPLACE ({', '.join(other[name].values())})" if name in other else "*"
        cursor.execute(f"INSERT INTO {quoted(name)} SELECT {row} FROM {quoted(name)} LIMIT 1")  # noqa: S608


def quoted(name: str) -> str:
    """A name from the catalog, which cannot be bound."""
    return '"' + name.replace('"', '""') + '"'


def _read_table(cursor: Cursor, name: str) -> int:
    row = cursor.execute(f"SELECT count(*), bit_xor(hash(t)) FROM {quoted(name)} t").fetchone()  # noqa: S608
    return int(row[0]) if row else 0
