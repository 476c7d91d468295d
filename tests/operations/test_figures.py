"""Figures: kept for a state of the project; of a large one by another process, a minute behind at most."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.core.errors import CurationError, RefusedError
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.operations.jobs import figures as module
from curation.operations.jobs.figures import FigureCache
from curation.store import Store, put_setting
from tests.support import ROOT
from tests.support.projects import add_names, add_pairs, grade_next, grid, new_project, rows_of


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = new_project(tmp_path / "project.duckdb")
    add_names(found, "lena", role="lead")
    add_names(found, "ada")
    add_pairs(found, grid(3, 4))
    open_round(found, RoundRequest("first", ["ada", "lena"], overlap=1, duplicates=0.0))
    return found


@pytest.fixture
def figures(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[FigureCache]:
    """Those of a project that counts as large."""
    monkeypatch.setattr(module, "MIN_LARGE_JUDGMENTS", 0)
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)  # of the process, which imports this file
    found = FigureCache(store)
    yield found
    found.close()


def events(store: Store) -> int:
    return len(rows_of(store, "SELECT presentation_id FROM judgment_events"))


def process_and_events(store: Store) -> tuple[int, int]:
    return os.getpid(), events(store)


def ended(store: Store) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refused(store: Store) -> None:
    raise RefusedError("There is no such thing.")


def test_a_small_project_shows_every_grade_and_is_read_here(store: Store) -> None:
    small = FigureCache(store)
    before = small.now(process_and_events)
    grade_next(store, "ada", 1)
    assert (before, small.now(process_and_events)) == ((os.getpid(), 0), (os.getpid(), 1))


def test_a_figure_is_computed_once_for_a_state(store: Store) -> None:
    small = FigureCache(store)
    asked: list[Store] = []
    for _ in range(2):
        small.figure(small.state(), asked.append)
    assert asked == [store]


def test_grades_of_annotators_wait_for_a_minute_and_what_leads_do_does_not(
    store: Store, figures: FigureCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = figures.state()
    grade_next(store, "ada", 1)
    assert figures.state() == first
    grade_next(store, "lena", 1)
    second = figures.state()
    assert second.key != first.key
    grade_next(store, "ada", 1)
    assert figures.state() == second
    with store.transaction() as cursor:
        put_setting(cursor, "consensus", '{"rule":"median"}')
    third = figures.state()
    assert third.key != second.key
    grade_next(store, "ada", 1)
    monkeypatch.setattr(module, "MAX_STATE_AGE", 0.0)
    assert figures.state().key != third.key


@pytest.mark.costly("processes that import what they need")
def test_a_large_project_is_read_by_a_process_that_follows_it_and_is_replaced(
    store: Store, figures: FigureCache
) -> None:
    process, count = figures.now(process_and_events)
    assert process != os.getpid()
    assert count == 0
    grade_next(store, "lena", 2)
    assert figures.now(process_and_events) == (process, 2)
    with pytest.raises(RefusedError, match="no such thing"):
        figures.now(refused)
    os.kill(process, signal.SIGKILL)
    grade_next(store, "lena", 1)
    again, count = figures.now(process_and_events)
    assert again != process
    assert count == 3
    assert copies(store)
    with pytest.raises(CurationError, match="could not be computed"):
        figures.now(ended)
    assert not copies(store), "what a process leaves is removed"


def copies(store: Store) -> list[Path]:
    return [one for one in store.path.parent.iterdir() if one.name.startswith(".project")]
