"""The command line as a whole: help, documentation, exit codes, one JSON object."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from curation.cli import invocation, output
from curation.cli.program import STEPS, WORKFLOW
from docs import make_commands
from tests.support import GOLDGRADE, ROOT
from tests.support.command_line import COMMAND, invoke

COMMANDS = [(name, command) for name, command in make_commands.commands() if name != "goldgrade"]
LEAVES = [(name, command) for name, command in COMMANDS if not hasattr(command, "commands")]


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_and_option_has_help(name: str, command: Any) -> None:
    assert command.help, f"{name} says nothing of itself"
    without = [parameter.name for parameter in command.params if not (parameter.help or parameter.hidden)]
    assert not without, f"{name}: no help for {without}"


def test_the_help_fits_one_screen_and_has_the_path_and_then_all_others() -> None:
    told = invoke(["--help"]).stdout
    assert len(told.splitlines()) <= 45
    path, _, others = told.partition("The path of a project:")[2].partition("All others:")
    shown = re.findall(r"^  ([a-z-]+) +([A-Z].*)$", path, re.MULTILINE)
    assert shown == [*WORKFLOW.items()]
    help_of = {name.split()[-1]: command for name, command in COMMANDS if len(name.split()) == 2}
    assert {name: help_of[name].get_short_help_str(110) for name in WORKFLOW} == WORKFLOW
    assert [line for _, line in shown if not line.endswith(".") or "..." in line or len(line) > 60] == []
    named = {*WORKFLOW, *re.findall(r"\b[a-z-]+(?=,|$)", others, re.MULTILINE)}
    assert {name.split()[1] for name, _ in COMMANDS} == named
    assert {name for names in STEPS.values() for name in names} == named


@pytest.mark.parametrize(("name", "command"), LEAVES, ids=[name for name, _ in LEAVES])
def test_every_command_shows_examples_of_itself(name: str, command: Any) -> None:
    examples = command.help.partition("Examples:")[2].strip().splitlines()
    assert examples
    assert any(name.removeprefix("goldgrade ") in line for line in examples)


def examples_of(command: Any) -> list[str]:
    """The lines of a command's examples, those that end in a backslash joined with what follows."""
    block = command.help.partition("Examples:")[2].replace("\\\n", " ")
    return [line.strip() for line in block.splitlines() if line.strip()]


def test_lines_of_an_example_are_joined_at_backslashes_only() -> None:
    command = SimpleNamespace(help="Says.\n\nExamples:\n  goldgrade a \\\n    --b\n  --c\n")
    assert examples_of(command) == ["goldgrade a      --b", "--c"]


PAGES = "\n".join(
    page.read_text(encoding="utf-8")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if page != make_commands.TARGET
)


