"""The file between leases: other processes, other connections of this one, a full disk, an interrupt."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

import duckdb
import pytest

from curation.core.errors import StoreBusyError
from curation.store import Store, create_store, get_setting, put_setting
from curation.store.project_file import DatabaseFile
from tests.support import ROOT

WHAT_IS_LOADED_WHILE_THE_FILE_IS_HELD = """
import sys
from pathlib import Path
from curation.operations.project import init_project
from curation.ingest.importers.query_import import import_queries

folder = Path(sys.argv[1])
store = init_project(folder / "project.duckdb")
assert "pyarrow" not in sys.modules and "pandas" not in sys.modules

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name in ("pyarrow", "pandas"):
            print(name, store._file.attached)

sys.meta_path.insert(0, Watch())
import_queries(store, folder / "queries.jsonl")
"""

WRITE = (
    "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(\"INSERT INTO settings VALUES ('there', 'x')\")"
)

DISK_FULL_AT_A_CHECKPOINT = """
import os, resource, sys
from pathlib import Path
from curation.core.errors import StoreError
from curation.store import append, create_store

store = create_store(Path(sys.argv[1]))

def fill(name, count):
    with store.transaction() as cursor:
        values = [os.urandom(600).hex() for _ in range(count)]
        append(cursor, "settings", {"name": [f"{name} {n}" for n in range(count)], "value": values})

def names():
    with store.reading() as cursor:
        found = cursor.execute("SELECT DISTINCT split_part(name, ' ', 1) FROM settings").fetchall()
    return sorted(row[0] for row in found if row[0] in ("before", "log", "lost", "after"))

fill("before", 50_000)
store.close()
most = store.path.stat().st_size + 1_000
resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
fill("log", 25_000)
store.close()  # with a checkpoint, which the file cannot hold
print(store.path.with_name(store.path.name + ".checkpoint").exists(), names())
try:
    fill("lost", 40_000)  # more than the log can hold
except StoreError as error:
    print("nothing was changed" in str(error).lower())
print(names())
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.close()
fill("after", 3)
print(names(), sorted(path.name for path in store.path.parent.iterdir() if path.suffix == ".checkpoint"))
"""


def write_from_there(path: Path) -> bool:
    """Whether another process could write."""
    run = subprocess.run([sys.executable, "-c", WRITE, str(path)], capture_output=True, timeout=60)
    return run.returncode == 0


def test_what_another_process_writes_the_moment_the_file_is_free_is_a_new_data_version(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow thread lets another process in before it has looked at what it leaves."""
    with store.transaction() as cursor:
        put_setting(cursor, "first", "1")
        before = store.data_version
    fingerprint = DatabaseFile._fingerprint

    def slowly(file: DatabaseFile) -> tuple[object, ...] | None:
        if not file.attached:
            write_from_there(file.path)
        return fingerprint(file)

    with monkeypatch.context() as slow:
        slow.setattr(DatabaseFile, "_fingerprint", slowly)
        store.close()
    with store.reading() as cursor:
        assert (get_setting(cursor, "there") is not None) == (store.data_version != before + 1)


@pytest.mark.costly("fills a disk in a process of its own")
def test_a_disk_full_at_a_checkpoint_is_reported_and_what_was_committed_is_read(tmp_path: Path) -> None:
    script = tmp_path / "full.py"  # with -c DuckDB takes itself for a shell and draws progress bars
    script.write_text(DISK_FULL_AT_A_CHECKPOINT)
    code = [sys.executable, str(script), str(tmp_path / "full.duckdb")]
    run = subprocess.run(code, capture_output=True, text=True, timeout=120)
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "True ['before', 'log']",
        "True",
        "['before', 'log']",
        "['after', 'before', 'log'] []",
    ]


def test_a_connection_of_this_process_that_holds_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notebook.duckdb"
    create_store(path).close()
    with (
        duckdb.connect(str(path)),
        pytest.raises(StoreBusyError, match="another connection of this process"),
        Store(path, patience=0.1).reading(),
    ):
        pass


@pytest.mark.slow
def test_a_store_at_rest_leaves_the_locks_of_this_process_alone(store: Store) -> None:
    with store.transaction() as cursor:
        put_setting(cursor, "first", "1")
    time.sleep(0.4)
    with duckdb.connect(str(store.path)):
        store.close()
        assert not write_from_there(store.path)
    assert write_from_there(store.path)


def test_an_interrupted_wait_for_the_file_leaves_a_store_that_can_be_closed(store: Store) -> None:
    def interrupt(signal_number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    store.close()
    store._closed_until = time.monotonic() + 20
    former = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt), store.reading():
            pass
    finally:
        signal.signal(signal.SIGALRM, former)
    assert (store._opening, store._open_leases) == (False, 0)
    store._closed_until = 0.0
    with store.reading() as cursor:
        assert get_setting(cursor, "nothing") is None


@pytest.mark.slow
def test_what_appending_needs_is_loaded_before_the_file_is_taken(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "what"}')
    run = subprocess.run(
        [sys.executable, "-c", WHAT_IS_LOADED_WHILE_THE_FILE_IS_HELD, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split("\n") == ["pyarrow False", "pandas False", ""]


@pytest.mark.slow
def test_every_module_that_appends_says_so_when_it_takes_the_file() -> None:
    silent = []
    for path in sorted((ROOT / "curation").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        imported = {
            name.name
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ImportFrom) and node.module == "curation.store"
            for name in node.names
        }
        if imported & {"append", "append_rows"} and ".transaction(" in text and "appends=" not in text:
            silent.append(str(path.relative_to(ROOT)))
    assert silent == []
