"""What makes six hours comfortable: settings of one annotator in one browser, and the hint at a break."""

from __future__ import annotations

from datetime import datetime

from playwright.sync_api import Browser, expect

from app.annotating import FOLDER, join_modules
from tests.support.accessibility import passes
from tests.support.served import Event, Served, open_tab, sign_in

FIFTY_MINUTES = """() => {
  const name = Object.keys(localStorage).find((one) => one.endsWith(":wim:work"));
  localStorage[name] = JSON.stringify({ ...JSON.parse(localStorage[name]), work: 50 * 60_000 });
}"""
ANOTHER_GUIDES_KEY = """() => {
  const name = Object.keys(localStorage).find((one) => one.endsWith(":wim:keys"));
  localStorage[name] = JSON.stringify({ later: "2" });
}"""
"""As if Later had got its key under a guide whose grades have others."""

COUNTED = (
    "() => { "
    + join_modules('import { Rest } from "../grading/rest.js";', FOLDER)
    + """
  const memory = { get: () => null, set: () => true };
  window.rest = new Rest(document.body, memory);
  rest.kept.last = Date.now();
  rest.counts = [1_100, 1_100];
  window.counted = (worth) => {
    if (worth) rest.worked(5_000, worth);
    return rest.sentence.split(". ").slice(0, 2);
  };
}"""
)


def test_midnight_begins_another_day_and_a_long_break_another_session(browser: Browser) -> None:
    page = browser.new_page(timezone_id="Asia/Kolkata")
    late = datetime.fromisoformat("2026-03-01T23:50:00+05:30")
    for moment, worth, today, session in (
        (late, 1, "1,101", "1,101"),
        (late.replace(day=2, hour=0, minute=10), 1, "1", "1,102"),
        (late.replace(day=2, hour=9), 0, "1", "0"),
        (late.replace(day=2, hour=9, minute=55), 1, "2", "1"),
    ):
        page.clock.set_fixed_time(moment)
        if moment == late:
            page.evaluate(COUNTED)
        told = page.evaluate("(worth) => counted(worth)", worth)
        assert told == [f"Answered today: {today}", f"In this session: {session}"]
    page.close()


def test_settings_are_kept_and_the_hint_at_a_break_waits_for_a_whole_item(
    browser: Browser, session: Served
) -> None:
    wim = open_tab(sign_in(browser, session, "wim"), session)
    keys, said = wim.page.keyboard, wim.root.locator(".settings .said")
    first = wim.press("0")
    wim.saved()
    wim.look()
    size = "(one) => parseFloat(getComputedStyle(one).fontSize)"
    before = wim.root.locator(".text").evaluate(size)
    keys.press("s")
    expect(wim.root.locator(".settings .work")).to_contain_text("Answered today: 1.")
    passes(wim.page, "settings")
    wim.root.get_by_label("Largest").check()
    wim.root.locator(".own").filter(has_text="Later").click()
    keys.press("x")
    expect(said).to_have_text(
        "“x” is already the key of Cannot tell. Press another key, or change that one first."
    )
    keys.press("Escape")
    expect(said).to_have_text("")  # and the panel is still open
    wim.root.locator(".own").filter(has_text="Later").click()
    keys.press("k")
    expect(said).to_have_text("Kept.")
    wim.root.locator(".own").filter(has_text="Exactly it").click()
    keys.press("j")
    expect(said).to_have_text("Kept.")
    keys.press("Escape")
    assert wim.phase == "item", "a key for the panel answers nothing"
    wim.page.evaluate(FIFTY_MINUTES)
    wim.page.reload()
    wim.wait_for_item()
    assert wim.root.locator(".text").evaluate(size) > before * 1.3
    rest = wim.root.locator(".rest")
    expect(rest).to_be_visible()
    passes(wim.page, "time for a break")
    keys.press("f")
    expect(rest).to_be_hidden()
    wim.look()
    pressed = [wim.press("k"), wim.press("j")]
    expect(rest).to_be_visible()
    wim.look()
    keys.press("m")
    keys.press("m")
    expect(wim.root.locator("mark").nth(1)).to_have_attribute("data-here", "")
    rest.click()
    expect(rest).to_be_hidden()
    wim.saved()
    assert session.events("wim") == [
        Event(first, 0, "grade", 0),
        Event(pressed[0], 0, "later", None),
        Event(pressed[1], 0, "grade", 3),
    ]
    wim.page.evaluate(ANOTHER_GUIDES_KEY)
    keys.press("s")
    wim.root.locator('.settings input[value="Dark"]').dispatch_event("click")
    expect(wim.page.locator("html")).to_have_css("color-scheme", "dark")
    wim.wait_for_item()
    expect(wim.trouble()).to_have_text(
        "This guide uses the key “2” for a grade, so your key for Later is now “l”."
    )
    expect(wim.root.locator(".tools [data-do=later]")).to_have_text("l Later")
    keys.press("s")
    expect(wim.root.locator('.settings input[value="Dark"]')).to_be_checked()
    paper = wim.page.locator(".stApp").evaluate("(one) => getComputedStyle(one).backgroundColor")
    assert all(int(part) < 60 for part in paper.strip("rgb()").split(", "))
    passes(wim.page, "settings in the dark")
    keys.press("Escape")
    wim.page.set_viewport_size({"width": 390, "height": 844})
    grades = wim.root.locator(".grades")
    long = grades.bounding_box()
    assert long is not None
    assert long["y"] + long["height"] == 844
    wim.root.locator(".text").evaluate("(one) => { one.textContent = 'Short.'; }")
    assert grades.bounding_box() == long, "on a phone the grades keep their place"
    passes(wim.page, "item on a phone")
