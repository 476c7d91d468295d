"""Words of documents, queries and people stay words on every page of a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from every_page import HEADINGS, build, visit
from playwright.sync_api import Browser, Page, expect
from served import Annotating, Served, Visitors

pytestmark = pytest.mark.browser

CANARY = "canary.invalid"
START, END = "STARTHERE", "ENDSHERE"
MARKUP = (
    f"<script>window.ran = 1</script><img src=//{CANARY}/i onerror=window.ran=1><b>bold</b>"
    f"<iframe src=//{CANARY}/f></iframe><svg onload=window.ran=1></svg><style>@import '//{CANARY}/s'</style>"
    f"![image](https://{CANARY}/m.png) [link](javascript:window.ran=1) <a href=//{CANARY}>a</a> "
    "$\\frac{1}{2}$ :red[red] `code` **strong** :material/home: {{7*7}} </script></style></textarea>"
)
OVERRIDE = "\u202edesrever\u2067"
WORDS = f"{START} {MARKUP} {OVERRIDE} {END}"
LONG = "A sentence about birds on cliffs by the sea. " * 116_000  # 5.2 MB

LOOK = """
() => {
  const found = [];
  const roots = [document];
  for (const root of roots) {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) roots.push(element.shadowRoot);
      const target = `${element.getAttribute("src") ?? ""}${element.getAttribute("href") ?? ""}`;
      if (/canary\\.invalid|^javascript:/.test(target)) found.push(element.outerHTML.slice(0, 200));
      if (element.matches(".katex, [onerror], [onload]")) found.push(element.outerHTML.slice(0, 200));
    }
  }
  return found;
}
"""
TURNED = """
([start, end]) => {
  const turned = [];
  const inside = (node) => {
    for (let above = node.parentNode; above; above = above.parentNode ?? above.host) {
      if (above.nodeType !== 1) continue;
      const style = getComputedStyle(above);
      if (/isolate|plaintext/.test(style.unicodeBidi)) return above.textContent;
      if (!/^(inline|contents)$/.test(style.display)) return above.textContent;
    }
    return "";
  };
  const look = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.shadowRoot) look(node.shadowRoot);
      if (node.nodeType !== 3 || !node.textContent.includes("\\u202e")) continue;
      if (/^(STYLE|SCRIPT|TEXTAREA|TITLE)$/.test(node.parentNode.tagName)) continue;
      const open = node.textContent.replaceAll(/\\u2068[^\\u2069]*\\u2069/g, ""); // what no isolate holds
      if (!open.includes("\\u202e")) continue;
      const around = inside(node).trim();
      if (!/^(Gulls|gulls|STARTHERE)/.test(around) || !/(ENDSHERE|\\u2026|fly\\.)$/.test(around))
        turned.push(around.replaceAll(/STARTHERE.*?ENDSHERE/gs, "\\u2039words\\u203a").slice(0, 300));
    }
  };
  look(document.body);
  return turned;
}
"""


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


def watched(people: Visitors, name: str) -> tuple[Page, list[str]]:
    """A signed-in tab, and the addresses that it asks for elsewhere."""
    page = people.page(name)
    elsewhere: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url) if CANARY in request.url else None)
    return page, elsewhere


def inert(page: Page, elsewhere: list[str]) -> None:
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None, "a script of a document ran"
    assert elsewhere == [], "a document made the browser ask another host"
    assert page.evaluate(LOOK) == [], "markup of a document became elements"


@pytest.mark.parametrize("path", list(HEADINGS))
def test_words_stay_words_on_every_page(people: Visitors, path: str) -> None:
    page, elsewhere = watched(people, "lee")
    visit(page, people.served, path)
    for summary in page.locator("summary").all():
        summary.click()
    inert(page, elsewhere)
    assert page.evaluate(TURNED, [START, END]) == [], "an override turns words around it"


def test_a_hostile_item_is_text_in_label_its_whole_document_and_the_history(
    people: Visitors,
) -> None:
    page, elsewhere = watched(people, "anna")
    page.goto(people.served.url)
    anna = Annotating(page)
    assert MARKUP[:40] in anna.text
    anna.page.keyboard.press("w")
    inert(page, elsewhere)
    assert page.evaluate(TURNED, [START, END]) == []
    anna.press("2")
    anna.saved()
    page.keyboard.press("h")
    page.wait_for_timeout(500)
    inert(page, elsewhere)
    assert page.evaluate(TURNED, [START, END]) == []


def test_my_consistency_of_an_annotator_shows_the_reviewers_words_as_words(
    people: Visitors,
) -> None:
    for name in ("anna", "ben"):
        page, elsewhere = watched(people, name)
        visit(page, people.served, "/my-consistency")
        inert(page, elsewhere)
        assert page.evaluate(TURNED, [START, END]) == []


def test_a_document_of_five_megabytes_freezes_nothing(people: Visitors) -> None:
    page, _ = watched(people, "ben")
    page.goto(people.served.url)
    ben = Annotating(page)
    for _ in range(40):
        if "Long gulls" in ben.text:
            break
        page.keyboard.press("Escape" if ben.phase == "question" else "1")
        page.wait_for_timeout(500)
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


def test_a_nul_byte_reaches_the_page_as_harmless_text(tmp_path: Path, browser: Browser) -> None:
    served = Served(build(tmp_path, f"before \x00 after {OVERRIDE} {END}", "note"))
    people = Visitors(browser, served)
    try:
        page, elsewhere = watched(people, "anna")
        page.goto(served.url)
        anna = Annotating(page)
        assert "after" in anna.text
        anna.press("2")
        anna.saved()
        inert(page, elsewhere)
        page, elsewhere = watched(people, "lee")
        visit(page, served, "/adjudicate")
        expect(page.locator(".gs-document")).to_contain_text("after")
        inert(page, elsewhere)
    finally:
        served.stop()
