"""Leaving: access ends at once, grades remain, and open work returns to its rounds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from curation.core.errors import RefusedError
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.extension import extend_round
from curation.labeling.rounds.leaving import change_role, deactivate_annotator
from curation.labeling.rounds.status import read_round_status
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.people.accounts import activate
from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once, grade_next, grid, rows_of

pytestmark = pytest.mark.slow

PEOPLE = ("ada", "grace", "joan")


@built_once
def opened(store: Store) -> Store:
    """6 queries with 3 documents, each for two of ada, grace and joan; kay is free, lee and mia are leads."""
    add_pairs(store, grid(6, 3))
    add_names(store, *PEOPLE, "kay")
    add_names(store, "lee", "mia", role="lead")
    open_round(store, RoundRequest("first", PEOPLE, overlap=2, duplicates=0.2, seed=3))
    return store


def open_items(store: Store, who: str) -> int:
    sql = """
        SELECT p.annotator FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
        WHERE NOT coalesce(s.answered, false)
        """
    return [row[0] for row in rows_of(store, sql)].count(who)


def test_open_work_of_who_is_deactivated_goes_to_the_others_and_their_grades_count(opened: Store) -> None:
    grade_next(opened, "ada", 4, grade=3)
    before = rows_of(opened, "SELECT * FROM counted_judgments ORDER BY ALL")
    ada, (returned,) = deactivate_annotator(opened, "ada", "lee")
    assert not ada.active
    assert returned.moved == returned.open > 0
    assert open_items(opened, "ada") == 0
    assert rows_of(opened, "SELECT * FROM counted_judgments ORDER BY ALL") == before
    for who in ("grace", "joan"):
        grade_next(opened, who, 100)
    status = read_round_status(opened, "first")
    assert status.complete == status.candidates == 18
    votes = "SELECT count(*) FROM counted_judgments GROUP BY query_id, document_id"
    assert rows_of(opened, votes) == [(2,)] * 18


def test_what_they_put_off_returns_as_well(opened: Store) -> None:
    item = read_queue(opened, "ada", 1).showings[0]
    submit_judgments(opened, "ada", [Submission(item.presentation_id, 0, "later", "later-0001")])
    assert deactivate_annotator(opened, "ada")[1][0].why == ""
    assert open_items(opened, "ada") == 0


def test_an_open_screen_of_theirs_can_do_nothing_more(opened: Store) -> None:
    """The session has its items in memory, and another process deactivates its owner."""
    item = read_queue(opened, "ada", 1).showings[0]
    code = "from curation.cli import main; main()"
    command = [
        sys.executable,
        "-c",
        code,
        "--project",
        str(opened.path),
        "people",
        "set",
        "ada",
        "--deactivate",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    grade = Submission(item.presentation_id, item.revision, "grade", "a client key", 2)
    for deed in (
        lambda: submit_judgments(opened, "ada", [grade]),
        lambda: read_queue(opened, "ada"),
        lambda: answer_query(opened, "ada", item.presentation_id, "yes", "a client key"),
    ):
        with pytest.raises(RefusedError, match="ada is deactivated"):
            deed()
    assert rows_of(opened, "SELECT count(*) FROM judgment_events") == [(0,)]


def test_what_nobody_can_take_stays_until_somebody_joins(store: Store) -> None:
    add_pairs(store, grid(3, 4))
    add_names(store, "ada", "grace", "kay")
    open_round(store, RoundRequest("first", ["ada", "grace"], overlap=2, duplicates=0))
    _, (returned,) = deactivate_annotator(store, "ada")
    assert (returned.open, returned.moved) == (12, 0)
    assert returned.sentence == (
        "first: 12 open items wait until a new annotator joins. "
        "12 items stay, because every other annotator already has the pair"
    )
    with pytest.raises(RefusedError, match=r"already deactivated\. 12 open items still wait"):
        deactivate_annotator(store, "ada")
    extend_round(store, "first", ["kay"], candidates=False)
    assert (open_items(store, "ada"), open_items(store, "kay")) == (0, 12)


def test_an_evaluator_has_no_open_work_and_a_reviewer_keeps_theirs(opened: Store) -> None:
    mine = open_items(opened, "ada")
    assert change_role(opened, "ada", "reviewer")[1] == []
    assert open_items(opened, "ada") == mine
    assert change_role(opened, "ada", "evaluator")[1][0].moved > 0
    assert open_items(opened, "ada") == 0
    with pytest.raises(RefusedError, match="ada is evaluator"):
        read_queue(opened, "ada")


def test_who_is_activated_again_goes_on_without_what_others_have_now(opened: Store) -> None:
    grade_next(opened, "ada", 2)
    deactivate_annotator(opened, "ada", "lee")
    activate(opened, "ada", "mia")
    queue = read_queue(opened, "ada")
    assert (queue.done, queue.total) == (2, 2)
    events = rows_of(opened, "SELECT actor, action FROM events WHERE action LIKE '%activate%' ORDER BY rowid")
    assert events == [("lee", "deactivate annotator"), ("mia", "activate annotator")]
