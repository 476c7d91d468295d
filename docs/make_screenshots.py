"""Take the pictures in docs/screenshots/ anew: every page, light and dark, 1440 and 1024 px wide.

A small project is made of the demo's own sample (this Python's documentation strings, written traffic, two
readers' grades), with a round that three people are in the middle of; it is served and looked at in Chromium.
What depends on the clock (ages, paces) may differ by a little from run to run; the rest does not.

Usage: python docs/make_screenshots.py [--only NAME] [--to FOLDER] [--keep PROJECT]
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))
from chromium import find_chromium  # noqa: E402
from served import PASSWORD, Served, sign_in  # noqa: E402

from curation.labeling.adjudication import decide_many  # noqa: E402
from curation.labeling.annotators import add_annotator  # noqa: E402
from curation.labeling.judgments import Submission, submit  # noqa: E402
from curation.labeling.query_answers import answer_query  # noqa: E402
from curation.labeling.queue import Showing, next_showings  # noqa: E402
from curation.labeling.rounds import open_round  # noqa: E402
from curation.pooling.pool import build_pool  # noqa: E402
from curation.project import init_project  # noqa: E402
from curation.releases import freeze  # noqa: E402
from curation.sampling import draw_sample  # noqa: E402
from curation.sources.corpus import CorpusFields, import_corpus  # noqa: E402
from curation.sources.decisions import read_proposals  # noqa: E402
from curation.sources.judgments import JudgmentFields, import_judgments  # noqa: E402
from curation.sources.traffic import TrafficFields, import_traffic  # noqa: E402
from curation.splits import make_split  # noqa: E402
from curation.stdlib_corpus import write_stdlib_corpus  # noqa: E402
from curation.store import Store  # noqa: E402
from curation.text import digest  # noqa: E402

SAMPLE = ROOT / "data" / "sample"
PEOPLE = {
    "ada": "annotator",
    "grace": "annotator",
    "joan": "annotator",
    "mary": "annotator",
    "rosalind": "reviewer",
    "lead": "lead",
}
WIDTHS = {1440: 900, 1024: 768}
COLOURS = 160
SEED = 7


class Picture(NamedTuple):
    """A page as somebody sees it, and what is done before the picture is taken."""

    name: str
    who: str | None
    path: str
    heading: str | None = None
    act: Callable[[Page], None] = lambda page: None


def build(folder: Path) -> Path:
    """The project that is looked at."""
    store = init_project(folder / "goldset.duckdb").store
    corpus = write_stdlib_corpus(folder / "corpus.jsonl")
    import_corpus(store, corpus.path, CorpusFields(group="group"))
    fields = TrafficFields(query="query", time="time", segment="segment", count="count")
    import_traffic(store, SAMPLE / "traffic.csv", fields)
    draw_sample(store, 60, SEED)
    build_pool(store, ["bm25"], depth=8, random_negatives=3, seed=SEED)
    for name, role in PEOPLE.items():
        add_annotator(store, name, role, PASSWORD)
    columns = JudgmentFields(query="query", document="document", annotator="annotator", grade="grade")
    import_judgments(store, SAMPLE / "judgments.csv", columns, skip_unknown=True)
    decisions = SAMPLE / "adjudications.csv"
    decide_many(
        store,
        read_proposals(decisions, "query", "document", "grade", reason_field="reason"),
        source=decisions,
    )
    make_split(store, {"dev": 0.7, "test": 0.3}, SEED)
    freeze(store, "sample", allow_disputed=True, override="A picture of a release, not one to measure by.")
    open_round(store, "autumn", ["ada", "grace", "joan", "mary"], overlap=2, duplicates=0.08, seed=SEED)
    for name, answers in (("ada", 150), ("grace", 120), ("joan", 70)):
        grade(store, name, answers)
    store.close()
    return store.path


def grade(store: Store, name: str, answers: int) -> None:
    """Answer as somebody would: mostly alike for all, by what query and document share, sometimes not."""
    for _ in range(answers // 10):
        items = next_showings(store, name, 10).showings
        submit(store, name, [answer(item, name) for item in items])
        for item in items:
            if item.asks:
                said = ("yes", "partly", "no")[draw(item, name) % 3]
                answer_query(store, name, item.presentation_id, said, f"{name} {item.presentation_id}")


def answer(item: Showing, name: str) -> Submission:
    """An answer that depends on the item and, one time in six, on the person."""
    chance = draw(item, name)
    marked = sum(part.marked for part in (*item.title, *item.passage))
    value = min(3, (marked + 1) // 2)
    if chance % 6 == 0:
        value = (value + 1 + chance // 7 % 3) % 4
    told = {
        "note": "Right module, but another function." if chance % 19 == 0 else None,
        "flagged": chance % 23 == 0,
    }
    identity = (item.presentation_id, item.revision)
    key, active = f"{name} {item.presentation_id}", 2_500 + chance % 9_000
    if chance % 29 == 0:
        return Submission(*identity, "cannot_tell", key, reason="query unclear", active_ms=active, **told)  # type: ignore[arg-type]
    return Submission(*identity, "grade", key, value, active_ms=active, **told)  # type: ignore[arg-type]


def draw(item: Showing, name: str) -> int:
    return int(digest(name, item.query, "".join(part.text for part in item.title))[:8], 16)


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


PICTURES = [
    Picture("sign-in", None, "/sign-in"),
    Picture("password", "ada", "/password"),
    Picture("welcome", "mary", "/"),
    Picture("label", "ada", "/", act=start),
    Picture("label-cannot-tell", "ada", "/", act=press("x")),
    Picture("label-note", "ada", "/", act=press("n")),
    Picture("label-history", "ada", "/", act=press("h")),
    Picture("label-keys", "ada", "/", act=press("?")),
    Picture("my-consistency", "ada", "/my-consistency", "My consistency"),
    Picture("adjudicate", "rosalind", "/adjudicate", "Adjudicate"),
    Picture("curate-sample", "lead", "/curate?step=Sample", "Curate"),
    Picture("curate-queries", "lead", "/curate?step=Queries", "Curate"),
    Picture("curate-pool", "lead", "/curate?step=Pool", "Curate"),
    Picture("curate-round", "lead", "/curate?step=Round", "Curate"),
    Picture("rounds", "lead", "/rounds", "Rounds"),
    Picture("agreement", "lead", "/agreement", "Agreement"),
    Picture("releases", "lead", "/releases", "Releases"),
]


def take(browser: Browser, served: Served, picture: Picture, scheme: Any, width: int, to: Path) -> Path:
    """One picture: the window as it opens, in few colours."""
    context = sign_in(browser, served, picture.who) if picture.who else browser.new_context()
    page = context.new_page()
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    page.goto(f"{served.url}{picture.path}")
    if picture.heading:
        expect(page.get_by_role("heading", name=picture.heading, exact=True)).to_be_visible()
    elif picture.path == "/":
        expect(page.locator(".grading")).to_be_visible()
    page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')")
    page.wait_for_timeout(1_200)  # charts are drawn, colours have faded in
    picture.act(page)
    page.wait_for_timeout(300)
    path = to / f"{picture.name}-{scheme}-{width}.png"
    full = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    few = full.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    context.close()
    return path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="take pictures whose name begins like this")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument(
        "--keep", type=Path, help="where the project is kept, and taken from where it is there"
    )
    asked = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        sys.exit("There is no Chromium or Chrome on this machine.")
    asked.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        project = Path(name) / "goldset.duckdb"
        if asked.keep and asked.keep.is_file():
            shutil.copy(asked.keep, project)
        else:
            print("making the project", flush=True)
            build(Path(name))
            if asked.keep:
                shutil.copy(project, asked.keep)
        served = Served(project)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        try:
            for picture in PICTURES:
                if asked.only and not picture.name.startswith(asked.only):
                    continue
                for scheme in ("light", "dark"):
                    for width in WIDTHS:
                        path = take(browser, served, picture, scheme, width, asked.to)
                        print(f"{path.name}: {path.stat().st_size // 1024} KB", flush=True)
        finally:
            browser.close()
            served.stop()


if __name__ == "__main__":
    main()
