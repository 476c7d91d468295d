"""From the key to the next pair on screen: Adjudicate beside the smallest Streamlit page that reruns.

One project with 20,000 documents, 50,000 showings and 20,000 judgments, of which more than 100 pairs are
disputed. A copy serves the other side, which is that of `bench_key_to_paint`: a button that has a key, an
INSERT and the next item. Both are served at once and driven in one Chromium in turns of ten. On Adjudicate
a grade is chosen and a reason typed before; time runs from Enter, which decides, to the frame after the one
in which the next pair is on screen. Written: medians, 95th percentiles, and the ratio of medians, to be
0.33 at most. At the end as many decisions are in the project as Enter was pressed.

Usage: python -m benchmarks.bench_adjudicate_keys [decisions, 60]
Smallest: python -m benchmarks.bench_adjudicate_keys 10
Needs: Chromium
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks import bench_load, big_project
from benchmarks.bench_key_to_paint import SIMPLE, TURN, open_page, press, serve_simple, told
from curation.store import Store, append, open_store, utc_now
from curation.text import digest
from tests.support.chromium import find_chromium

PEOPLE, SHOWINGS, JUDGED, MOST_DISPUTED = 25, 50_000, 20_000, 300
REVIEWER = "reviewer"
PAIR = """() => {
  const host = document.querySelector(".st-key-deciding-loop [data-testid=stBidiComponentIsolated]");
  const deciding = host?.shadowRoot?.querySelector(".deciding");
  return deciding?.dataset.phase === "item" ? deciding.dataset.pair : null;
}"""
CHOOSING = PAIR.replace(
    'dataset.phase === "item" ? deciding.dataset.pair : null', "querySelector('.reason :focus') === null"
)
WARM_UP = 3


def judge(store: Store) -> None:
    """Half of the people have judged most of what they have; the first two disagree where they met."""
    rows = []
    for person in range(1, PEOPLE // 2):
        for place in range(JUDGED // (PEOPLE // 2 - 1)):
            apart = person < 3 and place < MOST_DISPUTED
            rows.append((digest("showing", person, place), person, 3 * (person - 1) if apart else 1))
    now = utc_now()
    with store.transaction() as cursor:
        append(
            cursor,
            "judgment_events",
            {
                "presentation_id": [one for one, _, _ in rows],
                "revision": [0] * len(rows),
                "kind": ["grade"] * len(rows),
                "grade": [grade for _, _, grade in rows],
                "flagged": [False] * len(rows),
                "guide_hash": ["g"] * len(rows),
                "author": [big_project.name_of(person) for _, person, _ in rows],
                "client_key": [f"key {one}" for one, _, _ in rows],
                "submitted_at": [now] * len(rows),
            },
        )
        reviewer = {"name": [REVIEWER], "role": ["reviewer"], "imported": [False], "added_at": [now]}
        append(cursor, "annotators", reviewer)


def decide(page: Page, pairs: int) -> None:
    """Decide pairs, each after a person could have seen it."""
    for _ in range(pairs):
        page.wait_for_function(f"() => ({PAIR})()", timeout=30_000)
        page.wait_for_timeout(400)
        while page.evaluate(CHOOSING):  # unless the page waits for a slow server to save
            page.keyboard.press("2")
            page.wait_for_timeout(100)
        page.keyboard.type("It names a part.")
        page.keyboard.press("Enter")
        page.wait_for_function("() => window.answered()", timeout=30_000)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("keys", type=int, nargs="?", default=60)
    keys = parser.parse_args().keys
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        store = big_project.build(folder / "adjudicate.duckdb", PEOPLE, SHOWINGS)
        judge(store)
        cookie = big_project.cookie_of(store, REVIEWER)
        path = store.path
        store.close()
        shutil.copy(path, folder / "simple.duckdb")
        load = os.getloadavg()[0]
        url, server = bench_load.serve(path, folder / "adjudicate.log")
        simple_url, simple_server = serve_simple(folder / "simple.duckdb", folder)
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=arguments)
        try:
            ours = open_page(browser, f"{url}/adjudicate", PAIR, cookie, "Enter")
            theirs = open_page(browser, simple_url, SIMPLE, None)
            for page, act in ((ours, decide), (theirs, press_simple)):
                page.bring_to_front()  # a page behind another paints nothing
                act(page, WARM_UP)
                page.evaluate("window.took.length = 0")
            for _ in range(max(1, keys // TURN)):
                for page, act in ((ours, decide), (theirs, press_simple)):
                    page.bring_to_front()
                    act(page, TURN)
            took = {
                "Adjudicate": ours.evaluate("window.took"),
                "Streamlit, one button and a rerun": theirs.evaluate("window.took"),
            }
            ours.wait_for_timeout(2_000)  # the last decisions are on their way
        finally:
            browser.close()
            for one in (server, simple_server):
                one.terminate()
                one.wait(30)
        with open_store(path).reading() as cursor:
            written = cursor.execute("SELECT count(*) FROM adjudications").fetchall()[0][0]
        print(f"{os.cpu_count()} cores; load {load:.1f} → {os.getloadavg()[0]:.1f}; milliseconds\n")
        print("| page | keys | median | p95 |\n|---|---:|---:|---:|")
        for side, times in took.items():
            print(told(side, times))
        median = [statistics.median(times) for times in took.values()]
        print(f"\nratio of medians: {median[0] / median[1]:.3f} (at most 0.33)")
        print(f"decisions in the project: {written} of {max(1, keys // TURN) * TURN + WARM_UP}")


def press_simple(page: Page, keys: int) -> None:
    """Press the other side's key so often."""
    press(page, SIMPLE, keys)


if __name__ == "__main__":
    main()
