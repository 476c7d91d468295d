"""Take the pictures in docs/screenshots/, which the pages of docs/ show.

They are taken of a served project (`docs.picture_project`) in Chromium. What depends on the clock may differ
a little from run to run.

Usage: python -m docs.make_screenshots [--only NAME] [--to FOLDER] [--project FILE]
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from docs.picture_project import SAMPLE, build
from tests.support import ROOT
from tests.support.chromium import find_chromium
from tests.support.served import Served, sign_in, until

expect.set_options(timeout=60_000)  # a slow machine is no reason for a page without a picture

HEIGHTS = {1440: 900, 1024: 768}
COLOURS = 160
MOST = 22
"""Pictures in the repository."""


class Picture(NamedTuple):
    """A page as somebody sees it, and what is done there before the picture is taken."""

    name: str
    who: str | None
    path: str
    act: Callable[[Page], None] = lambda page: None
    width: int = 1440
    scheme: Literal["light", "dark"] = "light"


def start(page: Page) -> None:
    """Wait for an item."""
    expect(page.locator(".grading")).to_have_attribute("data-phase", "item")


def press(*keys: str) -> Callable[[Page], None]:
    """Press keys once there is an item."""

    def act(page: Page) -> None:
        start(page)
        page.wait_for_timeout(300)
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_timeout(250)

    return act


def begin(page: Page) -> None:
    """Leave the guide of the first visit; wait for an item to practice on."""
    page.keyboard.press("Enter")
    start(page)


def practise(page: Page) -> None:
    """Answer one, and read what was expected."""
    begin(page)
    page.wait_for_timeout(300)
    page.keyboard.press("1")
    expect(page.locator(".grading")).to_have_attribute("data-phase", "feedback")
    expect(page.locator(".feedback .go")).to_be_visible()


def choose(page: Page) -> None:
    """Choose a grade: the reason gets the keyboard."""
    expect(page.locator(".deciding")).to_have_attribute("data-phase", "item")
    page.wait_for_timeout(400)  # a key counts only on what was seen
    page.keyboard.press("2")
    expect(page.get_by_label("Reason", exact=True)).to_be_focused()
    page.keyboard.type("It answers a part of what was asked.")


def unfold(page: Page) -> None:
    """Unfold what else can be asked."""
    page.get_by_text("Evaluate systems").click()
    page.get_by_text("More options", exact=True).click()


def give_log(page: Page) -> None:
    """Give the sample's log where Import asks for traffic."""
    page.locator("input[type=file]").set_input_files(SAMPLE / "traffic.csv")
    expect(page.get_by_text("The first 10 rows")).to_be_visible()


def preview(page: Page) -> None:
    """Have the split previewed, and look at its bars."""
    page.get_by_role("button", name="Preview the split").click()
    expect(page.get_by_text("No tie crosses").first).to_be_visible()


def read_report(page: Page) -> None:
    """Scroll to the report."""
    page.get_by_role("heading", name="Query by query").evaluate(
        "one => { one.style.scrollMarginTop = '6rem'; one.scrollIntoView(); }"
    )


SETTLED = """() => {
  const app = document.querySelector(".stApp");
  const underWay = "[data-testid=stSkeleton], [data-testid=stSpinner], [data-testid=stStatusWidget]";
  return !app || (app.dataset.testScriptState === "notRunning" && !document.querySelector(underWay));
}"""


def settle(page: Page) -> None:
    """Wait until nothing is on its way, at two looks a while apart: a component may run the page again."""
    quiet = 0
    while quiet < 2:
        until(page, SETTLED)
        page.wait_for_timeout(900)  # charts are drawn, colours fade in
        quiet = quiet + 1 if page.evaluate(SETTLED) else 0


PICTURES = [
    Picture("sign-in", None, "/sign-in", width=1024),
    Picture("home", "lead", "/"),
    Picture("import", "lead", "/import?kind=traffic", act=give_log),
    Picture("guide", "lead", "/settings?part=Guide&show=Edit"),
    Picture("grading", "joan", "/", act=start),
    Picture("grading-dark", "joan", "/", act=start, scheme="dark"),
    Picture("grading-history", "ada", "/", act=press("h"), width=1024),
    Picture("practice", "hedy", "/", act=practise),
    Picture("my-consistency", "ada", "/?show=consistency", width=1024),
    Picture("adjudicate", "rosalind", "/adjudicate", act=choose),
    Picture("agreement", "lead", "/agreement"),
    Picture("queries-sample", "lead", "/queries"),
    Picture("queries", "lead", "/queries?part=All queries"),
    Picture("pool", "lead", "/queries?part=Pool", width=1024),
    Picture("coverage", "lead", "/queries?part=Coverage"),
    Picture("rounds", "lead", "/rounds?round=autumn"),
    Picture("agreement-round", "lead", "/agreement?round=autumn"),
    Picture("releases", "lead", "/releases", width=1024, scheme="dark"),
    Picture("split", "lead", "/releases?stage=Split", act=preview),
    Picture("relabel", "lead", "/releases?stage=Re-label"),
    Picture("evaluate", "vera", "/evaluate", act=unfold),
    Picture("evaluate-report", "vera", "/evaluate", act=read_report, width=1024, scheme="dark"),
]


def take(browser: Browser, served: Served, picture: Picture, folder: Path) -> Path:
    """One picture: the window as it opens, in few colours."""
    context = sign_in(browser, served, picture.who) if picture.who else browser.new_context()
    page = context.new_page()
    page.emulate_media(color_scheme=picture.scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": picture.width, "height": HEIGHTS[picture.width]})
    page.goto(f"{served.url}{picture.path}")
    expect(page.locator(".grading, h1").first).to_be_visible()
    settle(page)
    picture.act(page)
    settle(page)
    path = folder / f"{picture.name}.png"
    save(page, path)
    context.close()
    return path


def save(page: Page, path: Path) -> None:
    """The window, in few colours."""
    full = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    full.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def launch(playwright: Playwright) -> Browser:
    """Chromium, or the end of the program where there is none."""
    chromium = find_chromium()
    if chromium is None:
        sys.exit("There is no Chromium or Chrome on this machine.")
    return playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="take pictures whose name begins like this")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--project", type=Path, help="a project that was made before; made there if missing")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launch(playwright)
        served = Served(prepare(Path(folder), options.project))
        try:
            for picture in PICTURES:
                if picture.name.startswith(options.only):
                    path = take(browser, served, picture, options.to)
                    print(f"{path.name}: {path.stat().st_size // 1024} KB", flush=True)
        finally:
            browser.close()
            served.stop()


def prepare(folder: Path, kept: Path | None) -> Path:
    """The project, made in the folder, or copied there from where an earlier run kept it."""
    folder = folder / "python-docs"  # the pages show its name
    folder.mkdir()
    if kept is not None and kept.is_file():
        return Path(shutil.copy(kept, folder / "goldgrade.duckdb"))
    print("making the project", flush=True)
    path = build(folder)
    if kept is not None:
        shutil.copy(path, kept)
    return path


if __name__ == "__main__":
    main()
