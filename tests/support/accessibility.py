"""What a page owes everybody: it passes axe, fits the window and shows where the keyboard's focus is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support import is_search
from tests.support.served import FADED, settled, until

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
COLOURS = ("color-contrast", "link-in-text-block")
"""Axe's rules about colours, of those that it applies by itself."""
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
IN_SCHEME = """(scheme) => {
  const dark = (colour) => Number(colour.match(/[0-9]+/)[0]) < 128;
  const paper = getComputedStyle(document.querySelector(".stApp")).backgroundColor;
  const probe = document.body.appendChild(document.createElement("i"));
  const given = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].map((host) => {
    probe.style.color = getComputedStyle(host).getPropertyValue("--st-background-color");
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return [paper, ...given].every((colour) => dark(colour) === (scheme === "dark"));
}"""
"""Whether the page has the scheme, and its components have been given it, which is later."""


def measure(page: Page) -> None:
    """Give a page the size and the rest that all measurements here are made at."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size({"width": 1024, "height": 768})


def passes(page: Page, what: str, rules: Sequence[str] = ()) -> None:
    """Axe finds nothing by all its rules, or by some of them."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    until(page, FADED)  # a colour that fades in has less contrast on its way
    options = {
        "resultTypes": ["violations"],
        **({"runOnly": {"type": "rule", "values": rules}} if rules else {}),
    }
    violations = page.evaluate("options => axe.run(options).then(({ violations }) => violations)", options)
    found = [one for one in violations if not _of_streamlit(one)]
    assert found == [], f"{what}:\n" + "\n".join(map(_told, found))


STREAMLITS_OWN = {
    "presentation-role-conflict": ("stFileUploaderDropzone",),
    "region": ("data-floating-ui-portal", "stSkipToContent"),
}
"""By rule, whose findings are Streamlit's own and small: the drop zone of its file uploader has a role and a
tabindex; its open menus, which have the focus, and its skip link are outside of all landmarks."""


def _of_streamlit(violation: dict[str, Any]) -> bool:
    """Whether all that a rule found is Streamlit's own."""
    marks = STREAMLITS_OWN.get(violation["id"], ())
    return all(any(mark in node["html"] for mark in marks) for node in violation["nodes"])


def _told(violation: dict[str, Any]) -> str:
    """A violation with its elements. The target of one in a shadow root is a list: the path of its hosts."""
    places = (f"  {node['target']}: {node['failureSummary']}" for node in violation["nodes"])
    return "\n".join([f"{violation['id']} ({violation['impact']})", *places])


def passes_in_both_schemes(page: Page, what: str) -> None:
    """Axe finds nothing and all fits in light; nor does it in dark, where only colours differ."""
    for scheme, rules in zip(SCHEMES, ((), COLOURS), strict=True):
        page.emulate_media(color_scheme=scheme)
        until(page, IN_SCHEME, scheme)
        settled(page)
        passes(page, f"{what}, {scheme}", rules)
    fits(page, what)
    page.emulate_media(color_scheme="light")


def passes_in_light(page: Page, what: str) -> None:
    """Axe finds nothing and all fits in light; in dark `make search` looks: the pages share colours."""
    if is_search():
        passes_in_both_schemes(page, what)
        return
    page.emulate_media(color_scheme="light")
    until(page, IN_SCHEME, "light")
    settled(page)
    passes(page, what)
    fits(page, what)


def fits(page: Page, what: str) -> None:
    """Nothing has to be scrolled to sideways."""
    wide = page.evaluate(
        "Math.max(...[document.documentElement, ...document.querySelectorAll('.stMain')]"
        ".map((one) => one.scrollWidth - one.clientWidth))"
    )
    assert wide <= 0, f"{what} is {wide} px wider than the window"


def shows_focus(page: Page) -> None:
    """The first stops of the Tab key look different while they have the focus."""
    page.add_style_tag(content="* { transition: none !important; }")  # what fades in is not there yet
    reached = []
    for _ in range(14):
        page.keyboard.press("Tab")
        if stop := page.evaluate(FOCUSED):
            reached.append(stop)
    page.evaluate("document.activeElement.blur()")
    assert len(reached) >= 3
    assert [name for name, seen in reached if not seen] == []


def fits_small_windows(page: Page, what: str) -> None:
    """200 % zoom of a window of 1280 px leaves 640 px of the page's own measure; a phone has 390."""
    for width, height in ((640, 480), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        settled(page)
        fits(page, f"{what} at {width} px")
