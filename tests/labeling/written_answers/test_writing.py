"""People write answers on their own: who is asked what, what a screen knows, and what becomes of it."""

from __future__ import annotations

import json

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.importers.reference_answers import store_answers
from curation.labeling.requests import AnswerTaskRequest, RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.written_answers.create_task import open_answer_task
from curation.labeling.written_answers.decisions import AnswerRuling, decide_answers
from curation.labeling.written_answers.disputes import find_answer_disputes, read_answer_case
from curation.labeling.written_answers.status import read_answer_task_status
from curation.labeling.written_answers.tasks import set_answer_task_state
from curation.labeling.written_answers.writing import (
    draw_shown_document,
    list_own_answers,
    mark_unanswerable,
    read_writing_item,
    read_writing_queue,
    retract_answer,
    save_ticks,
    write_answer,
)
from curation.store import Store
from tests.support.projects import add_names, built_once, rows_of
from tests.support.written_answers import QUERIES, WRITERS, assignment, fill, opened, references, say

pytestmark = pytest.mark.slow

MADE, WHEN, LARGE, WHY = QUERIES
project = built_once(fill)


def test_each_query_goes_to_as_many_writers_as_asked_for_and_the_same_seed_gives_the_same(
    project: Store,
) -> None:
    found = opened(project, writers=("ada", "ben", "cy"), overlap=2, seed=3)
    assert (found.queries, found.assignments, found.judged) == (4, 8, 3)
    assert sum(found.per_writer.values()) == 8
    assert max(found.per_writer.values()) - min(found.per_writer.values()) <= 1
    per_query = "SELECT count(DISTINCT writer) FROM answer_assignments GROUP BY query_id"
    assert rows_of(project, per_query) == [(2,)] * 4
    rows = "SELECT query_id, writer, position FROM answer_assignments JOIN answer_tasks USING (task_id) "
    first = rows_of(project, f"{rows} WHERE name = 'first' ORDER BY ALL")
    set_answer_task_state(project, "first", True)
    opened(project, writers=("ada", "ben", "cy"), overlap=2, seed=3, name="second", again=True)
    assert rows_of(project, f"{rows} WHERE name = 'second' ORDER BY ALL") == first


def test_a_writer_sees_the_relevant_documents_and_nothing_that_others_said(project: Store) -> None:
    opened(project)
    say(project, MADE, ben="a smith")
    item = read_writing_item(project, "ada", assignment(project, "ada", MADE))
    assert ["".join(part.text for part in one.title) for one in item.documents] == [f"{MADE} 1"]
    shown = json.dumps(item)
    assert "smith" not in shown
    assert '"grade"' not in shown
    others = read_writing_item(project, "ada", assignment(project, "ada", WHY))
    assert len(others.documents) == 3, "nobody judged its documents: the pool's are shown"
    assert "".join(part.text for part in draw_shown_document(project, "ada", item.assignment_id, 0)) == (
        f"The body of {MADE} 1."
    )
    with pytest.raises(NotFoundError, match="You were not asked to answer"):
        read_writing_item(project, "cy", item.assignment_id)


def test_a_query_in_somebodys_queue_waits_where_writers_would_see_what_is_relevant(project: Store) -> None:
    open_round(project, RoundRequest("r", ["cy"], overlap=1, duplicates=0, again=True))
    with pytest.raises(RefusedError, match="an annotator who still has to judge documents of the query"):
        opened(project)
    assert opened(project, show="pool").queries == 4
    set_round_state(project, "r", "closed")
    set_answer_task_state(project, "first", True)
    assert opened(project, name="second", again=True).queries == 4


def test_answers_that_agree_become_references_of_people(project: Store) -> None:
    opened(project)
    say(project, MADE, ada="The Smith")
    assert references(project) == {}
    say(project, MADE, ben="smith")
    assert references(project) == {MADE: (["smith"], "people")}
    counts = read_answer_task_status(project, "first").counts
    assert (counts["agreed"], counts["waiting"]) == (1, 3)
    assert rows_of(project, "SELECT actor, detail->>'how' FROM events WHERE action = 'settle answers'") == [
        ("ben", "agreed")
    ]


def test_sending_twice_counts_once_and_a_second_tab_learns_what_it_missed(project: Store) -> None:
    opened(project)
    mine = assignment(project, "ada", MADE)
    for _ in range(2):
        write_answer(project, "ada", mine, "a smith", [0], 0)
    assert rows_of(project, "SELECT count(*) FROM answer_events") == [(1,)]
    with pytest.raises(RefusedError, match="in another tab"):
        write_answer(project, "ada", mine, "another", [0], 0)
    assert read_writing_queue(project, "ada")[1] == 1


