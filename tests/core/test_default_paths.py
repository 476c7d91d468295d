"""Which project is meant where nobody names one, by the names of goldgrade or of goldset, its former name."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.default_paths import DEFAULTS, describe_former_variables, find_project_file
from tests.support.command_line import invoke


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"GOLDGRADE_PROJECT": "a.duckdb", "GOLDSET_PROJECT": "b.duckdb"}, "a.duckdb"),
        ({"GOLDSET_PROJECT": "b.duckdb"}, "b.duckdb"),
        ({"GOLDGRADE_PROJECT": "", "GOLDSET_PROJECT": "b.duckdb"}, "b.duckdb"),
    ],
)
def test_the_environment_names_the_project_by_the_new_name_or_the_former_one(
    environment: dict[str, str], expected: str
) -> None:
    assert find_project_file(environment) == Path(expected)


def test_the_default_file_of_goldset_is_used_where_it_exists_and_that_of_goldgrade_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_project_file({}) == DEFAULTS[0]
    Path("data").mkdir()
    DEFAULTS[1].touch()
    assert find_project_file({}) == DEFAULTS[1]
    DEFAULTS[0].touch()
    assert find_project_file({}) == DEFAULTS[0]


def test_a_variable_of_the_former_name_is_said_to_be_read_no_more_unless_the_new_one_is_set() -> None:
    environment = {"GOLDSET_WEBHOOK": "x", "GOLDSET_URL": "y", "GOLDGRADE_URL": "y", "GOLDSET_PROJECT": "p"}
    (sentence,) = describe_former_variables(environment)
    assert sentence.startswith("GOLDSET_WEBHOOK is no longer read")
    assert "Set GOLDGRADE_WEBHOOK" in sentence


def test_a_command_opens_the_project_that_the_former_variable_names(
    empty_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOLDGRADE_PROJECT", raising=False)
    monkeypatch.setenv("GOLDSET_PROJECT", str(empty_project))
    assert invoke(["status"]).exit_code == 0