def commands_in_blocks() -> set[str]:
    """The commands in the code blocks of all pages, without comments."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", PAGES, re.MULTILINE | re.DOTALL)
    text = "".join(blocks).replace("\\\n", " ")
    lines = re.findall(r"^(?:\$ )?(goldgrade .*)$", text, re.MULTILINE)
    return {" ".join(line.partition(" #")[0].partition(" &&")[0].split()) for line in lines}


def parsed(words: list[str]) -> None:
    """Parse a command line as the program does; nothing is run."""
    group = COMMAND
    context = group.make_context("goldgrade", words, resilient_parsing=False)
    rest = [*context._protected_args, *context.args]
    while hasattr(group, "commands") and (rest or not group.invoke_without_command):
        group = group.commands[rest.pop(0)]
        context = group.make_context(group.name, rest, parent=context)
        rest = [*context._protected_args, *context.args]
    assert rest == []


@pytest.mark.parametrize(
    "example",
    [*sorted(commands_in_blocks()), *(example for _, command in LEAVES for example in examples_of(command))],
    ids=str,
)
def test_every_example_names_a_command_and_options_that_it_knows(example: str) -> None:
    """What the help and the pages show is what the parser takes: arguments and values included."""
    words = shlex.split(re.sub(r" \d?>>? .*", "", example.rpartition("|")[2]), comments=True)
    assert words[0] == "goldgrade"
    parsed(words[1:])


@pytest.mark.parametrize("example", sorted(set(re.findall(r"`(goldgrade\s[^`]*\s--[^`]*)`", PAGES))), ids=str)
def test_every_option_that_a_page_names_is_one_of_its_command(example: str) -> None:
    group, options = COMMAND, [*COMMAND.params]
    for word in example.split()[1:]:
        if word in getattr(group, "commands", {}):
            group = group.commands[word]
            options += group.params
    known = {name for option in options for name in (*option.opts, *option.secondary_opts)}
    assert set(re.findall(r"--[a-z-]+", example)) <= {*known, "--help"}


def test_the_documentation_of_the_commands_is_what_make_docs_writes() -> None:
    assert make_commands.TARGET.read_text(encoding="utf-8") == make_commands.page(), "run `make docs`"


def test_the_page_of_commands_has_every_command_once() -> None:
    text = make_commands.TARGET.read_text(encoding="utf-8")
    written = re.findall(r"^###+ (goldgrade .*)$", text, re.MULTILINE)
    assert sorted(written) == sorted(name for name, _ in COMMANDS)


@pytest.mark.slow
def test_a_refusal_is_a_sentence_on_standard_error_and_exit_1(tmp_path: Path) -> None:
    command = [GOLDGRADE, "--project", tmp_path / "none.duckdb", "round", "status"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Make one with `goldgrade init`" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_line_starts_without_what_most_commands_do_not_need() -> None:
    code = "import sys, curation.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"jinja2", "numpy", "pyarrow", "pydantic", "rich", "scipy", "streamlit", "torch", "yaml"}
    assert heavy.isdisjoint(done.stdout.split())


def test_wrong_usage_is_exit_2(tmp_path: Path) -> None:
    command = [GOLDGRADE, "--project", tmp_path / "none.duckdb", "round", "open"]
    assert subprocess.run(command, capture_output=True, timeout=120).returncode == 2


def test_json_is_one_object_and_nothing_else(tmp_path: Path) -> None:
    project = ["--project", str(tmp_path / "project.duckdb")]
    made = json.loads(invoke([*project, "init", "--json"]).stdout)
    assert [grade["value"] for grade in made["scale"]] == [0, 1, 2, 3]
    command = [*project, "people", "add", "ada", "--password-stdin", "--json"]
    added = invoke(command, input="a long password\n")
    expected = {"name": "ada", "role": "annotator", "imported": False, "active": True}
    assert json.loads(added.stdout) == expected
    assert added.stderr == ""


def test_no_text_commands_a_terminal_and_json_has_it_exactly(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "red \x1b[31m kettle \x9b2J"
    output.print_table(text, [text], [[text]])
    output.say(text)
    shown = capsys.readouterr().out
    assert shown.count("red ␛[31m kettle \ufffd2J") == 4
    monkeypatch.setattr(invocation, "is_json", lambda: True)
    output.emit({"text": text}, "")
    in_json = capsys.readouterr().out
    assert json.loads(in_json) == {"text": text}
    assert not [sign for sign in shown + in_json if sign != "\n" and unicodedata.category(sign) == "Cc"]


def test_the_project_can_be_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLDGRADE_PROJECT", str(tmp_path / "elsewhere.duckdb"))
    assert invoke(["init"]).exit_code == 0
    assert (tmp_path / "elsewhere.duckdb").is_file()


def test_an_argument_that_is_no_text_is_refused_in_a_sentence() -> None:
    command = [
        sys.executable,
        "-c",
        "from curation.cli import main; main()",
        "tags",
        "set",
        "q",
        "--as",
        b"\xff",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is not UTF-8" in done.stderr
    assert "Traceback" not in done.stderr


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    ended = "atexit.register(lambda: print(*sys.modules))"
    code = f"import atexit, sys; from curation.cli import main; {ended}; main()"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.slow
def test_a_command_loads_what_it_needs_and_nothing_else(tmp_path: Path) -> None:
    version = loaded_by("--version")
    assert not version & {"duckdb", "numpy", "pydantic", "rich.console", "curation.cli.evaluate"}
    project = str(tmp_path / "project.duckdb")
    assert invoke(["--project", project, "init"]).exit_code == 0
    listed = loaded_by("--project", project, "releases")
    assert "curation.cli.releases" in listed
    assert not listed & {"pydantic", "rich.console", "scipy", "pandas", "torch", "curation.cli.evaluate"}


@pytest.mark.costly("starts shells and commands")
def test_a_shell_completes_commands_and_options() -> None:
    for words, found in (("goldgrade eval", "evaluate"), ("goldgrade pool --de", "--depth")):
        asked = {
            "_GOLDGRADE_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        done = subprocess.run([GOLDGRADE], env=os.environ | asked, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [found]
