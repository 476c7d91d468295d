"""Fixtures for all tests: a fresh project, and the shared real data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.project import init_project
from curation.store import Store

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A fresh project with the graded 0-3 guide."""
    project = init_project(tmp_path / "project.duckdb").store
    yield project
    project.close()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real public data that lies beside the checkout."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return folder
