"""A project on a disk that can only be read: what reads works, what writes is refused by a sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from curation.store import Store
from curation.store.duckdb_format import log_path
from tests.support import ROOT
from tests.support.gold_project import frozen_project

READ_ONLY = """
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" -c "$3" "$1" "$4"
"""
LEAVE_A_LOG = """
import os, sys
from pathlib import Path
from curation.store import open_store, record_event

with open_store(Path(sys.argv[1])).transaction() as cursor:
    record_event(cursor, "in the log alone", {})
os._exit(9)
"""
COMMANDS = """
import sys
from pathlib import Path
from curation.store import open_store
from tests.support.command_line import invoke

folder, elsewhere = map(Path, sys.argv[1:])
project = folder / "project.duckdb"
with open_store(project).reading() as cursor:
    print(cursor.execute("SELECT count(*) FROM events WHERE action = 'in the log alone'").fetchall())
for line in sys.stdin.read().splitlines():
    done = invoke(["--project", str(project), *line.split()], input="correct horse battery\\n")
    print(done.stderr, file=sys.stderr)
    print(done.exit_code, repr(str(done.exception or "")))
"""
IN_THE_LOG = "SELECT count(*) FROM events WHERE action = 'in the log alone'"
READS = """releases
verify v1
export v1 --format trec --without-grades test --out {0}/trec
evaluate v1 --run {0}/a.trec --part dev
doctor --json
backup {0}/b.duckdb
"""
WRITES = """people add eve --role lead --password-stdin
import queries {0}/queries.jsonl
export v1 --format trec --reason why --out {0}/sealed
"""


@pytest.mark.costly("a process for each command")
def test_reading_commands_work_and_writing_ones_are_refused(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    store = frozen_project(folder)
    store.close()
    (elsewhere / "a.trec").write_text("q-kettle Q0 kettle-1 1 1 a\n")
    (elsewhere / "queries.jsonl").write_text('{"_id": "q", "text": "what"}\n')
    python = [sys.executable, "-c", LEAVE_A_LOG, str(store.path)]
    assert subprocess.run(python, cwd=ROOT, check=False).returncode == 9
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert log_path(store.path).name in before
    run = subprocess.run(
        ["unshare", "-rm", "sh", "-c", READ_ONLY, "sh", folder, sys.executable, COMMANDS, elsewhere],
        input=(READS + WRITES).format(elsewhere),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode and not run.stdout:
        pytest.skip(f"no folder can be made read-only here: {run.stderr.strip()[-200:]}")
    first, *lines = run.stdout.splitlines()
    reads = dict(zip((READS + WRITES).splitlines(), lines, strict=True))
    writes = [reads.pop(line) for line in WRITES.splitlines()]
    assert first == "[(1,)]"
    assert reads.pop("doctor --json").startswith("1 ")  # the app could not keep a grade
    assert set(reads.values()) == {"0 ''"}, reads
    assert all("was opened read-only" in line for line in writes), writes
    assert run.stderr.count("The audit trail has no line for this action") == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    copied = Store(elsewhere / "b.duckdb")
    with copied.reading() as cursor:
        assert cursor.execute(IN_THE_LOG).fetchall() == [(1,)]
    copied.close()
