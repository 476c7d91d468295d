"""Every page at one visit: axe, the keyboard's focus, 200 % zoom, words that stay words.

The project's titles, texts, queries, needs and notes hold markup, a NUL byte and directional overrides.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from app.navigation import list_menus, list_pages
from curation.people.invitations import invite
from tests.support.accessibility import (
    SCHEMES,
    fits,
    fits_small_windows,
    measure,
    passes,
    passes_in_both_schemes,
    passes_in_light,
    shows_focus,
)
from tests.support.every_page import HEADINGS, PEOPLE, build, go_to, visit
from tests.support.inert import MARKUP, WORDS, Watched
from tests.support.served import PASSWORD, Annotating, Served, Visitors, settled, sign_in, until
from tests.support.signed_in import sessions_of
from tests.support.websockets_client import pages, session

INJECT = """(injected) => new Promise((done) => {
  const tell = (event) => done(event.effectiveDirective);
  document.addEventListener("securitypolicyviolation", tell, { once: true });
  const part = document.createRange().createContextualFragment(injected);
  const [first] = part.children;
  document.body.append(part);
  if (first.matches("form")) first.submit();
})"""
"""Puts markup into a page as a script would, and says which rule of the policy it broke."""
BOTH_SCHEMES = ("/agreement", "/queries?part=Coverage&of=Regions")
"""The pages with most colours of their own; Label and Adjudicate have tests of their own."""
LONG = "A sentence about birds on cliffs by the sea. " * 116_000  # 5.2 MB


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(build(tmp_path_factory.mktemp("hostile"), WORDS, WORDS, LONG)) as running:
        yield running


@pytest.fixture(scope="module")
def everybody(chromium: Browser, hostile: Served) -> Iterator[Visitors]:
    found = Visitors(chromium, hostile)
    yield found
    found.close()


@pytest.fixture(scope="module")
def leads_tabs() -> list[Watched]:
    """The tab in which a lead goes from page to page, once a test has opened it: each load takes a second."""
    return []


@pytest.mark.parametrize("path", list(HEADINGS))
def test_a_page_is_accessible_and_its_words_stay_words(
    everybody: Visitors, leads_tabs: list[Watched], path: str
) -> None:
    if leads_tabs and not leads_tabs[0].page.is_closed():
        tab = leads_tabs.pop()
        measure(tab.page)
        go_to(tab.page, path)
    else:
        tab = Watched(everybody, "lee")
        measure(tab.page)
        visit(tab.page, everybody.served, path)
    shows_focus(tab.page)
    for summary in tab.page.locator("summary").all():
        if summary.locator("xpath=..").get_attribute("open") is None:
            summary.click()
    tab.inert()
    look = passes_in_both_schemes if path in BOTH_SCHEMES else passes_in_light
    look(tab.page, path)
    fits_small_windows(tab.page, path)
    leads_tabs[:] = [tab]  # not where it failed


def test_a_link_in_a_guide_opens_beside_the_page_and_has_no_hold_of_it(people: Visitors) -> None:
    page = people.page("lee")
    visit(page, people.served, "/settings?part=Guide&show=Edit")
    before = page.url
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="rules of style").click()
    assert page.url == before
    assert opened.value.evaluate("window.opener") is None


@pytest.mark.parametrize("path", ["/queries?part=Coverage&of=Written", "/queries?part=All queries"])
def test_a_row_opens_its_query_in_the_same_session_and_back_leads_to_the_row(
    people: Visitors, path: str
) -> None:
    page = people.page("lee")
    visit(page, people.served, path)
    page.evaluate("window.session = 1")
    link = page.locator("a.gs-page").first
    for follow in (link.click, lambda: link.press("Enter")):
        follow()
        expect(page.locator("h1.gs-query")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", name=HEADINGS[path], exact=True)).to_be_visible()
    assert page.evaluate("window.session") == 1, "the page was loaded anew"


def test_the_address_of_no_query_says_so(people: Visitors) -> None:
    page = people.page("lee")
    page.goto(f"{people.served.url}/query?id=nothing")
    expect(page.get_by_text("no query with the id")).to_be_visible()


def test_a_script_or_form_that_gets_into_a_page_does_nothing(people: Visitors) -> None:
    page = people.page("anna")
    visit(page, people.served, "/")
    for kind, injected in {
        "script-src-elem": "<script>window.ran = 1</script>",
        "script-src-elem ": "<script src='https://canary.invalid/x.js'></script>",
        "script-src-attr": "<img src='/favicon.svg' onload='window.ran = 1'>",
        "base-uri": "<base href='https://canary.invalid/'>",
        "form-action": "<form action='https://canary.invalid/' method='post'></form>",
    }.items():
        assert page.evaluate(INJECT, injected) == kind.strip()
    assert page.evaluate("window.ran") is None


def test_adjudicate_is_accessible_in_all_its_states_and_its_words_stay_words(people: Visitors) -> None:
    tab = Watched(people, "lee")
    page = tab.page
    measure(page)
    visit(page, people.served, "/adjudicate")
    deciding = page.locator(".deciding")
    expect(deciding.locator(".found")).to_contain_text("after")  # the NUL byte
    expect(deciding.locator(".opinions")).to_contain_text(MARKUP[:40])
    tab.inert()
    passes_in_both_schemes(page, "pair")
    for key in ("2", "Escape", "f"):
        page.keyboard.press(key)
    passes_in_light(page, "grade and question")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.keyboard.type(WORDS.replace("\x00", ""))
    page.keyboard.press("Enter")
    expect(deciding.locator(".trace")).to_be_visible()
    expect(deciding.locator(".saved")).to_have_text("Saved")
    tab.inert()
    page.keyboard.press("h")
    expect(deciding.locator(".history .line").first).to_contain_text(MARKUP[:40])
    tab.inert()
    passes_in_light(page, "history")
    page.wait_for_timeout(200)
    page.keyboard.press("Enter")
    expect(deciding.locator(".ruled")).to_contain_text(MARKUP[:40])
    tab.inert()
    shows_focus(page)
    fits_small_windows(page, "pair")


def test_label_is_accessible_in_all_its_states(people: Visitors) -> None:
    page = people.page("anna")
    measure(page)
    visit(page, people.served, "/")
    passes_in_light(page, "welcome")
    label = Annotating(page)
    passes_in_both_schemes(page, "item")
    for key, what in (("x", "cannot tell"), ("n", "note"), ("?", "keys"), ("h", "history")):
        page.keyboard.press(key)
        passes_in_light(page, what)
        page.keyboard.press("Escape")
    label.look()
    shows_focus(page)
    fits_small_windows(page, "item")


@pytest.mark.parametrize("width", [1440, 1024])
def test_a_lead_sees_every_group_of_pages_and_goes_there_by_keyboard(people: Visitors, width: int) -> None:
    page = people.page("lee")
    measure(page)
    page.set_viewport_size({"width": width, "height": 768})
    visit(page, people.served, "/team")
    menus = page.get_by_test_id("stTopNav").get_by_role("button")
    expect(menus).to_have_text([re.compile(f"{group.split()[-1]}$") for group in list_menus("lead") if group])
    weights = menus.evaluate_all("all => all.map((one) => getComputedStyle(one).fontWeight)")
    assert [weight == "600" for weight in weights] == [False, False, False, False, True]
    menus.filter(has_text="Data").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Import")).to_be_focused()
    passes_in_light(page, "menu")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page).to_have_title("Queries · goldgrade")
    expect(page.get_by_role("menu")).to_have_count(0)


def test_the_drawer_of_a_phone_has_the_pages_and_closes_after_a_choice(people: Visitors) -> None:
    page = people.page("lee")
    measure(page)
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, people.served, "/team")
    page.get_by_role("link", name="ben", exact=True).click()
    expect(page.get_by_role("button", name="Deactivate")).to_be_visible()
    passes(page, "an account on a phone")
    fits(page, "an account on a phone")
    opens, drawer = page.get_by_role("button", name="Pages"), page.get_by_test_id("stSidebar")
    opens.click()
    titles = [page.title for page in list_pages("lead") if page.listed]
    expect(drawer.get_by_role("link")).to_have_text(titles)  # the lead has judged nothing
    page.get_by_role("link", name="Account").click(trial=True)  # nothing covers it
    settled(page)
    passes(page, "drawer")
    drawer.get_by_role("link", name="Rounds").click()
    expect(page).to_have_title("Rounds · goldgrade")
    expect(opens).to_be_focused()
    opens.press("Enter")
    expect(drawer).to_have_attribute("data-collapsed", "false")
    page.keyboard.press("Escape")
    expect(opens).to_be_focused()


def test_a_page_of_another_role_says_whose_it_is_and_leads_to_the_own_first_page(people: Visitors) -> None:
    page = people.page("anna")
    measure(page)
    page.goto(f"{people.served.url}/rounds")
    expect(page).to_have_title("Rounds · goldgrade")
    expect(page.get_by_text("Rounds is a page for leads.")).to_be_visible()
    passes(page, "refused")
    page.get_by_role("link", name="Go to Label").click()
    expect(page.locator(".grading")).to_be_visible()
    expect(page).to_have_title("Label · goldgrade")


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
        visit(tab.page, people.served, "/label?show=consistency")
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
    until(
        page,
        "() => document.querySelector('.st-key-grading [data-testid=stBidiComponentIsolated]')"
        ".shadowRoot.textContent.length > 5_000_000",
    )
    whole = time.monotonic() - started
    started = time.monotonic()
    ben.press("1")
    print(f"\nwhole document after {whole:.2f} s, next item after {time.monotonic() - started:.2f} s")
    ben.saved()


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(251, 250, 247)"), ("dark", "rgb(21, 24, 27)")])
def test_before_any_script_a_page_has_its_colours_title_and_names(
    browser: Browser, hostile: Served, scheme: Literal["light", "dark"], paper: str
) -> None:
    context = browser.new_context(java_script_enabled=False, color_scheme=scheme)
    page = sign_in(browser, hostile, "anna", context).new_page()
    page.goto(f"{hostile.url}/label?show=consistency")
    expect(page).to_have_title("Label · goldgrade")
    expect(page.locator("html")).to_have_css("background-color", paper)
    expect(page.get_by_role("complementary", name="Project")).to_have_text(re.compile("goldgrade.+"))


def test_the_sign_in_page_has_the_theme_that_was_chosen_in_the_app(browser: Browser, hostile: Served) -> None:
    """What the page's policy refuses is in the console: only this one script may run."""
    page = browser.new_context(color_scheme="light").new_page()
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text))
    page.goto(f"{hostile.url}/sign-in")
    for chosen, paper in (("Dark", "rgb(21, 24, 27)"), ("Light", "rgb(251, 250, 247)")):
        page.evaluate("(name) => localStorage.setItem('goldset:theme', JSON.stringify(name))", chosen)
        page.reload(wait_until="domcontentloaded")
        expect(page.locator("body")).to_have_css("background-color", paper)
        page.emulate_media(color_scheme="dark")
    assert not said


