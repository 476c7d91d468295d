"""Backups while people grade, and restoring them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from curation.cli import main
from curation.core.errors import CurationError, InputError, RefusedError, StoreError, StoreVersionError
from curation.operations.backup import back_up, sums_path
from curation.operations.restore import restore
from curation.store import Store, get_setting, open_store, put_setting
from curation.store.project_file import lock_for_serving
from tests.support.command_line import invoke
from tests.support.projects import new_project, rows_of

pytestmark = pytest.mark.slow

WRITER = """
import sys
from pathlib import Path
from curation.store import open_store, put_setting

store = open_store(Path(sys.argv[1]))
for number in range(100_000):
    with store.transaction() as cursor:
        put_setting(cursor, "acknowledged", str(number))
    print(number, flush=True)
"""

FULL_DISK = """
import resource
import sys
from pathlib import Path
from curation.core.errors import CurationError
from curation.operations.backup import back_up
from curation.store import open_store, put_setting

store = open_store(Path(sys.argv[1]))
with store.transaction() as cursor:
    put_setting(cursor, "note", "in the log")
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, most))
try:
    back_up(store, Path(sys.argv[2]))
except CurationError as error:
    print("could not be written" in str(error))
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
with store.transaction() as cursor:
    put_setting(cursor, "note", "with room")
back_up(store, Path(sys.argv[2]))
"""


def note(store: Store, value: str) -> None:
    with store.transaction() as cursor:
        put_setting(cursor, "note", value)


def noted(path: Path) -> str | None:
    with open_store(path).reading() as cursor:
        return get_setting(cursor, "note")


@pytest.mark.costly("another process writes without a pause")
def test_a_backup_holds_what_another_process_had_acknowledged_before_it(store: Store, tmp_path: Path) -> None:
    """A copy made with cp while people grade lost acknowledged grades 9 times of 20."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(store.path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    acknowledged = -1

    def listen() -> None:
        nonlocal acknowledged
        for line in writer.stdout or ():
            acknowledged = int(line)

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        for number in range(8):
            while acknowledged < 20 * number:
                assert writer.poll() is None
                time.sleep(0.005)
            before = acknowledged
            taken = back_up(store, tmp_path / f"{number}.duckdb")
            copied = Store(taken.path)
            with copied.reading() as cursor:
                assert int(get_setting(cursor, "acknowledged") or -1) >= before
            copied.close()
    finally:
        writer.kill()
        listener.join()
        writer.stdout.close()
        writer.wait()


def test_a_backup_is_its_owners_alone_and_in_the_audit_trail(store: Store, tmp_path: Path) -> None:
    former = os.umask(0o000)
    try:
        taken = back_up(store, tmp_path / "b.duckdb")
    finally:
        os.umask(former)
    for path in (taken.path, sums_path(taken.path)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    [row] = rows_of(store, "SELECT detail FROM events WHERE action = 'backup'")
    assert json.loads(row[0]) == {"file": "b.duckdb", "sha256": taken.sha256, "bytes": taken.bytes}
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_what_any_command_writes_is_its_owners_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["goldgrade", "--project", str(store.path), "guide", "show"])
    former = os.umask(0o000)
    try:
        with pytest.raises(SystemExit, match="0"):
            main()
    finally:
        found = os.umask(former)
    assert found == 0o077


def test_rows_whose_numbers_stand_in_an_order_are_backed_up(store: Store, tmp_path: Path) -> None:
    """Before a backup has its name one row of each table is written again, with another key."""
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO evidence_marks VALUES ('item', 1, 3, 8, 'parts', 'hash')")
        cursor.execute("INSERT INTO decision_marks VALUES ('query', 'page', 1, 3, 8, 'parts', 'hash')")
    backup = back_up(store, tmp_path / "backup.duckdb")
    with open_store(backup.path).reading() as cursor:
        assert cursor.execute("SELECT count(*), max(start_at) FROM evidence_marks").fetchone() == (1, 3)


def test_a_folder_makes_the_time_a_part_of_the_name(store: Store, tmp_path: Path) -> None:
    taken = back_up(store, tmp_path)
    assert taken.path.name == f"{store.path.stem}-{taken.taken_at:%Y%m%d-%H%M%S}.duckdb"


def test_a_backup_that_found_the_disk_full_harms_nobody_once_there_is_room(
    store: Store, tmp_path: Path
) -> None:
    """Its checkpoint fails, and DuckDB then refuses the file to whoever has it open."""
    store.close()
    (tmp_path / "full.py").write_text(FULL_DISK)
    code = [sys.executable, str(tmp_path / "full.py"), str(store.path), str(tmp_path / "b.duckdb")]
    run = subprocess.run(code, capture_output=True, text=True, timeout=60, check=False)
    assert (run.stdout, run.stderr) == ("True\n", "")
    assert noted(tmp_path / "b.duckdb") == "with room"


