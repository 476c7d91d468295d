"""Moments between a key press and the server's answer, and what the page says then."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Route, expect

from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.rounds.status import read_round_status
from tests.support.served import Annotating, Event, Served, open_tab, sign_in


def put_off_and_take_back(tab: Annotating) -> str:
    shown = tab.press("l")
    tab.look()
    tab.page.keyboard.press("u")
    expect(tab.root).to_have_attribute("data-presentation", shown)
    return shown


def came(tab: Annotating) -> str:
    """Wait for what comes next, and say which of the two it is."""
    expect(tab.root).to_have_attribute("data-phase", re.compile("item|question"))
    return tab.phase


def late_answer(context: BrowserContext, tab: Annotating) -> str:
    """The server's answer to "later" comes once it was taken back."""
    held: list[Route] = []
    context.route("**/api/judgments", lambda route: held.append(route))
    shown = put_off_and_take_back(tab)
    assert len(held) == 1, "one request is under way at a time"
    held[0].continue_()
    context.unroute("**/api/judgments")
    return shown


def lost_answer(context: BrowserContext, tab: Annotating) -> str:
    """What was put off reaches the server by a second try only, once it was taken back."""
    context.route("**/api/judgments", lambda route: route.abort())
    shown = put_off_and_take_back(tab)
    context.unroute("**/api/judgments")
    return shown


@pytest.mark.parametrize(("name", "happens"), [("rhea", late_answer), ("sven", lost_answer)])
def test_later_taken_back_before_the_server_answered_loses_and_doubles_nothing(
    browser: Browser, session: Served, name: str, happens: object
) -> None:
    context = sign_in(browser, session, name)
    tab = open_tab(context, session)
    query = tab.root.locator(".query").inner_text()
    before = [tab.press("1") for _ in range(5)]
    tab.saved()
    put_off = happens(context, tab)  # type: ignore[operator]
    tab.saved()
    assert tab.shown == put_off
    after = [tab.press("2")]
    while came(tab) != "question":
        assert tab.root.locator(".query").inner_text() == query, "the items of a query stay together"
        after.append(tab.press("3"))
    assert (after[0], len(after)) == (put_off, 4)
    tab.go_on("y")
    tab.press("0")
    tab.saved()
    assert session.query_answers(name) == [(query, "yes")]
    events = session.events(name)
    assert events.count(Event(put_off, 0, "later", None)) == 1
    assert [one for one in events if one.presentation_id == put_off][1:] == [Event(put_off, 1, "grade", 2)]
    assert len(events) == len(before) + 1 + len(after) + 1


def test_who_answers_after_the_close_is_told_and_shown_no_more_of_the_round(
    browser: Browser, own_served: Served
) -> None:
    anna = open_tab(sign_in(browser, own_served, "anna"), own_served)
    anna.press("1")
    anna.saved()
    set_round_state(own_served.store, "first", "closed")
    anna.press("2")
    expect(anna.trouble()).to_contain_text(
        "the round was closed before this answer arrived, so the answer is kept and marked as late"
    )
    expect(anna.root).to_have_attribute("data-phase", "nothing")
    expect(anna.root.locator(".nothing")).to_contain_text("The lead has closed your round")
    assert [event.grade for event in own_served.events("anna")] == [1, 2]
    assert own_served.column("anna", "late") == [False, True]
    assert read_round_status(own_served.store, "first").late == 1
