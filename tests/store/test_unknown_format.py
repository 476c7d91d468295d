"""A project in a format that goldgrade does not know: the engine decides, and one line of the log says so."""

from __future__ import annotations

import logging
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.operations.backup import back_up
from curation.operations.doctor import examine
from curation.operations.project import init_project
from curation.store import open_store
from curation.store.checkpoints import journal_path
from curation.store.duckdb_format import log_path
from curation.store.project_file import start_engine, stop_engine
from curation.store.write_ahead_log import _compute_checksum, describe_log_damage
from tests.store.test_write_ahead_log import killed

__all__ = ["killed"]
SETTINGS = "SELECT count(*) FROM settings"


@pytest.fixture(params=["BLOCK_SIZE 16384", "STORAGE_VERSION 'v1.2.0'"])
def of_another_form(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A project as an engine writes it that was asked for another format."""
    usual, path = tmp_path / "usual.duckdb", tmp_path / "project.duckdb"
    init_project(usual).close()
    engine = start_engine(str(tmp_path))
    engine.execute(f"ATTACH '{usual}' AS usual; ATTACH '{path}' AS other ({request.param})")
    engine.execute("COPY FROM DATABASE usual TO other; CHECKPOINT other")
    stop_engine(engine)
    path.chmod(0o600)
    yield path
    open_store(path).close()


def test_a_project_of_another_form_is_written_backed_up_and_examined(
    of_another_form: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(of_another_form)
    with caplog.at_level(logging.WARNING, "goldgrade"):
        for number in range(40):
            with store.transaction() as cursor:
                cursor.execute("INSERT INTO settings VALUES (?, ?)", [f"written {number}", "x" * 500])
        store.close()
        with store.reading() as cursor:
            [(count,)] = cursor.execute(SETTINGS).fetchall()
        taken = back_up(store, tmp_path / "backup.duckdb")
        assert examine(of_another_form).problems == 0
    assert taken.rows["settings"] == count >= 40
    assert not journal_path(of_another_form).exists()
    said = [line for line in caplog.messages if str(of_another_form) in line and "does not know" in line]
    assert len(said) == 1


@pytest.mark.parametrize("change", ["field", "format", "header", "cut"])
def test_a_log_in_another_form_is_no_damage(killed: Path, tmp_path: Path, change: str) -> None:
    whole = log_path(killed).read_bytes()
    end = whole.index(b"\xff\xff")
    logs = {
        "field": whole[:end] + b"h\0\1" + whole[end:],
        "format": whole.replace(b"e\0\2", b"e\0\4", 1),
        "header": b"z" * 40 + whole[end + 2 :],
        "cut": whole[:-5],
    }
    path = Path(shutil.copy(killed, tmp_path / "project.duckdb"))
    log_path(path).write_bytes(logs[change])
    assert describe_log_damage(path) == ""


def test_of_a_database_with_an_unknown_storage_version_no_log_is_called_damaged(
    killed: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(killed, tmp_path / "project.duckdb"))
    log = bytearray(log_path(killed).read_bytes())
    log[log.index(b"\xff\xff") + 6] ^= 1
    log_path(path).write_bytes(log)
    assert describe_log_damage(path)
    content = bytearray(path.read_bytes())
    struct.pack_into("<Q", content, 12, 1200)
    struct.pack_into("<Q", content, 0, _compute_checksum(bytes(content[8:4096])))
    path.write_bytes(content)
    assert describe_log_damage(path) == ""


def test_an_entry_whose_kind_comes_later_is_whole_by_its_checksum(killed: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(killed, tmp_path / "project.duckdb"))
    whole = log_path(killed).read_bytes()
    start = whole.index(b"\xff\xff") + 2
    entry = b"z\0anything"
    framed = struct.pack("<QQ", len(entry), _compute_checksum(entry)) + entry
    log_path(path).write_bytes(whole[:start] + framed + whole[start:])
    assert describe_log_damage(path) == ""
