"""The first load of Label over a slow line: with goldgrade's front, and as Streamlit alone would serve it.

The same project is served twice, by `app.serve.build_application` with and without the front. Without it the
index page is Streamlit's own, scripts are as they are on disk, the style sheet comes with the first run of
the page, and the sign-in page fetches nothing ahead. Chromium's network has 1.6 Mbit/s and 150 ms, websockets
aside.

A visit ends with its first useful paint: the second frame after Label has something to answer. Cold: nothing
is in the browser's cache. After sign-in: nothing was before the sign-in page, where somebody types for 10 s.
Warm: the page was visited before. White: the time from its first frame on during which the page is light in
the dark, in a film of all frames. Other: during which it is neither light nor of the app's own colour.
Written: medians and ratios.

Usage: python -m benchmarks.bench_first_load [visits of each kind, 3]
Smallest: python -m benchmarks.bench_first_load 1
Needs: Chromium
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.operations.project import init_project
from curation.people.accounts import add_annotator
from tests.support.chromium import find_chromium
from tests.support.served import PASSWORD, Served, fill, sign_in

LINE = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
"""1.6 Mbit/s down, 0.75 up, in bytes a second; milliseconds."""
TYPES = 10_000
DARK = (21, 24, 27)
USEFUL = """() => new Promise((done) => {
  const look = () => {
    const host = document.querySelector(".st-key-grading [data-testid=stBidiComponentIsolated]");
    const phase = host?.shadowRoot?.querySelector(".grading")?.dataset.phase ?? "";
    if (!/item|welcome|question/.test(phase)) return requestAnimationFrame(look);
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
  };
  look();
})"""
SERVE = """
import os, sys
import uvicorn
os.environ["GOLDGRADE_PROJECT"] = sys.argv[1]
from app import serve
front = sys.argv[3] == "goldgrade"
if not front:
    from importlib.resources import files
    import streamlit as st
    from app import ui
    from app.signin import sign_in_page
    framed, style = ui.frame, files("app").joinpath("app.css").read_text()
    ui.frame = lambda *given: (st.html(f"<style>{style}</style>"), framed(*given))
    sign_in_page.make_prefetch_links = lambda: ""
listener = serve.listen("127.0.0.1", int(sys.argv[2]))
application = serve.build_application(front=front)
config = uvicorn.Config(application, ws="websockets-sansio", log_level="warning", access_log=False)
try:
    uvicorn.Server(config).run(sockets=[listener])
except KeyboardInterrupt:
    pass
"""


class Visit(NamedTuple):
    """Seconds to the first useful paint, and bytes that had arrived by then."""

    seconds: float
    received: float


class Film(NamedTuple):
    """Seconds during which a page in the dark was light, and neither light nor of the app's own colour."""

    white: float
    other: float


class Side(Served):
    """A project served with the front or without."""

    def __init__(self, project: Path, side: str) -> None:
        self.side = side
        super().__init__(project)

    def start(self) -> None:
        command = [sys.executable, "-c", SERVE, str(self.project), str(self.port), self.side]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ)
        while not self._healthy():
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)