def test_a_name_that_ends_like_a_folder_is_one(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "backups"
    store.close()
    assert invoke(["--project", str(store.path), "backup", f"{folder}/"]).exit_code == 0
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(list(folder.glob("*.duckdb"))) == 1
    (tmp_path / "file").write_text("mine")
    refused = invoke(["--project", str(store.path), "backup", f"{tmp_path / 'file'}/"])
    assert f"The folder {tmp_path / 'file'} could not be made" in str(refused.exception)


def test_a_backup_replaces_nothing(store: Store, tmp_path: Path) -> None:
    (tmp_path / "b.duckdb").write_text("mine")
    with pytest.raises(RefusedError, match="A backup never overwrites a file"):
        back_up(store, tmp_path / "b.duckdb")
    with pytest.raises(InputError, match="the folder of this file does not exist"):
        back_up(store, tmp_path / "none" / "b.duckdb")
    assert (tmp_path / "b.duckdb").read_text() == "mine"


def test_a_backup_names_the_project_that_is_damaged_and_what_to_do(store: Store, tmp_path: Path) -> None:
    """Not the copy in a hidden folder, which is gone by then."""
    store.close()
    whole = store.path.read_bytes()
    refusals = []
    for block in range(2, (len(whole) - 12_288) // 262_144, 4):
        content = bytearray(whole)
        content[12_288 + block * 262_144 + 5_000] ^= 4
        store.path.write_bytes(content)
        with suppress(CurationError):  # a block that is in no use
            back_up(Store(store.path), tmp_path / f"{block}.duckdb")
            continue
        with pytest.raises(StoreError, match="damaged") as refused:
            back_up(Store(store.path), tmp_path / f"{block}.duckdb")
        assert ".new-" not in str(refused.value)
        refusals.append(str(refused.value))
    assert any(f"{store.path}: " in one and "goldgrade --project NEW restore FILE" in one for one in refusals)


def test_restoring_makes_the_backup_the_project_and_keeps_the_former_one(
    store: Store, tmp_path: Path
) -> None:
    note(store, "before")
    taken = back_up(store, tmp_path / "b.duckdb")
    note(store, "after")
    restored = restore(taken.path, store.path, replace=True)
    assert noted(store.path) == "before"
    assert noted(restored.kept) == "after"
    assert restored.taken_at == taken.taken_at.isoformat()
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_a_project_is_not_replaced_without_being_asked(store: Store, tmp_path: Path) -> None:
    note(store, "mine")
    taken = back_up(store, tmp_path / "b.duckdb")
    with pytest.raises(RefusedError, match="already exists") as refused:
        restore(taken.path, store.path)
    assert "--replace" not in refused.value.found
    assert noted(store.path) == "mine"


def test_a_project_that_an_app_serves_is_not_replaced(store: Store, tmp_path: Path) -> None:
    back_up(store, tmp_path / "b.duckdb")
    store.close()
    assert lock_for_serving(store.path)
    assert not lock_for_serving(store.path)  # a second app is told so
    with pytest.raises(RefusedError, match="An app is serving"):
        restore(tmp_path / "b.duckdb", store.path, replace=True)
    assert list(tmp_path.glob("*.before-restore-*")) == []


def test_an_altered_cut_or_missing_backup_is_refused_and_the_project_stays(
    store: Store, tmp_path: Path
) -> None:
    note(store, "mine")
    taken = back_up(store, tmp_path / "b.duckdb")
    whole = taken.path.read_bytes()
    taken.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="altered or cut short"):
        restore(taken.path, store.path, replace=True)
    sums_path(taken.path).write_text("{")
    with pytest.raises(InputError, match="the checksums cannot be read"):
        restore(taken.path, store.path, replace=True)
    sums_path(taken.path).unlink()
    with pytest.raises(StoreError, match="Could not read enough bytes"):
        restore(taken.path, store.path, replace=True)
    with pytest.raises(InputError, match="there is no such file"):
        restore(tmp_path / "none", store.path, replace=True)
    assert noted(store.path) == "mine"
    assert not list(tmp_path.glob("*.before-restore-*"))


def test_a_damaged_project_is_moved_aside_with_its_log(store: Store, tmp_path: Path) -> None:
    note(store, "whole")
    taken = back_up(store, tmp_path / "b.duckdb")
    store.close()
    with store.path.open("r+b") as file:
        file.truncate(20_000)
    Path(f"{store.path}.wal").write_bytes(b"d\x00b")
    restored = restore(taken.path, store.path, replace=True)
    assert noted(store.path) == "whole"
    assert restored.kept.stat().st_size == 20_000


def test_a_backup_of_a_newer_goldgrade_is_refused_before_anything_is_moved(
    store: Store, tmp_path: Path
) -> None:
    newer = new_project(tmp_path / "newer.duckdb")
    with newer.transaction() as cursor:
        cursor.execute("INSERT INTO migrations VALUES ('9999_future', now()::TIMESTAMP)")
    newer.close()
    with pytest.raises(StoreVersionError, match="newer goldgrade"):
        restore(newer.path, store.path, replace=True)
    assert not list(store.path.parent.glob("*.before-restore-*"))


def test_the_commands_write_and_restore_a_backup(store: Store, tmp_path: Path) -> None:
    project = ["--project", str(store.path)]
    written = invoke([*project, "backup", str(tmp_path / "b.duckdb")])
    assert "rows can be read." in written.stdout
    restored = invoke([*project, "restore", str(tmp_path / "b.duckdb"), "--replace"])
    assert "The previous project is kept" in restored.stdout
