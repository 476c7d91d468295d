"""Summaries for continuous integration, the file of a baseline, and what is printed and written with them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.command_line import Done, invoke
from tests.support.gold_project import TOPICS, frozen_project

CONDITIONS = ["success@1 drops by 0.5", "success@1 below 0.3", "success@1 drops significantly"]
TOO_FEW = "system|, overall: fewer than 10 queries have values for both systems, which is too few for a test."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frozen_project(tmp_path).close()
    for name, number in (("old", 1), ("new", 2)):
        lines = [f"q-{topic} Q0 {topic}-{number} 1 1.0 x\n" for topic in TOPICS]
        (tmp_path / name).mkdir()
        (tmp_path / name / "system|.trec").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def evaluated(folder: Path, *options: str, baseline: str = "{}/old/system|.trec") -> Done:
    [project] = folder.glob("*.duckdb")
    command = ["--project", str(project), "evaluate", "v1", "--measures", "success@1"]
    command += ["--run", str(folder / "new" / "system|.trec"), "--baseline", baseline.format(folder)]
    return invoke([*command, *options])


def conditions(*texts: str) -> list[str]:
    return [part for text in texts for part in ("--fail-if", text)]


def test_junit_has_a_test_case_for_each_condition(folder: Path) -> None:
    done = evaluated(folder, *conditions(*CONDITIONS), "--out", str(folder / "s.xml"))
    assert done.exit_code == 1
    suite = ElementTree.parse(folder / "s.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "1")
    assert [case.get("name") for case in suite] == CONDITIONS
    failed, _, unchecked = (case[0] for case in suite)
    assert (failed.tag, unchecked.tag) == ("failure", "error")
    message = failed.get("message") or ""
    assert message.startswith("system|, overall: 0.250, −0.750 against baseline"), (
        "names of files that are equal"
    )
    assert unchecked.get("message") == f"Nothing could be checked, so the check did not pass: {TOO_FEW}"


def test_markdown_says_what_came_of_the_conditions_and_the_figures_of_all_systems(folder: Path) -> None:
    done = evaluated(folder, *conditions("success@1 drops by 1"), "--out", str(folder / "s.md"))
    assert done.exit_code == 0, done.output
    said = (folder / "s.md").read_text(encoding="utf-8")
    assert said.startswith("## Evaluation on v1, dev\n")
    assert "- **passed**: success@1 drops by 1\n  - system\\|, overall: 0.250" in said
    assert "| system\\| | 0.250" in said


def test_summaries_are_written_next_to_the_report_that_is_printed(folder: Path) -> None:
    files = ["--out", f"{folder}/s.md", "--out", f"{folder}/s.xml", "--json"]
    answer = json.loads(evaluated(folder, *conditions(*CONDITIONS[:2]), *files).stdout)
    assert [one["condition"] for one in answer["failed"]] == CONDITIONS[:2]
    assert [len(one["figures"]) for one in answer["conditions"]] == [1, 1]
    assert (folder / "s.md").read_text(encoding="utf-8").count("**failed**") == 2
    assert ElementTree.parse(folder / "s.xml").getroot().tag == "testsuite"


def test_a_run_is_not_compared_with_its_own_file_by_another_path(folder: Path) -> None:
    (folder / "link.trec").symlink_to(folder / "new" / "system|.trec")
    done = evaluated(folder, *conditions("success@1 drops"), baseline="{}/link.trec")
    assert (done.exit_code, "'system|' is the only system" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--out", "summary"], "--out summary: expected an ending of .html, .md, .xml, .csv, .tex, .txt"),
        (
            ["--out", "s.xml"],
            "--out s.xml: the file needs a test case, which only --fail-if makes; add --fail-if",
        ),
        (["--out", "s.md", "--out", "./s.md"], "--out s.md: it is also the path of a different --out file"),
    ],
)
def test_what_cannot_be_summarised_is_refused(folder: Path, options: list[str], said: str) -> None:
    assert said in str(evaluated(folder, *options).exception)


def test_a_baseline_that_is_neither_a_run_nor_a_file_is_refused(folder: Path) -> None:
    done = evaluated(folder, baseline="old.trec")
    assert "no run (system|) and no file has this name" in str(done.exception)
