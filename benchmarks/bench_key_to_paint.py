"""From the key to the next item on screen: Label beside the smallest Streamlit page that does the same.

One project with 20,000 documents and 50,000 showings, a copy for each side, both served at once and driven in
one Chromium in turns of ten keys. The other side is a script with a button that has a key, an INSERT and the
next item, on a DuckDB connection that it keeps open; it reruns for each key, as Streamlit pages do. Time runs
from the key's event in the page to the frame after the one in which the next item stands.
Written: medians, 95th percentiles, and the ratio of medians, to be a third at most.

Usage: python -m benchmarks.bench_key_to_paint [keys per side, 60]
Smallest: python -m benchmarks.bench_key_to_paint 10
Needs: Chromium
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks import bench_load, big_project
from tests.support.chromium import find_chromium

PEOPLE, SHOWINGS, TURN = 25, 50_000, 10
RERUN = """
import datetime, duckdb, streamlit as st
@st.cache_resource
def connection():
    return duckdb.connect({path!r})
def grade(which):
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    connection().cursor().execute(
        "INSERT INTO judgment_events (presentation_id, revision, kind, grade, flagged, guide_hash, author, "
        "client_key, submitted_at) VALUES (?, 0, 'grade', 2, false, 'g', 'person000', ?, ?)",
        [which, which, now])
which, query, title, body = connection().cursor().execute(
    "SELECT p.presentation_id, q.text, d.title, d.body FROM presentations p JOIN queries q USING (query_id) "
    "JOIN documents d USING (content_hash) WHERE annotator = 'person000' AND NOT EXISTS "
    "(FROM judgment_events j WHERE j.presentation_id = p.presentation_id) ORDER BY position LIMIT 1"
).fetchone()
st.text(query)
st.text(title)
st.text(body)
st.text("item " + which)
st.button("Relevant", on_click=grade, args=(which,), shortcut="2")
"""
WATCH = """
([shown, key]) => {
  window.took = [];
  let before = shown(), pressed = null;
  addEventListener("keydown", (event) => {
    if (event.key === key && !event.repeat) pressed = event.timeStamp;
    if (event.key === "Escape") pressed = null;
  }, true);
  window.answered = () => pressed === null;
  const frame = () => {
    const now = shown(); // in every frame: the page may answer the key before this listener hears of it
    if (pressed !== null && now && now !== before) {
      const since = pressed;
      pressed = null;
      requestAnimationFrame(() => { window.took.push(performance.now() - since); });
    }
    before = now ?? before;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
"""
LABEL = """() => {
  const host = document.querySelector(".st-key-grading [data-testid=stBidiComponentIsolated]");
  const grading = host?.shadowRoot?.querySelector(".grading");
  return grading?.dataset.phase === "item" ? grading.dataset.presentation : null;
}"""
SIMPLE = """() => [...document.querySelectorAll("[data-testid=stText]")].map((one) => one.textContent)
  .find((text) => text.startsWith("item "))"""


PHASE = LABEL.replace(
    'grading?.dataset.phase === "item" ? grading.dataset.presentation : null', "grading?.dataset.phase"
)


def press(page: Page, shown: str, keys: int) -> None:
    """Press the key so often that it answers, each time after a person could have seen the item."""
    for _ in range(keys):
        while not page.evaluate(shown):  # what stands between two queries is left, and not measured
            page.keyboard.press("Escape")
            page.wait_for_timeout(250)
        page.wait_for_timeout(400)
        page.keyboard.press("2")
        page.wait_for_function(f"() => window.answered() || ({PHASE})() === 'question'", timeout=15_000)


def serve_simple(project: Path, folder: Path) -> tuple[str, subprocess.Popen[bytes]]:
    script = folder / "simple.py"
    script.write_text(RERUN.format(path=str(project)))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    options = [
        "--server.headless",
        "true",
        "--browser.gatherUsageStats",
        "false",
        "--server.fileWatcherType",
        "none",
    ]
    with (folder / "simple.log").open("wb") as log:
        return f"http://127.0.0.1:{port}", subprocess.Popen([*command, *options], stdout=log, stderr=log)


def open_page(browser: Any, url: str, shown: str, cookie: tuple[str, str] | None, key: str = "2") -> Page:
    """A page that shows something, whose answers to the key are timed from now on."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True)
    if cookie:
        context.add_cookies([{"name": cookie[0], "value": cookie[1], "url": url}])
    page = context.new_page()
    for _ in range(100):
        try:
            page.goto(url)
            break
        except Exception:
            time.sleep(0.2)
    if shown == LABEL:
        page.wait_for_function(f"() => ['item', 'welcome'].includes(({PHASE})())", timeout=60_000)
        page.wait_for_timeout(500)
        if page.evaluate(PHASE) == "welcome":
            page.keyboard.press("Enter")
    page.wait_for_function(f"({shown})()", timeout=60_000)
    page.evaluate(f"({WATCH})([{shown}, {key!r}])")
    return page


def told(name: str, took: list[float]) -> str:
    p95 = statistics.quantiles(took, n=20)[-1]
    return f"| {name} | {len(took)} | {statistics.median(took):.0f} | {p95:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("keys", type=int, nargs="?", default=60)
    keys = parser.parse_args().keys
    chromium = find_chromium()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        store = big_project.build(folder / "label.duckdb", PEOPLE, SHOWINGS)
        cookie = big_project.cookie_of(store, big_project.name_of(0))
        store.close()
        shutil.copy(store.path, folder / "simple.duckdb")
        load = os.getloadavg()[0]
        label_url, label_server = bench_load.serve(store.path, folder / "label.log")
        simple_url, simple_server = serve_simple(folder / "simple.duckdb", folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        try:
            pages = {
                "Label": (open_page(browser, label_url, LABEL, cookie), LABEL),
                "Streamlit, one button and a rerun": (open_page(browser, simple_url, SIMPLE, None), SIMPLE),
            }
            for page, shown in pages.values():
                page.bring_to_front()  # a page behind another paints nothing
                press(page, shown, 3)
                page.evaluate("window.took.length = 0")
            for _ in range(max(1, keys // TURN)):
                for page, shown in pages.values():
                    page.bring_to_front()
                    press(page, shown, TURN)
            took = {side: page.evaluate("window.took") for side, (page, _) in pages.items()}
        finally:
            browser.close()
            for server in (label_server, simple_server):
                server.terminate()
                server.wait(30)
        print(f"{os.cpu_count()} cores; load {load:.1f} → {os.getloadavg()[0]:.1f}; milliseconds\n")
        print("| page | keys | median | p95 |\n|---|---:|---:|---:|")
        for side, times in took.items():
            print(told(side, times))
        ours, theirs = (statistics.median(times) for times in took.values())
        print(f"\nratio of medians: {ours / theirs:.3f} (at most 0.333)")


if __name__ == "__main__":
    main()
