"""Edges: nothing stale, everything stale, half of the documents gone, and systems that make grades matter."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from math import log2
from pathlib import Path

import numpy as np
import pytest

from curation.guides.guide import parse_guide, read_guide
from curation.labeling.rounds.lifecycle import put_in_force
from curation.relabeling.plan.choice import ALL_GONE
from curation.relabeling.plan.plan import make_plan
from curation.relabeling.staleness.calendar import Pair
from curation.relabeling.staleness.staleness import influence_of, staleness
from curation.sampling.sample import draw_sample
from curation.scoring.metrics.engine import score_run
from curation.scoring.metrics.measures import HEADLINE, measures_for
from curation.scoring.metrics.qrels import qrels_of
from curation.store import Store
from tests.support.gold_project import add_pool
from tests.support.projects import built_once
from tests.support.relabeled import judged_project, texts_of, write_corpus, write_log

SCALE = (0, 1, 2, 3)
Grades = dict[Pair, int | None]
Run = dict[str, dict[str, float]]
SAME_QUARTER, LATER = date(2026, 3, 1), date(2027, 11, 1)


@built_once
def project(store: Store) -> Store:
    return judged_project(store, store.path.parent, queries=10, documents=5)


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
    assert found.calendar.due.reasons == {"pairs last judged in an earlier quarter": 25}
    assert [query.score > 0 for query in found.queries] == [True] * 5 + [False] * 5
    plan = make_plan(project, 0.2, 1, LATER)
    assert (plan.set_pairs, plan.pairs, plan.fraction_of_pairs) == (50, 5, 0.2)
    put_in_force(project, parse_guide(read_guide().source + "A word more.\n"), open_rounds="keep")
    assert staleness(project, LATER).calendar.due.reasons["pairs judged under another guide"] == 25
    assert plan.left_out[ALL_GONE] == 25
    write_corpus(project, tmp_path, texts_of(10, 5))
    back = make_plan(project, 0.2, 1, LATER)
    assert (back.pairs, ALL_GONE in back.left_out) == (10, False)


def test_a_quarter_without_a_new_log_knows_no_traffic_and_changes_no_query(
    store: Store, tmp_path: Path
) -> None:
    write_log(store, tmp_path, "spring", {"topic 0": 60, "topic 1": 40})
    judged_project(store, tmp_path, queries=2)
    draw_sample(store, 2, 1)
    before = staleness(store, LATER)
    assert {query.traffic.trend for query in before.queries} == {"unknown"}
    assert {pair.parts.traffic for pair in before.pairs} == {None}
    plan = make_plan(store, 0.2, 1, LATER)
    assert (plan.pairs, plan.new_queries, plan.retired) == (2, 0, 0)
    write_log(store, tmp_path, "autumn", {"topic 1": 90, "kettle": 10})
    after = make_plan(store, 0.2, 1, LATER)
    assert (after.new_queries, after.retired) == (1, 1)


def flipped(grade: int | None) -> int:
    return 0 if grade else 3


def headline(grades: Grades, runs: Mapping[str, Run]) -> dict[str, dict[str, float]]:
    """System → query → its value by `evaluation`, 0 where it has none."""
    ids = sorted({query for query, _ in grades})
    qrels = qrels_of([(*pair, one) for pair, one in grades.items() if one is not None], ids, SCALE)
    measures = measures_for(SCALE)[:1]
    return {
        name: dict(zip(ids, np.nan_to_num(score_run(run, qrels, measures).of(HEADLINE)), strict=True))
        for name, run in runs.items()
    }


def test_influence_is_what_evaluation_says_of_a_flip_to_the_digit() -> None:
    """Every flip scored anew by evaluation, ideal DCG and queries that lose their value included."""
    random = np.random.default_rng(1)
    grades: Grades = {}
    runs: dict[str, Run] = {name: {} for name in "abc"}
    for number in range(6):
        for document in range(int(random.integers(1, 14))):
            grade = int(random.integers(0, 4)) if number else 0  # of q0 nothing is relevant
            grades[f"q{number}", f"d{document:02}"] = None if random.random() < 0.1 else grade
        for name in runs:
            shown = random.permutation(20)[: int(random.integers(1, 15))]
            runs[name][f"q{number}"] = {f"d{one:02}": -float(place) for place, one in enumerate(shown)}
    del runs["a"]["q3"]
    ranks: dict[Pair, dict[str, int]] = {}
    for name, run in runs.items():
        for query, listed in run.items():
            for rank, document in enumerate(list(listed)[:10], 1):
                ranks.setdefault((query, document), {})[name] = rank
    found = influence_of(grades, ranks, SCALE)
    assert found is not None
    before = headline(grades, runs)
    for pair, grade in grades.items():
        after = headline(grades | {pair: flipped(grade)}, runs)
        moved = [after[name][pair[0]] - before[name][pair[0]] for name in runs]
        assert found[pair] == pytest.approx(min(1.0, max(moved) - min(moved)), abs=1e-12), pair
    outside = [pair for pair in grades if pair not in ranks and found[pair] > 0]
    assert outside, "a flip below the first ten moves the ideal DCG"


def test_of_a_sealed_grade_influence_tells_nothing(project: Store) -> None:
    ranks = {("q", "d0"): {"a": 1, "b": 3}, ("q", "d1"): {"a": 2, "b": 1}}
    assert influence_of({("q", "d0"): None, ("q", "d1"): None}, ranks, SCALE) == {
        ("q", "d0"): pytest.approx(0.5),
        ("q", "d1"): pytest.approx(1 - 1 / log2(3)),
    }
    assert {pair.parts.influence for pair in staleness(project, LATER).pairs} == {None}, "no system is known"


def test_one_system_compares_with_nobody(project: Store) -> None:
    add_pool(project, {("q0", "q0-d0"): 1})
    assert {pair.parts.influence for pair in staleness(project, LATER).pairs} == {None}
    with project.transaction() as cursor:
        cursor.execute("INSERT INTO runs VALUES ('r', 'live', 'live.trec', '{}', now()::TIMESTAMP)")
        cursor.execute("INSERT INTO run_entries VALUES ('r', 'q0', 'q0-d0', 3, 1.0)")
    found = {pair.document_id: pair.parts.influence for pair in staleness(project, LATER).pairs}
    ideal = 7 + 7 / log2(3) + 3 / 2 + 1 / log2(5)
    assert (found["q0-d0"], found["q0-d1"]) == (pytest.approx(3.5 / ideal), 0.0)
