"""Backups and restoring: a project file as it is after its last commit, with its sums next to it, read whole.

The file is held only while its bytes are copied. A person who grades meanwhile waits for that long, and
nothing that was acknowledged is missing. Every value of the copy is then read, so that no damage stays
unseen, and the copy gets its place only after that.

A backup that is restored becomes the project, and what was there before is kept next to it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb

from curation import __version__
from curation.core.digests import canonical_json, file_digest
from curation.core.errors import InputError, RefusedError, StoreError
from curation.core.text import pluralize
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Store,
    migrations,
    note_event,
    open_store,
    record_event,
    utc_now,
)
from curation.store.duckdb_format import damaged_blocks
from curation.store.engine_errors import failure, first_line
from curation.store.project_file import is_served, refuse_name, start_engine, stop_engine
from curation.store.staging import staged, sync
from curation.store.write_ahead_log import log_damage, log_of

FORM = 1
OWNER_ONLY = 0o600
Rows = dict[str, int]
"""Table → its number of rows."""
_KEYS = """
SELECT table_name, constraint_index, column_name, data_type
FROM (
    SELECT table_name, constraint_index, unnest(constraint_column_names) AS column_name
    FROM duckdb_constraints()
    WHERE database_name = 'project' AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')
) JOIN duckdb_columns() USING (table_name, column_name)
WHERE database_name = 'project' AND data_type IN ('INTEGER', 'VARCHAR')
"""


@dataclass(frozen=True)
class Restored:
    """A project that was made of a backup.

    Attributes
    ----------
    taken_at: when the backup was taken, by its sums (ISO 8601, UTC); None if it has no such value.
    rows: table → rows, as the backup had them.
    kept: the file that was the project before; None if there was no project.
    """

    path: Path
    backup: Path
    taken_at: str | None
    rows: Rows
    kept: Path | None

    @property
    def sentences(self) -> list[str]:
        """What is the project now, and where the former one is."""
        when = f"as it was at {self.taken_at} UTC" if self.taken_at else "which has no sums next to it"
        rows = pluralize(sum(self.rows.values()), "row")
        kept = [f"The project that was there is kept: {self.kept}"] if self.kept else []
        return [f"{self.path} is now {self.backup.name}, {when}: {rows}.", *kept]


def restore(backup: Path, project: Path, *, replace: bool = False, actor: str = COMMAND_LINE) -> Restored:
    """Make a backup the project. It is compared with its sums and read whole first.

    Parameters
    ----------
    replace: a project that is there is moved aside, to `NAME.before-restore-TIME`; nothing of it is removed.

    Raises
    ------
    InputError: there is no such backup, it was altered, or its copy could not be written.
    RefusedError: there is a project already, and `replace` is False; or an app serves it.
    StoreError, StoreVersionError: the backup is damaged, no project, or of a newer goldgrade.
    """
    backup, project = backup.resolve(), project.resolve()
    refuse_name(project)
    if project.exists() and not replace:
        raise RefusedError(
            f"{project} exists already, and nothing was restored.",
            command="Add --replace to move it aside and keep it, or name another --project to have both.",
        )
    if project.exists() and is_served(project):
        raise RefusedError(
            f"An app serves {project}: what people grade meanwhile would go to the file that is moved aside. "
            "Nothing was restored.",
            command="Stop the app, then try again.",
        )
    sums = refuse_altered(backup)
    try:
        with staged(project, private=True) as folder:
            new, rows = _copy_of(backup, folder / project.name)
            kept = _swap(new, project)
    except OSError as error:
        raise InputError(
            f"{project}: the backup could not be restored ({error.strerror}); expected a folder that can be "
            "written and has room for a copy. The project is as it was."
        ) from error
    _record(project, backup, sums, kept, actor)
    return Restored(project, backup, str(sums["taken_at"]) if sums else None, rows, kept)


def _copy_of(backup: Path, new: Path) -> tuple[Path, Rows]:
    shutil.copyfile(backup, new)
    new.chmod(OWNER_ONLY)
    if log_of(backup).exists():  # a file that was copied by hand
        shutil.copyfile(log_of(backup), log_of(new))
    rows = read_whole_file(new)
    sync(new)
    return new, rows


def _swap(new: Path, project: Path) -> Path | None:
    """Put the new file in the place of the project; returns where the former one is, with its log."""
    if not project.exists():
        os.link(new, project)  # unlike a rename, it never replaces a file made meanwhile
        sync(project.parent)
        return None
    kept = project.with_name(f"{project.stem}.before-restore-{utc_now():%Y%m%d-%H%M%S}{project.suffix}")
    store = open_store(project)
    try:
        with store.reading():
            pass
        store.close()  # its log is part of it now
        with store.reading():  # nobody else can open it meanwhile
            _exchange(new, project, kept)
        store.close()
    except StoreError:  # it is damaged
        _exchange(new, project, kept)
    return kept


def _exchange(new: Path, project: Path, kept: Path) -> None:
    os.link(project, kept)
    if log_of(project).exists():
        log_of(project).rename(log_of(kept))
    new.replace(project)
    sync(project.parent)


def _record(project: Path, backup: Path, sums: Any, kept: Path | None, actor: str) -> None:
    with open_store(project).transaction() as cursor:
        detail = {"backup": backup.name, "taken_at": sums and sums["taken_at"], "kept": kept and kept.name}
        record_event(cursor, "restore", detail, actor)


@dataclass(frozen=True)
class Backup:
    """A backup and its sums.

    Attributes
    ----------
    sha256, bytes: of the file at `path`.
    rows: table → rows.
    goldgrade, duckdb: the versions that wrote it.
    """

    path: Path
    project: str
    taken_at: datetime
    bytes: int
    sha256: str
    rows: Rows
    goldgrade: str = __version__
    duckdb: str = duckdb.__version__

    @property
    def judgments(self) -> int:
        return self.rows.get("judgment_events", 0)

    @property
    def sentences(self) -> list[str]:
        """What was copied, and the sum of the copy."""
        return [
            f"Copied the project to {self.path.name} ({self.bytes / 1e6:,.1f} MB). All of its "
            f"{sum(self.rows.values()):,} rows were read.",
            f"SHA-256: {self.sha256}",
        ]


def back_up(
    store: Store,
    target: Path,
    actor: str = COMMAND_LINE,
    action: str = "backup",
    detail: Mapping[str, object] = MappingProxyType({}),
) -> Backup:
    """Write a backup of a project that may be in use, and its sums next to it; all of it was read before.

    Parameters
    ----------
    target: the new file. In a folder that exists it gets the project's name and the time (UTC).
    action, detail: what the audit trail calls it, and what it says besides.

    Raises
    ------
    InputError: there is such a file already, or the folder does not exist or cannot be written.
    StoreError, StoreBusyError: the project cannot be read, or the copy of it is damaged.
    """
    taken_at = utc_now().replace(microsecond=0)
    target = _place(store.path, target, taken_at)
    try:
        with staged(target, private=True) as folder:
            new = folder / target.name
            store.copy_to(new)
            rows = _read(new, store.path)
            taken = Backup(target, store.path.name, taken_at, new.stat().st_size, file_digest(new), rows)
            _put_in_place(new, taken)
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        raise InputError(
            f"{target}: the backup could not be written ({error.strerror}); expected a folder that can be "
            "written and has room for a copy of the project."
        ) from error
    sums = {"file": target.name, "sha256": taken.sha256, "bytes": taken.bytes}
    note_event(store, action, {**sums, **detail}, actor)
    return taken


def make_folder(folder: Path) -> None:
    """A folder for backups, which only its owner can look into; one that exists stays as it is.

    Raises
    ------
    InputError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} could not be made ({error.strerror}); expected a folder, or a place where "
            "one can be made."
        ) from error


