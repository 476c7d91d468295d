"""The path: each state of each step on small projects, and which step comes next."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from pathlib import Path

import pytest

from curation.agreement.gate import Demand, set_demand
from curation.core.text import percent
from curation.guides.questions import answer_question, ask_about_item
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.second_opinions import ask_opinion
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.operations.jobs.stored import store_ending, store_job
from curation.operations.registry import OPERATIONS
from curation.operations.workflow.judging import RoundProgress
from curation.operations.workflow.project_workflow import read_figures, read_state
from curation.operations.workflow.stage import Stage, find_next_stage
from curation.people.invitations import invite, withdraw_invitation
from curation.people.passwords import write_password
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.relabeling.due_list import read_due
from curation.relabeling.plan import make_plan
from curation.relabeling.request import PlanRequest
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store, utc_now
from tests.support.evaluated_project import evaluated_project
from tests.support.freezing import freeze
from tests.support.gold_project import DISPUTE, LEXICAL, frozen_project, gold_project, labelled
from tests.support.projects import add_names, add_pairs, grade_next, grid, rows_of
from tests.support.relabeled import FIRST, answer_round, judged_project, write_corpus, write_log
from tests.support.stages import read_stages

pytestmark = pytest.mark.slow
STAGE_NAMES = tuple("import sample pool people round adjudicate split freeze evaluate re-label".split())


def path_of(store: Store) -> list[Stage]:
    return read_stages(store, read_figures(store))


def next_of(stages: list[Stage]) -> str | None:
    stage = find_next_stage(stages)
    return stage and stage.name


def step(store: Store, name: str, running: Collection[str] | None = None, figures: bool = False) -> Stage:
    path = read_stages(store, read_figures(store) if figures else None, running)
    return next(one for one in path if one.name == name)


def test_an_empty_project_has_all_steps_before_it_and_begins_with_the_import(store: Store) -> None:
    found = path_of(store)
    assert tuple(one.name for one in found) == STAGE_NAMES
    assert {one.state for one in found} == {"not begun"}
    assert next_of(found) == "import"


def test_a_log_alone_leaves_the_import_at_work(store: Store, tmp_path: Path) -> None:
    write_log(store, tmp_path, "may", {"shoes": 3})
    found = step(store, "import")
    assert (found.state, found.action.label) == ("at work", "Import a corpus")


def test_documents_wait_for_traffic_which_waits_to_be_drawn(store: Store, tmp_path: Path) -> None:
    write_corpus(store, tmp_path, {"a": "all of a"})
    assert step(store, "import").action.label == "Import a log or queries"
    write_log(store, tmp_path, "may", {"shoes": 3, "boots": 2})
    assert (next_of(path_of(store)), step(store, "sample").line) == (
        "sample",
        "No query has been drawn from the 2 rows of traffic yet.",
    )
    draw_sample(store, DrawRequest(2, 0))
    found = path_of(store)
    assert [one.state for one in found[:3]] == ["done", "done", "not begun"]
    assert next_of(found) == "pool"
    assert step(store, "pool").line == "2 queries have no document to judge yet."


def test_people_come_before_the_round(store: Store) -> None:
    add_pairs(store, grid(2, 3))
    add_names(store, "lena", role="lead")
    assert (next_of(path_of(store)), step(store, "people").action.page) == ("people", "team")
    add_names(store, "ada")
    found = step(store, "round")
    assert (found.state, found.line) == ("not begun", "6 pairs wait to be judged; 1 annotator can judge.")
    assert found.action.parameters == {"part": "Open a round"}
    assert (next_of(path_of(store)), step(store, "people").line) == ("round", "1 annotator: ada.")


@pytest.fixture
def judging(store: Store) -> Store:
    add_pairs(store, grid(3, 8))
    add_names(store, "ada", "ben")
    open_round(store, RoundRequest("first", ["ada", "ben"], overlap=2, duplicates=0.0))
    return store


def test_an_open_round_says_how_far_it_is_and_who_is_at_it(judging: Store) -> None:
    grade_next(judging, "ada", 12)
    found = step(judging, "round")
    assert found.state == "at work"
    assert (
        found.line == "Finish the round first (12 of 48 answered, 25\u00a0%). Active in the last hour: ada."
    )
    assert (len(found.answers), [*found.answers.values()][-1]) == (14, 12)
    assert next_of(path_of(judging)) == "round"


def test_a_round_with_an_item_left_is_not_at_100_percent() -> None:
    at_work = RoundProgress((), 205, 1, 0, 0, None, (), ())
    assert percent(at_work.share) == "99\u00a0%"
    assert at_work._replace(answered=206, unanswered=0).share == 1.0


def test_a_round_at_work_has_a_forecast_in_days(judging: Store) -> None:
    now = utc_now()
    for days in (5, 4, 3, 2, 1):
        answer_round(judging, "first", lambda *_: 2, now - timedelta(days=days, hours=1), most=8)
    found = next(one for one in read_stages(judging, now=now) if one.name == "round")
    assert "The round will be done around" in found.line
    assert sum(found.answers.values()) == 40


def test_a_paused_round_needs_attention_and_a_closed_one_is_done(judging: Store) -> None:
    grade_next(judging, "ada", 24)
    set_round_state(judging, "first", "paused")
    found = step(judging, "round")
    assert (found.state, found.action.label) == ("needs attention", "Resume it")
    set_round_state(judging, "first", "closed")
    assert step(judging, "round").state == "done"


def test_a_round_that_nobody_answers_needs_attention(judging: Store) -> None:
    later = utc_now() + timedelta(days=4)
    found = next(one for one in read_stages(judging, now=later) if one.name == "round")
    assert found.state == "needs attention"
    assert "Nobody has answered since" in found.line


def test_disputes_come_before_a_round_at_work(judging: Store) -> None:
    answer_round(judging, "first", lambda who, _, __: 3 if who == "ada" else 0, most=30)
    found = path_of(judging)
    assert [one.state for one in found[4:6]] == ["at work", "needs attention"]
    assert next_of(found) == "adjudicate"


def test_a_pair_that_gets_another_opinion_waits_for_nobody(store: Store) -> None:
    add_pairs(store, grid(1, 1))
    add_names(store, "ada", "ben", "cleo")
    add_names(store, "rob", role="reviewer")
    open_round(store, RoundRequest("first", ["ada", "ben", "cleo"], overlap=2, duplicates=0.0))
    answer_round(store, "first", lambda who, *_: "abc".index(who[0]))
    assert step(store, "adjudicate").action.label == "Decide 1 pair"
    ask_opinion(store, "query 0", "document 0.0", "rob")
    assert step(store, "adjudicate").state == "at work"


def test_decided_disputes_are_done_and_the_split_is_next(tmp_path: Path) -> None:
    found = path_of(labelled(tmp_path / "labelled"))
    assert [one.state for one in found[5:7]] == ["done", "not begun"]
    assert next_of(found) == "split"
    assert found[5].alpha is not None


def test_the_gate_is_told_before_a_first_release(tmp_path: Path) -> None:
    found = step(gold_project(tmp_path), "freeze", figures=True)
    assert found.state in ("not begun", "needs attention")
    assert found.line.startswith("The gate is")


def test_a_gate_that_is_shut_needs_attention_once_all_is_settled(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    set_demand(store, Demand(1.0, 1.0))
    found = step(store, "freeze", figures=True)
    assert (found.state, found.action.label) == ("needs attention", "See the gate")
    assert "ordinal alpha is too low" in found.line


def test_a_release_leaves_evaluating_next(tmp_path: Path) -> None:
    found = path_of(frozen_project(tmp_path))
    assert [one.state for one in found[6:]] == ["done", "done", "not begun", "done"]
    assert next_of(found) == "evaluate"


def test_a_release_older_than_the_decisions_needs_attention(tmp_path: Path) -> None:
    store = frozen_project(tmp_path)
    decide_pair(store, *DISPUTE, grade=2, reason="read again")
    found = step(store, "freeze")
    assert (found.state, found.action.label) == ("needs attention", "Freeze again")
    assert "1 answer or decision arrived after the freeze." in found.line


def test_a_sealed_evaluation_needs_attention_for_a_week_unless_a_lead_made_it(tmp_path: Path) -> None:
    store = evaluated_project(tmp_path)
    sql = """
        INSERT INTO sealed_evaluations SELECT 'id', release_id, 'v1', ['test'], ['test'], 'dense@may', false,
               false, '{}', 'to see', ?, ?, NULL
        FROM releases
    """
    for who, state in (("lee", "done"), ("vera", "needs attention")):
        with store.transaction() as cursor:
            cursor.execute("DELETE FROM sealed_evaluations")
            cursor.execute(sql, [who, utc_now()])
        assert step(store, "evaluate").state == state, who
    week = read_stages(store, now=utc_now() + timedelta(days=8))
    assert week[7].state == "done"


def test_a_quarter_that_is_due_needs_attention_until_it_is_planned_and_open(
    store: Store, tmp_path: Path
) -> None:
    judged_project(store, tmp_path, queries=4, at=FIRST - timedelta(days=400))
    make_split(store, SplitRequest((("all", 1.0),), 0, LEXICAL))
    freeze(store, "v1", override="a test")
    due = step(store, "re-label", figures=True)
    assert (due.state, due.action.label) == ("needs attention", "Open the round")
    assert due.line == read_due(store).sentence
    make_plan(store, PlanRequest(0.2, 0))
    planned = step(store, "re-label", figures=True)
    assert (planned.state, planned.action.label) == ("needs attention", "Open the round")
    assert planned.line == read_due(store).sentence != due.line


def test_the_job_at_work_is_on_its_step(store: Store) -> None:
    job = begin_as_lead(store, "pool")
    found = step(store, "pool", running=[job])
    assert found.state == "at work"
    assert found.line.startswith("Building the pool, started by lena at")


def test_a_job_whose_process_is_gone_needs_attention(store: Store) -> None:
    begin_as_lead(store, "pool")
    assert step(store, "pool").state == "at work"  # the command line cannot know
    assert step(store, "pool", running=[]).state == "needs attention"


@pytest.mark.parametrize(
    ("outcome", "state"),
    [("failed", "needs attention"), ("refused", "needs attention"), ("stopped", "not begun")],
)
def test_a_job_that_came_to_nothing_needs_attention_unless_somebody_stopped_it(
    store: Store, outcome: str, state: str
) -> None:
    store_ending(store, begin_as_lead(store, "pool"), outcome, "There is no corpus yet.")
    found = step(store, "pool", running=[])
    assert found.state == state
    assert ("There is no corpus yet." in found.line) == (state == "needs attention")


def begin_as_lead(store: Store, kind: str) -> str:
    add_names(store, "lena", role="lead")
    return store_job(store, kind, {}, "lena", None)[0].job_id


def test_every_kind_of_job_with_a_step_is_one() -> None:
    assert {step.stage for step in OPERATIONS.values()} <= {"", *STAGE_NAMES}


def waiting_lines(store: Store) -> dict[str, str]:
    return {stage.name: stage.line for stage in read_state(store).waiting}


def test_what_waits_for_a_lead_besides_the_stages_is_listed(judging: Store) -> None:
    with judging.transaction() as cursor:
        for name in ("ada", "ben"):
            write_password(cursor, name, "hash")
    assert waiting_lines(judging) == {}
    items = read_queue(judging, "ada", 2).showings
    for key, item in zip(("press-one", "press-two"), items, strict=True):
        answer = Submission(item.presentation_id, 0, "grade", key, grade=1, flagged=True)
        submit_judgments(judging, "ada", [answer])
    question = ask_about_item(judging, "ada", "Is a page of links an answer?")
    invite(judging, "cy", "annotator")
    assert waiting_lines(judging) == {
        "questions": "1 question waits for an answer about the guide.",
        "flags": "2 answers are flagged in first.",
        "invitations": "cy has not used the invitation yet.",
    }
    answer_question(judging, question, "No.")
    for query_id, document_id in rows_of(judging, "SELECT query_id, document_id FROM current_judgments"):
        decide_pair(judging, query_id, document_id, 1, "a plain case")
    withdraw_invitation(judging, "cy")
    assert waiting_lines(judging) == {
        "invitations": "cy has not used the invitation yet. The link of cy no longer works."
    }
