"""The project file: leases, migrations, other processes, failures."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from curation.core.errors import NotFoundError, RefusedError, StoreBusyError, StoreError, StoreVersionError
from curation.store import Store, append, create_store, get_setting, migrations, open_store, put_setting
from curation.store.database import LONGEST
from curation.store.duckdb_format import log_path
from curation.store.migrations import Migration
from tests.support.projects import rows_of


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60
    )


WRITE_SETTING = """
import sys
from pathlib import Path
from curation.store import open_store, put_setting
with open_store(Path(sys.argv[1])).transaction() as cursor:
    put_setting(cursor, sys.argv[2], "written by a second process")
"""


END_AT_WORK = """
import sys
from pathlib import Path
from curation.store import Store
store = Store(Path(sys.argv[1]))
with store.reading() as cursor:
    cursor.execute("SELECT 1")
"""


def test_a_process_that_ends_leaves_no_thread_with_the_engine_behind(store: Store) -> None:
    assert run_python(END_AT_WORK, str(store.path)).stderr == ""  # DuckDB's binding says what is left


def test_a_transaction_is_kept_whole_or_not_at_all(store: Store) -> None:
    def write_half() -> None:
        with store.transaction() as cursor:
            put_setting(cursor, "half", "written")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    with store.reading() as cursor:
        assert get_setting(cursor, "half") is None


def test_long_texts_go_past_the_log_and_the_next_writer_has_one_again(store: Store) -> None:
    log = log_path(store.path)
    with store.transaction(large=True) as cursor:
        put_setting(cursor, "long", "text " * 1_000)
    assert not log.exists() or log.stat().st_size < 1_000
    with store.transaction() as cursor:
        assert get_setting(cursor, "long") == "text " * 1_000
        assert cursor.sql("SELECT current_setting('checkpoint_threshold')").fetchall() != [("1000 bytes",)]


def test_a_reading_lease_cannot_write(store: Store) -> None:
    with pytest.raises(duckdb.Error, match="read-only"), store.reading() as cursor:
        put_setting(cursor, "name", "value")


def test_a_lease_inside_a_lease_is_refused_instead_of_waiting_for_itself(store: Store) -> None:
    with store.reading(), pytest.raises(RuntimeError, match="pass the cursor on"), store.transaction():
        pass


@pytest.mark.slow
def test_the_file_is_let_go_after_a_moment_without_work(store: Store) -> None:
    with store.transaction() as cursor:
        put_setting(cursor, "first", "1")
    time.sleep(0.4)
    connection = duckdb.connect(str(store.path), read_only=True)  # a foreign process could do this too
    connection.close()
    assert run_python(WRITE_SETTING, str(store.path), "second").returncode == 0


@pytest.mark.slow
def test_a_second_process_gets_in_while_this_one_never_rests(store: Store) -> None:
    stop = threading.Event()

    def work(worker: int) -> int:
        count = 0
        while not stop.is_set():
            with store.transaction() as cursor:
                put_setting(cursor, f"{worker}-{count}", "x")
            count += 1
        return count

    with ThreadPoolExecutor(4) as threads:
        counts = threads.map(work, range(4))
        results = [run_python(WRITE_SETTING, str(store.path), f"second-{n}") for n in range(3)]
        stop.set()
    assert [result.stderr for result in results] == ["", "", ""]
    sql = "SELECT count(*) FILTER (name LIKE 'second-%'), count(*) FILTER (value = 'x') FROM settings"
    assert rows_of(store, sql) == [(3, sum(counts))]


@pytest.mark.slow
def test_a_lock_that_does_not_clear_gives_a_sentence_naming_the_process(tmp_path: Path) -> None:
    path = tmp_path / "held.duckdb"
    create_store(path).close()
    hold = (
        "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", hold, str(path), "--token=hunter2"]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        impatient = Store(path, patience=0.3)
        with (
            pytest.raises(StoreBusyError, match=rf"process {holder.pid} \(python\S*\) for") as refused,
            impatient.reading(),
        ):
            pass
        assert "hunter2" not in str(refused.value), "arguments may hold secrets"
    finally:
        holder.kill()
        holder.communicate()
    with Store(path).reading() as cursor:
        assert get_setting(cursor, "anything") is None


@pytest.mark.slow
def test_what_was_committed_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "killed.duckdb"
    create_store(path).close()
    code = """
