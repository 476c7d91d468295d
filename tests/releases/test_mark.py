"""A release that was frozen despite the gate says so wherever it is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import goldgrade
from curation.evaluation.evaluable_release import read_choices
from curation.evaluation.evaluate import submit
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.stored_evaluations import read_report, read_result
from curation.releases.gate_override import MARK, read_overrides
from curation.releases.release_rows import find_release
from curation.store import Annotator, Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import evaluated_project, freeze_against_the_gate, ranked, write_run
from tests.support.projects import per_module
from tests.support.stages import read_stages

LEE = Annotator("lee", "lead", False)


@per_module
def project(folder: Path) -> Store:
    """v1 was frozen as the gate was open, v2 against it."""
    store = evaluated_project(folder)
    freeze_against_the_gate(store, "v2")
    return store


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    return write_run(tmp_path / "a.trec", ranked("a"))


def said(store: Store, *arguments: str | Path) -> str:
    done = invoke(["--project", str(store.path), *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow
def test_commands_and_their_files_say_the_mark_of_a_release_and_none_of_others(
    project: Store, run_file: Path, tmp_path: Path
) -> None:
    for name, marked in (("v1", False), ("v2", True)):
        out = tmp_path / name
        out.mkdir()
        run = ("--run", run_file)
        packed, html, table = out / "it.goldgrade", out / "it.html", out / "it.tex"
        texts = {
            "pack": said(project, "export", name, "--out", packed),
            "show": said(project, "releases", name),
            "card": said(project, "releases", name, "--card"),
            "evaluate": said(project, "evaluate", name, *run, "--out", html, "--out", table),
            "html": html.read_text(encoding="utf-8"),
            "table": table.read_text(encoding="utf-8"),
            "json": said(project, "evaluate", name, *run, "--json"),
            "sealed": said(
                project, "evaluate", name, *run, "--part", "test", "--reason", "to see", "--as", "vera"
            ),
            "of the file": said(project, "evaluate", packed, *run),
            "export": said(project, "export", name, "--format", "leaderboard", "--out", out / "files"),
            "readme": (out / "files" / "README.md").read_text(encoding="utf-8"),
            "manifest": (out / "files" / "manifest.json").read_text(encoding="utf-8"),
        }
        silent = {what for what, text in texts.items() if (MARK in text) is not marked}
        assert not silent, f"{name}: {silent}"
    listed = json.loads(said(project, "releases", "--json"))["releases"]
    assert [row["mark"] for row in listed] == [None, f"{MARK}: ordinal alpha is too low"]
    assert f"v2 ({MARK})" in said(project, "releases")
    assert f"From release v1 to v2 ({MARK})" in said(project, "diff", "v1", "v2")
    assert json.loads(said(project, "diff", "v1", "v2", "--json"))["new"]["mark"].startswith(MARK)


def test_records_carry_the_mark(project: Store, run_file: Path) -> None:
    release = goldgrade.release("v2", project.path)
    assert release.mark == release.evaluate({"a": run_file}).mark == f"{MARK}: ordinal alpha is too low"
    assert goldgrade.release("v1", project.path).mark is None
    with project.reading() as cursor:
        assert set(read_overrides(cursor)) == {"v2"}
        assert read_choices(cursor, find_release(cursor, "v2")).mark == release.mark


def test_the_path_and_the_report_of_the_page_evaluate_say_the_mark(project: Store, run_file: Path) -> None:
    request = EvaluateRequest("v2", "dev", ("ndcg_exp@10",), runs=(("a", str(run_file)),))
    evaluation_id = submit(project, request, "lee").evaluation_id
    assert evaluation_id is not None
    with project.reading() as cursor:
        report = read_report(cursor, evaluation_id, LEE)
        result = read_result(cursor, evaluation_id, LEE)
    assert MARK in report.title
    assert MARK in report.findings[0]
    assert MARK in result
    steps = {step.name: step.line for step in read_stages(project)}
    assert MARK in steps["freeze"]
    assert MARK in steps["evaluate"]
