"""Fixtures for all tests: a fresh project, files of given contents, the shared real data; derived markers."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import argon2
import pandas  # noqa: F401  (before a command says that there is none: curation.core.arrow)
import pytest
from hypothesis import settings

from curation.people import passwords
from curation.retrieval import embedding_model as model
from curation.store import Store, database, open_store, project_file
from tests.support import ROOT, clock, engines, in_memory, once
from tests.support.budget import Budget
from tests.support.projects import discard, new_project
from tests.support.scheduling import longest_first, scheduler

MARKED = {"chromium": "browser", "embedding_model": "dense"}
"""Fixture → the marker of the tests that use it. No test is marked so by hand."""

clock.start()
os.umask(0o077)  # as every process of goldgrade has it
in_memory.put_temporary_files_there()

# The same examples each time, so that a change alone can make a test fail; `make search` looks for others.
settings.register_profile("search", deadline=None, derandomize=False, print_blob=True)
settings.register_profile("full", settings.get_profile("search"), derandomize=True, max_examples=30)
settings.register_profile("check", settings.get_profile("full"), max_examples=10)
settings.load_profile("full")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Budget())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what drives Chromium, loads the embedding model or is costly; put the longest files first."""
    for item in items:
        for fixture, marker in MARKED.items():
            if item.get_closest_marker(marker):
                raise pytest.UsageError(f"{item.nodeid}: use the fixture {fixture}, not the marker {marker}")
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(marker)
        if item.get_closest_marker("costly"):
            item.add_marker("slow")
    longest_first(items)


def pytest_collection_finish() -> None:
    """Streamlit looks for components once, not at each run of an `AppTest`, and a run's end is waited for."""
    if "streamlit.testing.v1" in sys.modules:
        from streamlit.components.v2 import manifest_scanner
        from streamlit.testing.v1 import local_script_runner

        manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
        ask_for_end = local_script_runner.require_widgets_deltas

        def wait_for_end(runner: Any, timeout: float) -> None:
            runner._script_thread.join(timeout)
            ask_for_end(runner, timeout)

        local_script_runner.require_widgets_deltas = wait_for_end


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Callable[..., None]) -> Any:
    return scheduler(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Only a test with the fixture `embedding_model` may load the model."""
    may_load = "embedding_model" in getattr(item, "fixturenames", ())
    model._sentence_transformer = _load_model if may_load else _refuse_model


_load_model = model._sentence_transformer


def _refuse_model(location: str, ask_hub: bool) -> Any:
    raise AssertionError(f"a test loads {location} without the fixture embedding_model")


@pytest.fixture(scope="session")
def embedding_model() -> None:
    """For tests that load the embedding model, in this process or another; it marks them `dense`."""


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[argon2.PasswordHasher]:
    """Hash passwords at the least cost; gives the hasher of the real cost.

    A stored hash carries its cost, so that a served project checks these passwords as quickly.
    """
    real = passwords._hasher
    passwords._hasher = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    yield real
    passwords._hasher = real


@pytest.fixture(scope="session", autouse=True)
def shared_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    """All temporary files are in the folder that pytest gives the run, and removes.

    Its processes share what `once_a_run` makes there.
    """
    os.environ["TMPDIR"] = tempfile.tempdir = str(tmp_path_factory.mktemp("other"))
    if "PYTEST_XDIST_WORKER" in os.environ:
        once.shared_by_processes[:] = [tmp_path_factory.getbasetemp().parent]


@pytest.fixture(autouse=True)
def kept_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use an engine for one file after another. `tests/store`, where its start matters, overrides this."""
    monkeypatch.setattr(project_file, "start_engine", engines.take_engine)
    monkeypatch.setattr(project_file, "stop_engine", engines.keep_engine)


@pytest.fixture(autouse=True)
def held_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a file attached until a second passes without work: attaching again, and a checkpoint, take 15 ms.

    Modules whose tests start other processes, which would wait for the file, override this.
    """
    monkeypatch.setattr(database, "IDLE", 1.0)
    monkeypatch.setattr(database, "LONGEST", 600.0)


@pytest.fixture(scope="session")
def empty_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a project to which nothing was added; tests copy it."""
    store = new_project(tmp_path_factory.mktemp("empty") / "project.duckdb")
    store.close()
    return store.path


@pytest.fixture
def store(empty_project: Path, tmp_path: Path) -> Iterator[Store]:
    """A fresh project with the graded 0-3 guide."""
    project = open_store(Path(shutil.copy(empty_project, tmp_path / "project.duckdb")))
    yield project
    discard(project)


@pytest.fixture
def goldgrade(store: Store) -> Callable[..., str]:
    """goldgrade("round", "status"): what the command prints on standard output; a refusal is raised."""
    from tests.support.command_line import invoke  # imports all commands, which other tests do not need

    def run(*arguments: str | Path) -> str:
        command = ["--project", str(store.path), *map(str, arguments)]
        done = invoke(command, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real public data that lies beside the checkout."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """write('a.jsonl', [{...}, ...]) or write('a.csv', 'text' or bytes); a name in .gz is packed."""

    def write_file(name: str, content: str | bytes | Iterable[Mapping[str, Any]]) -> Path:
        if not isinstance(content, str | bytes):
            content = "".join(json.dumps(record) + "\n" for record in content)
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file
