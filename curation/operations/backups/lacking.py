"""Rows of a project that a backup of it lacks: what restoring the backup would leave behind."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from curation.core.errors import StoreError
from curation.core.text import amount
from curation.operations.backups.content import Rows, quoted, table_names
from curation.store import Cursor, open_store
from curation.store.engine_errors import PATIENCE, first_line, patiently
from curation.store.files import attach, start_engine, stop_engine

JUDGMENTS = "judgment_events"
AUDIT_TRAIL = "events"
"""It has the backup itself, so that no backup has all of it."""


def rows_lacking(project: Path, backup: Path) -> Rows:
    """Table → rows of a project, its log included, that a backup lacks or has with another value.

    Raises
    ------
    StoreError, StoreBusyError, StoreVersionError: the project or the backup cannot be read.
    """
    store = open_store(project)
    with store.reading():  # a checkpoint that a kill has stopped is undone, and damage is refused
        pass
    store.close()
    with ExitStack() as ending:
        engine = start_engine(ending.enter_context(TemporaryDirectory()))
        ending.callback(stop_engine, engine)
        for name, path in (("project", project), ("backup", backup)):
            patiently(path, PATIENCE, partial(attach, engine, path, name, read_only=True))
        try:
            lacking = {name: _lacking(engine, name) for name in table_names(engine) if name != AUDIT_TRAIL}
        except duckdb.Error as error:
            raise StoreError(f"{project} cannot be compared with {backup}: {first_line(error)}") from error
    return {name: count for name, count in lacking.items() if count}


def describe_lacking(lacking: Rows) -> str:
    """The rows as a part of a sentence; '' where there are none."""
    judgments = lacking.get(JUDGMENTS, 0)
    others = sum(lacking.values()) - judgments
    counts = [amount(judgments, "judgment")] if judgments else []
    counts += [amount(others, "other row" if judgments else "row")] if others else []
    return " and ".join(counts)


_COLUMNS_OF_BOTH = """
SELECT column_name FROM duckdb_columns() WHERE database_name = 'project' AND table_name = ?
INTERSECT
SELECT column_name FROM duckdb_columns() WHERE database_name = 'backup' AND table_name = ?
ORDER BY column_name
"""


def _lacking(engine: Cursor, table: str) -> int:
    """Rows of one table, by the columns that both files have."""
    columns = engine.execute(_COLUMNS_OF_BOTH, [table, table]).fetchall()
    rows = "SELECT hash({}) FROM {}.{}"
    if not columns:
        sql = f"SELECT count(*) FROM project.{quoted(table)}"  # noqa: S608
    else:
        names = ", ".join(quoted(name) for (name,) in columns)
        ours, theirs = (rows.format(names, place, quoted(table)) for place in ("project", "backup"))
        sql = f"SELECT count(*) FROM ({ours} EXCEPT ALL {theirs})"  # noqa: S608
    return int(engine.execute(sql).fetchall()[0][0])
