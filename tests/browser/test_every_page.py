"""Every page at one visit: axe in light and dark, the keyboard's focus, 200 % zoom, words that stay words.

The project's titles, texts, queries, needs and notes hold markup, a NUL byte and directional overrides.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.support.accessibility import (
    SCHEMES,
    fits_at_twice_the_size,
    measure,
    passes,
    passes_in_both_schemes,
    shows_focus,
)
from tests.support.every_page import HEADINGS, build, visit
from tests.support.inert import MARKUP, WORDS, Watched
from tests.support.served import Annotating, Served, Visitors

LONG = "A sentence about birds on cliffs by the sea. " * 116_000  # 5.2 MB


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(build(tmp_path_factory.mktemp("hostile"), WORDS, WORDS, LONG))
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def everybody(chromium: Browser, hostile: Served) -> Iterator[Visitors]:
    found = Visitors(chromium, hostile)
    yield found
    found.close()


@pytest.mark.parametrize("path", list(HEADINGS))
def test_a_page_is_accessible_and_its_words_stay_words(people: Visitors, path: str) -> None:
    tab = Watched(people, "lee")
    measure(tab.page)
    visit(tab.page, people.served, path)
    if path == "/adjudicate":
        expect(tab.page.locator(".gs-document")).to_contain_text("after")  # the NUL byte
    shows_focus(tab.page)
    for summary in tab.page.locator("summary").all():
        summary.click()
    tab.inert()
    passes_in_both_schemes(tab.page, path)
    fits_at_twice_the_size(tab.page, path)


def test_label_is_accessible_in_all_its_states(people: Visitors) -> None:
    page = people.page("anna")
    measure(page)
    visit(page, people.served, "/")
    passes_in_both_schemes(page, "welcome")
    label = Annotating(page)
    passes_in_both_schemes(page, "item")
    for key, what in (("x", "cannot tell"), ("n", "note"), ("?", "keys"), ("h", "history")):
        page.keyboard.press(key)
        passes_in_both_schemes(page, what)
        page.keyboard.press("Escape")
    label.look()
    shows_focus(page)
    fits_at_twice_the_size(page, "item")


def test_a_hostile_item_is_text_in_label_its_whole_document_and_the_history(people: Visitors) -> None:
    tab = Watched(people, "anna")
    tab.page.goto(people.served.url)
    anna = Annotating(tab.page)
    assert MARKUP[:40] in anna.text
    assert "after" in anna.text  # the NUL byte
    tab.inert()
    tab.page.keyboard.press("w")
    expect(anna.root).to_contain_text("The whole document is shown.")
    tab.inert()
    anna.press("2")
    anna.saved()
    anna.wait_for_item()
    tab.page.keyboard.press("h")
    expect(anna.root.locator(".history .line").first).to_be_visible()
    tab.inert()


def test_my_consistency_of_an_annotator_shows_the_reviewers_words_as_words(people: Visitors) -> None:
    for name in ("anna", "ben"):
        tab = Watched(people, name)
        visit(tab.page, people.served, "/my-consistency")
        tab.inert()


def test_a_document_of_five_megabytes_freezes_nothing(people: Visitors) -> None:
    page = people.page("ben")
    page.goto(people.served.url)
    ben = Annotating(page)
    for _ in range(40):
        if "Long gulls" in ben.text:
            break
        ben.press("1")
    assert "Long gulls" in ben.text
    page.keyboard.press("w")
    expect(ben.root).to_contain_text("birds on cliffs")
    started = time.monotonic()
    page.wait_for_function(
        "() => document.querySelector('.st-key-grading [data-testid=stBidiComponentIsolated]')"
        ".shadowRoot.textContent.length > 5_000_000"
    )
    whole = time.monotonic() - started
    started = time.monotonic()
    ben.press("1")
    print(f"\nwhole document after {whole:.2f} s, next item after {time.monotonic() - started:.2f} s")
    ben.saved()


def test_the_pages_before_the_app_pass_axe(browser: Browser, hostile: Served, people: Visitors) -> None:
    for scheme in SCHEMES:
        page = browser.new_context(color_scheme=scheme).new_page()
        page.goto(f"{hostile.url}/sign-in")
        passes(page, "sign-in")
        page.get_by_label("Name").fill("anna")
        page.get_by_label("Password").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_be_visible()
        passes(page, "refused sign-in")
        page = people.page("anna")
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{hostile.url}/password")
        passes(page, "password")
