"""Every page passes axe, in light and dark, at 1024 px and at 200 % zoom, and shows where the focus is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from every_page import HEADINGS, build, visit
from playwright.sync_api import Browser, Page, expect
from served import Annotating, Served, Visitors, settled

pytestmark = pytest.mark.browser

SCHEMES = ("light", "dark")
FOCUSED = """
() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  if (!element || element === document.body) return null;
  const drawn = (one, pseudo) => {
    const style = getComputedStyle(one, pseudo);
    const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return [outline, style.boxShadow, style.borderColor, style.backgroundColor].join();
  };
  const chain = [];
  for (let one = element, steps = 0; one && steps < 7; one = one.parentElement, steps++)
    chain.push(drawn(one), drawn(one, "::before"), drawn(one, "::after"));
  const before = chain.join("|");
  element.blur();
  const after = [];
  for (let one = element, steps = 0; one && steps < 7; one = one.parentElement, steps++)
    after.push(drawn(one), drawn(one, "::before"), drawn(one, "::after"));
  element.focus({ preventScroll: true });
  const label = element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 30);
  return [`${element.tagName} ${label}`, before !== after.join("|")];
}
"""


@pytest.fixture(scope="module")
def gulls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(build(tmp_path_factory.mktemp("gulls"), "on cliffs by the sea", "Seen from afar."))
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def everybody(chromium: Browser, gulls: Served) -> Iterator[Visitors]:
    found = Visitors(chromium, gulls)
    yield found
    found.close()


def tab(people: Visitors, name: str, scheme: Any) -> Page:
    page = people.page(name)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": 1024, "height": 768})
    return page


def passes(page: Page, what: str) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, f"{what}: {found.generate_report()}"


def fits(page: Page, what: str) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{what} is {wide} px wider than the window"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("path", list(HEADINGS))
def test_every_page_passes_axe(people: Visitors, path: str, scheme: str) -> None:
    page = tab(people, "lee", scheme)
    visit(page, people.served, path)
    for summary in page.locator("summary").all():
        summary.click()
    settled(page)
    passes(page, path)
    fits(page, path)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_label_passes_axe_in_all_its_states(people: Visitors, scheme: str) -> None:
    page = tab(people, "anna" if scheme == "light" else "ben", scheme)
    visit(page, people.served, "/")
    passes(page, "welcome")
    label = Annotating(page)
    passes(page, "item")
    fits(page, "item")
    for key, what in (("x", "cannot tell"), ("n", "note"), ("?", "keys"), ("h", "history")):
        page.keyboard.press(key)
        settled(page)
        passes(page, what)
        page.keyboard.press("Escape")
    label.look()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_pages_before_the_app_pass_axe(
    browser: Browser, gulls: Served, people: Visitors, scheme: Any
) -> None:
    page = browser.new_context(color_scheme=scheme).new_page()
    page.goto(f"{gulls.url}/sign-in")
    passes(page, "sign-in")
    page.get_by_label("Name").fill("anna")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    passes(page, "refused sign-in")
    page = tab(people, "anna", scheme)
    page.goto(f"{gulls.url}/password")
    passes(page, "password")


@pytest.mark.parametrize("path", ["/", *HEADINGS])
def test_every_page_shows_the_keyboards_focus_and_is_usable_at_twice_the_size(
    people: Visitors, path: str
) -> None:
    page = tab(people, "lee" if path != "/" else "ben", "light")
    visit(page, people.served, path)
    if path == "/":
        Annotating(page)
    page.add_style_tag(content="* { transition: none !important; }")  # what fades in is not there yet
    unseen = []
    reached = 0
    for _ in range(14):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found is not None:
            reached += 1
            unseen += [] if found[1] else [found[0]]
    assert reached >= 3
    assert unseen == []
    # 200 % zoom of a window of 1280 px leaves 640 px of the page's own measure.
    page.set_viewport_size({"width": 640, "height": 480})
    settled(page)
    fits(page, path)
