"""The content of a project file: every value of it is read, so that no damage stays unseen."""

from __future__ import annotations

from pathlib import Path

import duckdb

from curation.errors import StoreError
from curation.store import Cursor, migrations
from curation.store.files import failure, first_line
from curation.store.on_disk.write_ahead_log import log_damage, log_of

Rows = dict[str, int]
"""Table → its number of rows."""


def read_whole_file(path: Path) -> Rows:
    """Take what its log holds into a file, and read all of it; the file is changed where a log was beside it.

    Raises
    ------
    StoreError: it is damaged, or no goldset project.
    StoreVersionError: a newer goldset has written it.
    """
    damage = log_damage(log_of(path))
    if damage:
        raise StoreError(f"{path}: its log is damaged: {damage}.")
    try:
        with duckdb.connect(":memory:", config={"temp_directory": f"{path}.tmp"}) as engine:
            engine.execute("ATTACH ? AS project (TYPE DUCKDB)", [str(path)])
            engine.execute("USE project")
            migrations.missing_in(engine, migrations.shipped())
            rows = read_all_rows(engine)
            engine.execute("CHECKPOINT project")
            engine.execute("USE memory")
            engine.execute("DETACH project")
    except duckdb.Error as error:
        found = failure(error)
        raise StoreError(f"{path}: {found.found if found else first_line(error)}") from error
    return rows


def read_all_rows(cursor: Cursor) -> Rows:
    """Read every value of every table; DuckDB compares each block that it reads with its checksum."""
    names = cursor.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'project' ORDER BY table_name"
    ).fetchall()
    return {str(name): _read_table(cursor, str(name)) for (name,) in names}


def _read_table(cursor: Cursor, name: str) -> int:
    # The name comes from the catalog: it is quoted, because it cannot be bound.
    quoted = '"' + name.replace('"', '""') + '"'
    row = cursor.execute(f"SELECT count(*), bit_xor(hash(t)) FROM {quoted} t").fetchone()  # noqa: S608
    return int(row[0]) if row else 0
