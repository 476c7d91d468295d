"""The workflow and the test in docs/ci.md, word for word, on a packed release where there is no project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from curation.store import close_all
from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.evaluated_project import evaluated_project, ranked, write_run

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
STEPS = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0])["jobs"]["evaluate"]["steps"]
COMMENTED = '#!/bin/sh\nfor last; do :; done\necho "$1 $2 $3 $4"\ncat "$last"\n'
"""What stands in for GitHub's command: it prints what it is called with, and the comment."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a pipeline runs: the packed release, the run of the main branch and a worse one, and commands."""
    there, elsewhere = tmp_path_factory.mktemp("ci"), tmp_path_factory.mktemp("project")
    store = evaluated_project(elsewhere)
    [packing] = re.findall(r"^goldgrade (export .* --out) v1\.goldgrade$", PAGE, re.MULTILINE)
    command = ["--project", str(store.path), *packing.split(), str(there / "v1.goldgrade")]
    assert invoke(command, catch_exceptions=False).exit_code == 0
    close_all()
    write_run(there / "main.trec", {query: sorted(found) for query, found in ranked("a").items()})
    write_run(there / "new.trec", {query: sorted(found)[::-1] for query, found in ranked("a").items()})
    (there / "bin").mkdir()
    (there / "bin" / "gh").write_text(COMMENTED, encoding="utf-8")
    (there / "bin" / "gh").chmod(0o755)
    return there


def done_in(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    path = f"{folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    where = {"PATH": path, "NUMBER": "7", "HOME": str(folder)}
    return subprocess.run(
        ["sh", "-ec", line], cwd=folder, env=where, capture_output=True, text=True, check=False
    )


def test_two_steps_of_a_workflow_evaluate_and_comment(folder: Path) -> None:
    evaluate, comment = (step["run"] for step in STEPS if "run" in step)
    gate = done_in(folder, evaluate)
    assert gate.returncode == 1, gate.stderr
    said = done_in(folder, comment).stdout
    assert said.startswith("pr comment 7 --body-file\n## Evaluation on v1, dev\n")
    assert re.search(
        r"\*\*failed\*\*: ndcg.*@10 drops significantly\n  - new, overall: .* against main \(95 %: −", said
    )
    cases = ElementTree.parse(folder / "conditions.xml").getroot()
    assert [(case.get("name"), case[0].tag) for case in cases] == [
        ("ndcg_exp@10 drops significantly", "failure"),
        ("success@10 below 0.6", "system-out"),
    ]


def test_the_example_of_pytest_fails_by_the_condition_that_holds(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example: dict[str, object] = {}
    exec(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0], example)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    test = example["test_the_search_is_as_good_as_before"]
    assert callable(test)
    with pytest.raises(AssertionError, match=r"ndcg_exp@10 drops significantly"):
        test("ndcg_exp@10 drops significantly")
