"""DuckDB engines that one test after another uses: to start and end one takes 60 ms of processor time.

They work on one thread: a small project is done before a second one is awake. `make search` gives them all.
"""

from __future__ import annotations

import duckdb

from curation.store import Cursor
from curation.store.project_file import start_engine, stop_engine
from tests.support import is_search

_kept: list[Cursor] = []


def take_engine(temporary: str) -> Cursor:
    """An engine without a file, as `start_engine` gives it."""
    quoted = temporary.replace("'", "''")
    while _kept:
        engine = _kept.pop()
        try:
            return engine.execute(f"SET temp_directory = '{quoted}'")
        except duckdb.Error:  # it has used the folder that it had
            stop_engine(engine)
    engine = start_engine(temporary)
    return engine if is_search() else engine.execute("SET threads = 1")


def keep_engine(engine: Cursor) -> None:
    """Keep an engine for the next file, unless it failed."""
    try:
        engine.execute("DETACH DATABASE IF EXISTS project")
    except duckdb.Error:
        stop_engine(engine)
    else:
        _kept.append(engine)
