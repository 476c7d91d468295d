"""Take pictures of every page, to look at before a release: empty, at work and done, wide, dark, and narrow.

Five projects are served one after another: a new one with its lead alone; the same with documents and a log;
that of `docs.picture_project`; that one again when all is settled, closed and frozen; and the shop of
`docs.picture_shop`. Each page is
opened once for each project. Then the window becomes dark, and narrower.

Usage: python -m docs.make_every_picture --to FOLDER [--state STATE] [--only NAME] [--keep FOLDER] [--wide]
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from app.context import IMAGES_FROM
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.disputes import find_disputes
from curation.labeling.rounds.round_states import set_round_state
from curation.operations.project import init_project
from curation.operations.second_quarter import CORPUS_FIELDS, TRAFFIC_FIELDS
from curation.operations.stdlib_corpus import write_stdlib_corpus
from curation.people.accounts import add_annotator
from curation.releases.freeze.freeze import freeze
from curation.releases.requests import FreezeRequest
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store, open_store
from docs.make_screenshots import choose, launch, save, settle, unfold
from docs.picture_project import SAMPLE, SEED, build
from docs.picture_shop import IMAGES, PICTURE
from docs.picture_shop import build as build_shop
from tests.support.document_folder import write_site
from tests.support.served import PASSWORD, Served, sign_in

LATEST = "?round=autumn"
SHOTS = (("light", 1440, 1500), ("dark", 1440, 1500), ("light", 1024, 1400), ("light", 390, 1500))
"""Scheme, width and height: taller than most windows, so that a picture has what a person scrolls to."""
WINDOW = {1440: 900, 1024: 768, 390: 844}
"""Heights of the windows of Label and Adjudicate, which fill theirs."""


WORKED = """() => {
  const name = Object.keys(localStorage).find((one) => one.endsWith(":work"));
  localStorage[name] = JSON.stringify({ ...JSON.parse(localStorage[name]), work: 50 * 60_000 });
}"""
"""As if somebody had worked for fifty minutes."""


def suggest_break(page: Page) -> None:
    """Answer twice: the hint comes between two items, after the second."""
    page.keyboard.press("Enter")
    for last in (False, True):
        page.wait_for_timeout(700)
        page.keyboard.press("1")
        page.wait_for_timeout(700)
        if not last:
            page.evaluate(WORKED)
            page.reload()
            expect(page.locator(".grading")).to_be_visible()
            settle(page)
    expect(page.locator(".grading .rest")).to_be_visible()


def draw_whole(page: Page) -> None:
    """The whole document, with its image."""
    page.keyboard.press("Enter")
    settle(page)
    page.keyboard.press("w")
    settle(page)


def upload(write: Callable[[Path], Path], then: str) -> Callable[[Page], None]:
    """Give a file where a page asks for the first one."""

    def act(page: Page) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page.locator("input[type=file]").first.set_input_files(write(Path(folder)))
            expect(page.get_by_text(then).first).to_be_visible()
        settle(page)

    return act


def zip_site(folder: Path) -> Path:
    """A zip of a folder of 300 files."""
    site = write_site(folder / "site")
    return Path(shutil.make_archive(str(folder / "handbook"), "zip", site))


def write_run(folder: Path) -> Path:
    """A table of results whose columns only people understand."""
    path = folder / "site_search.csv"
    path.write_text("what was typed,hit,position\nread csv,csv.reader,1\n", encoding="utf-8")
    return path


def open_form(page: Page) -> None:
    """Unfold the form for an evaluation."""
    page.get_by_text("Evaluate systems").first.click()
    settle(page)


def open_query(page: Page) -> None:
    """Follow the name of the first query."""
    page.locator("a.gs-page").nth(0).click()
    expect(page).to_have_title("Query · goldgrade")
    settle(page)


def show_again(page: Page) -> None:
    """Plan a round over candidates that were in a round before."""
    for text in ("More options", "Show candidates again that", "More options"):
        page.get_by_text(text).click()
        settle(page)


def choose_queries(page: Page) -> None:
    """Choose two of the drawn queries."""
    for index in (1, 2):
        page.get_by_role("checkbox").nth(index).click()
        settle(page)


class View(NamedTuple):
    """A page as somebody opens it; `states` are those in which it shows something else."""

    name: str
    path: str
    who: str = "lead"
    states: tuple[str, ...] = ("empty", "work", "done")
    act: Callable[[Page], None] = lambda page: None


ONCE = ("work",)
MODEL = {"GOLDGRADE_LLM_URL": "http://127.0.0.1:9/v1", "GOLDGRADE_LLM_MODEL": "llama"}
"""A language model that nobody asks, so that its forms are shown in the project at work."""
FILLED = ("work", "done")
VIEWS = (
    View("home", "/", states=("empty", "begun", "work", "done")),
    View("import", "/import"),
    View("import-queries", "/import?kind=queries", states=("begun",)),
    View("import-folder", "/import?kind=corpus", "lead", ("begun",), upload(zip_site, "would be added")),
    View("import-traffic", "/import?kind=traffic", states=("empty",)),
    View("import-judgments", "/import?kind=judgments", states=ONCE),
    View("team", "/team"),
    View("guide", "/settings", states=ONCE),
    *(
        View(f"guide-{part.split()[0].lower()}", f"/settings?part=Guide&show={part}", states=ONCE)
        for part in ("Edit", "Publish", "Versions", "Questions")
    ),
    *(
        View(name, address, states=("empty", "begun", "work"))
        for name, address in {
            "queries-sample": "/queries",
            "queries": "/queries?part=All queries",
            "pool": "/queries?part=Pool",
            "rounds-open": "/rounds?part=Open a round",
        }.items()
    ),
    View("rounds-open-again", "/rounds?part=Open a round", "lead", ONCE, show_again),
    View("queries-sample-chosen", "/queries", "lead", ONCE, choose_queries),
    *(
        View(f"rounds-{part.lower()}", f"/rounds{LATEST}&part={part}", states=FILLED)
        for part in ("Progress", "Questions", "Manage")
    ),
    View("agreement", "/agreement"),
    View("adjudicate", "/adjudicate", states=("empty", "done")),
    View("adjudicate", "/adjudicate", "rosalind", ONCE, choose),
    View("releases", "/releases"),
    *(
        View(f"releases-{stage.lower()}", f"/releases?stage={stage}")
        for stage in ("Rule", "Gate", "Split", "Freeze")
    ),
    *(
        View(f"release-{view.split()[0].lower()}", f"/releases?view={view}", states=("done",))
        for view in ("Export", "Card", "Difference", "Access log")
    ),
    View("evaluate", "/evaluate", states=("empty", "work")),
    View("evaluate-asking", "/evaluate", "vera", ONCE, unfold),
    View("evaluate-form", "/evaluate", "lead", ONCE, open_form),
    View("evaluate-columns", "/evaluate", "lead", ("done",), upload(write_run, "Query (needed)")),
    View("judges", "/judges", states=("empty", "work")),
    View("query", "/queries?part=All queries", "lead", ONCE, open_query),
    *(
        View(f"relabel-{part.split()[0].lower()}", f"/releases?stage=Re-label&quarter={part}", states=ONCE)
        for part in ("Due", "Choose pairs", "Report")
    ),
    View("relabel", "/releases?stage=Re-label", states=("empty", "done")),
    *(
        View(f"coverage-{part.lower()}", f"/queries?part=Coverage&of={part}", states=ONCE)
        for part in ("Gaps", "Regions", "Written", "Method")
    ),
    View("coverage", "/queries?part=Coverage", states=("empty",)),
    View("answers", "/write?part=Answers", states=("empty", "work")),
    View("write", "/write", states=("empty", "work")),
    View("write-questions", "/write?part=Questions", states=("empty", "work")),
    View("write-tasks", "/write?part=Tasks", states=ONCE),
    View("backup", "/settings?part=Backup", states=("empty",)),
    View("label", "/label", states=("empty", "done")),
    View("label", "/", "joan", ONCE),
    View("my-consistency", "/?show=consistency", "ada", ONCE),
    View("agreement-random", "/agreement", states=("shop",)),
    View("agreement-random", f"/agreement{LATEST}", states=("shop",)),
    View("label-drawn", "/", "joan", ("shop",), draw_whole),
    View("label-break", "/", "joan", ("shop",), suggest_break),
)  # fmt: skip


def empty(folder: Path) -> Path:
    """A project as `goldgrade init` leaves it, and its lead."""
    store = init_project(folder / "goldgrade.duckdb")
    add_annotator(store, "lead", "lead", PASSWORD)
    store.close()
    return store.path


def begun(folder: Path) -> Path:
    """A new project with documents and a log."""
    store = open_store(empty(folder))
    write_stdlib_corpus(folder / "corpus.jsonl")
    import_corpus(store, folder / "corpus.jsonl", CORPUS_FIELDS)
    import_traffic(store, SAMPLE / "traffic.csv", TRAFFIC_FIELDS)
    store.close()
    return store.path


def done(folder: Path, before: Path) -> Path:
    """The project at work, when every dispute is decided, each round closed, and a second release frozen."""
    store = open_store(Path(shutil.copy(before, folder / "goldgrade.duckdb")))
    settle_all(store)
    store.close()
    return store.path


def settle_all(store: Store) -> None:
    for name in ("warm-up", "autumn"):
        set_round_state(store, name, "closed", "lead")
    for found in find_disputes(store):
        decide_pair(store, found.query_id, found.document_id, 2, "It answers a part of it.", "rosalind")
    make_split(store, SplitRequest((("dev", 0.7), ("test", 0.3)), SEED))
    freeze(store, FreezeRequest("second", override="A picture of a release, not one to measure by."))


def projects(folder: Path, wanted: str) -> dict[str, Path]:
    """The served projects by state, all or what the wanted one needs; those in the folder stay."""
    made: dict[str, Path] = {}
    makers = (("empty", empty), ("begun", begun), ("work", build), ("done", None), ("shop", build_shop))
    for state, make in makers:
        if wanted not in ("", state) and (wanted, state) != ("done", "work"):
            continue
        path = folder / state / "goldgrade.duckdb"
        if not path.is_file():
            print(f"making the project: {state}", flush=True)
            building = folder / f"{state} building"
            shutil.rmtree(building, ignore_errors=True)
            building.mkdir(parents=True)
            (make or partial(done, before=made["work"]))(building)
            building.rename(path.parent)
        made[state] = path
    return made


def look(page: Page, served: Served, view: View, folder: Path, state: str, shots: int) -> None:
    """Open a page, and take it wide, dark and narrow."""
    page.set_viewport_size({"width": SHOTS[0][1], "height": SHOTS[0][2]})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(f"{served.url}{view.path}")
    expect(page.locator(".grading, h1").first).to_be_visible()
    settle(page)
    view.act(page)
    fills = page.locator(".grading").count() > 0
    for scheme, width, height in SHOTS[:shots]:
        page.set_viewport_size({"width": width, "height": WINDOW[width] if fills else height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        settle(page)
        save(page, folder / f"{view.name}-{state}-{width}{'-dark' * (scheme == 'dark')}.png")


def send_image(route: Route) -> None:
    """As the images' host would."""
    route.fulfill(body=PICTURE, content_type="image/svg+xml")


