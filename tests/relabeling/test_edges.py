"""Edges: nothing stale, everything stale, half of the documents gone, and systems that make grades matter."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from curation.relabeling.plan.choice import ALL_GONE
from curation.relabeling.plan.plan import make_plan
from curation.relabeling.staleness.influence import influence_of
from curation.relabeling.staleness.staleness import staleness
from curation.store import Store
from tests.support.gold_project import add_pool
from tests.support.relabeled import judged_project, texts_of, write_corpus

SAME_QUARTER, LATER = date(2026, 3, 1), date(2027, 11, 1)


@pytest.fixture
def project(store: Store, tmp_path: Path) -> Store:
    return judged_project(store, tmp_path, queries=10, documents=5)


def test_nothing_stale_is_nothing_due_and_can_be_planned_all_the_same(project: Store) -> None:
    found = staleness(project, SAME_QUARTER)
    assert (found.stale, found.calendar.due.is_due) == (0, False)
    assert make_plan(project, 0.1, 1, SAME_QUARTER).pairs == 5


def test_everything_stale_is_planned_to_the_size_that_was_asked(project: Store, tmp_path: Path) -> None:
    write_corpus(project, tmp_path, {name: f"all new: {name}" for name in texts_of(10, 5)})
    found = staleness(project, LATER)
    assert found.stale == len(found.pairs) == 50
    plan = make_plan(project, 0.2, 1, LATER)
    assert (plan.pairs, plan.short) == (10, 0)
    assert found.calendar.due.reasons["pairs whose document changed"] == 50


def test_with_half_of_the_documents_gone_the_other_half_is_the_frame(project: Store, tmp_path: Path) -> None:
    left = {name: text for name, text in texts_of(10, 5).items() if int(name[1]) % 2}
    write_corpus(project, tmp_path, left)
    found = staleness(project, LATER)
    assert sum(pair.document == "gone" for pair in found.pairs) == 25
    plan = make_plan(project, 0.2, 1, LATER)
    assert (plan.set_pairs, plan.pairs, plan.fraction_of_pairs) == (50, 5, 0.2)
    assert plan.left_out[ALL_GONE] == 25
    write_corpus(project, tmp_path, texts_of(10, 5))
    back = make_plan(project, 0.2, 1, LATER)
    assert (back.pairs, ALL_GONE in back.left_out) == (10, False)


def test_influence_is_what_a_flip_moves_between_two_systems(project: Store) -> None:
    assert influence_of([1], 2) == 1.0
    assert influence_of([1, 1], 2) == 0.0
    assert influence_of([1, 3], 2) == 0.5
    assert influence_of([1, 3], 3) == 1.0
    assert {pair.parts.influence for pair in staleness(project, LATER).pairs} == {None}, "no system is known"


def test_one_system_compares_with_nobody(project: Store) -> None:
    add_pool(project, {("q0", "q0-d0"): 1})
    assert {pair.parts.influence for pair in staleness(project, LATER).pairs} == {None}
    with project.transaction() as cursor:
        cursor.execute("INSERT INTO runs VALUES ('r', 'live', 'live.trec', '{}', now()::TIMESTAMP)")
        cursor.execute("INSERT INTO run_entries VALUES ('r', 'q0', 'q0-d0', 3, 1.0)")
    found = {pair.document_id: pair.parts.influence for pair in staleness(project, LATER).pairs}
    assert (found["q0-d0"], found["q0-d1"]) == (0.5, 0.0)
