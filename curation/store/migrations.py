"""Numbered migrations: the schema of new databases, and the steps to it for older ones.

A fresh database runs `schema.sql` and records every migration as applied. An older one runs the
missing files of `migrations/` in their order, each in one transaction, with what SQL cannot do after it
(`CARRIED`). The first schema has no file, because nothing older exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from typing import NamedTuple

import duckdb

from curation.errors import StoreError, StoreVersionError
from curation.store.release_parts import pack_whole_parts

FIRST = "0001_foundation"
CARRIED: Mapping[str, Callable[[duckdb.DuckDBPyConnection], None]] = {"0023_packed_parts": pack_whole_parts}
"""Migration → what carries rows over after its SQL."""


class Migration(NamedTuple):
    """A step to a newer schema; `name` starts with its four-digit number."""

    name: str
    sql: str


def schema() -> str:
    """The reference text of the whole schema."""
    return files("curation.store").joinpath("schema.sql").read_text(encoding="utf-8")


def shipped() -> list[Migration]:
    """The migrations that this goldset knows, oldest first, without the first."""
    folder = files("curation.store").joinpath("migrations")
    if not folder.is_dir():
        return []
    texts = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name
    )
    return [Migration(item.name.removesuffix(".sql"), item.read_text(encoding="utf-8")) for item in texts]


def create(connection: duckdb.DuckDBPyConnection) -> None:
    """Give an empty database the current schema."""
    names = [FIRST, *(migration.name for migration in shipped())]
    with _step(connection):
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at TIMESTAMP NOT NULL)")
        connection.execute(schema())
        for name in names:
            _record(connection, name)
    connection.execute("CHECKPOINT")


def upgrade(
    connection: duckdb.DuckDBPyConnection,
    known: Sequence[Migration] | None = None,
    before: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Apply what is missing and return the names applied.

    Parameters
    ----------
    before: called with the name of the first that is missing, before anything is changed.

    Raises
    ------
    StoreError: the file is a DuckDB database but no goldset project.
    StoreVersionError: a newer goldset has written it.
    """
    missing = missing_in(connection, shipped() if known is None else known)
    if missing:
        before(missing[0].name)
    for migration in missing:
        with _step(connection):
            connection.execute(migration.sql)
            if migration.name in CARRIED:
                CARRIED[migration.name](connection)
            _record(connection, migration.name)
    return [migration.name for migration in missing]


def missing_in(connection: duckdb.DuckDBPyConnection, known: Sequence[Migration]) -> list[Migration]:
    """The migrations that a project lacks, oldest first.

    Raises
    ------
    StoreError: the file is a DuckDB database but no goldset project.
    StoreVersionError: a newer goldset has written it.
    """
    applied = _applied(connection)
    newer = sorted(applied - {FIRST, *(migration.name for migration in known)})
    if newer:
        raise StoreVersionError(
            f"This project was written by a newer goldset (it has migration {newer[-1]}). "
            "Install that version, or restore a backup made with this one."
        )
    return [migration for migration in known if migration.name not in applied]


def _applied(connection: duckdb.DuckDBPyConnection) -> set[str]:
    try:
        return {row[0] for row in connection.execute("SELECT name FROM migrations").fetchall()}
    except (duckdb.CatalogException, duckdb.BinderException):  # no such table, or no such column
        raise StoreError(
            "This DuckDB file is not a goldset project.", command="`goldset init` makes one."
        ) from None


def _record(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    connection.execute("INSERT INTO migrations VALUES (?, ?)", [name, datetime.now(UTC).replace(tzinfo=None)])


@contextmanager
def _step(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
