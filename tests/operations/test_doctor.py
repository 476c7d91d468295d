"""The doctor: a sentence for each thing that somebody must act on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest

from curation.core.errors import NotFoundError
from curation.ingest.importers.external_corpus import link_corpus
from curation.operations.backup import back_up
from curation.operations.doctor import Examination, examine
from curation.operations.doctor_surroundings import check_permissions
from curation.operations.jobs.files import new_result_folder
from curation.operations.jobs.running import WORKER
from curation.operations.jobs.stored import store_job
from curation.operations.restore import restore
from curation.retrieval.stored_index import find_index_folder
from curation.store import Store, put_setting, utc_now
from curation.store.duckdb_format import log_path
from tests.support import clock
from tests.support.command_line import invoke
from tests.support.gold_project import frozen_project
from tests.support.projects import add_names
from tests.support.stored_parts import alter_part

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of its own: in the machine's there may be results of other servers."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def said(found: Examination, what: str, level: str = "problem") -> str:
    return "\n".join(one.sentence for one in found.findings if (one.what, one.level) == (what, level))


def test_a_project_in_order_asks_for_nothing(store: Store, tmp_path: Path) -> None:
    back_up(store, tmp_path / "b.duckdb")
    found = examine(store.path)
    assert found.problems == 0
    assert "rows of" in said(found, "file", "fine")
    assert "The last backup was taken on" in said(found, "backup", "fine")


def test_the_index_next_to_the_project_is_named_with_its_size(store: Store) -> None:
    find_index_folder(store.path).mkdir()
    (find_index_folder(store.path) / "one.counts").write_bytes(b"0" * 3_000_000)
    disk = said(examine(store.path), "disk", "fine")
    assert "project.duckdb.bm25 (3.0 MB) contains the BM25 index. You can delete the folder" in disk


def test_a_file_that_others_can_read_is_a_problem(store: Store) -> None:
    store.path.chmod(0o644)
    assert "the key that signs sign-in cookies" in said(examine(store.path), "permissions")


def test_a_log_that_others_can_read_is_a_problem(store: Store) -> None:
    with store.transaction() as cursor:
        put_setting(cursor, "new", "1")
    with store.reading():
        log_path(store.path).chmod(0o644)
        found = Examination(store.path, tuple(check_permissions(store.path)), {})
        assert "the log next to it (mode 644)" in said(found, "permissions")


def test_a_damaged_file_is_a_problem_and_the_rest_is_not_checked(store: Store) -> None:
    store.close()
    with store.path.open("r+b") as file:
        file.truncate(store.path.stat().st_size // 2)
    found = examine(store.path)
    assert "cannot be opened as a project, and nothing was changed" in said(found, "file")
    assert found.not_checked["releases"] == "the file cannot be read"


def test_folders_of_killed_processes_are_named_and_removed_when_asked(store: Store, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    left = tmp_path / "exports" / f".v1.new-{process.pid}-1"
    left.mkdir(parents=True)
    assert str(left) in said(examine(store.path, [left.parent]), "leftovers")
    assert left.exists()
    assert examine(store.path, [left.parent], clean=True).problems == 0
    assert not left.exists()


def test_results_of_jobs_are_removed_at_the_end_of_their_process_and_those_of_killed_ones_are_named(
    store: Store, temporary: Path
) -> None:
    make = "import os; from curation.operations.jobs.files import new_result_folder as new; print(new());"
    left = []
    for store_ending in ("", "import sys; sys.stdout.flush(); os.kill(os.getpid(), 9)"):
        done = subprocess.run(
            [sys.executable, "-c", f"{make} {store_ending}"],
            env={**os.environ, "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        left.append(Path(done.stdout.strip()))
    assert [path.exists() for path in left] == [False, True]
    assert str(left[1]) in said(examine(store.path), "leftovers", "note")
    assert str(left[1]) in said(examine(store.path, clean=True), "leftovers", "fine")
    assert not left[1].exists()


def test_a_result_that_nobody_holds_is_left_over_whichever_process_has_its_number_now(
    store: Store, temporary: Path
) -> None:
    held = new_result_folder()
    clock.change_now(held)
    left = temporary / f"{held.name[:-8]}{os.getpid()}-{held.name[-8:]}"
    left.mkdir()
    examine(store.path, clean=True)
    assert [held.exists(), left.exists()] == [True, False]


def test_a_job_whose_server_was_stopped_is_named(store: Store) -> None:
    add_names(store, "lena", role="lead")
    store_job(store, "tags", {}, "lena", None)
    assert "The job “tags” of lena" in said(examine(store.path), "jobs", "note")
    with subprocess.Popen(
        [sys.executable, "-c", "open(0).read()", WORKER, store.path], stdin=subprocess.PIPE
    ):
        assert not [finding for finding in examine(store.path).findings if finding.what == "jobs"]


def test_backups_that_are_missing_or_old_are_named(store: Store, tmp_path: Path) -> None:
    assert "There is no backup of this project" in said(examine(store.path), "backup", "note")
    back_up(store, tmp_path / "b.duckdb")
    with store.transaction() as cursor:
        before = utc_now() - timedelta(days=9)
        cursor.execute("UPDATE events SET happened_at = ? WHERE action = 'backup'", [before])
    assert "over 7 days ago" in said(examine(store.path), "backup", "note")


def test_a_restored_project_has_a_backup_only_once_one_is_taken(store: Store, tmp_path: Path) -> None:
    back_up(store, tmp_path / "b.duckdb")
    restore(tmp_path / "b.duckdb", store.path, replace=True)
    assert "The project was restored on" in said(examine(store.path), "backup", "note")
    back_up(store, tmp_path / "c.duckdb")
    assert "The last backup was taken on" in said(examine(store.path), "backup", "fine")


def test_a_clock_that_stepped_back_is_named(store: Store) -> None:
    with store.transaction() as cursor:
        cursor.execute("UPDATE events SET happened_at = ?", [utc_now() + timedelta(hours=3)])
    assert "which is in the future" in said(examine(store.path), "clock")


def test_an_altered_release_is_named(tmp_path: Path) -> None:
    gold = frozen_project(tmp_path)
    assert said(examine(gold.path), "releases") == ""
    with gold.transaction() as cursor:
        alter_part(cursor, "queries", lambda text: f"{text} ")
    assert "The release v1 has changed since it was frozen" in said(examine(gold.path), "releases")


def test_files_of_a_left_corpus_that_changed_or_are_gone_are_named(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name in ("a", "b", "c", "d"):
        (folder / f"{name}.json").write_text(json.dumps([{"id": name, "text": f"text {name}"}]))
    link_corpus(store, folder)
    clock.change_now(folder / "a.json")
    assert said(examine(store.path), "corpus") == ""
    (folder / "b.json").write_text((folder / "b.json").read_text().replace("text b", "hats b"))
    clock.change_now(folder / "b.json")
    (folder / "c.json").unlink()
    (folder / "d.json").write_text("[]")
    named = [one for one in examine(store.path).findings if one.what == "corpus"]
    files = [str(folder / f"{name}.json") for name in ("b", "c", "d")]
    assert [one.sentence.split(": ")[0] for one in named] == files
    assert {one.command for one in named} == {f"goldgrade import corpus {folder} --in-place"}
    link_corpus(store, folder / "a.json")
    assert said(examine(store.path), "corpus") == ""


def test_the_command_ends_with_1_where_somebody_must_act(store: Store) -> None:
    project = ["--project", str(store.path)]
    assert "Nothing needs your attention." in invoke([*project, "doctor"]).stdout
    store.path.chmod(0o640)
    done = invoke([*project, "doctor", "--json"])
    assert done.exit_code == 1
    assert "permissions" in {one["what"] for one in json.loads(done.stdout)["findings"]}


def test_a_project_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no goldgrade project"):
        examine(tmp_path / "none.duckdb")
