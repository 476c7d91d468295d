"""The full check of a project file: reads every block and every value, and adds a row to every table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import duckdb

from curation.core.errors import StoreError
from curation.store import Cursor, migrations
from curation.store.duckdb_format import find_damaged_blocks, log_path
from curation.store.engine_errors import first_line, translate_error
from curation.store.project_file import start_engine, stop_engine
from curation.store.write_ahead_log import describe_log_damage

Rows = dict[str, int]
"""Table → its number of rows."""
_KEY_COLUMNS = """
WITH keys AS (
    SELECT table_name, constraint_index, unnest(constraint_column_names) AS column_name
    FROM duckdb_constraints()
    WHERE database_name = 'project' AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')),
changed AS (
    SELECT table_name, column_name, data_type = 'VARCHAR' AS is_text
    FROM keys JOIN duckdb_columns() USING (table_name, column_name)
    WHERE database_name = 'project' AND data_type IN ('INTEGER', 'VARCHAR')
    QUALIFY is_text OR NOT bool_or(is_text) OVER (PARTITION BY table_name, constraint_index))
SELECT DISTINCT table_name, column_name, is_text FROM changed ORDER BY ALL
"""
"""The columns of keys whose values `try_inserts` changes: texts, and the numbers of a key without a text."""


def read_whole_file(path: Path) -> Rows:
    """Read a whole project file, with the changes in its log, and try to add a row to each table that has
    rows.

    The file itself changes only where a log was next to it: the new rows go into a log that is removed.

    Raises
    ------
    StoreError: the file is damaged, or is not a goldgrade project.
    StoreVersionError: the file was written by a newer goldgrade, or by a version that is too old.
    """
    damage = describe_log_damage(path)
    if damage:
        raise StoreError(f"{path}: its log is damaged: {damage}.")
    engine = start_engine(f"{path}.tmp")
    try:
        engine.execute("ATTACH ? AS project (TYPE DUCKDB)", [str(path)]).execute("USE project")
        migrations.missing_in(engine, migrations.shipped())
        rows = read_all_rows(engine)
        engine.execute("CHECKPOINT project")
        try_inserts(engine)
    except duckdb.Error as error:
        store_error = translate_error(error)
        raise StoreError(f"{path}: {store_error.found if store_error else first_line(error)}") from error
    finally:
        stop_engine(engine)
    log_path(path).unlink(missing_ok=True)
    with path.open("rb") as file:
        damage = describe_damaged_blocks(lambda: find_damaged_blocks(path, file.fileno()))
    if damage:
        raise StoreError(f"{path}: {damage}")
    return rows


def describe_damaged_blocks(find_damaged: Callable[[], list[int]]) -> str:
    """Return a sentence about the blocks that `find_damaged` finds damaged; '' if all blocks are intact."""
    try:
        blocks = find_damaged()
    except ValueError as error:
        return f"The file is damaged: {error}."
    if not blocks:
        return ""
    block_list = ", ".join([*(f"{block:,}" for block in blocks[:5]), *(["…"] if len(blocks) > 5 else [])])
    damage = f"{len(blocks):,} of its blocks do not match their checksums (block {block_list})"
    return f"The file is damaged: {damage}."


def read_all_rows(cursor: Cursor) -> Rows:
    """Read every value of every table; DuckDB checks each block that it reads against its checksum."""
    rows = {}
    for name in list_tables(cursor):
        sql = f"SELECT count(*), bit_xor(hash(t)) FROM {_quote_name(name)} t"  # noqa: S608
        rows[name] = int(cursor.execute(sql).fetchall()[0][0])
    return rows


def list_tables(cursor: Cursor) -> list[str]:
    """List the tables of the database `project` by name."""
    sql = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'project' ORDER BY table_name"
    return [str(name) for (name,) in cursor.execute(sql).fetchall()]


def try_inserts(cursor: Cursor) -> None:
    """Insert each table's first row again, with different keys, and commit.

    A number is changed only in a key without a text: the number may have to stay below other numbers of its
        row.
    """
    new_values = defaultdict(list)
    for table, column, is_text in cursor.execute(_KEY_COLUMNS).fetchall():
        change = "|| ' written'" if is_text else "+ 1000000000"
        new_values[table].append(f"{_quote_name(column)} {change} AS {_quote_name(column)}")
    for name in list_tables(cursor):
        row = f"* REPLACE ({', '.join(new_values[name])})" if new_values[name] else "*"
        cursor.execute(f"INSERT INTO {_quote_name(name)} SELECT {row} FROM {_quote_name(name)} LIMIT 1")  # noqa: S608


def _quote_name(name: str) -> str:
    """Quote a name from the catalog, because it cannot be bound as a parameter."""
    return '"' + name.replace('"', '""') + '"'