def test_a_link_to_choose_a_password_is_opened_by_its_script_and_its_token_is_in_no_address(
    browser: Browser, hostile: Served
) -> None:
    token = invite(hostile.store, "anna", None).token
    page = browser.new_context(color_scheme="light").new_page()
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text))
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url.partition("#")[0] + one.headers.get("referer", "")))
    page.goto(f"{hostile.url}/join#{token}")
    expect(page.get_by_label("Password, at least 8 characters")).to_be_focused()
    expect(page.get_by_label("Name")).to_have_value("anna")
    passes(page, "a link")
    assert page.url == f"{hostile.url}/join"
    assert token not in "".join(asked)
    assert page.evaluate("[...document.fonts].some((one) => one.status === 'loaded')")
    assert not said


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


def test_the_palette_finds_pages_queries_and_people_by_keyboard_and_axe_finds_nothing(
    people: Visitors,
) -> None:
    page = people.page("lee")
    measure(page)
    visit(page, people.served, "/team")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search", exact=True)
    expect(field).to_be_focused()
    passes_in_light(page, "palette")
    field.type("rosa")
    expect(page.get_by_role("option", name="rosa")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/team\?person=rosa$"))
    page.get_by_role("button", name="Search, Ctrl K").click()
    field.type("q2")
    expect(page.get_by_role("option").first).to_contain_text("gulls 2")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/query\?id=q2$"))


def test_the_palette_of_an_annotator_has_only_their_pages_and_leaves_labels_keys_alone(
    people: Visitors,
) -> None:
    page = people.page("anna")
    visit(page, people.served, "/")
    label = Annotating(page)
    label.look()
    before = label.text
    page.keyboard.press("Control+k")
    page.keyboard.type("1 lee gulls")
    expect(page.get_by_role("option")).to_have_count(0)
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Search")).to_have_count(0)
    assert label.text == before, "a digit in the palette grades nothing"


TYPES = {".html": "text/html", ".md": "text/markdown", ".tsv": "text/tab", ".json": "application/json"}
"""What a file is sent as, by the end of its name."""
ELSEWHERE = {*("Download the report", "Download the tables", "Download all figures"), "Download the problems"}
"""Buttons that need an evaluation of ten queries, a quarter, a second release, or a file of many faults."""


def download_labels() -> set[str]:
    """The labels of all download buttons in the app's source."""
    return {
        node.args[0].value
        for path in Path("app").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "download"
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }


def test_every_download_button_gives_who_sees_it_a_file_of_its_type(hostile: Served) -> None:
    pressed: dict[str, set[str]] = {}
    for name in PEOPLE:
        form, origin = {"name": name, "password": PASSWORD}, {"Origin": hostile.url}
        cookies = httpx2.post(f"{hostile.url}/sign-in", data=form, headers=origin).cookies
        cookie = f"{(own := sessions_of(hostile.store).cookie)}={cookies[own]}"
        with session(hostile.url, cookie) as tab:
            known = pages(tab.ask())
        for address, _, query in (path[1:].partition("?") for path in ("/", *HEADINGS)):
            if address not in known:
                continue
            with session(hostile.url, cookie) as tab:  # a page that is asked for again keeps its part
                for message in tab.ask(known[address], query):
                    button = message.delta.new_element.download_button
                    if not button.id:
                        continue
                    pressed.setdefault(name, set()).add(button.label)
                    file = httpx2.get(hostile.url + tab.press(button), headers={"Cookie": cookie})
                    sent = (name, address, button.label, file.status_code, file.headers)
                    assert file.status_code == 200, sent
                    assert file.content, sent
                    saved = re.search(r"filename=\"?([^\";]+)", file.headers["content-disposition"])
                    assert saved, sent
                    assert file.headers["content-type"].startswith(TYPES[Path(saved[1]).suffix]), sent
    assert pressed.keys() == {"rosa", "lee"}
    assert set().union(*pressed.values()) == download_labels() - ELSEWHERE
