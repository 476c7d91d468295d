"""Folders beside their place: what a killed process left is removed, what it moved away is put back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from curation.store import staging
from curation.store.staging import list_leftovers, remove_leftovers, replace_folder, staging_folder


@pytest.fixture(scope="module")
def ended() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_next_export_removes_what_a_killed_one_left(tmp_path: Path, ended: int) -> None:
    left = tmp_path / f".v1.new-{ended}-7"
    left.mkdir()
    (left / "qrels.tsv").write_text("sealed")
    with staging_folder(tmp_path / "v2"):
        assert not left.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_being_written_stays(tmp_path: Path) -> None:
    with staging_folder(tmp_path / "v1") as new, staging_folder(tmp_path / "v2"):
        assert new.is_dir()
        assert list_leftovers(tmp_path) == []


def test_a_folder_of_a_killed_process_is_left_over_though_its_number_lives(tmp_path: Path) -> None:
    """In a container every process may have the number 1."""
    left = tmp_path / f".v1.new-{os.getpid()}-7"
    left.mkdir()
    assert list_leftovers(tmp_path) == [left]


def test_a_folder_that_another_process_writes_stays_until_it_is_killed(tmp_path: Path) -> None:
    code = "import sys, time; from pathlib import Path; from curation.store.staging import staging_folder\n"
    code += "with staging_folder(Path(sys.argv[1])) as new: print(new, flush=True); time.sleep(60)"
    command = [sys.executable, "-c", code, str(tmp_path / "v1")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        new = Path(process.stdout.readline().strip())
        assert remove_leftovers(tmp_path) == []
        process.kill()
        process.wait()
    assert remove_leftovers(tmp_path) == [new]


def test_a_former_export_that_was_moved_away_is_put_back(tmp_path: Path, ended: int) -> None:
    former = tmp_path / f".v1.old-{ended}-7"
    former.mkdir()
    (former / "qrels.tsv").write_text("former")
    remove_leftovers(tmp_path)
    assert (tmp_path / "v1" / "qrels.tsv").read_text() == "former"


def test_other_hidden_folders_and_links_stay(tmp_path: Path, ended: int) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / f".v1.new-{ended}-7").symlink_to(tmp_path / ".git")
    assert remove_leftovers(tmp_path) == []
    assert (tmp_path / ".git").is_dir()


def test_who_replaces_a_folder_leaves_nothing_where_somebody_else_replaces_it_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, out = tmp_path / "new", tmp_path / "v1"
    new.mkdir()
    out.mkdir()
    monkeypatch.setattr(staging, "flush", lambda _: out.rename(tmp_path / "elsewhere"))
    replace_folder(new, out)
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]


def test_a_folder_that_cannot_be_replaced_is_there_again(tmp_path: Path) -> None:
    out = tmp_path / "v1"
    out.mkdir()
    (out / "qrels.tsv").write_text("whole")
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "nothing", out)
    assert [path.name for path in tmp_path.iterdir()] == ["v1"]
    assert (out / "qrels.tsv").read_text() == "whole"


def test_a_former_folder_that_cannot_be_put_back_now_is_kept_and_put_back_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "v1"
    out.mkdir()
    (out / "qrels.tsv").write_text("former")
    rename = Path.rename

    def moves_away_only(path: Path, place: Path) -> Path:
        if place == out:
            raise OSError(28, "No space left on device")
        return rename(path, place)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", moves_away_only)
        with pytest.raises(OSError, match="No space left"):
            replace_folder(tmp_path / "new", out)
    remove_leftovers(tmp_path)
    assert (out / "qrels.tsv").read_text() == "former"
