"""Repairs: a new project made of what can be read of a damaged one, which stays as it is.

A backup may have a damaged block with the same sum. Of what is still damaged then, indexes are rebuilt
from the rows, and rows that cannot be read are left out and counted.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import duckdb

from curation.errors import InputError, NotFoundError, RefusedError, StoreError
from curation.operations.backup import refuse_altered
from curation.operations.content import Rows, quoted, read_whole_file, table_names
from curation.store import close_all, open_store, record_event
from curation.store.files import PATIENCE, first_line, no_project, patiently, refuse_name
from curation.store.on_disk.blocks import damaged_blocks, take_blocks
from curation.store.on_disk.checkpoints import kept_blocks, lock, put_back
from curation.store.on_disk.write_ahead_log import log_of, repair_log
from curation.store.staging import staged, sync

SMALLEST = 16
"""Rows that are left out together where some of them cannot be read."""


@dataclass(frozen=True)
class Repaired:
    """A new project, made of a damaged one.

    Attributes
    ----------
    taken: numbers of the blocks that were taken from backups.
    damaged: numbers of the others; all rows were written into a new file, with new indexes.
    rows: table → rows in the new project.
    lost: table → rows that could not be read, and are not in it.
    log_lost: bytes of the log that could not be read; what they say is not in it.
    """

    path: Path
    project: Path
    taken: tuple[int, ...]
    damaged: tuple[int, ...]
    rows: Rows
    lost: Rows
    log_lost: int


def repair(project: Path, target: Path, backups: Sequence[Path] = ()) -> Repaired:
    """Make a new project of a damaged one, its log included; the damaged files are only read.

    Parameters
    ----------
    backups: of the project: a block that they have with the same sum is taken from them.

    Raises
    ------
    InputError: a backup is not there or was altered, or the new file could not be written.
    NotFoundError: there is no such project.
    RefusedError: there is such a file already, or nothing is damaged.
    StoreError, StoreBusyError: what lists the tables and their rows cannot be read; another process writes.
    """
    project, target = project.resolve(), target.resolve()
    refuse_name(target)
    if not project.is_file():
        raise NotFoundError(no_project(project))
    for backup in backups:
        refuse_altered(backup)
    close_all()
    try:
        with staged(target, private=True) as folder:
            new = folder / target.name
            patiently(project, PATIENCE, lambda: _copy(project, new))
            repaired = _repair(new, project, target, backups)
            sync(new)
            os.link(new, target)  # unlike a rename, it never replaces a file
    except FileExistsError:
        raise RefusedError(
            f"{target} exists already, and nothing was written. Choose another name."
        ) from None
    except OSError as error:
        raise InputError(
            f"{target}: the repaired project could not be written ({error.strerror}); expected a folder "
            "that can be written and has room for two copies."
        ) from error
    with open_store(target).transaction() as cursor:
        record_event(cursor, "repair", {"of": project.name, "lost": repaired.lost, "log": repaired.log_lost})
    return repaired


def _copy(project: Path, new: Path) -> None:
    """Copy a file, its log and what is kept of it during a checkpoint; it may be one that nobody can open."""
    with project.open("rb") as file, new.open("wb") as out:
        lock(file, fcntl.LOCK_SH)
        shutil.copyfileobj(file, out)
        for beside in (log_of, kept_blocks):
            if beside(project).exists():
                shutil.copyfile(beside(project), beside(new))


def _repair(new: Path, project: Path, target: Path, backups: Sequence[Path]) -> Repaired:
    put_back(new)
    log_lost, log_repaired = repair_log(log_of(new))
    taken = take_blocks(new, backups)
    try:
        with new.open("rb") as file:
            damaged = damaged_blocks(file.fileno())
        lost = _rebuild(new) if damaged else {}
        if "migrations" in lost:
            raise ValueError("the table of migrations is in it")
    except (duckdb.Error, ValueError) as error:
        raise StoreError(
            f"{project} cannot be repaired, and nothing was written: a block that lists its tables and rows, "
            f"or that its log needs, is damaged ({first_line(error)}).",
            command="Restore a backup: goldset restore FILE --replace.",
        ) from error
    if not (taken or damaged or log_repaired):
        raise RefusedError(
            f"Nothing is damaged in {project} that could be repaired, and nothing was written."
        )
    return Repaired(target, project, tuple(taken), tuple(damaged), read_whole_file(new), lost, log_lost)


def _rebuild(path: Path) -> Rows:
    """Write the rows of a file that can be read into a new one, which takes its place; returns those lost."""
    fresh, lost = path.with_name(f"{path.name}.rebuilt"), {}
    with closing(duckdb.connect(":memory:", config={"temp_directory": f"{path}.tmp"})) as engine:
        engine.execute("ATTACH ? AS project (TYPE DUCKDB, READ_ONLY)", [str(path)])
        engine.execute("ATTACH ? AS rebuilt (TYPE DUCKDB)", [str(fresh)])
        engine.execute("COPY FROM DATABASE project TO rebuilt (SCHEMA)")
        for name in table_names(engine):
            [(held, end)] = engine.execute(
                f"SELECT count(*), coalesce(max(rowid) + 1, 0) FROM project.{quoted(name)}"  # noqa: S608
            ).fetchall()
            copy = f"INSERT INTO rebuilt.{quoted(name)} SELECT * FROM project.{quoted(name)} {_BETWEEN}"  # noqa: S608
            for between in _readable(engine, name, 0, end):
                held -= engine.execute(copy, between).fetchall()[0][0]
            if held:
                lost[name] = held
    log_of(path).unlink(missing_ok=True)
    fresh.replace(path)
    return lost


_BETWEEN = "WHERE rowid >= ? AND rowid < ?"


def _readable(
    engine: duckdb.DuckDBPyConnection, name: str, start: int, end: int
) -> Iterator[tuple[int, int]]:
    """The ranges of row numbers whose rows can be read."""
    read = f"SELECT bit_xor(hash(t)) FROM project.{quoted(name)} t {_BETWEEN}"  # noqa: S608
    try:
        engine.execute(read, [start, end]).fetchall()
        yield start, end
    except duckdb.Error:
        if end - start > SMALLEST:
            yield from _readable(engine, name, start, (start + end) // 2)
            yield from _readable(engine, name, (start + end) // 2, end)