def tour(browser: Browser, project: Path, state: str, options: argparse.Namespace) -> None:
    """All pictures of one project."""
    views = [
        view
        for view in VIEWS
        if state in view.states and view.name.startswith(tuple(options.only.split(",")))
    ]
    if not views:
        return
    os.environ |= MODEL if state == "work" else {}
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(shutil.copy(project, Path(folder) / "python-docs.duckdb")))
        people: dict[str, BrowserContext] = {}
        try:
            for view in views:
                if view.who not in people:
                    people[view.who] = sign_in(browser, served, view.who, browser.new_context())
                page = people[view.who].new_page()
                page.route(f"{IMAGES}/**", send_image)
                look(page, served, view, options.to, state, 1 if options.wide else len(SHOTS))
                page.close()
                print(f"{view.name} {state}", flush=True)
        finally:
            served.stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--to", type=Path, required=True, help="the folder of the pictures")
    parser.add_argument("--state", default="", help="only this project: empty, begun, work, done or shop")
    parser.add_argument(
        "--only", default="", help="take pictures whose name begins like one of these, as in home,pool"
    )
    parser.add_argument("--wide", action="store_true", help="only 1440 wide and light")
    parser.add_argument("--keep", type=Path, help="a folder in which the projects stay, for the next time")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    os.environ[IMAGES_FROM] = IMAGES.removeprefix("https://")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        made = projects(options.keep or Path(folder), options.state)
        browser = launch(playwright)
        for state, project in made.items():
            if options.state in ("", state):
                tour(browser, project, state, options)
        browser.close()


if __name__ == "__main__":
    main()
