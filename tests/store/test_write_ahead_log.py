"""The log beside a database: what the engine would drop without a word is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from curation.core.errors import StoreError
from curation.store.database import Store
from curation.store.duckdb_format import log_path
from curation.store.write_ahead_log import describe_log_damage

COMMITS = 6
KILLED_WITH_A_LOG = """
import os, sys
from pathlib import Path
from curation.operations.project import init_project

store = init_project(Path(sys.argv[1]))
store._file.attach()
engine = store._file.cursor()
for number in range(int(sys.argv[2])):
    engine.execute("INSERT INTO settings VALUES (?, ?)", [f"written {number}", "x" * 20])
os._exit(9)
"""
WRITTEN = "SELECT count(*) FROM settings WHERE name LIKE 'written %'"


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose process was killed after six commits that are in the log alone."""
    path = tmp_path_factory.mktemp("killed") / "project.duckdb"
    run = subprocess.run([sys.executable, "-c", KILLED_WITH_A_LOG, str(path), str(COMMITS)], check=False)
    assert run.returncode == 9
    return path


def written_with(killed: Path, folder: Path, log: bytes) -> int | str:
    """How many of the commits a project with this log has, or the sentence that refuses it."""
    path = Path(shutil.copy(killed, folder / "project.duckdb"))
    log_path(path).write_bytes(log)
    store = Store(path)
    try:
        with store.reading() as cursor:
            return int(cursor.execute(WRITTEN).fetchall()[0][0])
    except StoreError as error:
        return str(error)
    finally:
        store.close()
        log_path(path).unlink(missing_ok=True)


@pytest.mark.slow
def test_what_a_killed_process_has_acknowledged_is_read(killed: Path, tmp_path: Path) -> None:
    assert describe_log_damage(killed) == ""
    assert written_with(killed, tmp_path, log_path(killed).read_bytes()) == COMMITS


def test_a_log_that_is_torn_at_its_end_is_no_damage(killed: Path, tmp_path: Path) -> None:
    whole, copy = log_path(killed).read_bytes(), Path(shutil.copy(killed, tmp_path / "copy.duckdb"))
    for length in range(0, len(whole), 3):
        log_path(copy).write_bytes(whole[:length])
        assert describe_log_damage(copy) == "", length
    assert written_with(killed, tmp_path, whole[:-3]) == COMMITS - 1


@pytest.mark.costly("opens a project for each flipped bit")
def test_one_flipped_bit_in_the_log_loses_nothing_without_a_sentence(killed: Path, tmp_path: Path) -> None:
    """DuckDB 2.0 alone drops commits silently for a bit in an entry's length or in the header."""
    whole = log_path(killed).read_bytes()
    entries = whole.index(b"\xff\xff") + 2
    middle, end = len(whole) // 2, len(whole)
    frames = [*range(entries + 24), *range(middle, middle + 60, 3), *range(end - 24, end)]
    refused = 0
    for place in frames:
        altered = bytearray(whole)
        altered[place] ^= 0x10
        found = written_with(killed, tmp_path, bytes(altered))
        if found != COMMITS:
            assert "nothing was changed" in str(found), place
            refused += 1
    assert refused > len(frames) / 2


def test_a_damaged_log_is_refused_with_what_to_do(killed: Path, tmp_path: Path) -> None:
    altered = bytearray(log_path(killed).read_bytes())
    altered[altered.index(b"\xff\xff") + 6] ^= 1
    refusal = written_with(killed, tmp_path, bytes(altered))
    assert "project.duckdb.wal) holds the newest writes and is damaged: the entry at byte" in str(refusal)
    assert "Keep both files." in str(refusal)
    assert "goldgrade --project NEW restore FILE" in str(refusal)
