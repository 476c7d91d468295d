"""Blocks of a file: the sums of those in use are compared, of indexes, too, and free ones are not."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from curation.core.errors import InputError, StoreError
from curation.operations.backup import back_up
from curation.operations.doctor import examine
from curation.operations.project import init_project
from curation.operations.whole_file import read_all_rows
from curation.store import Store, open_store
from curation.store.duckdb_format import BLOCK, HEADERS, find_damaged_blocks


@pytest.fixture
def grown(tmp_path: Path) -> Path:
    """A file with indexes, in which blocks are free again."""
    path = tmp_path / "grown.duckdb"
    with duckdb.connect(str(path)) as connection:
        for name in ("dropped", "kept"):
            rows = "SELECT md5(range::TEXT) AS key FROM range(20000)"
            connection.execute(
                f"CREATE TABLE {name} (key TEXT UNIQUE); INSERT INTO {name} {rows}; CHECKPOINT"
            )
        connection.execute("DROP TABLE dropped; CHECKPOINT")
    return path


def test_every_block_in_use_is_compared_and_no_free_one(grown: Path) -> None:
    with duckdb.connect(str(grown)) as connection:
        sizes = connection.execute("SELECT used_blocks, free_blocks FROM pragma_database_size()").fetchone()
    used = free = 0
    with grown.open("r+b", buffering=0) as file:
        assert find_damaged_blocks(grown, file.fileno()) == []
        for number in range((grown.stat().st_size - HEADERS) // BLOCK):
            flip(file, number)
            try:
                found = find_damaged_blocks(grown, file.fileno())
            except ValueError:  # the list of free blocks is in it
                found = [number]
            used, free = used + (found == [number]), free + (found == [])
            flip(file, number)
    assert (used, free) == sizes


def flip(file, number: int) -> None:
    place = HEADERS + number * BLOCK + 7_777
    file.seek(place)
    [byte] = file.read(1)
    file.seek(place)
    file.write(bytes([byte ^ 4]))


@pytest.mark.slow
def test_a_damaged_index_is_found_by_backup_and_doctor_though_all_rows_can_be_read(
    store: Store, tmp_path: Path
) -> None:
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO settings SELECT md5(range::TEXT), 'x' FROM range(3000)")
    store.close()
    for number in range((store.path.stat().st_size - HEADERS) // BLOCK):
        with store.path.open("r+b", buffering=0) as file:
            flip(file, number)
        try:
            with store.reading() as cursor:
                read_all_rows(cursor)
            damaged = store.damaged_blocks()
        except (StoreError, ValueError):
            damaged = []
        store.close()
        if damaged:
            break
        with store.path.open("r+b", buffering=0) as file:
            flip(file, number)
    assert damaged == [number]
    said = f"(block {number})"
    assert any(said in one.sentence for one in examine(store.path).findings if one.level == "problem")
    with pytest.raises(StoreError, match="damaged"):
        back_up(store, tmp_path / "backup.duckdb")
    assert not (tmp_path / "backup.duckdb").exists()


def test_a_name_whose_log_would_be_elsewhere_is_refused(store: Store, tmp_path: Path) -> None:
    store.close()
    for path in (tmp_path / "what?.duckdb", tmp_path / "a?b" / "shop.duckdb"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(store.path.read_bytes())
        with pytest.raises(InputError, match="question mark"):
            open_store(path)
        with pytest.raises(InputError, match="question mark"):
            init_project(path.with_name("new?.duckdb"))
