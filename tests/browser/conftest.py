"""A served project, and a Chromium in front of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from curation.labeling.requests import PracticeRequest, RoundRequest
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import open_round
from curation.people.accounts import add_annotator
from tests.support.chromium import find_chromium
from tests.support.projects import new_project
from tests.support.served import (
    ANNOTATORS,
    PASSWORD,
    QUERIES,
    SESSION,
    TRAINEES,
    Served,
    Visitors,
    fill,
    idle_contexts,
    known_pairs,
)

FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync""".split()


@pytest.fixture(autouse=True)
def held_file() -> None:
    """Leave the file to the served app as soon as in use."""


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """The browser of the session; what a test opened in it is closed after the test."""
    before = chromium.contexts
    yield chromium
    for context in chromium.contexts:
        if context not in before and context not in idle_contexts:
            context.close()
    idle_contexts.take_back()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium or Chrome on this machine")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def people(everybody: Visitors) -> Iterator[Visitors]:
    """The visitors that a module's own fixture `everybody` makes; their pages are closed after each test."""
    yield everybody
    everybody.close_pages()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one round in which everybody judges the same 36 pairs, three of them twice."""
    store = new_project(tmp_path_factory.mktemp("template") / "project.duckdb")
    fill(store)
    for name in ANNOTATORS:
        add_annotator(store, name, "annotator", PASSWORD)
    add_annotator(store, "idle", "annotator", PASSWORD)
    add_annotator(store, "rosa", "reviewer", PASSWORD)
    open_round(store, RoundRequest("first", ANNOTATORS, overlap=len(ANNOTATORS), duplicates=0.08, seed=5))
    store.close()
    return store.path


@pytest.fixture(scope="session")
def served(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One served project for all tests that leave the server alone; each has annotators of its own."""
    yield from _serve(template, tmp_path_factory.mktemp("served"))


@pytest.fixture
def own_served(template: Path, tmp_path: Path) -> Iterator[Served]:
    """A served project that a test may kill, or give another corpus."""
    yield from _serve(template, tmp_path)


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served project with 54 items for everybody; the trainees practise on five pairs first."""
    folder = tmp_path_factory.mktemp("session")
    store = new_project(folder / "project.duckdb")
    fill(store, (*QUERIES, "compress data", "archive of many files"))
    for name in (*SESSION, *TRAINEES):
        add_annotator(store, name, "annotator", PASSWORD)
    open_practice(
        store, PracticeRequest("practice", TRAINEES, queries=1, pass_mark=0.5, file=known_pairs(folder))
    )
    everybody = (*SESSION, *TRAINEES)
    open_round(store, RoundRequest("first", everybody, overlap=len(everybody), duplicates=0, seed=5))
    store.close()
    yield from _serve(store.path, tmp_path_factory.mktemp("session_served"))


def _serve(template: Path, folder: Path) -> Iterator[Served]:
    with Served(Path(shutil.copy(template, folder / "project.duckdb"))) as running:
        yield running