import sys
from pathlib import Path
from curation.store import open_store, put_setting
store = open_store(Path(sys.argv[1]))
for number in range(1_000_000):
    with store.transaction() as cursor:
        put_setting(cursor, f"n{number}", "x")
    print(number, flush=True)
"""
    writer = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    told = [int(writer.stdout.readline()) for _ in range(200)]
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    with open_store(path).reading() as cursor:
        kept = {row[0] for row in cursor.execute("SELECT name FROM settings").fetchall()}
    assert {f"n{number}" for number in told} <= kept
    open_store(path).close()


def test_a_new_project_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    create_store(tmp_path / "project.duckdb").close()
    assert stat.S_IMODE((tmp_path / "project.duckdb").stat().st_mode) == 0o600


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.duckdb"
    path.write_text("precious")
    with pytest.raises(RefusedError, match="already exists"):
        create_store(path)
    assert path.read_text() == "precious"


def test_a_missing_project_names_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="goldgrade init"):
        open_store(tmp_path / "nowhere.duckdb")


def test_a_project_of_a_newer_goldgrade_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "newer.duckdb"
    create_store(path).close()
    connection = duckdb.connect(str(path))
    connection.execute("INSERT INTO migrations VALUES ('9999_from_the_future', '2030-01-01')")
    connection.close()
    with pytest.raises(StoreVersionError, match="9999_from_the_future"), Store(path).reading():
        pass


STEPS = [
    *migrations.shipped(),
    Migration("9001_add_colour", "ALTER TABLE settings ADD COLUMN colour TEXT"),
    Migration("9002_paint", "UPDATE settings SET colour = 'blue'"),
]


def test_a_failing_migration_leaves_the_database_as_it_was(store: Store) -> None:
    broken = Migration("9002_broken", "CREATE TABLE new_table (a INTEGER); SELECT * FROM nowhere")
    store.close()
    connection = duckdb.connect(str(store.path))
    with pytest.raises(duckdb.CatalogException):
        migrations.upgrade(connection, [*STEPS[:-1], broken])
    tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    applied = {row[0] for row in connection.execute("SELECT name FROM migrations").fetchall()}
    connection.close()
    assert "new_table" not in tables
    assert "9001_add_colour" in applied
    assert "9002_broken" not in applied


def test_a_project_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    def fail(cursor: duckdb.DuckDBPyConnection) -> None:
        put_setting(cursor, "half", "written")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        create_store(tmp_path / "project.duckdb", fail)
    assert list(tmp_path.iterdir()) == []


def test_of_two_that_make_the_same_project_one_learns_that_it_exists(tmp_path: Path) -> None:
    path = tmp_path / "project.duckdb"
    with ThreadPoolExecutor(4) as threads:
        makers = [threads.submit(create_store, path) for _ in range(4)]
    refused = [str(maker.exception()) for maker in makers if maker.exception()]
    assert len(refused) == 3
    assert all("already exists" in sentence for sentence in refused)
    open_store(path).close()


def test_a_project_that_was_moved_away_is_not_made_anew(store: Store) -> None:
    with store.transaction() as cursor:
        put_setting(cursor, "kept", "yes")
    store.close()
    away = store.path.rename(store.path.with_name("elsewhere.duckdb"))
    with pytest.raises(NotFoundError, match="There is no goldgrade project"), store.reading():
        pass
    assert not store.path.exists()
    away.rename(store.path)
    with store.reading() as cursor:
        assert get_setting(cursor, "kept") == "yes"


def test_a_broken_file_is_not_taken_for_a_held_one_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "locked blocks.duckdb"
    path.write_text("no database " * 1000)
    with pytest.raises(StoreError, match="cannot be opened as a project"), open_store(path).reading():
        pass


@pytest.mark.slow
def test_a_long_lease_does_not_keep_the_other_threads_out(store: Store) -> None:
    inside, done = threading.Event(), threading.Event()

    def read_long() -> None:
        with store.reading():
            inside.set()
            done.wait(20)

    reader = threading.Thread(target=read_long)
    reader.start()
    inside.wait()
    time.sleep(LONGEST * 1.2)
    with store.transaction() as cursor:  # would wait for `done` if it had to
        put_setting(cursor, "meanwhile", "written")
    done.set()
    reader.join()


def test_a_setting_that_was_read_leaves_no_result_behind(store: Store) -> None:
    with store.transaction() as cursor:
        put_setting(cursor, "colour", "red")
        assert get_setting(cursor, "colour") == "red"
        assert cursor.sql("SELECT 1 AS one").to_arrow_table().num_rows == 1


def data_version(store: Store) -> int:
    with store.reading():
        return store.data_version


KILLED_AFTER_COMMIT = WRITE_SETTING + "\nimport os; os._exit(0)"
ONLY_READ = """
import sys
from pathlib import Path
from curation.store import get_setting, open_store
with open_store(Path(sys.argv[1])).reading() as cursor:
    get_setting(cursor, "cookie_key")
