"""Numbered migrations of the database schema, for new projects and for projects from an older goldgrade.

A new project gets `schema.sql` and then all migrations; an older project gets the missing migrations. The
migrations are the files in `migrations/`, run in order, each in one transaction. So each table or column is
defined once, and each new project runs the same migrations as older projects. `schema.sql` is the schema at
migration `BASE`. A project with an older schema is refused, with instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from typing import NamedTuple

import duckdb

from curation.core.errors import StoreError, StoreVersionError

BASE = "0023_packed_parts"  # the migration to which `schema.sql` corresponds


class Migration(NamedTuple):
    """A migration to a newer schema. `name` starts with the migration's four-digit number."""

    name: str
    sql: str


def schema() -> str:
    """Read the SQL of the first database schema, `schema.sql`."""
    return files("curation.store").joinpath("schema.sql").read_text(encoding="utf-8")


def shipped() -> list[Migration]:
    """Read this goldgrade's migrations, oldest first."""
    folder = files("curation.store").joinpath("migrations")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [Migration(name.removesuffix(".sql"), folder.joinpath(name).read_text("utf-8")) for name in names]


def create(connection: duckdb.DuckDBPyConnection, known: Sequence[Migration] | None = None) -> None:
    """Create the tables of the current schema in an empty database."""
    with _step(connection):
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at TIMESTAMP NOT NULL)")
        for migration in (Migration(BASE, schema()), *(shipped() if known is None else known)):
            _apply(connection, migration)
    connection.execute("CHECKPOINT")


def upgrade(
    connection: duckdb.DuckDBPyConnection,
    known: Sequence[Migration] | None = None,
    before: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Apply the missing migrations to a project, and return their names.

    Parameters
    ----------
    before: function that is called with the name of the first missing migration, before any change.

    Raises
    ------
    StoreError: the file is a DuckDB database but no goldgrade project.
    StoreVersionError: a newer goldgrade has written it, or one that is too old.
    """
    missing = missing_in(connection, shipped() if known is None else known)
    if missing:
        before(missing[0].name)
    for migration in missing:
        with _step(connection):
            _apply(connection, migration)
    return [migration.name for migration in missing]


def missing_in(connection: duckdb.DuckDBPyConnection, known: Sequence[Migration]) -> list[Migration]:
    """List the migrations that a project lacks, oldest first.

    Raises
    ------
    StoreError: the file is a DuckDB database but no goldgrade project.
    StoreVersionError: a newer goldgrade has written it, or one that is too old.
    """
    applied = _applied(connection)
    newer = {name for name in applied if name > BASE}.difference(migration.name for migration in known)
    if newer:
        raise StoreVersionError(
            f"This project was written by a newer goldgrade (it has migration {max(newer)}). "
            "Install the newer version, or restore a backup that this version made."
        )
    if BASE not in applied:
        raise StoreVersionError(
            "This project has an old schema that this goldgrade does not read: its newest migration is "
            f"{max(applied, default='none')}, expected {BASE} or later. Open the project once with the "
            "last goldgrade that reads the old schema.",
            command="In the sources of goldgrade, `git log -1 --format=%H~1 -- "
            "curation/store/migrations/0002_curation.sql` names the commit of the older "
            "goldgrade. Any command of that older goldgrade, such as `goldgrade status`, keeps a "
            "copy of the project and migrates the project.",
        )
    return [migration for migration in known if migration.name not in applied]


def _applied(connection: duckdb.DuckDBPyConnection) -> set[str]:
    try:
        return {row[0] for row in connection.execute("SELECT name FROM migrations").fetchall()}
    except (duckdb.CatalogException, duckdb.BinderException):  # no such table or column
        raise StoreError(
            "This DuckDB file is not a goldgrade project.", command="`goldgrade init` makes a project."
        ) from None


def _apply(connection: duckdb.DuckDBPyConnection, migration: Migration) -> None:
    connection.execute(migration.sql)
    now = datetime.now(UTC).replace(tzinfo=None)
    connection.execute("INSERT INTO migrations VALUES (?, ?)", [migration.name, now])


@contextmanager
def _step(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
