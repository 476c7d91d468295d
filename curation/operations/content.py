"""The content of a project file: every value of it is read, so that no damage stays unseen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import duckdb

from curation.errors import StoreError
from curation.store import Cursor, migrations
from curation.store.files import failure, first_line
from curation.store.on_disk.blocks import damaged_blocks
from curation.store.on_disk.write_ahead_log import log_damage, log_of

Rows = dict[str, int]
"""Table → its number of rows."""


def read_whole_file(path: Path) -> Rows:
    """Take what its log holds into a file, and read all of it; the file is changed where a log was beside it.

    Raises
    ------
    StoreError: it is damaged, or no goldset project.
    StoreVersionError: a newer goldset has written it, or one that is too old.
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
            _offer_rows(engine, rows)
            engine.execute("CHECKPOINT project")
            engine.execute("USE memory")
            engine.execute("DETACH project")
    except duckdb.Error as error:
        found = failure(error)
        raise StoreError(f"{path}: {found.found if found else first_line(error)}") from error
    with path.open("rb") as file:
        damage = damage_of_blocks(lambda: damaged_blocks(file.fileno()))
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
    names = cursor.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'project' ORDER BY table_name"
    ).fetchall()
    return {str(name): _read_table(cursor, str(name)) for (name,) in names}


def _offer_rows(cursor: Cursor, rows: Rows) -> None:
    """Offer each table a row that it has, so that its indexes are used, and take it back."""
    for name in rows:
        cursor.execute("BEGIN")
        with suppress(duckdb.ConstraintException):  # as it must where there is a key
            cursor.execute(f"INSERT INTO {_quoted(name)} SELECT * FROM {_quoted(name)} LIMIT 1")  # noqa: S608
        cursor.execute("ROLLBACK")


def _quoted(name: str) -> str:
    """A name from the catalog, which cannot be bound."""
    return '"' + name.replace('"', '""') + '"'


def _read_table(cursor: Cursor, name: str) -> int:
    row = cursor.execute(f"SELECT count(*), bit_xor(hash(t)) FROM {_quoted(name)} t").fetchone()  # noqa: S608
    return int(row[0]) if row else 0
