"""Take the pictures in docs/screenshots/: at most 17, which the pages of docs/ show.

A small project is made of the demo's own sample (this Python's documentation strings, written traffic, two
readers' grades). Four people have worked on a round for days, somebody practises, and evaluators have scored
runs: BM25's, the same with its first places turned, and the same in random order. The pictures are taken
of the served project in Chromium. What depends on the clock may differ a little from run to run.

Usage: python -m docs.make_screenshots [--only NAME] [--to FOLDER] [--project FILE]
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from curation.adjudication.adjudication import decide_many
from curation.demo.stdlib_corpus import write_stdlib_corpus
from curation.evaluation.baselines import write_baselines
from curation.evaluation.inputs.system_runs import RunSource
from curation.evaluation.submission import RunSubmission
from curation.evaluation.submission import submit as submit_runs
from curation.labeling.judgments.imported import import_judgments
from curation.labeling.judgments.query_answers import answer_query
from curation.labeling.judgments.submissions import Submission
from curation.labeling.practice.opening import open_practice
from curation.labeling.rounds.rounds import open_round
from curation.labeling.session.showings import Showing, next_showings
from curation.labeling.session.submit import submit
from curation.people.annotators import add_annotator
from curation.pooling.pool import build_pool
from curation.project import init_project
from curation.releases.freeze.freeze import freeze
from curation.sampling.sample import draw_sample
from curation.sampling.tags.find_tags import find_tags
from curation.sources.corpus import CorpusFields, import_corpus
from curation.sources.decisions import read_decision_lines
from curation.sources.judgments import JudgmentFields
from curation.sources.traffic.traffic_import import TrafficFields, import_traffic
from curation.splits.split import make_split
from curation.store import Store, utc_now
from curation.text import digest
from tests.support import ROOT
from tests.support.chromium import find_chromium
from tests.support.every_page import LOOPS
from tests.support.served import PASSWORD, Served, sign_in

expect.set_options(timeout=60_000)  # a slow machine is no reason for a page without a picture

SAMPLE = ROOT / "data" / "sample"
PEOPLE = {
    "ada": "annotator",
    "grace": "annotator",
    "joan": "annotator",
    "mary": "annotator",
    "hedy": "annotator",
    "rosalind": "reviewer",
    "lead": "lead",
    "vera": "evaluator",
    "walt": "evaluator",
}
HEIGHTS = {1440: 900, 1024: 768}
COLOURS = 160
MOST = 17
"""Pictures in the repository."""
SEED = 7
DAYS = 4
"""Days for which the round has been open, a session of each person on every one of them."""


class Picture(NamedTuple):
    """A page as somebody sees it, and what is done there before the picture is taken."""

    name: str
    who: str | None
    path: str
    act: Callable[[Page], None] = lambda page: None
    width: int = 1440
    scheme: Literal["light", "dark"] = "light"


def build(folder: Path) -> Path:
    """The project that is looked at."""
    store = init_project(folder / "goldset.duckdb").store
    corpus = write_stdlib_corpus(folder / "corpus.jsonl")
    import_corpus(store, corpus.path, CorpusFields(group="group"))
    fields = TrafficFields(query="query", time="time", segment="segment", count="count")
    import_traffic(store, SAMPLE / "traffic.csv", fields)
    draw_sample(store, 60, SEED)
    find_tags(store, dense=False)
    build_pool(store, ["bm25"], depth=8, random_negatives=3, seed=SEED)
    for name, role in PEOPLE.items():
        add_annotator(store, name, role, PASSWORD)
    columns = JudgmentFields(query="query", document="document", annotator="annotator", grade="grade")
    import_judgments(store, SAMPLE / "judgments.csv", columns, skip_unknown=True)
    decisions = SAMPLE / "adjudications.csv"
    decide_many(
        store,
        read_decision_lines(decisions, "query", "document", "grade", reason_field="reason"),
        source=decisions,
    )
    make_split(store, {"dev": 0.7, "test": 0.3}, SEED)
    freeze(store, "sample", allow_disputed=True, override="A picture of a release, not one to measure by.")
    open_round(store, "autumn", ["ada", "grace", "joan", "mary"], overlap=2, duplicates=0.08, seed=SEED)
    with store.transaction() as cursor:  # it was opened some days ago, and people have worked on it since
        cursor.execute("UPDATE rounds SET opened_at = ? WHERE name = 'autumn'", [ago(DAYS)])
    for name, answers in (("ada", 160), ("grace", 140), ("joan", 100), ("mary", 80)):
        grade(store, name, answers)
    open_practice(store, "warm-up", ["hedy"], queries=8, seed=SEED)
    evaluated(store, folder)
    store.close()
    return store.path


def evaluated(store: Store, folder: Path) -> None:
    """Score BM25's run and two others that are made of it: its first five places turned, and shuffled."""
    write_baselines(store, "sample", ["bm25"], folder / "runs", depth=20)
    with (folder / "runs" / "bm25.trec").open(encoding="utf-8") as file:
        lines = [line.split() for line in file]
    systems = {
        "bm25": lambda rank, name: rank,
        "bm25-turned": lambda rank, name: 6 - rank if rank < 6 else rank,
        "shuffled": lambda rank, name: int(digest(name)[:6], 16),
    }
    for system, order in systems.items():
        path = folder / "runs" / f"{system}.trec"
        rows = [f"{q} Q0 {d} 0 {-order(int(rank), d)} {system}\n" for q, _, d, rank, *_ in lines]
        path.write_text("".join(rows), encoding="utf-8")
    asked = RunSubmission("sample", "dev", ["ndcg_exp@10", "mrr@10", "recall@10"], ["stratum"])
    sources = [RunSource(name, folder / "runs" / f"{name}.trec") for name in systems]
    submit_runs(store, asked, sources[2:], "walt")
    submit_runs(store, asked._replace(first_stage="bm25"), sources[:2], "vera")


