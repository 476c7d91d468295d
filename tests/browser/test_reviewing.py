"""The reviewer at the keyboard: a grade by its key, a reason, Ctrl+Enter; a held key does one thing once."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from curation.adjudication.disputes import Dispute, dispute, disputes
from curation.adjudication.second_opinions import awaited_opinions
from curation.guides.questions import guide_questions
from curation.labeling.judgments.submissions import Submission
from curation.labeling.rounds.lifecycle import append_round_event
from curation.labeling.rounds.rounds import find_round
from curation.labeling.session.submit import submit
from curation.store import Store, open_store
from tests.support.served import DRAWN, Served, settled, sign_in


def disagree(store: Store) -> None:
    """Two people answer all they have: one always 0, the other now 0, now 3. 'idle' joins and has nothing."""
    with store.transaction() as cursor:
        round_id = find_round(cursor, "first").round_id
        append_round_event(cursor, round_id, "extend", {"annotators": ["idle"]}, "rosa")
    with store.reading() as cursor:
        rows = cursor.execute(
            """
            SELECT annotator, presentation_id, row_number() OVER (ORDER BY query_id, document_id)
            FROM presentations WHERE annotator IN ('anna', 'ben') AND duplicate_of IS NULL
            """
        ).fetchall()
    for who in ("anna", "ben"):
        mine = [
            Submission(one, 0, "grade", f"key {one}", 3 if who == "ben" and place % 4 < 2 else 0)
            for name, one, place in rows
            if name == who
        ]
        assert {done.status for done in submit(store, who, mine)} == {"saved"}


@pytest.fixture(scope="module")
def reviewed(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served project with disputes."""
    project = Path(shutil.copy(template, tmp_path_factory.mktemp("reviewed") / "project.duckdb"))
    store = open_store(project)
    disagree(store)
    store.close()
    running = Served(project)
    try:
        yield running
    finally:
        running.stop()


def adjudicating(browser: Browser, served: Served) -> Page:
    page = sign_in(browser, served, "rosa").new_page()
    page.goto(f"{served.url}/adjudicate")
    expect(page.get_by_role("button", name="Decide")).to_be_visible(timeout=30_000)
    expect(page.get_by_label("Reason")).to_be_visible()
    settled(page)
    return page


def on_screen(page: Page, waiting: list[Dispute]) -> Dispute:
    query = page.locator(".gs-query").inner_text()
    title = page.locator(".gs-document h2").inner_text()
    return next(one for one in waiting if (one.query, one.title) == (query, title))


def reason(page: Page) -> str:
    return page.get_by_label("Reason").input_value()


def test_a_reviewer_decides_by_key_and_sends_back_without_the_mouse(
    browser: Browser, reviewed: Served
) -> None:
    page = adjudicating(browser, reviewed)
    waiting = disputes(reviewed.store)
    assert len(waiting) > 4
    first = on_screen(page, waiting)

    page.keyboard.down("2")  # held: it picks the grade, and writes nothing into the reason
    expect(page.get_by_label("Reason")).to_be_focused()
    for _ in range(10):
        page.keyboard.down("2")
    page.keyboard.up("2")
    expect(page.get_by_label("Reason")).to_have_value("")
    page.keyboard.type("no 3 and no l: it answers a part")  # keys are letters here
    expect(page.get_by_label("Reason")).to_have_value("no 3 and no l: it answers a part")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(f"{len(waiting) - 1} disputed")).to_be_visible()
    decision = dispute(reviewed.store, first.query_id, first.document_id).dispute.decision
    assert decision is not None
    assert (decision.grade, decision.reason, decision.reviewer, decision.revision) == (
        2,
        "no 3 and no l: it answers a part",
        "rosa",
        0,
    )

    settled(page)
    second = on_screen(page, disputes(reviewed.store))
    page.keyboard.down("n")  # held over several pairs: one is sent back
    expect(page.get_by_text("Sent back for one more opinion")).to_be_visible()
    for _ in range(10):
        page.keyboard.down("n")
        page.evaluate(DRAWN)
    page.keyboard.up("n")
    expect(page.get_by_text("waiting for one more opinion: 1")).to_be_visible()
    settled(page)
    with reviewed.store.reading() as cursor:
        assert list(awaited_opinions(cursor)) == [(second.query_id, second.document_id)]
        new = cursor.execute(
            "SELECT annotator FROM opinion_requests JOIN presentations USING (presentation_id)"
        ).fetchall()
    assert new == [("idle",)], "the only one who never had the pair"
    assert len(disputes(reviewed.store)) == len(waiting) - 2

    third = on_screen(page, disputes(reviewed.store))
    page.keyboard.press("l")
    expect(page.locator(".gs-query, .gs-document h2").filter(has_text=third.title)).to_have_count(0)
    expect(page.get_by_text("Put off. It comes again after the others.")).to_be_visible()
    settled(page)

    assert not [
        found
        for found in Axe().run(page).response["violations"]
        if found["impact"] in ("serious", "critical") and "stToolbar" not in str(found["nodes"])
    ]


