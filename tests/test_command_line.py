"""The command line as a whole: help, documentation, exit codes, one JSON object."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import make_commands  # noqa: E402

GOLDSET = str(Path(sys.executable).with_name("goldset"))
COMMANDS = [(name, command) for name, command in make_commands.commands() if name != "goldset"]
LEAVES = [(name, command) for name, command in COMMANDS if not hasattr(command, "commands")]


def goldset(*arguments: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [GOLDSET, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_and_option_has_help(name: str, command: Any) -> None:
    assert command.help, f"{name} says nothing of itself"
    without = [parameter.name for parameter in command.params if not parameter.help]
    assert not without, f"{name}: no help for {without}"


@pytest.mark.parametrize(("name", "command"), LEAVES, ids=[name for name, _ in LEAVES])
def test_every_command_shows_examples_of_itself(name: str, command: Any) -> None:
    examples = command.help.partition("Examples:")[2].strip().splitlines()
    assert examples
    assert any(name.removeprefix("goldset ") in line for line in examples)


def test_the_documentation_of_the_commands_is_what_make_docs_writes() -> None:
    assert make_commands.TARGET.read_text(encoding="utf-8") == make_commands.page(), "run `make docs`"


def test_the_readme_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [name for name, _ in LEAVES if name not in readme]
    assert not missing


def test_a_refusal_is_a_sentence_on_standard_error_and_exit_1(tmp_path: Path) -> None:
    done = goldset("--project", tmp_path / "none.duckdb", "round", "list")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Make one with `goldset init`" in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_usage_is_exit_2(tmp_path: Path) -> None:
    assert goldset("--project", tmp_path / "none.duckdb", "round", "open").returncode == 2


def test_json_is_one_object_and_nothing_else(tmp_path: Path) -> None:
    project = tmp_path / "project.duckdb"
    made = json.loads(goldset("--project", project, "init", "--json").stdout)
    assert [grade["value"] for grade in made["scale"]] == [0, 1, 2, 3]
    added = goldset(
        "--project",
        project,
        "annotator",
        "add",
        "ada",
        "--password-stdin",
        "--json",
        input="a long password\n",
    )
    assert json.loads(added.stdout) == {"name": "ada", "role": "annotator", "imported": False}
    assert added.stderr == ""


def test_the_project_can_be_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLDSET_PROJECT", str(tmp_path / "elsewhere.duckdb"))
    assert goldset("init").returncode == 0
    assert (tmp_path / "elsewhere.duckdb").is_file()