def ago(days: float) -> datetime:
    return utc_now() - timedelta(days=days)


def grade(store: Store, name: str, answers: int) -> None:
    """Answer as somebody would, in a session a day; the last ends before the last document of a query."""
    for days in range(DAYS - 1, -1, -1):
        session(store, name, answers // DAYS, ago(days) - timedelta(minutes=30))
    at = utc_now() - timedelta(minutes=5)
    while not (item := next_showings(store, name, 1).showings[0]).asks:
        at += timedelta(milliseconds=on_screen(item, name))
        submit(store, name, [answer(item, name, at)])


def session(store: Store, name: str, answers: int, at: datetime) -> None:
    """So many answers from a time on, each some seconds after the one before."""
    items, done = next_showings(store, name, answers).showings, []
    for item in items:
        at += timedelta(milliseconds=on_screen(item, name) + 900)
        done.append(answer(item, name, at))
    submit(store, name, done)
    for item in items:
        if item.asks:
            said = ("yes", "partly", "no")[draw(item, name) % 3]
            answer_query(store, name, item.presentation_id, said, f"{name} {item.presentation_id}")


def on_screen(item: Showing, name: str) -> int:
    """Milliseconds for which somebody looks at an item."""
    return 3_500 + draw(item, name) % 14_000


def answer(item: Showing, name: str, at: datetime) -> Submission:
    """An answer that depends on the item and, one time in six, on the person."""
    chance = draw(item, name)
    marked = sum(part.marked for part in (*item.title, *item.passage))
    value = min(3, (marked + 1) // 2)
    if chance % 6 == 0:
        value = (value + 1 + chance // 7 % 3) % 4
    told: dict[str, Any] = {
        "note": "Right module, but another function." if chance % 19 == 0 else None,
        "flagged": chance % 23 == 0,
    }
    identity = (item.presentation_id, item.revision)
    key, active = f"{name} {item.presentation_id}", on_screen(item, name)
    told |= {"submitted_at": at, "shown_at": at - timedelta(milliseconds=active)}
    if chance % 29 == 0:
        return Submission(*identity, "cannot_tell", key, reason="query unclear", active_ms=active, **told)
    return Submission(*identity, "grade", key, value, active_ms=active, **told)


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


def begin(page: Page) -> None:
    """Leave the guide of the first visit; wait for an item to practise on."""
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
    page.get_by_text("Further questions about the runs").click()


def read_report(page: Page) -> None:
    """Scroll to the report."""
    page.get_by_role("heading", name="Evaluations").evaluate(
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
        page.wait_for_function(SETTLED)
        page.wait_for_timeout(900)  # charts are drawn, colours fade in
        quiet = quiet + 1 if page.evaluate(SETTLED) else 0


PICTURES = [
    Picture("sign-in", None, "/sign-in", width=1024),
    Picture("grading", "joan", "/", act=start),
    Picture("grading-dark", "joan", "/", act=start, scheme="dark"),
    Picture("grading-history", "ada", "/", act=press("h"), width=1024),
    Picture("practice", "hedy", "/", act=practise),
    Picture("my-consistency", "ada", "/my-consistency", width=1024),
    Picture("adjudicate", "rosalind", "/adjudicate", act=choose),
    Picture("agreement", "lead", "/agreement"),
    Picture("curate-sample", "lead", "/curate?step=Sample"),
    Picture("curate-queries", "lead", "/curate?step=Queries"),
    Picture("curate-pool", "lead", "/curate?step=Pool", width=1024),
    Picture("rounds", "lead", "/rounds?round=autumn"),
    Picture("rounds-quality", "lead", "/rounds?round=autumn&part=Quality"),
    Picture("releases", "lead", "/releases", width=1024, scheme="dark"),
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
    expect(page.locator(".grading" if picture.path in LOOPS else "h1").first).to_be_visible()
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
    folder = folder / "pydoc"  # the pages show its name
    folder.mkdir()
    if kept is not None and kept.is_file():
        return Path(shutil.copy(kept, folder / "python-docs.duckdb"))
    print("making the project", flush=True)
    path = build(folder)
    if kept is not None:
        shutil.copy(path, kept)
    return path.rename(folder / "python-docs.duckdb")


if __name__ == "__main__":
    main()
