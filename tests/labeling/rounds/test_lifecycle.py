"""Rounds after they opened: pauses, ends, late answers, and the guide under them."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import NotFoundError, RefusedError
from curation.guides.guide import current_guide
from curation.guides.guide_text import read_guide
from curation.labeling.judging import KEPT_LATE, Outcome, Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.delete_round import delete_round
from curation.labeling.rounds.left_out_queries import LEFT_OUT_QUERY, set_aside
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.rounds.status import read_round_status
from curation.labeling.rounds.use_guide import use_guide
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once, grade_next, grid, open_for, rows_of

GUIDE = """---
title: Another guide
scale:
  - {{value: 0, name: off topic, key: "0", colour: "#aa0000", definition: Does not help.}}
  - {{value: 1, name: a bit, key: "1", colour: "#aaaa00", definition: Helps a bit.}}
  - {{value: 2, name: much, key: "2", colour: "#00aa00", definition: Helps much.}}
{more}---
The text, version {version}.
"""
TOP = '  - {value: 3, name: fully, key: "3", colour: "#0000aa", definition: Answers it.}\n'


@built_once
def opened(store: Store) -> Store:
    open_for(store, grid(3, 4), "ada", "grace")
    return store


def guide_file(tmp_path: Path, version: int, more: str = TOP) -> Path:
    path = tmp_path / f"guide-{version}.md"
    path.write_text(GUIDE.format(more=more, version=version), encoding="utf-8")
    return path


def grade(store: Store, item: str, key: str, revision: int = 0, kind: str = "grade") -> Outcome:
    return submit_judgments(
        store, "ada", [Submission(item, revision, kind, key, grade=1 if kind == "grade" else None)]
    )[0]


def test_a_paused_round_is_in_nobodys_queue_and_says_so(opened: Store) -> None:
    assert set_round_state(opened, "first", "paused").paused
    queue = read_queue(opened, "ada")
    assert (queue.showings, queue.total) == ([], 0)
    assert "The lead has paused the round" in queue.message
    set_round_state(opened, "first", "open")
    assert len(read_queue(opened, "ada").showings) == 5


def test_a_query_that_is_left_out_is_not_asked_any_more_until_it_is_put_back(opened: Store) -> None:
    before = read_queue(opened, "ada", 30).showings
    grade(opened, before[0].presentation_id, "press-0001")
    query = rows_of(opened, "SELECT query_id FROM judgment_events JOIN presentations USING (presentation_id)")
    set_aside(opened, [query[0][0]], "spam")
    shown = read_queue(opened, "ada", 30).showings
    assert {item.query for item in shown} == {item.query for item in before} - {before[0].query}
    assert read_round_status(opened, "first").left_out == {LEFT_OUT_QUERY: 7}
    assert not read_round_status(opened, "first").withdrawn
    set_aside(opened, [query[0][0]], None)
    assert read_queue(opened, "ada", 30).showings == before[1:]
    assert read_round_status(opened, "first").left_out == {}


def test_what_was_on_screen_when_a_round_was_paused_is_kept(opened: Store) -> None:
    item = read_queue(opened, "ada").showings[0].presentation_id
    set_round_state(opened, "first", "paused")
    assert grade(opened, item, "press-0001").status == "saved"
    assert rows_of(opened, "SELECT late FROM judgment_events") == [(False,)]


def test_an_answer_to_a_closed_round_is_kept_counted_and_marked(opened: Store) -> None:
    early, late = (one.presentation_id for one in read_queue(opened, "ada", 2).showings)
    grade(opened, early, "press-0001")
    assert set_round_state(opened, "first", "closed").closed
    outcome = grade(opened, late, "press-0002")
    assert (outcome.status, outcome.message) == ("saved", KEPT_LATE)
    assert rows_of(opened, "SELECT late FROM judgment_events ORDER BY submitted_at") == [(False,), (True,)]
    assert rows_of(opened, "SELECT count(*) FROM counted_judgments") == [(2,)]
    status = read_round_status(opened, "first")
    assert (status.closed, status.late) == (True, 1)
    assert read_queue(opened, "ada").showings == []


def test_an_answer_in_a_closed_round_can_be_changed_but_not_taken_back(opened: Store) -> None:
    item = read_queue(opened, "ada").showings[0].presentation_id
    grade(opened, item, "press-0001")
    set_round_state(opened, "first", "closed")
    assert grade(opened, item, "press-0002", 1, "undo").status == "refused"
    assert grade(opened, item, "press-0003", 1).status == "saved"


def test_a_reopened_round_goes_on_where_it_was_and_both_are_on_record(opened: Store) -> None:
    grade_next(opened, "ada", 3)
    add_names(opened, "lea", role="lead")
    set_round_state(opened, "first", "closed", author="lea", reason="done early")
    set_round_state(opened, "first", "open")
    assert (read_queue(opened, "ada").done, read_queue(opened, "ada").total) == (3, 12)
    sql = "SELECT kind, author, detail->>'reason' FROM round_events ORDER BY revision"
    assert rows_of(opened, sql) == [("close", "lea", "done early"), ("reopen", "command line", None)]


def test_a_change_that_makes_no_sense_is_refused_with_a_way_out(opened: Store) -> None:
    with pytest.raises(RefusedError, match="is neither paused nor closed"):
        set_round_state(opened, "first", "open")
    set_round_state(opened, "first", "closed")
    for state in ("closed", "paused"):
        with pytest.raises(RefusedError, match="goldgrade round set first open"):
            set_round_state(opened, "first", state)
    with pytest.raises(NotFoundError, match=r"no round 'second'\. Rounds of this project: first"):
        set_round_state(opened, "second", "closed")


def test_a_round_opened_by_mistake_is_deleted_before_anybody_answered(opened: Store) -> None:
    on_screen = read_queue(opened, "ada").showings[0].presentation_id
    open_round(opened, RoundRequest("second", ["ada"], overlap=1, duplicates=0, again=True))
    assert delete_round(opened, "first", reason="too many").presentations == 24
    assert rows_of(opened, "SELECT name FROM rounds") == [("second",)]
    assert rows_of(opened, "SELECT count(*) FROM presentations") == [(12,)]
    said = "SELECT detail->>'round', detail->>'reason' FROM events WHERE action = 'delete round'"
    assert rows_of(opened, said) == [("first", "too many")]
    assert grade(opened, on_screen, "late").status != "saved"
    assert rows_of(opened, "SELECT count(*) FROM judgment_events") == [(0,)]
    open_round(opened, RoundRequest("first", ["ada", "grace"], overlap=2, duplicates=0, again=True))


def test_a_round_with_an_answer_is_not_deleted(opened: Store) -> None:
    item = read_queue(opened, "ada").showings[0].presentation_id
    assert grade(opened, item, "a client key", kind="later").status == "saved"
    with pytest.raises(
        RefusedError, match=r"has answers, and goldgrade never deletes.*round set first closed"
    ):
        delete_round(opened, "first")


def test_a_guide_changed_under_an_open_round_is_refused_without_a_choice(
    opened: Store, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match=r"first \(24 open items\).*--open-rounds keep"):
        use_guide(opened, read_guide(guide_file(tmp_path, 1)))
    with opened.reading() as cursor:
        assert current_guide(cursor).title != "Another guide"


def test_a_round_that_keeps_its_guide_judges_under_it(opened: Store, tmp_path: Path) -> None:
    old = read_queue(opened, "ada").showings[0].guide_hash
    change = use_guide(opened, read_guide(guide_file(tmp_path, 1)), open_rounds="keep")
    assert (change.changed, change.kept, change.switched) == (True, ["first"], [])
    grade_next(opened, "ada")
    assert rows_of(opened, "SELECT guide_hash FROM judgment_events") == [(old,)]
    assert rows_of(opened, "SELECT detail->>'choice' FROM round_events") == [("keep",)]
    use_guide(opened, read_guide(guide_file(tmp_path, 1)), open_rounds="keep")
    add_pairs(opened, {"fresh": ["f0"]})
    assert open_round(opened, RoundRequest("second", ["ada"], overlap=1)).guide_hash == change.guide_hash


def test_after_a_switch_each_judgment_names_the_version_it_was_given_under(
    opened: Store, tmp_path: Path
) -> None:
    old = read_queue(opened, "ada").showings[0].guide_hash
    grade_next(opened, "ada")
    change = use_guide(opened, read_guide(guide_file(tmp_path, 1)), open_rounds="switch")
    assert read_queue(opened, "ada").showings[0].guide_hash == change.guide_hash
    grade_next(opened, "ada")
    versions = rows_of(opened, "SELECT guide_hash FROM judgment_events ORDER BY submitted_at")
    assert versions == [(old,), (change.guide_hash,)]
    assert read_round_status(opened, "first").guide_hash == change.guide_hash


def test_what_was_read_under_the_old_version_is_kept_under_it_after_a_switch(
    opened: Store, tmp_path: Path
) -> None:
    first, second = read_queue(opened, "ada").showings[:2]
    change = use_guide(opened, read_guide(guide_file(tmp_path, 1)), open_rounds="switch")
    read = [(first, first.guide_hash), (second, "a guide that the round never had")]
    submissions = [
        Submission(showing.presentation_id, 0, "grade", f"key-{number}-of-two", grade=1, guide_hash=guide)
        for number, (showing, guide) in enumerate(read)
    ]
    assert [outcome.status for outcome in submit_judgments(opened, "ada", submissions)] == ["saved", "saved"]
    assert rows_of(opened, "SELECT guide_hash FROM judgment_events ORDER BY client_key") == [
        (first.guide_hash,),
        (change.guide_hash,),
    ]


def test_a_round_with_judgments_does_not_switch_to_another_scale(opened: Store, tmp_path: Path) -> None:
    path = guide_file(tmp_path, 1, more="")
    grade_next(opened, "ada")
    with pytest.raises(RefusedError, match=r"first has 1 judgment .*the new guide's is 0, 1, 2"):
        use_guide(opened, read_guide(path), open_rounds="switch")
    assert use_guide(opened, read_guide(path), open_rounds="keep").kept == ["first"]


def test_a_round_without_judgments_may_switch_to_another_scale(opened: Store, tmp_path: Path) -> None:
    path = guide_file(tmp_path, 1, more="")
    assert use_guide(opened, read_guide(path), open_rounds="switch").switched == ["first"]
    item = read_queue(opened, "ada").showings[0].presentation_id
    assert (
        submit_judgments(opened, "ada", [Submission(item, 0, "grade", "press-0001", grade=3)])[0].status
        == "refused"
    )


def test_rounds_that_are_closed_or_done_allow_another_guide(opened: Store, tmp_path: Path) -> None:
    set_round_state(opened, "first", "closed")
    change = use_guide(opened, read_guide(guide_file(tmp_path, 1)))
    assert (change.guide_hash, change.kept) == (read_guide(guide_file(tmp_path, 1)).guide_hash, [])
