"""`goldgrade status`: the path as a table, and as one JSON object."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import invoke
from tests.support.gold_project import labelled


def test_the_path_is_a_table_and_names_the_command_that_comes_next(tmp_path: Path) -> None:
    store = labelled(tmp_path / "project", decided=False)
    done = invoke(["--project", str(store.path), "status"])
    assert done.exit_code == 0
    assert "1 pair waits for a decision." in done.stdout
    assert done.stdout.rstrip().endswith("Next: Decide 1 pair (goldgrade adjudicate list)")


def test_as_json_it_has_every_step_with_its_figures(tmp_path: Path) -> None:
    store = labelled(tmp_path / "project", decided=False)
    found = json.loads(invoke(["--project", str(store.path), "status", "--json"]).stdout)
    assert found["next"] == "adjudicate"
    assert [step["name"] for step in found["steps"]][:2] == ["import", "sample"]
    assert found["steps"][5]["alpha"]["figure"] == "ordinal alpha"
    assert found["left_out"] == []