def sums_path(backup: Path) -> Path:
    """Where the sums of a backup are: `NAME.sums.json` next to it."""
    return backup.with_name(f"{backup.name}.sums.json")


def read_sums(backup: Path) -> Mapping[str, Any] | None:
    """The sums next to a backup as they were written; None without any.

    Raises
    ------
    InputError: they cannot be read.
    """
    path = sums_path(backup)
    try:
        sums = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"the sums cannot be read ({error}); expected JSON", path=path) from error
    if not isinstance(sums, dict) or sums.get("form") != FORM or "sha256" not in sums:
        raise InputError(f"expected the sums of a backup in form {FORM}, with its sha256", path=path)
    return sums


def refuse_altered(backup: Path) -> Mapping[str, Any] | None:
    """The sums of a backup whose bytes agree with them; None if it has no such value.

    Raises
    ------
    InputError: there is no such file, or it was altered.
    """
    if not backup.is_file():
        raise InputError("there is no such file; expected a backup", path=backup)
    sums = read_sums(backup)
    if sums is not None and (sha256 := file_digest(backup)) != sums["sha256"]:
        raise InputError(
            f"its SHA-256 is {sha256[:12]}…, and its sums say {str(sums['sha256'])[:12]}…: it was altered or "
            "cut short after it was written. Use another backup.",
            path=backup,
        )
    return sums