"""


@pytest.mark.slow
def test_a_data_version_outlasts_letting_go_of_the_file(store: Store) -> None:
    with store.transaction(new_data_version=False) as cursor:
        put_setting(cursor, "first", "1")
    before = data_version(store)
    time.sleep(0.4)
    assert data_version(store) == before
    with store.transaction(new_data_version=False) as cursor:
        put_setting(cursor, "second", "2")
    time.sleep(0.4)
    assert data_version(store) == before
    run_python(ONLY_READ, str(store.path)).check_returncode()
    assert data_version(store) == before


@pytest.mark.slow
@pytest.mark.parametrize("code", [WRITE_SETTING, KILLED_AFTER_COMMIT], ids=["ended", "killed"])
def test_what_another_process_writes_is_a_new_data_version(store: Store, code: str) -> None:
    data_version(store)
    time.sleep(0.4)
    before = data_version(store)
    time.sleep(0.4)
    run_python(code, str(store.path), "second").check_returncode()
    assert data_version(store) != before
    with store.reading() as cursor:
        assert get_setting(cursor, "second") == "written by a second process"


@pytest.mark.slow
def test_what_another_process_writes_while_this_one_never_rests_is_a_new_data_version(store: Store) -> None:
    """Whoever sees the other's row sees another data version than those who did not see it yet."""
    seen: dict[bool, set[int]] = {False: set(), True: set()}
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            with store.reading() as cursor:
                seen[get_setting(cursor, "second") is not None].add(store.data_version)

    with ThreadPoolExecutor(3) as threads:
        for _ in range(3):
            threads.submit(look)
        run_python(WRITE_SETTING, str(store.path), "second").check_returncode()
        time.sleep(1)
        done.set()
    assert seen[True]
    assert not seen[True] & seen[False]


def test_a_file_that_took_the_place_of_another_is_a_new_data_version(store: Store, tmp_path: Path) -> None:
    before = data_version(store)
    store.close()
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(store.path.read_bytes())
    copy.replace(store.path)
    assert data_version(store) != before


def test_a_transaction_is_a_new_data_version_unless_it_says_that_it_is_none(store: Store) -> None:
    before = data_version(store)
    with store.transaction() as cursor:
        put_setting(cursor, "first", "1")
    between = data_version(store)
    assert between != before
    with store.transaction(new_data_version=False) as cursor:
        put_setting(cursor, "second", "2")
    assert data_version(store) == between


def test_a_failed_transaction_is_a_new_data_version_too(store: Store) -> None:
    before = data_version(store)
    with pytest.raises(ZeroDivisionError), store.transaction():
        raise ZeroDivisionError
    assert data_version(store) != before


def test_a_copy_follows_the_file_through_checkpoints_of_both(store: Store, tmp_path: Path) -> None:
    copied = Store(tmp_path / "copy.duckdb")
    for number in range(3):
        with store.transaction() as cursor:
            rows = {"name": [f"{number} {row}" for row in range(8_000)], "value": ["text"] * 8_000}
            append(cursor, "settings", rows)
        if number:
            store.close()  # brings the log into the file
        store.copy_changes_to(copied.path)
        with store.reading() as cursor:
            expected = cursor.execute("SELECT * FROM settings ORDER BY ALL").fetchall()
        with copied.reading() as cursor:
            assert cursor.execute("SELECT * FROM settings ORDER BY ALL").fetchall() == expected
        copied.close()
        with copied.transaction() as cursor:
            put_setting(cursor, "of the copy", "gone with the next change")
        copied.close()
    assert copied.path.stat().st_mode & 0o077 == 0
