"""`goldgrade coverage map`: a page without results, and what it refuses."""

from __future__ import annotations

from pathlib import Path

from curation.store import Store
from tests.support.command_line import invoke
from tests.support.coverage_project import measured
from tests.support.projects import built_once

project = built_once(measured)


def test_the_command_writes_the_map_and_refuses_runs_without_a_release(
    project: Store, tmp_path: Path
) -> None:
    command = ["--project", str(project.path), "coverage", "map", str(tmp_path / "map.html")]
    refused = invoke([*command, "--run", "some.trec"])
    assert refused.exit_code == 1
    assert "both --release and --run" in str(refused.exception)
    assert not (tmp_path / "map.html").exists()
    assert "Wrote" in invoke(command).stdout
    assert "2 of 3 regions have no query" in (tmp_path / "map.html").read_text()
