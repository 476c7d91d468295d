"""Checkpoints that were stopped halfway: made of the file before and after a real one."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import duckdb
import pytest

from curation.core.errors import StoreBusyError, StoreError
from curation.store import Store, get_setting, put_setting
from curation.store.checkpoints import journal_path, journaled_checkpoint, roll_back_torn_checkpoint
from curation.store.duckdb_format import BLOCK, HEADERS, log_path
from curation.store.project_file import start_engine

NEW = "SELECT count(*) FROM project.settings WHERE name = 'new'"
PAGE = 4096


@pytest.fixture
def torn(store: Store, tmp_path: Path) -> Path:
    """All blocks of the checkpoint are written but the last half of one of metadata; the headers are old."""
    for number in range(30):
        with store.transaction() as cursor:
            put_setting(cursor, f"filling {number}", "x" * 1000)
    store.close()
    engine = start_engine(str(tmp_path))
    engine.execute("ATTACH ? AS project", [str(store.path)])
    engine.execute("INSERT INTO project.settings VALUES ('new', '1')")
    engine.execute("CREATE TABLE project.other (a TEXT UNIQUE)")
    [(block,), *_] = engine.execute(
        "SELECT DISTINCT block_id FROM pragma_metadata_info('project')"
    ).fetchall()
    before, log = store.path.read_bytes(), log_path(store.path).read_bytes()
    with store.path.open("rb") as file, journaled_checkpoint(engine, store.path, file.fileno()):
        kept = journal_path(store.path).read_bytes()
        engine.execute("CHECKPOINT project")
    engine.close()
    state, at = bytearray(store.path.read_bytes()), HEADERS + block * BLOCK
    assert state[:HEADERS] != before[:HEADERS]
    state[:HEADERS] = before[:HEADERS]
    differs = next(
        n for n in range(at + BLOCK - PAGE, at, -PAGE) if state[n : n + PAGE] != before[n : n + PAGE]
    )
    state[differs : at + BLOCK] = before[differs : at + BLOCK]
    path = tmp_path / "torn.duckdb"
    path.write_bytes(state)
    log_path(path).write_bytes(log)
    journal_path(path).write_bytes(kept)
    return path


@pytest.mark.slow
def test_a_torn_checkpoint_is_undone_and_what_was_committed_is_there(torn: Path) -> None:
    with Store(torn).reading() as cursor:
        assert get_setting(cursor, "new") == "1"
    assert not journal_path(torn).exists()


def test_where_the_disk_has_no_room_to_undo_it_a_sentence_says_so_and_the_next_opening_does(
    torn: Path,
) -> None:
    few, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (HEADERS, most))
    try:
        with pytest.raises(StoreError, match="cannot be opened as a project: File too large"):
            Store(torn).reading().__enter__()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (few, most))
    with Store(torn).reading() as cursor:
        assert get_setting(cursor, "new") == "1"


def test_without_what_was_kept_the_file_opens_no_more(torn: Path) -> None:
    journal_path(torn).unlink()
    with pytest.raises(duckdb.Error, match="Corrupt database file"), duckdb.connect(str(torn)):
        pass


def test_blocks_kept_of_another_state_or_not_to_their_end_are_not_put_back(store: Store, torn: Path) -> None:
    store.close()
    before = store.path.read_bytes()
    shutil.copy(journal_path(torn), journal_path(store.path))
    assert not roll_back_torn_checkpoint(store.path)
    half = journal_path(torn).read_bytes()[: BLOCK // 2]
    journal_path(store.path).write_bytes(half)
    assert not roll_back_torn_checkpoint(store.path)
    assert store.path.read_bytes() == before
    assert not journal_path(store.path).exists()


@pytest.mark.slow
def test_nothing_is_put_back_while_the_file_is_held(torn: Path) -> None:
    kept = journal_path(torn).read_bytes()
    held = Store(torn)
    with held.reading():
        journal_path(torn).write_bytes(kept)
        with pytest.raises(StoreBusyError), Store(torn, patience=0.1).reading():
            pass
        assert journal_path(torn).read_bytes() == kept
    held.close()


def test_a_short_log_is_left_when_the_file_is_let_go_and_folded_in_at_the_end(store: Store) -> None:
    with store.transaction() as cursor:
        put_setting(cursor, "short", "1")
    store._detach()
    assert log_path(store.path).stat().st_size
    version = store._data_version
    with store.reading() as cursor:
        assert get_setting(cursor, "short") == "1"
        assert store.data_version == version
    store._detach()
    store.close()
    assert not log_path(store.path).exists()
