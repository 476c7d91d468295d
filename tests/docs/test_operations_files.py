"""The files for operators fit the repository and the commands that they call."""

from __future__ import annotations

import shlex
import tomllib

import pytest
import yaml

from tests.support import ROOT
from tests.support.command_line import invoke

FOLDER = ROOT / "docs" / "operations"
GUIDE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def lines(name: str, beginning: str) -> list[str]:
    """What follows a word at the beginning of lines."""
    content = (FOLDER / name).read_text(encoding="utf-8")
    return [line[len(beginning) :].strip() for line in content.splitlines() if line.startswith(beginning)]


def accepted(arguments: list[str]) -> bool:
    """Whether the command line takes these arguments; nothing is run."""
    return invoke([*arguments, "--help"]).exit_code == 0


@pytest.mark.parametrize("path", sorted(path.name for path in FOLDER.iterdir()))
def test_the_page_names_each_file(path: str) -> None:
    assert f"(operations/{path})" in GUIDE


def test_the_container_file_copies_what_is_there_and_what_is_installed() -> None:
    copied = [words.split()[:-1] for words in lines("Containerfile", "COPY ")]
    assert all((ROOT / path).exists() for paths in copied for path in paths)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    assert set(packages) <= {path for paths in copied for path in paths}


def test_the_compose_file_builds_the_container_file() -> None:
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
    build = services["goldgrade"]["build"]
    assert (FOLDER / build["context"] / build["dockerfile"]).resolve() == FOLDER / "Containerfile"
    assert "ports" not in services["goldgrade"]  # else `*` in FORWARDED_ALLOW_IPS believes everybody


def test_the_started_commands_are_commands() -> None:
    (unit,) = lines("goldgrade.service", "ExecStart=")
    (container,) = lines("Containerfile", "CMD ")
    assert accepted(shlex.split(unit)[1:])
    assert accepted(yaml.safe_load(container)[1:])
    assert not accepted(["app", "--no-such-option"])
