"""The demo's corpus, read from the Python that runs the tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from curation.operations.stdlib_corpus import write_stdlib_corpus

pytestmark = pytest.mark.slow
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    assert 2000 <= write_stdlib_corpus(path) <= 4000
    return path


@pytest.fixture(scope="module")
def rows(written: Path) -> Rows:
    return [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]


def test_ids_are_unique_and_in_order_and_texts_are_not_repeated(rows: Rows) -> None:
    ids = [row["id"] for row in rows]
    assert ids == sorted(set(ids))
    assert len({row["body"] for row in rows}) == len(rows)
    assert all(list(row) == ["id", "title", "body", "group"] for row in rows)


@pytest.mark.parametrize(
    ("name", "title", "words"),
    [
        ("json", "json — module", "JavaScript Object Notation"),
        ("json.dumps", "json.dumps(obj, *, skipkeys=False, ", "Serialize ``obj`` to a JSON"),
        ("asyncio.gather", "asyncio.gather(*coros_or_futures, return_exceptions=False)", "results from"),
        ("os.path.join", "os.path.join(a, *p)", "Join two or more"),
        ("math.isclose", "math.isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0)", "close in value"),
        ("builtins.str.split", "str.split(sep=None, maxsplit=-1)", "Return a list of the substrings"),
    ],
)
def test_a_name_people_write_leads_to_its_docstring(rows: Rows, name: str, title: str, words: str) -> None:
    row = {row["id"]: row for row in rows}[name]
    assert row["title"].startswith(title)
    assert words in row["body"]
    assert row["group"] == name.partition(".")[0]


def test_private_names_and_excluded_modules_stay_out(rows: Rows) -> None:
    assert not [row["id"] for row in rows if any(part.startswith("_") for part in row["id"].split("."))]
    groups = {row["group"] for row in rows}
    assert groups <= set(sys.stdlib_module_names)
    assert not groups & {"antigravity", "this", "idlelib", "test", "lib2to3", "ensurepip", "pip"}


@pytest.mark.costly("the whole standard library is read twice")
def test_the_same_python_writes_the_same_bytes_whatever_hooks_a_program_has_set(
    written: Path, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "sys.excepthook" in {row["id"] for row in rows}
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)  # as the command line does
    again = tmp_path / "again.jsonl"
    write_stdlib_corpus(again)
    assert again.read_bytes() == written.read_bytes()
    assert b"\r" not in again.read_bytes()