def _place(project: Path, target: Path, taken_at: datetime) -> Path:
    target = target.resolve()
    refuse_name(target)
    if target.is_dir():
        target = target / f"{project.stem}-{taken_at:%Y%m%d-%H%M%S}{project.suffix}"
    if not target.parent.is_dir():
        raise InputError(f"{target}: its folder does not exist; expected a file in a folder that does.")
    if target.exists() or sums_path(target).exists():
        raise _exists(target)
    return target


def _read(copy: Path, project: Path) -> Rows:
    """The rows of the copy, all of it read. What is wrong with it is wrong with the project."""
    try:
        return read_whole_file(copy)
    except StoreError as error:
        message = error.found.replace(str(copy), str(project))
        command = "Make a project of an older backup next to it: goldgrade --project NEW restore FILE."
        raise StoreError(f"{message} No backup was written.", command=command) from error


def _exists(target: Path) -> RefusedError:
    return RefusedError(
        f"{target} or its sums exist already. A backup replaces nothing: choose another name, or name a "
        "folder, and the time becomes part of the name."
    )


def _put_in_place(new: Path, taken: Backup) -> None:
    sums = {name: value for name, value in asdict(taken).items() if name != "path"} | {"form": FORM}
    companion = sums_path(new)
    companion.touch(OWNER_ONLY)
    companion.write_text(
        f"{canonical_json(sums | {'taken_at': taken.taken_at.isoformat()})}\n", encoding="utf-8"
    )
    for source, target in ((companion, sums_path(taken.path)), (new, taken.path)):
        sync(source)
        os.link(source, target)  # unlike a rename, it never replaces a file made meanwhile
    sync(taken.path.parent)


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
        store_error = failure(error)
        raise StoreError(f"{path}: {store_error.found if store_error else first_line(error)}") from error
    finally:
        stop_engine(engine)
    log_of(path).unlink(missing_ok=True)
    with path.open("rb") as file:
        damage = damage_of_blocks(lambda: damaged_blocks(path, file.fileno()))
    if damage:
        raise StoreError(f"{path}: {damage}")
    return rows


def damage_of_blocks(look: Callable[[], list[int]]) -> str:
    """A sentence on the blocks that `look` finds damaged; '' where all are whole."""
    try:
        damage = look()
    except ValueError as error:
        return f"The file is damaged: {error}."
    if not damage:
        return ""
    shown = ", ".join(f"{number:,}" for number in damage[:5])
    return (
        f"The file is damaged: {len(damage):,} of its blocks in use have another content than their sums "
        f"say (block {shown}{', …' if len(damage) > 5 else ''})."
    )


def read_all_rows(cursor: Cursor) -> Rows:
    """Read every value of every table; DuckDB compares each block that it reads with its checksum."""
    return {name: _read_table(cursor, name) for name in table_names(cursor)}


def table_names(cursor: Cursor) -> list[str]:
    """The tables of the database `project`, by name."""
    sql = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'project' ORDER BY table_name"
    return [str(name) for (name,) in cursor.execute(sql).fetchall()]


def write_rows(cursor: Cursor) -> None:
    """Write the first row of each table again, with other keys; committed, because a rollback spares indexes.

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
