"""`goldgrade status`: the path as a table, and as one JSON object."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import invoke
from tests.support.gold_project import labelled

pytestmark = pytest.mark.slow


def test_the_stages_are_a_table_or_json_and_the_command_that_comes_next_is_named(tmp_path: Path) -> None:
    command = ["--project", str(labelled(tmp_path, decided=False).path), "status"]
    shown = invoke(command).stdout
    assert "1 pair waits for a decision." in shown
    assert shown.rstrip().endswith("Next: Decide 1 pair (goldgrade disputes)")
    found = json.loads(invoke([*command, "--json"]).stdout)
    assert found["next"] == "adjudicate"
    assert [stage["name"] for stage in found["stages"]][:2] == ["import", "sample"]
    assert found["stages"][5]["alpha"]["figure"] == "ordinal alpha"
    assert found["left_out"] == []
