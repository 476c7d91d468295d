"""The first visit and practice in a real browser: the guide, known pairs explained, then the real queue."""

from __future__ import annotations

from playwright.sync_api import Browser, BrowserContext, Locator, expect

from tests.support.projects import rows_of
from tests.support.served import Annotating, Event, Served, lost_answers, sign_in


def first_visit(context: BrowserContext, session: Served) -> Annotating:
    page = context.new_page()
    page.goto(session.url)
    root = page.locator(".grading")
    expect(root).to_have_attribute("data-phase", "welcome")
    expect(root.locator(".guide")).to_contain_text("Worked examples")
    page.keyboard.press("2")  # there is nothing to grade yet
    return Annotating(page)


def expected_grade(session: Served, presentation: str) -> int:
    sql = """
        SELECT grade FROM presentations JOIN known_answers USING (round_id, query_id, document_id)
        WHERE presentation_id = ?
        """
    return int(rows_of(session.store, sql, presentation)[0][0])


def feedback(tab: Annotating) -> Locator:
    expect(tab.root).to_have_attribute("data-phase", "feedback")
    expect(tab.root.locator(".feedback .go")).to_be_visible()
    return tab.root.locator(".feedback")


def test_practice_explains_each_answer_once_it_is_saved_and_leads_to_the_real_queue(
    browser: Browser, session: Served
) -> None:
    context = sign_in(browser, session, "pia")
    pia = first_visit(context, session)
    pressed = []
    for number in range(1, 6):
        expect(pia.root.locator(".banner")).to_contain_text(f"Practice {number} of 5")
        expected = expected_grade(session, pia.shown)
        given = expected if number > 1 else (expected + 1) % 4
        pressed.append((pia.press(str(given)), given))
        said = feedback(pia)
        expect(pia.root.locator(".banner")).to_contain_text(f"Practice {number} of 5")
        expect(said).to_contain_text("As expected" if number > 1 else "Another grade was expected")
        expect(said).to_contain_text(f"it is {expected}.")
        assert len(session.events("pia")) == number, "it is explained after the commit, not before"
        if number == 2:
            pia.page.reload()
            expect(feedback(pia)).to_contain_text(f"it is {expected}.")
        pia.look()
        pia.page.keyboard.press(str(given))  # a grade key does not go on
        assert pia.phase == "feedback"
        pia.go_on("Enter")
    expect(pia.root.locator(".result")).to_contain_text("in 4 of 5 items; 3 were needed")
    pia.go_on("Enter")
    pia.wait_for_item()
    expect(pia.root.locator(".banner")).to_be_hidden()
    expect(pia.root.locator(".count")).to_contain_text("0 of 5")
    pia.page.keyboard.press("u")  # practice answers stand
    pressed.append((pia.press("2"), 2))
    pia.saved()
    assert session.events("pia") == [Event(one, 0, "grade", given) for one, given in pressed]


def test_a_practice_answer_that_got_lost_is_explained_once_it_arrives(
    browser: Browser, session: Served
) -> None:
    context = sign_in(browser, session, "quin")
    quin = first_visit(context, session)
    with lost_answers(context, "**/api/judgments"):
        shown = quin.press("0")
        expect(quin.trouble()).to_contain_text("Not saved yet: 1 waiting")
        expect(quin.root.locator(".feedback .go")).to_be_hidden()
        quin.page.reload()
    expect(feedback(quin)).to_contain_text(f"it is {expected_grade(session, shown)}.")
    assert session.events("quin") == [Event(shown, 0, "grade", 0)]


def test_who_does_not_pass_is_told_what_happens_next(browser: Browser, session: Served) -> None:
    context = sign_in(browser, session, "quin")
    page = context.new_page()
    page.goto(session.url)
    quin = Annotating(page)
    while quin.phase == "item":
        quin.look()
        quin.page.keyboard.press("x")
        quin.page.keyboard.press("4")
        feedback(quin)
        quin.go_on("Enter")
    expect(quin.root).to_have_attribute("data-phase", "nothing")
    expect(quin.root.locator(".nothing h1")).to_have_text("Practice is over")
    expect(quin.root.locator(".nothing .why")).to_contain_text("The lead decides whether")
