"""The outbox in a browser: whatever a proxy answers meanwhile, each grade is stored once.

What the outbox keeps and sends again is tested in tests/javascript/outbox.test.js.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Browser, Route, expect

from tests.support.served import Event, Served, open_tab, sign_in


def proxy(code: int) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=code, body="<h1>proxy</h1>")


def test_whatever_a_proxy_answers_the_grades_are_stored_once_and_the_page_says_so_meanwhile(
    browser: Browser, session: Served
) -> None:
    context = sign_in(browser, session, "tara")
    tara = open_tab(context, session)
    before = session.events("tara")
    pressed = []
    for code, key in ((429, "0"), (404, "1"), (408, "2"), (413, "3")):
        context.route("**/api/judgments", proxy(code))
        pressed.append((tara.press(key), key))
        expect(tara.trouble()).to_contain_text("Not saved yet: 1 waiting, kept in this browser.")
        expect(tara.trouble()).to_contain_text(f"The server answered with an error ({code}).")
        expect(tara.root.locator(".saved")).to_have_text("Not saved yet")
        context.unroute("**/api/judgments")
        tara.saved()
    away = session.project.rename(session.project.with_name("elsewhere.duckdb"))
    try:
        pressed += [(tara.press(key), key) for key in "01"]
        expect(tara.trouble()).to_contain_text("There is no goldgrade project")
    finally:
        away.rename(session.project)
    tara.saved()
    expect(tara.trouble()).to_be_hidden()
    stored = [Event(shown, 0, "grade", int(key)) for shown, key in pressed]
    assert sorted(session.events("tara")) == sorted(before + stored)


def test_a_note_survives_a_reload_and_a_refusal_of_its_answer(browser: Browser, session: Served) -> None:
    context = sign_in(browser, session, "tara")
    tara = open_tab(context, session)
    shown = tara.shown
    tara.page.keyboard.press("n")
    tara.page.keyboard.type("the scale leaves this open")
    tara.page.reload()
    tara.wait_for_item()
    note = tara.root.locator(".note textarea")
    expect(note).to_have_value("the scale leaves this open")

    def refuse(route: Route) -> None:
        (sent,) = json.loads(route.request.post_data or "")["submissions"]
        refused = {"client_key": sent["client_key"], "status": "refused", "message": "look at it again"}
        route.fulfill(json={"outcomes": [refused], "queue": None})

    context.route("**/api/judgments", refuse)
    assert tara.press("2") == shown
    expect(tara.trouble()).to_contain_text("An answer was not saved: look at it again.")
    context.unroute("**/api/judgments")
    expect(tara.root).to_have_attribute("data-presentation", shown)
    expect(note).to_have_value("the scale leaves this open")
    tara.press("2")
    tara.saved()
    assert session.column("tara", "note")[-1] == "the scale leaves this open"