def test_an_answer_that_is_taken_back_takes_its_reference_back(project: Store) -> None:
    with project.transaction() as cursor:
        store_answers(cursor, {MADE: ["from a file"]}, "r.jsonl")
    assert opened(project, again=True).queries == 4
    say(project, MADE, ada="smith", ben="smith")
    assert references(project)[MADE] == (["smith"], "people")
    mine = assignment(project, "ada", MADE)
    for _ in range(2):
        retract_answer(project, "ada", mine, 1)
    assert references(project)[MADE] == (["from a file"], "r.jsonl")
    item = read_writing_item(project, "ada", mine)
    assert (item.answer, item.ticked, item.written) == ("smith", (0,), False), "what was written is there"
    say(project, MADE, ada="the smith")
    assert references(project)[MADE] == (["smith"], "people")


def test_a_file_that_is_imported_later_stays_until_there_is_another_outcome(project: Store) -> None:
    opened(project)
    say(project, MADE, ada="smith", ben="smith")
    with project.transaction() as cursor:
        store_answers(cursor, {MADE: ["from a file"]}, "r.jsonl")
    retract_answer(project, "ada", assignment(project, "ada", MADE), 1)
    assert references(project)[MADE] == (["from a file"], "r.jsonl")


def test_everybody_may_say_that_the_corpus_does_not_answer_it(project: Store) -> None:
    opened(project)
    tags = "SELECT query_id, by_person FROM current_query_tags WHERE tag = 'unanswerable'"
    say(project, WHY, ada=None, ben=None)
    assert rows_of(project, tags) == [(WHY, True)]
    assert references(project) == {}
    retract_answer(project, "ben", assignment(project, "ben", WHY), 1)
    assert rows_of(project, tags) == []
    with pytest.raises(InputError, match="You typed an answer"):
        mark_unanswerable(project, "ben", assignment(project, "ben", WHY), "words", 2)


def test_an_answer_that_cannot_be_a_reference_is_refused(project: Store) -> None:
    opened(project)
    mine = assignment(project, "ada", MADE)
    wrong: list[tuple[str, list[int], str]] = [
        (" . ", [0], "Write an answer in a few words"),
        ("smith", [], "Tick the documents that support the answer"),
        ("x" * 1_001, [0], "at most 1,000 characters"),
        ("ask jo@example.org", [0], "personal data"),
    ]
    for text, places, words in wrong:
        with pytest.raises(InputError, match=words):
            write_answer(project, "ada", mine, text, places, 0)
    assert rows_of(project, "SELECT count(*) FROM answer_events") == [(0,)]


def test_ticks_of_a_half_written_answer_are_kept_until_it_is_sent(project: Store) -> None:
    opened(project, show="pool")
    mine = assignment(project, "ada", WHY)
    for ticks in ([0, 2], [2]):
        save_ticks(project, "ada", mine, ticks)
    assert read_writing_item(project, "ada", mine).ticked == (2,)
    write_answer(project, "ada", mine, "because", [1], 0)
    assert read_writing_item(project, "ada", mine).ticked == (1,)
    with pytest.raises(NotFoundError):
        save_ticks(project, "ben", mine, [0])


def test_what_differs_goes_to_a_reviewer_who_picks_merges_and_says_why(project: Store) -> None:
    opened(project)
    say(project, WHEN, ada="in May", ben="1912")
    (found,) = find_answer_disputes(project, "rita").waiting
    assert (found.task, found.query_id, found.answers) == ("first", WHEN, 2)
    case = read_answer_case(project, "first", WHEN, "rita")
    assert [(one.text, one.times) for one in case.voices] == [("1912", 1), ("in May", 1)]
    assert case.cited == (2,)
    ruling = AnswerRuling(["1912"], " May  1912 ", reason="Both are half of it")
    for _ in range(2):
        decision = decide_answers(project, "first", WHEN, ruling, "rita", 0)
    assert (decision.answers, decision.merged, decision.revision) == (("1912", "May 1912"), "May 1912", 0)
    assert references(project) == {WHEN: (["1912", "May 1912"], "people")}
    assert find_answer_disputes(project, "rita").waiting == ()
    events = "SELECT action, actor FROM events WHERE action LIKE '%answers' ORDER BY rowid"
    assert rows_of(project, events) == [("settle answers", "rita"), ("decide answers", "rita")]
    with pytest.raises(RefusedError, match="rita decided this query while you had it open"):
        decide_answers(project, "first", WHEN, ruling._replace(reason="No"), "rosa", 0)
    decide_answers(project, "first", WHEN, AnswerRuling(unanswerable=True, reason="It is not"), "rosa", 1)
    assert references(project) == {}


