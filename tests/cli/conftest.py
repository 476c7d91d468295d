"""The command line on the test's own project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curation.store import Store
from tests.support.command_line import invoke

Goldgrade = Callable[..., str]


@pytest.fixture
def goldgrade(store: Store) -> Goldgrade:
    """goldgrade("round", "list"): what the command prints on standard output; a refusal is raised."""

    def run(*arguments: str | Path) -> str:
        command = ["--project", str(store.path), *map(str, arguments)]
        done = invoke(command, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    return run
