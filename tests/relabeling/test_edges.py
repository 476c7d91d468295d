"""Edges: nothing stale, everything stale, half of the documents gone, and no new log."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from curation.guides.parse_guide import parse_guide, read_guide
from curation.labeling.rounds.guide_in_force import put_in_force
from curation.queries.sampling.sample import draw_sample
from curation.relabeling.plan.choice import ALL_GONE
from curation.relabeling.plan.plan import make_plan
from curation.relabeling.staleness.staleness import staleness
from curation.store import Store
from tests.support.projects import built_once
from tests.support.relabeled import judged_project, texts_of, write_corpus, write_log

REWORDED = "pairs with a grade or vote whose words changed in the guide"
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
    assert plan.pairs == 10
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
    assert staleness(project, LATER).calendar.due.reasons[REWORDED] == 25
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
    plan = make_plan(store, 0.2, 1, LATER)
    assert (plan.pairs, plan.new_queries, plan.retired) == (2, 0, 0)
    write_log(store, tmp_path, "autumn", {"topic 1": 90, "kettle": 10})
    after = make_plan(store, 0.2, 1, LATER)
    assert (after.new_queries, after.retired) == (1, 1)
