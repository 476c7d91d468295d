"""A writer at the keyboard: what is typed survives a reload, and Ctrl+Enter sends it."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from curation.labeling.requests import AnswerTaskRequest
from curation.labeling.written_answers.create_task import open_answer_task
from curation.labeling.written_answers.writing import list_own_answers
from tests.support.served import Served, settled, sign_in


def test_a_half_written_answer_survives_a_reload_and_is_sent_by_key(browser: Browser, served: Served) -> None:
    open_answer_task(served.store, AnswerTaskRequest("words", ["idle"], 1, most=2, show="pool", documents=3))
    page = sign_in(browser, served, "idle").new_page()
    page.goto(f"{served.url}/write?part=Answers")
    answer, tick = (
        page.get_by_label("Answer", exact=True),
        page.get_by_label("Document 2 supports the answer"),
    )
    expect(answer).to_be_visible(timeout=30_000)
    settled(page)
    query = page.locator(".gs-query").inner_text()
    page.get_by_text("Document 2 supports the answer").click()
    expect(page.get_by_text("Documents that support the answer: 1")).to_be_visible()
    answer.click()
    page.keyboard.type("half of an ans")
    page.reload()
    expect(answer).to_have_value("half of an ans", timeout=30_000)
    expect(tick).to_be_checked()
    settled(page)
    answer.click()
    page.keyboard.press("End")
    page.keyboard.type("wer")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("1 of 2 answered")).to_be_visible()
    (sent,) = list_own_answers(served.store, "idle")
    assert (sent.query, sent.answer) == (query, "half of an answer")

    settled(page)
    page.get_by_text("My last answers").click()
    page.get_by_role("button", name="Change").click()
    expect(page.locator(".gs-query")).to_have_text(query)
    settled(page)
    expect(answer).to_have_value("half of an answer")
    settled(page)
    answer.click()
    page.keyboard.press("End")
    page.keyboard.type(", and more")
    page.reload()
    expect(page.get_by_text("1 of 2 answered")).to_be_visible(timeout=30_000)
    settled(page)
    page.get_by_text("My last answers").click()
    page.get_by_role("button", name="Change").click()
    expect(page.locator(".gs-query")).to_have_text(query)
    settled(page)
    expect(answer).to_have_value("half of an answer, and more")