def slow(page: Page) -> tuple[CDPSession, list[float]]:
    """Hold a page's network to the line; the list gets the bytes of each request that has ended."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    received: list[float] = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    session.send("Network.emulateNetworkConditions", LINE)
    return session, received


def visited(page: Page, go: Callable[[], Any]) -> Visit:
    _, received = slow(page)
    started = time.monotonic()
    go()
    page.evaluate(USEFUL)
    return Visit(time.monotonic() - started, sum(received))


def cold(browser: Browser, side: Side) -> Visit:
    page = sign_in(browser, side, "anna", browser.new_context()).new_page()
    visit = visited(page, lambda: page.goto(side.url, wait_until="commit"))
    page.context.close()
    return visit


def after_sign_in(browser: Browser, side: Side) -> Visit:
    page = browser.new_context().new_page()
    slow(page)
    page.goto(f"{side.url}/sign-in")
    page.get_by_label("Name").fill("anna")
    page.get_by_label("Password").fill(PASSWORD)
    page.wait_for_timeout(TYPES)
    visit = visited(page, lambda: _enter(page, side))
    page.context.close()
    return visit


def _enter(page: Page, side: Side) -> None:
    page.keyboard.press("Enter")
    page.wait_for_url(f"{side.url}/", wait_until="commit")


def warm(browser: Browser, side: Side) -> Visit:
    context: BrowserContext = sign_in(browser, side, "anna", browser.new_context())
    page = context.new_page()
    page.goto(side.url)
    page.evaluate(USEFUL)
    page.wait_for_timeout(6000)
    page.close()
    page = context.new_page()
    visit = visited(page, lambda: page.goto(side.url, wait_until="commit"))
    context.close()
    return visit


def film(browser: Browser, side: Side) -> Film:
    """A cold visit in the dark, with every frame that the browser shows."""
    context = browser.new_context(color_scheme="dark", viewport={"width": 1024, "height": 640})
    page = sign_in(browser, side, "anna", context).new_page()
    session, _ = slow(page)
    frames: list[tuple[float, bytes]] = []

    def keep(event: dict[str, Any]) -> None:
        frames.append((event["metadata"]["timestamp"], base64.b64decode(event["data"])))
        session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    session.on("Page.screencastFrame", keep)
    session.send("Page.startScreencast", {"format": "png"})
    page.goto(side.url, wait_until="commit")
    arrived = time.time()
    page.evaluate(USEFUL)
    page.wait_for_timeout(500)
    session.send("Page.stopScreencast")
    context.close()
    frames = [frame for frame in frames if frame[0] >= arrived]  # before, it is the empty page of the new tab
    ends = [stamp for stamp, _ in frames[1:]] + [time.time()]
    kinds = [(end - stamp, _paper(data)) for (stamp, data), end in zip(frames, ends, strict=True)]
    return Film(*(sum(seconds for seconds, kind in kinds if kind == what) for what in ("white", "other")))


def _paper(png: bytes) -> str:
    """What the background of a frame is, at a place that Label leaves empty."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    colour = image.getpixel((image.width // 2, int(image.height * 0.11)))
    assert isinstance(colour, tuple)
    if min(colour) > 200:
        return "white"
    return "own" if max(abs(a - b) for a, b in zip(colour, DARK, strict=True)) <= 1 else "other"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("times", type=int, nargs="?", default=3)
    parser.add_argument("kinds", nargs="*", default=["cold", "after_sign_in", "warm"])
    arguments = parser.parse_args()
    times = arguments.times
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        store = init_project(folder / "label.duckdb")
        fill(store)
        add_annotator(store, "anna", "annotator", PASSWORD)
        open_round(store, RoundRequest("first", ["anna"], overlap=1, duplicates=0, seed=5))
        store.close()
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        sides = []
        for which in ("streamlit", "goldgrade"):
            own = folder / which
            own.mkdir()
            sides.append(Side(Path(shutil.copy(folder / "label.duckdb", own / "label.duckdb")), which))
        try:
            for side in sides:
                cold(browser, side)  # the server's own first time is not measured
            print("| visit | Streamlit alone, s (kB) | goldgrade, s (kB) | times as fast | bytes |")
            print("|---|--:|--:|--:|--:|")
            kinds = [globals()[name] for name in arguments.kinds]
            for what in kinds:
                visits = [[what(browser, side) for side in sides] for _ in range(times)]
                before, after = (
                    Visit(*(statistics.median(column) for column in zip(*found, strict=True)))
                    for found in zip(*visits, strict=True)
                )
                print(
                    f"| {what.__name__.replace('_', ' ')} "
                    f"| {before.seconds:.1f} ({before.received / 1000:,.0f}) "
                    f"| {after.seconds:.1f} ({after.received / 1000:,.0f}) "
                    f"| {before.seconds / after.seconds:.1f} | {after.received / before.received:.2f} |",
                    flush=True,
                )
            for side in sides:
                seen = film(browser, side)
                print(f"{side.side}: in the dark white {seen.white:.2f} s, other {seen.other:.2f} s")
        finally:
            browser.close()
            for side in sides:
                side.stop()


if __name__ == "__main__":
    main()