def test_words_typed_before_the_server_answers_are_words(browser: Browser, reviewed: Served) -> None:
    page = adjudicating(browser, reviewed)
    page.evaluate(BUSY)
    pair = on_screen(page, disputes(reviewed.store))
    with halted(reviewed):
        page.keyboard.press("2")
        page.keyboard.type("long, and not general")
        assert reason(page) == "long, and not general"
    chosen = page.locator(".st-key-grades button[kind=primary]")
    expect(chosen).to_contain_text("2")
    settled(page)
    page.keyboard.press("Escape")
    with halted(reviewed):
        page.keyboard.press("g")
        page.keyboard.type("No 2")  # the field is not there yet
    open_point = page.get_by_label("What does the guide leave open here?")
    expect(open_point).to_be_focused()
    expect(open_point).to_have_value("No 2")
    page.keyboard.type(" has an example")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Noted for the guide's next version.")).to_be_visible()
    with reviewed.store.reading() as cursor:
        assert [asked.words for asked in guide_questions(cursor)] == ["No 2 has an example"]
    expect(chosen).to_contain_text("2")
    expect(page.get_by_label("Reason")).to_have_value("long, and not general")
    assert on_screen(page, disputes(reviewed.store)) == pair


def test_a_reason_in_progress_survives_a_reload_and_is_forgotten_once_sent(
    browser: Browser, reviewed: Served
) -> None:
    page = adjudicating(browser, reviewed)
    waiting = disputes(reviewed.store)
    pair = on_screen(page, waiting)
    page.keyboard.press("2")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("It answers")
    page.reload()
    expect(page.get_by_label("Reason")).to_have_value("It answers", timeout=30_000)
    settled(page)
    assert on_screen(page, waiting) == pair
    page.keyboard.press("2")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type(" a part")
    expect(page.get_by_label("Reason")).to_have_value("It answers a part")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(f"{len(waiting) - 1} disputed")).to_be_visible()
    decision = dispute(reviewed.store, pair.query_id, pair.document_id).dispute.decision
    assert decision is not None
    assert decision.reason == "It answers a part"
    expect(page.get_by_label("Reason")).to_have_value("")
    settled(page)
    assert page.evaluate(DRAFTS) == []


DRAFTS = "() => Object.keys(localStorage).filter((name) => name.includes(':reason:'))"

BUSY = """() => {
  const { setTimeout } = window;
  window.setTimeout = (act, wait = 0, ...given) => setTimeout(act, wait + 300, ...given);
}"""
"""Makes a page so busy that keys come before timers, as browsers prefer keys."""


@contextmanager
def halted(served: Served) -> Iterator[None]:
    """The server hears nothing for a while."""
    os.kill(served.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(served.process.pid, signal.SIGCONT)
