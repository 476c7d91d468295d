"""Fixtures for all tests: a fresh project, and the shared real data."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.project import init_project
from curation.store import Store, open_store

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def empty_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a project to which nothing was added; tests copy it."""
    store = init_project(tmp_path_factory.mktemp("empty") / "project.duckdb").store
    store.close()
    return store.path


@pytest.fixture
def store(empty_project: Path, tmp_path: Path) -> Iterator[Store]:
    """A fresh project with the graded 0-3 guide."""
    project = open_store(Path(shutil.copy(empty_project, tmp_path / "project.duckdb")))
    yield project
    project.close()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real public data that lies beside the checkout."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return folder
