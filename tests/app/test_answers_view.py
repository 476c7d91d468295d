"""The page Answers, run by Streamlit's AppTest on a real project."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from app import context
from curation.labeling.written_answers.decisions import AnswerRuling, decide_answers
from curation.labeling.written_answers.task_status import answer_task_status
from curation.labeling.written_answers.writing import own_answers, writing_queue
from curation.store import Store
from curation.store.rows import Annotator
from tests.support.page import html, page_at
from tests.support.projects import built_once, rows_of
from tests.support.written_answers import QUERIES, assignment, fill, opened, references, say

MADE, WHEN, *_ = QUERIES
ADA = Annotator("ada", "annotator", False)
RITA, LEE = Annotator("rita", "reviewer", False), Annotator("lee", "lead", False)
filled = built_once(fill)


@pytest.fixture
def project(filled: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv(context.PROJECT, str(filled.path))
    return filled


def run(annotator: Annotator, part: str = "Write answers") -> AppTest:
    page = page_at("answers", annotator).run()
    return page if part == "Write answers" else page.segmented_control[0].set_value(part).run()


def named(page: AppTest, label: str) -> Button:
    return next(button for button in page.button if button.label.startswith(label))


def field(page: AppTest, label: str, words: str) -> None:
    next(area for area in page.text_area if area.label == label).set_value(words)


def test_a_writer_answers_names_the_documents_and_goes_on(project: Store) -> None:
    opened(project, queries=(MADE, WHEN))
    page = run(ADA)
    assert not page.exception
    assert not page.segmented_control, "who only writes has nothing to choose"
    first = writing_queue(project, "ada").open[0]
    field(page, "Answer", "a smith")
    named(page, "Send").click().run()
    assert "Tick the documents that support the answer" in page.error[0].value
    page.checkbox[0].check().run()
    field(page, "Answer", "a smith")
    named(page, "Send").click().run()
    assert not page.error
    assert "1 of 2 answered" in html(page)
    (mine,) = own_answers(project, "ada")
    assert (mine.assignment_id, mine.answer, mine.can_change) == (first, "a smith", True)
    assert page.text_area[0].value == "", "the next query has a field of its own"


def test_ticks_and_what_was_written_are_there_after_a_reload(project: Store) -> None:
    opened(project, queries=(MADE,), show="pool")
    run(ADA).checkbox[1].check().run()
    page = run(ADA)
    assert [box.value for box in page.checkbox] == [False, True, False]
    field(page, "Answer", "a smith")
    named(page, "Send").click().run()
    assert "You have answered every query" in page.info[0].value
    named(page, "Change").click().run()
    assert page.text_area[0].value == "a smith"
    named(page, "Leave it").click().run()
    named(page, "Take back").click().run()
    assert not page.exception
    assert writing_queue(project, "ada").done == 0
    assert page.text_area[0].value == "a smith"
    named(page, "The corpus does not").click().run()
    assert "There is an answer in the field" in page.error[0].value
    field(page, "Answer", "")
    named(page, "The corpus does not").click().run()
    assert [one.answer for one in own_answers(project, "ada")] == [None]


def test_a_query_that_was_put_off_comes_after_the_others(project: Store) -> None:
    opened(project, queries=(MADE, WHEN))
    page = run(ADA)
    first = MADE if MADE in html(page) else WHEN
    named(page, "Later").click().run()
    assert "Put off" in html(page)
    assert f'dir="auto">{first}<' not in html(page)
    named(page, "Later").click().run()
    assert f'dir="auto">{first}<' in html(page)


def test_an_answer_from_another_tab_is_not_overwritten(project: Store) -> None:
    opened(project, queries=(MADE, WHEN))
    page = run(ADA)
    other = run(ADA)
    for one, words in ((other, "a smith"), (page, "somebody else")):
        one.checkbox[0].check().run()
        if one.text_area:
            field(one, "Answer", words)
            named(one, "Send").click().run()
    assert "in another tab" in html(page)
    assert [one.answer for one in own_answers(project, "ada")] in (["a smith"], ["somebody else", "a smith"])
    assert rows_of(project, "SELECT max(revision) FROM answer_events") == [(0,)]


def test_a_reviewer_picks_an_answer_and_says_why(project: Store) -> None:
    opened(project)
    assert "No answers differ" in run(RITA, "Decide").info[0].value
    say(project, WHEN, ada="in May", ben="1912")
    page = run(RITA, "Decide")
    shown = html(page)
    assert "token F1 0.00, below 0.8" in shown
    assert "ticked by 2" in shown
    assert "ada" not in shown
    page.checkbox[0].check()
    named(page, "Decide").click().run()
    assert "A decision needs a reason" in page.error[0].value
    field(page, "Reason", "The plate says so")
    named(page, "Decide").click().run()
    assert not page.error
    assert references(project) == {WHEN: (["1912"], "people")}
    named(page, "Change").click().run()
    assert [box.value for box in page.checkbox] == [True, False, False]
    field(page, "One more, in your words", "May 1912")
    named(page, "Decide").click().run()
    assert references(project)[WHEN][0] == ["1912", "May 1912"]


def test_a_reviewer_whom_another_overtook_is_told_and_decides_nothing(project: Store) -> None:
    opened(project)
    say(project, WHEN, ada="in May", ben="1912")
    page = run(RITA, "Decide")
    decide_answers(project, "first", WHEN, AnswerRuling(["in May"], reason="It is warmer"), "rosa")
    field(page, "Reason", "The plate says so")
    named(page, "Decide").click().run()
    assert "rosa decided this query while you had it open" in page.warning[0].value
    assert references(project)[WHEN][0] == ["in May"]


def test_a_lead_opens_follows_and_closes_a_task(project: Store) -> None:
    page = run(LEE, "Tasks")
    assert "No answer task is open yet" in page.info[0].value
    named(page, "Open the task").click().run()
    assert "needs a name" in page.error[0].value
    page.text_input[0].set_value("faq")
    page.multiselect[0].set_value(["ada", "ben"])
    named(page, "Open the task").click().run()
    assert not [*page.error, *page.exception]
    assert "Opened: 8 answers to write." in html(page)
    say(project, MADE, "faq", ada="a smith", ben="smith")
    named(page, "Close “faq”").click().run()
    status = answer_task_status(project, "faq")
    assert (status.closed, status.counts["agreed"], status.counts["unwritten"]) == (True, 1, 3)
    assert "Nobody answered" in html(page)
    assert named(page, "Reopen “faq”")


def test_a_writer_cannot_act_for_another(project: Store) -> None:
    opened(project, queries=(MADE,))
    page = run(ADA)
    page.session_state["desk write"].open((assignment(project, "ben", MADE),))
    page.run()
    assert "not among those that you were asked" in " ".join(str(one.value) for one in page.exception)
