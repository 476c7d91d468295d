"""A question about the guide: asked on Label, answered on Guide, read on Label without moving the item."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from curation.guides.questions import list_questions
from curation.people.accounts import add_annotator
from curation.store import open_store
from tests.support.accessibility import measure, passes
from tests.support.served import PASSWORD, Served, open_tab, settled, sign_in

WORDS = "Does a refurbished product count?"


def test_who_asked_reads_the_leads_answer_and_the_item_stays_in_its_place(
    browser: Browser, own_served: Served
) -> None:
    store = open_store(own_served.project)
    add_annotator(store, "lee", "lead", PASSWORD)
    store.close()
    context = sign_in(browser, own_served, "anna")
    anna = open_tab(context, own_served)
    measure(anna.page)
    anna.wait_for_item()
    settled(anna.page)
    before = anna.root.locator(".found").bounding_box()
    shown = anna.root.get_attribute("data-presentation")
    ask = anna.root.get_by_role("button", name="Ask about the guide")
    ask.click()
    anna.page.keyboard.type(WORDS + " 123")  # digits are words here, not grades
    anna.page.keyboard.press("Escape")
    ask.click()
    expect(anna.root.get_by_label("What does the guide leave open?")).to_have_value(WORDS + " 123")
    anna.page.keyboard.press("Control+Enter")
    expect(anna.root.locator(".ask .sent")).to_contain_text("Sent to the lead")
    assert anna.root.get_attribute("data-presentation") == shown

    lead = sign_in(browser, own_served, "lee", browser.new_context()).new_page()
    measure(lead)
    lead.goto(f"{own_served.url}/settings?part=Guide&show=Questions")
    expect(lead.get_by_text(WORDS)).to_be_visible()
    settled(lead)
    passes(lead, "questions")
    lead.get_by_label("Answer", exact=True).fill("Yes, if it works as a new one.")
    lead.get_by_role("button", name="Answer", exact=True).click()
    expect(lead.get_by_text("The person who asked can now read the answer")).to_be_visible()

    anna.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    news = anna.root.get_by_role("button", name="1 new answer")
    expect(news).to_be_visible()
    passes(anna.page, "a new answer")
    assert anna.root.get_attribute("data-presentation") == shown
    assert anna.root.locator(".found").bounding_box() == before
    news.click()
    expect(anna.root.get_by_text("Yes, if it works as a new one.")).to_be_in_viewport()
    expect(news).to_be_hidden()
    assert anna.root.locator(".found").bounding_box() == before

    ben = open_tab(sign_in(browser, own_served, "ben", browser.new_context()), own_served)
    ben.wait_for_item()
    expect(ben.root.locator(".asked-before dt")).to_have_count(0)

    own_served.leave_nothing_open("anna")
    anna.page.reload()
    expect(anna.root).to_have_attribute("data-phase", "nothing")
    expect(anna.root.locator(".guide")).to_contain_text("Exactly it")
    expect(anna.root.locator(".asked-before")).to_contain_text("Yes, if it works as a new one.")
    expect(ask).to_be_visible()
    with open_store(own_served.project).reading() as cursor:
        (kept,) = list_questions(cursor)
    assert (kept.author, kept.query is not None, kept.everyone) == ("anna", True, False)
