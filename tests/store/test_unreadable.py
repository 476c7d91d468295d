"""A path at which no project can be read: every entry answers with a sentence."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import duckdb
import pytest

from app.serve import build_application
from curation.core.errors import CurationError, StoreError
from curation.operations.doctor import examine
from curation.operations.project import init_project
from curation.store import open_store
from curation.store.write_ahead_log import _compute_checksum
from tests.support.command_line import invoke

NOBODY = 65534
KINDS = {
    "folder": "is a folder; expected the file of a goldgrade project",
    "empty": "is empty; expected the file of a goldgrade project",
    "text": "cannot be opened as a project, and nothing was changed: ",
    "cut": "cannot be opened as a project, and nothing was changed: ",
    "headers alone": "cannot be opened as a project, and nothing was changed: ",
    "newer": "storage version number 1200",
    "other database": "is not a goldgrade project",
}


def made(kind: str, folder: Path) -> Path:
    path = folder / "unreadable.duckdb"
    if kind == "folder":
        path.mkdir()
        return path
    init_project(path).close()
    content = bytearray(path.read_bytes())
    if kind == "newer":
        struct.pack_into("<Q", content, 12, 1200)
        struct.pack_into("<Q", content, 0, _compute_checksum(bytes(content[8:4096])))
    if kind == "other database":
        path.unlink()
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE other (a INTEGER)")
        return path
    contents = {
        "empty": b"",
        "text": b"query,count\n" * 2_000,
        "cut": bytes(content[: len(content) // 2]),
        "headers alone": bytes(content[:12_288]),
        "newer": bytes(content),
    }
    path.write_bytes(contents[kind])
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_an_unreadable_project_is_a_sentence_from_every_entry(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(kind, tmp_path)
    for command in ("status", "doctor", f"backup {tmp_path}", "app --port 0"):
        done = invoke(["--project", str(path), *command.split()])
        said = f"{done.output} {done.exception}"
        assert done.exit_code, command
        assert isinstance(done.exception, CurationError | SystemExit), (command, done.exception)
        assert KINDS[kind] in said, (command, said)
        assert "--replace" not in said
    monkeypatch.setenv("GOLDGRADE_PROJECT", str(path))
    with pytest.raises(CurationError, match=r"unreadable|is not a goldgrade project"):
        build_application()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_project_that_one_may_not_read_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "private" / "project.duckdb"
    path.parent.mkdir()
    init_project(path).close()
    for place, mode in ((path, 0o000), (path.parent, 0o700)):
        place.chmod(mode)
        tmp_path.chmod(0o755)
        os.seteuid(NOBODY)
        try:
            with pytest.raises(StoreError, match="cannot be opened as a project"):
                open_store(path)
            with pytest.raises(StoreError, match="cannot be opened as a project"):
                examine(path)
        finally:
            os.seteuid(0)
        path.chmod(0o600)