def test_a_decision_that_says_too_little_or_too_much_is_refused(project: Store) -> None:
    opened(project)
    say(project, WHEN, ada="in May", ben="1912")
    for ruling, words in (
        (AnswerRuling(reason="why"), "Choose an answer, write one"),
        (AnswerRuling(["1912"]), "A decision needs a reason"),
        (AnswerRuling(["never written"], reason="why"), "no writer gave the answer 'never written'"),
        (AnswerRuling(["1912"], unanswerable=True, reason="why"), "not both"),
        (AnswerRuling(merged="jo@example.org", reason="why"), "personal data"),
    ):
        with pytest.raises(InputError, match=words):
            decide_answers(project, "first", WHEN, ruling, "rita")


def test_nobody_decides_about_an_answer_of_their_own_or_before_all_are_in(project: Store) -> None:
    opened(project, writers=("ada", "rita"))
    say(project, WHEN, ada="in May")
    with pytest.raises(RefusedError, match="1 of 2 writers have answered"):
        decide_answers(project, "first", WHEN, AnswerRuling(["in May"], reason="why"), "rosa")
    say(project, WHEN, rita="1912")
    assert find_answer_disputes(project, "rita").own == 1
    assert len(find_answer_disputes(project, "rosa").waiting) == 1
    for ask in (
        lambda: read_answer_case(project, "first", WHEN, "rita"),
        lambda: decide_answers(project, "first", WHEN, AnswerRuling(["1912"], reason="why"), "rita"),
    ):
        with pytest.raises(RefusedError, match="another reviewer must decide it"):
            ask()
    with pytest.raises(RefusedError, match="This action needs the role reviewer or lead"):
        find_answer_disputes(project, "ben")


def test_closing_sends_what_is_missing_to_a_reviewer_and_shows_writers_what_became_of_it(
    project: Store,
) -> None:
    opened(project)
    say(project, MADE, ada="smith", ben="smith")
    say(project, WHEN, ada="in May")
    assert [one.references for one in list_own_answers(project, "ada")] == [None, None]
    set_answer_task_state(project, "first", True, "lee")
    counts = read_answer_task_status(project, "first").counts
    assert (counts["agreed"], counts["disputed"], counts["unwritten"]) == (1, 1, 2)
    assert [one.references for one in list_own_answers(project, "ada")] == [None, ("smith",)]
    assert read_writing_queue(project, "ada")[0] == []
    with pytest.raises(RefusedError, match="closed this task"):
        retract_answer(project, "ada", assignment(project, "ada", MADE), 1)
    say(project, WHEN, ben="in May")  # it was on screen: kept, and marked
    assert references(project)[WHEN] == (["in May"], "people")
    assert [(one.writer, one.late) for one in read_answer_task_status(project, "first").writers] == [
        ("ada", 0),
        ("ben", 1),
    ]
    set_answer_task_state(project, "first", False, "lee")
    assert len(read_writing_queue(project, "ada")[0]) == 2
    with pytest.raises(RefusedError, match="is open already"):
        set_answer_task_state(project, "first", False)


def test_a_task_that_does_not_fit_together_is_refused(project: Store) -> None:
    wrong: list[tuple[dict[str, object], str]] = [
        ({"overlap": 3}, "an overlap of 3 does not fit 2 writer"),
        ({"bound": 0}, "Minimum token F1.*0 is out of range"),
        ({"show": "ranks"}, "expected relevant or pool"),
        ({"tag": "odd"}, "there is no tag 'odd'"),
        ({"queries": ("nothing",)}, "no query has the id or text 'nothing'"),
        ({"name": " ", "documents": 0, "most": 0}, "needs a name"),
    ]
    for plan, words in wrong:
        with pytest.raises(InputError, match=words):
            opened(project, **plan)


def test_who_may_not_read_documents_cannot_write_and_only_a_lead_opens(project: Store) -> None:
    add_names(project, "eve", role="evaluator")
    with pytest.raises(RefusedError, match="eve may only evaluate"):
        opened(project, writers=("ada", "eve"))
    with pytest.raises(RefusedError, match="This action needs the role lead"):
        open_answer_task(project, AnswerTaskRequest("first", WRITERS), "rita")


def test_queries_with_references_or_in_a_task_are_left_out_by_reason(project: Store) -> None:
    with project.transaction() as cursor:
        store_answers(cursor, {MADE: ["from a file"]}, "r.jsonl")
    found = opened(project, queries=(MADE, WHEN, LARGE), most=1)
    assert found.queries == 1
    assert found.left_out == {"the query has reference answers": 1, "the query was not drawn": 1}
    with pytest.raises(RefusedError, match="already exists"):
        opened(project)
    second = opened(project, name="second", again=True)
    assert second.left_out == {"the query is in an open answer task": 1}


def test_agreement_has_a_share_only_from_ten_queries(project: Store) -> None:
    opened(project)
    say(project, MADE, ada="smith", ben="smith")
    say(project, WHEN, ada="in May", ben="1912")
    status = read_answer_task_status(project, "first")
    assert (status.agreement[:4], status.agreeing) == ((None, None, None, 2), 1)
