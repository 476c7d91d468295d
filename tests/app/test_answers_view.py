"""The page Answers, run by Streamlit's AppTest on a real project."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from curation.labeling.written_answers.status import read_answer_task_status
from curation.labeling.written_answers.writing import list_own_answers, read_writing_queue
from curation.store import Store
from curation.store.row_types import Annotator
from tests.support.page import LEE, button, field, html, page_at, press
from tests.support.projects import built_once
from tests.support.written_answers import QUERIES, assignment, fill, opened, references, say

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("served")]

MADE, WHEN, *_ = QUERIES
ADA = Annotator("ada", "annotator", False)
RITA = Annotator("rita", "reviewer", False)
project = built_once(fill)


def run(annotator: Annotator, part: str = "Answers") -> AppTest:
    return page_at("write", annotator, **({"part": part} if annotator.role != "annotator" else {})).run()


def test_a_writer_answers_names_the_documents_and_goes_on(project: Store) -> None:
    opened(project, queries=(MADE, WHEN))
    page = run(ADA)
    assert not page.exception
    assert not page.segmented_control, "who only writes has nothing to choose"
    first = read_writing_queue(project, "ada")[0][0]
    field(page, "Answer").set_value("a smith")
    press(page, "Send")
    assert "Tick the documents that support the answer" in page.error[0].value
    page.checkbox[0].check().run()
    field(page, "Answer").set_value("a smith")
    press(page, "Send")
    assert not page.error
    assert "1 of 2 answered" in html(page)
    (mine,) = list_own_answers(project, "ada")
    assert (mine.assignment_id, mine.answer, mine.can_change) == (first, "a smith", True)
    assert page.text_area[0].value == "", "the next query has a field of its own"


def test_ticks_and_what_was_written_are_there_after_a_reload(project: Store) -> None:
    opened(project, queries=(MADE,), show="pool")
    run(ADA).checkbox[1].check().run()
    page = run(ADA)
    assert [box.value for box in page.checkbox] == [False, True, False]
    field(page, "Answer").set_value("a smith")
    press(page, "Send")
    assert "You have answered all your queries" in page.info[0].value
    press(page, "Change")
    assert page.text_area[0].value == "a smith"
    press(page, "Leave it")
    press(page, "Take back")
    assert not page.exception
    assert read_writing_queue(project, "ada")[1] == 0
    assert page.text_area[0].value == "a smith"
    press(page, "The corpus does not")
    assert "You typed an answer" in page.error[0].value
    field(page, "Answer").set_value("")
    press(page, "The corpus does not")
    assert [one.answer for one in list_own_answers(project, "ada")] == [None]


def test_a_query_that_was_put_off_comes_after_the_others(project: Store) -> None:
    opened(project, queries=(MADE, WHEN))
    page = run(ADA)
    first = MADE if MADE in html(page) else WHEN
    press(page, "Later")
    assert "Skipped" in html(page)
    assert f'dir="auto">{first}<' not in html(page)
    press(page, "Later")
    assert f'dir="auto">{first}<' in html(page)


def test_a_reviewer_picks_an_answer_and_says_why(project: Store) -> None:
    opened(project)
    assert "Nothing to decide" in run(RITA, "Decide").info[0].value
    say(project, WHEN, ada="in May", ben="1912")
    page = run(RITA, "Decide")
    shown = html(page)
    assert "token F1 0.00, below 0.8" in shown
    assert "ticked by 2" in shown
    assert "ada" not in shown
    page.checkbox[0].check()
    press(page, "Decide")
    assert "A decision needs a reason" in page.error[0].value
    field(page, "Reason").set_value("The plate says so")
    press(page, "Decide")
    assert not page.error
    assert references(project) == {WHEN: (["1912"], "people")}
    press(page, "Change")
    assert [box.value for box in page.checkbox] == [True, False, False]
    field(page, "Another answer, in your words").set_value("May 1912")
    press(page, "Decide")
    assert references(project)[WHEN][0] == ["1912", "May 1912"]


def test_a_lead_opens_follows_and_closes_a_task(project: Store) -> None:
    page = run(LEE, "Tasks")
    assert "There is no answer task yet" in page.info[0].value
    assert page.segmented_control[0].options == ["Queries", "Tasks", "Questions"]
    press(page, "Open the task")
    assert "needs a name" in page.error[0].value
    page.text_input[0].set_value("faq")
    page.multiselect[0].set_value(["ada", "ben"])
    press(page, "Open the task")
    assert not [*page.error, *page.exception]
    assert "8 answers to write" in html(page)
    assert page.segmented_control[0].options == ["Queries", "Answers", "Decide", "Tasks", "Questions"]
    say(project, MADE, "faq", ada="a smith", ben="smith")
    press(page, "Close “faq”")
    status = read_answer_task_status(project, "faq")
    assert (status.closed, status.counts["agreed"], status.counts["unwritten"]) == (True, 1, 3)
    assert "Nobody answered" in html(page)
    assert button(page, "Reopen “faq”")


def test_a_writer_cannot_act_for_another(project: Store) -> None:
    opened(project, queries=(MADE,))
    page = run(ADA)
    page.session_state["desk write"].open((assignment(project, "ben", MADE),))
    page.run()
    assert "You were not asked to answer" in " ".join(str(one.value) for one in page.exception)
