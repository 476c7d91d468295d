"""`import goldgrade`: what a notebook or a test of somebody else's calls."""

from __future__ import annotations

import ast
import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import goldgrade
from curation.core.default_paths import SAMPLE
from curation.people.seal_access import read_openings
from tests import typed_interface
from tests.support import ROOT
from tests.support.gold_project import consensus_grades, frozen_project

NOTEBOOK = ROOT / "docs" / "python.ipynb"


@pytest.fixture
def release(tmp_path: Path) -> goldgrade.Release:
    store = frozen_project(tmp_path)
    store.close()
    return goldgrade.release("v1", tmp_path / "project.duckdb")


def test_importing_goldgrade_imports_nothing_else_of_it() -> None:
    code = "import sys, goldgrade; print([name for name in sys.modules if name.startswith(('cura', 'duck'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "[]\n"


def test_grades_are_those_of_the_release_and_only_of_open_parts(release: goldgrade.Release) -> None:
    grades = consensus_grades(release._store)
    assert release.sealed == ("test",)
    assert release.qrels() == release.qrels("dev") == {query: grades[query] for query in release.queries()}
    assert sum(release.parts.values()) == len(grades) == len(release.queries("all"))
    assert {document.document_id for document in release.documents()} >= set().union(*grades.values())


def test_sealed_grades_need_a_reason_which_is_logged(release: goldgrade.Release, tmp_path: Path) -> None:
    for part in ("test", "all"):
        with pytest.raises(goldgrade.Error, match="sealed"):
            release.qrels(part)
    with pytest.raises(goldgrade.Error, match="sealed"):
        release.evaluate({"mine": {query: {"x": 1.0} for query in release.queries("test")}}, "test")
    with pytest.raises(goldgrade.Error, match="sealed"):
        release.export("trec", tmp_path / "out")
    assert release.qrels("test", reason="the test of it")
    with release._store.reading() as cursor:
        (logged,) = read_openings(cursor, release.id)
    assert (logged.purpose, logged.reason) == ("read in Python", "the test of it")


def test_a_run_in_memory_has_the_figures_of_its_file(release: goldgrade.Release, tmp_path: Path) -> None:
    run = {
        query: {document: 1.0 + grade for document, grade in grades.items()}
        for query, grades in release.qrels().items()
    }
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run))
    first, second = release.evaluate(
        {"dict": run, "file": str(path)}, "dev", measures="ndcg@10", by="stratum"
    ).runs
    assert first.overall == second.overall
    assert first.overall["ndcg@10"].value == 1
    with pytest.raises(goldgrade.Error, match=r"^the run 'unknown/queries': "):
        release.evaluate({"unknown/queries": {"x": {"y": 1.0}}, "dict": run})


def test_an_option_that_a_step_does_not_have_is_refused_with_those_that_it_has(tmp_path: Path) -> None:
    project = goldgrade.create(str(tmp_path / "project.duckdb"), "binary")
    with pytest.raises(goldgrade.Error, match=r"pool has no option depht; its options are systems, depth, "):
        project.pool(["bm25"], depht=10)
    with pytest.raises(goldgrade.Error, match="size"):
        project.sample("many")  # type: ignore[arg-type]
    assert project.releases() == []


def test_errors_name_arguments_where_a_command_would_name_its_options(release: goldgrade.Release) -> None:
    qrels, run = {"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}
    with pytest.raises(goldgrade.Error) as unknown:
        goldgrade.evaluate(qrels, {"a": run}, ["ndcg@10"], baseline="b")
    with pytest.raises(goldgrade.Error) as sealed:
        release.evaluate({"mine": {query: {"x": 1.0} for query in release.queries("test")}}, "test")
    assert "--" not in f"{unknown.value}{sealed.value}"
    assert "baseline" in str(unknown.value)
    assert "reason" in str(sealed.value)


def test_runs_are_fused_by_their_ranks() -> None:
    fused = goldgrade.fuse({"q1": {"d1": 9.0, "d2": 8.0}}, {"q1": {"d2": 0.3}, "q2": {"d1": 0.1}})
    assert fused == {"q1": {"d2": 1 / 62 + 1 / 61, "d1": 1 / 61}, "q2": {"d1": 1 / 61}}
    assert list(fused["q1"]) == ["d2", "d1"]


def test_the_file_that_mypy_checks_strictly_uses_every_public_name() -> None:
    tree = ast.parse(Path(typed_interface.__file__).read_text(encoding="utf-8"))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    classes = (goldgrade.Project, goldgrade.Release, goldgrade.Results, goldgrade.ResultTable)
    own = {name for kind in classes for name in vars(kind) if not name.startswith("_")}
    assert {*goldgrade.__all__, *own} - used == set()
    assert all((ROOT / package / "py.typed").is_file() for package in ("app", "curation", "goldgrade"))
    latex, *_ = typed_interface.use_qrels()
    assert latex.startswith(r"\begin{table}")


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the documents that have grades, without texts: to read all of Python's takes seconds."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SAMPLE, "data")
    with Path("data/judgments.csv").open(encoding="utf-8", newline="") as file:
        ids = sorted({row["document"] for row in csv.DictReader(file)})
    documents = [{"id": name, "title": name, "body": " ".join(re.split(r"[._]", name))} for name in ids]
    Path("data/stdlib.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in documents))
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    known: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), known)
    assert known["figure"].low <= known["figure"].value <= known["figure"].high  # type: ignore[attr-defined]
