"""What goldgrade relies on of DuckDB's files, locks and errors, one fact a test.

A test that fails on another version of DuckDB names what that version changed. Without these facts, a torn
checkpoint or a damaged log is not seen: compare the new format, extend `duckdb_format` and the log's pattern,
then widen the pin.
"""

from __future__ import annotations

import os
import resource
import struct
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from curation.store import duckdb_format, write_ahead_log
from curation.store.duckdb_format import BLOCK, HEADERS, log_path
from curation.store.engine_errors import NOT_COMMITTED
from curation.store.project_file import attach_file, start_engine, stop_engine

LOCKED_BY = "import duckdb, sys; kept = duckdb.connect(sys.argv[1]); print(flush=True); input()"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file after a checkpoint, with a log of one commit after it."""
    path = tmp_path_factory.mktemp("relied") / "file.duckdb"
    engine = start_engine(str(path.parent))
    attach_file(engine, path, "project", read_only=False)
    engine.execute("CREATE TABLE project.rows (key TEXT UNIQUE)")
    engine.execute("INSERT INTO project.rows SELECT md5(range::TEXT) FROM range(9000)")
    engine.execute("CHECKPOINT project")
    engine.execute("INSERT INTO project.rows VALUES ('in the log')")
    stop_engine(engine)
    return path


def headers_of(path: Path) -> bytes:
    return path.read_bytes()[:HEADERS]


def test_a_new_file_has_storage_version_999_and_blocks_of_256_kb_after_three_headers(written: Path) -> None:
    assert duckdb_format.describe_unknown_format(headers_of(written)) == ""
    assert struct.unpack_from("<Q", headers_of(written), 12) == (999,)
    assert (written.stat().st_size - HEADERS) % BLOCK == 0


def test_the_size_of_a_block_in_the_header_is_the_one_that_the_engine_says(written: Path) -> None:
    with duckdb.connect(":memory:") as engine:
        attach_file(engine, written, "project", read_only=True)
        [(size, count)] = engine.execute(
            "SELECT block_size, total_blocks FROM pragma_database_size() WHERE database_name = 'project'"
        ).fetchall()
    assert duckdb_format.read_newest_header(headers_of(written))[3:] == (count, BLOCK)
    assert size in {BLOCK, BLOCK - 8}


def test_every_block_and_header_begins_with_the_checksum_of_its_content(written: Path) -> None:
    content = written.read_bytes()
    for place in (0, *duckdb_format.DATABASE_HEADERS):
        header = content[place : place + 4096]
        assert int.from_bytes(header[:8], "little") == write_ahead_log._compute_checksum(header[8:])
    with written.open("rb") as file:
        assert duckdb_format.find_damaged_blocks(written, file.fileno()) == []


def test_the_log_begins_with_form_2_the_databases_identifier_and_its_number_of_checkpoints(
    written: Path,
) -> None:
    header = write_ahead_log._build_log_header(headers_of(written))
    assert log_path(written).read_bytes().startswith(header)


def test_an_entry_of_the_log_has_its_length_its_checksum_and_a_content_that_begins_with_its_kind(
    written: Path,
) -> None:
    content = log_path(written).read_bytes()
    place = len(write_ahead_log._build_log_header(headers_of(written)))
    entries = 0
    while place < len(content):
        length, checksum = struct.unpack_from("<QQ", content, place)
        entry = content[place + 16 : place + 16 + length]
        assert (entry[:2], write_ahead_log._compute_checksum(entry)) == (b"d\0", checksum)
        place, entries = place + 16 + length, entries + 1
    assert entries > 1


def test_a_file_that_another_process_holds_is_refused_with_the_systems_number(written: Path) -> None:
    command = [sys.executable, "-c", LOCKED_BY, str(written)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with duckdb.connect(":memory:") as engine, pytest.raises(duckdb.IOException, match='"errno":"11"'):
            attach_file(engine, written, "project", read_only=False)
        process.communicate(b"\n")


def test_a_file_that_another_engine_of_the_process_holds_is_a_resource_in_use(written: Path) -> None:
    with duckdb.connect(":memory:") as one, duckdb.connect(":memory:") as other:
        attach_file(one, written, "project", read_only=True)
        with pytest.raises(duckdb.ResourceInUseException):
            attach_file(other, written, "project", read_only=False)


def test_a_block_with_another_checksum_is_an_error_of_the_base_class(written: Path, tmp_path: Path) -> None:
    damaged = bytearray(written.read_bytes())
    for place in range(HEADERS, len(damaged), BLOCK):
        damaged[place + 5_000] ^= 4
    (tmp_path / "file.duckdb").write_bytes(damaged)
    with pytest.raises(duckdb.Error) as refused, duckdb.connect(str(tmp_path / "file.duckdb")) as engine:
        engine.execute("SELECT max(key) FROM rows").fetchall()
    assert type(refused.value) is duckdb.Error


def test_a_disk_that_is_full_at_a_commit_is_worded_as_goldgrade_reads_it(
    written: Path, tmp_path: Path
) -> None:
    path = tmp_path / "file.duckdb"
    path.write_bytes(written.read_bytes())
    engine = start_engine(str(tmp_path))
    attach_file(engine, path, "project", read_only=False)
    few, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, most))
    try:
        with pytest.raises(duckdb.Error) as refused:
            engine.execute("INSERT INTO project.rows SELECT 'x' || range FROM range(999)")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (few, most))
        stop_engine(engine)
    assert any(words in str(refused.value) for words in NOT_COMMITTED)
    assert os.strerror(27) in str(refused.value)
