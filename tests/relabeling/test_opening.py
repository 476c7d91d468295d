"""A quarter is opened once, blind, and its judgments replace the old ones when a pair is whole."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.consensus.consensus import compute_query_consensus, read_consensus
from curation.labeling.consensus.disputes import find_disputes
from curation.labeling.consensus.votes import read_query_votes
from curation.labeling.imported import add_judgments
from curation.labeling.rounds.left_out_queries import set_aside
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.session.queue import read_queue
from curation.queries.retired_queries import read_retired_queries, retire_query
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.relabeling.chosen_pairs import find_slice, judge_again
from curation.relabeling.due_list import read_due
from curation.relabeling.open_quarter import NO_DOCUMENT, QuarterOpened, open_plan, preview_opening
from curation.relabeling.plan import make_plan
from curation.relabeling.report import make_drift_report
from curation.relabeling.report_sections import list_drift_findings
from curation.relabeling.request import ChosenRequest, PlanRequest, QuarterRequest
from curation.relabeling.stored_plans import read_plan_pairs
from curation.releases.freeze.checklist import checklist
from curation.releases.freeze.draft import make_draft
from curation.releases.freeze.project_rows import read_rows
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.gold_project import LEXICAL
from tests.support.projects import add_names, built_once, decide_pairs, new_project, rows_of
from tests.support.relabeled import (
    FIRST,
    PEOPLE,
    answer_round,
    judged_project,
    open_quarter,
    texts_of,
    write_corpus,
    write_log,
)

pytestmark = pytest.mark.slow

AUTUMN, WINTER = date(2026, 11, 22), date(2027, 2, 1)
SHOWN_IN_Q4 = """
SELECT p.annotator, p.query_id, q.text, p.document_id
FROM presentations p JOIN rounds r USING (round_id) JOIN queries q USING (query_id) WHERE r.name = '2026-Q4'
"""
CURRENT_SAMPLE = """
SELECT q.text, s.traffic FROM sample_queries s JOIN queries q USING (query_id)
WHERE sample_id = (SELECT value FROM settings WHERE name = 'sample')
"""
Grades = dict[tuple[str, str], int | None]


def grades(store: Store) -> Grades:
    with store.reading() as cursor:
        return {(pair.query_id, pair.document_id): pair.grade for pair in read_consensus(cursor).pairs}


def planned(store: Store, plan_id: str) -> set[tuple[str, str]]:
    with store.reading() as cursor:
        return {(pair.query_id, pair.document_id) for pair in read_plan_pairs(cursor, plan_id)}


def opened(
    store: Store, today: date = AUTUMN, people: tuple[str, ...] = PEOPLE, **more: object
) -> QuarterOpened:
    plan = make_plan(store, PlanRequest(0.2, 7), today)
    return open_quarter(store, people, plan.plan_id, **more)


@built_once
def project(store: Store) -> Store:
    return judged_project(store, store.path.parent)


@pytest.mark.costly("a quarter from plan to report")
def test_a_whole_pair_has_its_new_grade_and_all_others_keep_theirs(project: Store) -> None:
    before = grades(project)
    done = opened(project)
    assert (done.quarter, done.round.round, done.pairs, done.new_pairs) == ("2026-Q4", "2026-Q4", 6, 0)
    again = planned(project, done.plan_id)
    assert grades(project) == before, "opening changes no grade"
    answer_round(project, "2026-Q4", lambda *_: 3)
    after = grades(project)
    assert {pair for pair in after if after[pair] != before[pair]} == {p for p in again if before[p] != 3}
    assert {after[pair] for pair in again} == {3}
    due = read_due(project, AUTUMN)
    assert (due.renewed, due.sentence[:49]) == (6, "6 of 6 pairs were judged again this quarter: 4 no")


def test_half_a_pair_changes_nothing_and_a_round_left_half_done_is_said(project: Store) -> None:
    before = grades(project)
    opened(project)
    items = rows_of(project, SHOWN_IN_Q4)
    first = min(who for who, *_ in items)
    answer_round(project, "2026-Q4", lambda *_: 3, most=sum(who == first for who, *_ in items))
    assert grades(project) == before
    work = read_due(project, AUTUMN).work
    assert work
    assert (work.state, work.whole) == ("open", 0)
    with pytest.raises(RefusedError, match="Only one quarter can be open at a time"):
        make_plan(project, PlanRequest(0.15, 1), WINTER)
    set_round_state(project, "2026-Q4", "closed")
    status = ["--project", str(project.path), "relabel", "plan", "--due", "--today", f"{AUTUMN}"]
    assert invoke(status).exit_code == 3, "closed is not done"
    left = read_due(project, AUTUMN)
    assert left.state == "half done"
    assert grades(project) == before
    assert left.is_due
    assert "The other pairs stay due: reopen the round." in left.sentence
    with pytest.raises(RefusedError, match="is not finished") as refused:
        make_plan(project, PlanRequest(0.15, 1), AUTUMN)
    assert "goldgrade round set 2026-Q4 open" in str(refused.value)
    set_round_state(project, "2026-Q4", "open")
    answer_round(project, "2026-Q4", lambda *_: 3)
    done = read_due(project, AUTUMN)
    assert (done.state, done.is_due, invoke(status).exit_code) == ("done", False, 0)
    with pytest.raises(RefusedError, match="was already re-labeled"):
        make_plan(project, PlanRequest(0.15, 1), AUTUMN)
    assert make_plan(project, PlanRequest(0.15, 1), WINTER).quarter == "2027-Q1"


def test_a_new_vote_on_a_changed_text_counts_at_once(project: Store, tmp_path: Path) -> None:
    """The old votes are about another text: nothing is mixed."""
    texts = {name: f"{text} rewritten" for name, text in texts_of(6, 5).items()}
    write_corpus(project, tmp_path, texts)
    done = opened(project)
    answer_round(project, "2026-Q4", lambda *_: 3, most=1)
    after = grades(project)
    assert sum(after[pair] == 3 for pair in planned(project, done.plan_id)) >= 1


def test_a_decision_counts_until_its_pair_is_judged_again(project: Store) -> None:
    decide_pairs(project, dict.fromkeys(rows_of(project, "SELECT * FROM candidates"), 2))
    done = opened(project)
    again = planned(project, done.plan_id)
    answer_round(project, "2026-Q4", lambda *_: 3)
    after = grades(project)
    assert {after[pair] for pair in again} == {3}
    assert {after[pair] for pair in after.keys() - again} == {2}
    pair = sorted(again)[0]
    with project.transaction() as cursor:
        cursor.execute(
            "INSERT INTO adjudications VALUES (?, ?, 1, 1, '', 'rita', now()::TIMESTAMP, NULL, NULL)", [*pair]
        )
    assert grades(project)[pair] == 1, "a decision after the plan is about the new judgments"


def differing(who: str, _query: str, _document: str) -> int:
    return 3 - PEOPLE.index(who) // 2 - PEOPLE.index(who) % 2  # of two people never the same grade


def disputed(store: Store) -> set[tuple[str, str]]:
    return {(dispute.query_id, dispute.document_id) for dispute in find_disputes(store)}


def test_the_old_grade_counts_while_new_votes_disagree_until_the_pair_is_decided(project: Store) -> None:
    before = grades(project)
    again = planned(project, opened(project).plan_id)
    answer_round(project, "2026-Q4", differing)
    assert disputed(project) == again
    assert grades(project) == before
    pair = min(again)
    with project.reading() as cursor:
        shown = compute_query_consensus(cursor, read_query_votes(cursor, pair[0]), pair[0])
    assert {(showing.grade, showing.how) for showing in shown if showing[:2] == pair} == {
        (before[pair], "disputed")
    }
    decide_pairs(project, {pair: 1, max(again): None})
    assert grades(project) == before | {pair: 1, max(again): None}
    assert disputed(project) == again - {pair, max(again)}


def test_a_release_has_the_old_grade_while_new_votes_disagree_and_the_checklist_says_so(
    project: Store,
) -> None:
    before = grades(project)
    again = planned(project, opened(project).plan_id)
    answer_round(project, "2026-Q4", differing)
    make_split(project, SplitRequest((("dev", 1.0),), 1, LEXICAL))
    with project.reading() as cursor:
        content = make_draft(read_rows(cursor))
    rows = {(row["query_id"], row["document_id"]): row for row in content.tables["qrels"]}
    assert {pair for pair, row in rows.items() if row["how"] == "kept"} == again
    assert {pair: row["grade"] for pair, row in rows.items()} == before
    check = next(check for check in checklist(content) if check.name == "disputes")
    assert (check.state, check.figure, content.disputed) == ("warn", "6", 0)
    assert check.sentence.startswith("6 disputed pairs have the old grade")


def test_a_disagreement_after_a_settled_relabeling_keeps_no_grade(project: Store) -> None:
    again = planned(project, opened(project).plan_id)
    answer_round(project, "2026-Q4", lambda *_: 3)
    pair = min(again)
    add_judgments(project, [ImportedJudgment(*pair, who, 1) for who in ("eve", "fay")], "more.csv", [])
    assert grades(project)[pair] is None


def test_a_grade_that_is_kept_is_about_the_text_it_was_given_for(project: Store, tmp_path: Path) -> None:
    write_corpus(project, tmp_path, {name: f"{text} rewritten" for name, text in texts_of(6, 5).items()})
    before = grades(project)
    again = planned(project, opened(project).plan_id)
    answer_round(project, "2026-Q4", differing)
    with project.reading() as cursor:
        found = [pair for pair in read_consensus(cursor).pairs if pair[:2] in again]
    assert {(row.grade == before[row[:2]], row.how, row.changed) for row in found} == {
        (True, "disputed", True)
    }


def test_two_plans_made_before_either_is_opened_are_not_opened_both(project: Store) -> None:
    first, second = (
        make_plan(project, PlanRequest(0.2, 1), AUTUMN),
        make_plan(project, PlanRequest(0.2, 2), WINTER),
    )
    open_quarter(project, PEOPLE, first.plan_id)
    with pytest.raises(RefusedError, match="is already open"):
        open_quarter(project, PEOPLE, first.plan_id)
    with pytest.raises(RefusedError, match="can be open at a time"):
        open_quarter(project, PEOPLE, second.plan_id)


def test_a_plan_whose_pairs_were_judged_meanwhile_is_refused(project: Store) -> None:
    plan = make_plan(project, PlanRequest(0.2, 1), AUTUMN)
    pair = sorted(planned(project, plan.plan_id))[0]
    decide_pairs(project, {pair: 1})
    with pytest.raises(RefusedError, match="1 pair of the plan was judged or decided"):
        open_quarter(project, PEOPLE, plan.plan_id)
    assert rows_of(project, "SELECT count(*) FROM relabeling_rounds") == [(0,)]


def test_no_screen_of_an_annotator_has_a_word_of_the_past(project: Store) -> None:
    """What a screen may read is `Queue`; the round looks like a first one in every field."""
    opened(project)
    queue = read_queue(project, "ada", 50)
    assert queue.showings
    names = set(queue.showings[0]._fields)
    assert not names & {"grade", "old_grade", "part", "plan", "votes", "round"}
    said = json.dumps([{name: str(getattr(showing, name)) for name in names} for showing in queue.showings])
    for word in ("relabel", "2026-Q", "control", "stale", "majority", "quarter"):
        assert word not in said


def test_what_a_screen_shows_does_not_depend_on_the_old_grades(store: Store, tmp_path: Path) -> None:
    """The same pairs with other old grades: the same screens, letter by letter."""

    def screens(name: str, grade: int) -> list[object]:
        empty = new_project(tmp_path / name / "project.duckdb")
        one = judged_project(empty, tmp_path / name, grader=lambda *_: grade)
        opened(one)
        found = read_queue(one, "cyd", 50).showings
        one.close()
        return [(s.query, s.title, s.passage, s.kind, s.asks_about_query, s.revision) for s in found]

    assert screens("low", 0) == screens("high", 3)


def test_new_documents_and_new_queries_enter_and_left_ones_are_retired(store: Store, tmp_path: Path) -> None:
    write_corpus(store, tmp_path, texts_of(4, 3))
    add_names(store, *PEOPLE)
    write_log(store, tmp_path, "spring", {f"topic {n}": 50 for n in range(4)})
    draw_sample(store, DrawRequest(4, 1))
    ids = dict(rows_of(store, "SELECT text, query_id FROM queries"))
    given = [
        ImportedJudgment(ids[f"topic {n}"], f"q{n}-d{d}", who, 1, submitted_at=FIRST)
        for n in range(4)
        for d in range(3)
        for who in ("ada", "ben")
    ]
    add_judgments(store, given, "first.csv", [])
    autumn = {"topic 2": 60, "topic 3": 50, "kettle": 40, "violin": 30}
    write_log(store, tmp_path, "autumn", autumn)
    write_corpus(store, tmp_path, texts_of(4, 3) | {"fresh": "topic 2 topic 3 kettle", "other": "a violin"})
    lonely = make_plan(store, PlanRequest(0.2, 1), AUTUMN)
    done = open_quarter(store, PEOPLE, lonely.plan_id, systems=("bm25",))
    assert (done.added, done.retired) == (2, 2)
    assert done.new_pairs > 0
    assert NO_DOCUMENT not in done.left_out
    shown = {(text, document) for _, _, text, document in rows_of(store, SHOWN_IN_Q4)}
    assert ("topic 3", "fresh") in shown
    assert {"kettle", "violin"} <= {text for text, _ in shown}
    with store.reading() as cursor:
        texts = {query.text for query in read_active_queries(cursor)}
        gone = read_retired_queries(cursor)
    assert texts == set(autumn)
    assert sorted(gone) == ["topic 0", "topic 1"]
    assert "people no longer ask the query" in gone["topic 0"]
    assert dict(rows_of(store, CURRENT_SAMPLE)) == autumn


def test_a_query_that_a_lead_left_out_does_not_return_by_its_searches(store: Store, tmp_path: Path) -> None:
    write_corpus(store, tmp_path, texts_of(2, 1))
    write_log(store, tmp_path, "spring", {"topic 0": 50, "topic 1": 50})
    draw_sample(store, DrawRequest(2, 1))
    ids = dict(rows_of(store, "SELECT text, query_id FROM queries"))
    set_aside(store, [ids["topic 0"]], " spam ")
    with store.transaction() as cursor:
        retire_query(cursor, ids["topic 1"], "people no longer ask the query")
    with store.reading() as cursor:
        assert read_retired_queries(cursor) == {"topic 1": "people no longer ask the query"}
    set_aside(store, [ids["topic 0"]], None)
    with store.reading() as cursor:
        assert [query.text for query in read_active_queries(cursor)] == ["topic 0"]


def test_what_a_preview_promises_is_what_people_are_asked(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path, queries=20, documents=8)
    fresh = {f"fresh-{n}": f"topic {n} and nothing else" for n in range(20)}
    write_corpus(store, tmp_path, texts_of(20, 8) | fresh)
    plan = make_plan(store, PlanRequest(0.2, 7), AUTUMN)
    asked = QuarterRequest(PEOPLE[:2], plan.plan_id, systems=("bm25",), depth=2)
    preview = preview_opening(store, asked)
    assert rows_of(store, "SELECT (SELECT count(*) FROM relabeling_rounds), count(*) FROM pools") == [(0, 0)]
    done = open_plan(store, asked)
    assert preview == replace(done, pool=preview.pool, dry_run=True)
    assert (done.pairs, done.new_pairs > 0) == (plan.pairs, True)
    assert len(rows_of(store, SHOWN_IN_Q4)) == preview.round.presentations


def test_a_round_without_a_plan_opens_the_pairs_that_the_list_shows(project: Store) -> None:
    due = read_due(project)
    opened = open_plan(project, QuarterRequest(PEOPLE, duplicates=0.0))
    assert planned(project, opened.plan_id) == {(pair.query_id, pair.document_id) for pair in due.pairs}
    assert due.report
    assert opened.plan_id == due.report["plan_id"]


def test_a_slice_is_judged_again_now_apart_from_the_quarter_with_a_report_of_its_own(project: Store) -> None:
    before = grades(project)
    with project.reading() as cursor:
        pairs = {pair.pair for pair in find_slice(cursor, ["grade=2", "person=ada"])}
        assert find_slice(cursor, ["query=topic 1", "tag=typo"]) == []
        assert {pair.query_id for pair in find_slice(cursor, ["query=Topic 1", "query=q2"])} == {"q1", "q2"}
        with pytest.raises(InputError, match="'when=now' is no filter"):
            find_slice(cursor, ["when=now"])
    assert pairs == {pair for pair, grade in before.items() if grade == 2}
    asked = ChosenRequest(("grade=2",), PEOPLE[:2])
    with pytest.raises(InputError, match="Say why"):
        judge_again(project, asked)
    due = read_due(project)
    opened = judge_again(project, replace(asked, reason="2 was unclear"))
    assert opened.quarter == f"{due.quarter}.1"
    answer_round(project, opened.round.round, lambda *_: 3)
    assert grades(project) == before | dict.fromkeys(pairs, 3), "new grades replace the old ones"
    report = make_drift_report(project, opened.quarter)
    assert (report.changed, report.wrong) == (len(pairs), None), "a chosen slice says nothing of the rest"
    assert "Why: 2 was unclear" in " ".join(list_drift_findings(report))
    later = read_due(project)
    assert (later.state, later.set_pairs) == ("not planned", due.set_pairs), "the quarter is still to plan"
    assert open_plan(project, QuarterRequest(PEOPLE, duplicates=0.0)).quarter == due.quarter
