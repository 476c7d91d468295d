"""Repairs: nothing is lost that could be read, what is lost is counted, the damaged file stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from curation.backups.backup import repair
from curation.backups.content import Rows, table_names
from curation.errors import RefusedError, StoreError
from curation.store import close_all, open_store
from curation.store.on_disk.checkpoints import BLOCK, HEADERS
from curation.store.on_disk.write_ahead_log import log_of
from tests.store.on_disk.test_write_ahead_log import COMMITS, WRITTEN, killed
from tests.support.command_line import invoke
from tests.support.gold_project import frozen_project

__all__ = ["killed"]
OF_TABLE = "SELECT unnest(list_append(additional_block_ids, block_id)) FROM pragma_storage_info('{}')"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    store = frozen_project(tmp_path)
    store.close()
    return store.path


def blocks(project: Path) -> tuple[set[int], dict[str, set[int]], set[int]]:
    """The blocks of metadata, of each table, and of indexes."""
    with duckdb.connect(":memory:") as engine:
        engine.execute(f"ATTACH '{project}' AS project (READ_ONLY)").execute("USE project")
        rows = engine.execute("SELECT DISTINCT block_id FROM pragma_metadata_info('project')").fetchall()
        tables = {
            name: {number for (number,) in engine.execute(OF_TABLE.format(name)).fetchall()} - {-1}
            for name in table_names(engine)
        }
    metadata = {number for (number,) in rows}
    used = set(range((project.stat().st_size - HEADERS) // BLOCK))
    return metadata, tables, used - metadata.union(*tables.values())


def flip(project: Path, number: int) -> bytes:
    """Turn one bit of a block; returns the whole file after that."""
    content = bytearray(project.read_bytes())
    content[HEADERS + number * BLOCK + 9_000] ^= 4
    project.write_bytes(content)
    return bytes(content)


def content_of(project: Path) -> dict[str, tuple[int, int]]:
    """Table → number of rows and a sum of their values; the audit trail knows of the repair."""
    close_all()
    with duckdb.connect(":memory:") as engine:
        engine.execute(f"ATTACH '{project}' AS project (READ_ONLY)").execute("USE project")
        return {
            name: engine.execute(f'SELECT count(*), bit_xor(hash(t)) FROM "{name}" t').fetchall()[0]
            for name in table_names(engine)
            if name != "events"
        }


def test_a_damaged_index_costs_nothing(project: Path, tmp_path: Path) -> None:
    before, (_, _, rest) = content_of(project), blocks(project)
    repaired = 0
    for number in sorted(rest)[::9]:
        whole = project.read_bytes()
        damaged, target = flip(project, number), tmp_path / f"repaired-{number}.duckdb"
        try:
            found = repair(project, target)
        except RefusedError:  # nobody uses the block
            continue
        finally:
            assert project.read_bytes() == damaged
            project.write_bytes(whole)
        assert (found.damaged, found.lost) == ((number,), {})
        assert content_of(target) == before
        repaired += 1
    assert repaired


def test_rows_that_cannot_be_read_are_counted_and_a_backup_may_have_them(
    project: Path, tmp_path: Path
) -> None:
    before, (_, tables, _) = content_of(project), blocks(project)
    backup = tmp_path / "backup.duckdb"
    backup.write_bytes(project.read_bytes())
    [number] = tables["judgment_events"]
    flip(project, number)
    command = ["--project", str(project), "doctor", "--json", "--repair"]
    done = invoke([*command, str(tmp_path / "partly.duckdb")])
    lost: Rows = json.loads(done.stdout)["lost"]
    assert (done.exit_code, lost) == (1, {"judgment_events": before["judgment_events"][0]})
    left = content_of(tmp_path / "partly.duckdb")
    assert left == before | {"judgment_events": (0, None)}
    done = invoke([*command, str(tmp_path / "whole.duckdb"), "--backup", str(backup)])
    assert (done.exit_code, json.loads(done.stdout)["taken"]) == (0, [number])
    assert content_of(tmp_path / "whole.duckdb") == before


def test_damaged_metadata_and_a_whole_project_are_refused_and_nothing_is_written(
    project: Path, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match="Nothing is damaged"):
        repair(project, tmp_path / "repaired.duckdb")
    metadata, tables, _ = blocks(project)
    for number in (*metadata, *tables["migrations"]):
        whole = project.read_bytes()
        flip(project, number)
        with pytest.raises(StoreError, match="cannot be repaired"):
            repair(project, tmp_path / "repaired.duckdb")
        project.write_bytes(whole)
    flip(project, min(tables["judgment_events"]))
    with pytest.raises(RefusedError, match="exists already"):
        repair(project, project)
    assert [path.name for path in tmp_path.iterdir()] == [project.name]


@pytest.mark.parametrize(("where", "kept"), [("header", 0), ("length", COMMITS), ("value", 2)])
def test_of_a_log_a_wrong_length_is_put_right_and_what_is_before_another_fault_is_kept(
    killed: Path, tmp_path: Path, where: str, kept: int
) -> None:
    project, target = tmp_path / "project.duckdb", tmp_path / "repaired.duckdb"
    project.write_bytes(killed.read_bytes())
    log = bytearray(log_of(killed).read_bytes())
    value, entry = log.index(b"written 2"), log.index(b"\xff\xff") + 2
    while (after := entry + 16 + int.from_bytes(log[entry : entry + 8], "little")) < value:
        entry = after
    log[{"header": 6, "length": entry, "value": value}[where]] ^= 1
    log_of(project).write_bytes(log)
    repaired = repair(project, target)
    store = open_store(target)
    with store.reading() as cursor:
        assert cursor.execute(WRITTEN).fetchall() == [(kept,)]
    store.close()
    assert (kept == COMMITS) == (repaired.log_lost == 0)
    assert log_of(project).read_bytes() == log
