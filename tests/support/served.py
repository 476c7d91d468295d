"""A project that is served by a process of its own, and an annotator's tab in a browser."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from playwright.sync_api import Error as PlaywrightError

from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import Store, open_store
from tests.support import GOLDGRADE
from tests.support.http_server import free_port
from tests.support.projects import import_rows, rows_of
from tests.support.started import Started

PASSWORD = "correct horse battery"
ANNOTATORS = ("anna", "ben", "cleo", "dora", "emil", "fay", "gus")
SESSION = "hana ivo jan kim lea mia nils otto rhea sven tara uma vera wim".split()
TRAINEES = ("pia", "quin")
HOSTILE = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"
SUBJECTS = ("csv", "json", "tarfile", "zipfile", "gzip", "pickle", "sqlite3", "configparser", "plistlib")
QUERIES = ("read csv files", "zip archive files", "pretty print json files", "store objects in files")

expect.set_options(timeout=30_000)  # patience for a busy machine


DRAWN = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done))))"
FADED = """() => {
  const roots = [document];
  for (const root of roots)
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
  return roots.every((root) => root.getAnimations().every(
    (one) => one.playState !== "running" || one.effect.getTiming().iterations === Infinity));
}"""
"""Whether all has faded in, in shadow roots too: a document's own animations leave theirs out."""

UNTIL = """async (argument) => {
  const holds = %s;
  const late = performance.now() + 60_000;
  while (!holds(argument)) {
    if (performance.now() > late) throw new Error(`not within a minute: ${holds}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}"""
LOOK = """async () => {
  const wait = (ms) => new Promise((done) => requestAnimationFrame(() => setTimeout(done, ms)));
  const host = () => document.querySelector(".st-key-grading [data-testid=stBidiComponentIsolated]");
  const root = () => host()?.shadowRoot?.querySelector(".grading");
  const grading = () => root()?.dataset ?? {};
  const late = performance.now() + 60_000;
  while (!/item|welcome|question/.test(grading().phase) || "paused" in grading()) {
    if (performance.now() > late) throw new Error(`nothing to answer: ${JSON.stringify(grading())}`);
    await wait(0);
  }
  await wait(0);
  await wait(160); // an answer counts from 150 ms on
  const [element, shown] = [root(), grading().presentation ?? ""];
  window.goldgradeLeaving?.disconnect();
  window.goldgradeLeft = false;
  window.goldgradeLeaving = new MutationObserver(() => {
    window.goldgradeLeft ||= element.dataset.presentation !== shown;
  });
  window.goldgradeLeaving.observe(element, { attributeFilter: ["data-presentation"] });
  return [grading().phase, shown];
}"""
"""Waits until there is something to answer and the server has saved enough. Then looks at it for as long as a
quick person needs from when it was drawn, and gives the phase and the presentation. All in one call."""
LEFT = "() => window.goldgradeLeft"
"""Whether the item that `LOOK` gave was left, even if it is back already: a refused answer brings it back."""


class Event(NamedTuple):
    """A judgment event as a test compares it."""

    presentation_id: str
    revision: int
    kind: str
    grade: int | None


class Served:
    """A project and the process that serves it.

    installed: it is the command as people start it, which takes two seconds more.
    jobs_inside: jobs are done by its threads instead of processes.
    """

    def __init__(self, project: Path, installed: bool = False, jobs_inside: bool = False) -> None:
        self.project = project
        self._installed, self._jobs_inside = installed, jobs_inside
        self.store: Store = open_store(project)
        self.log = project.with_suffix(".log")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = ["--project", str(self.project), "app", "--port", str(self.port)]
        self.process = self._process(command)
        deadline = time.monotonic() + 40
        while not self._healthy():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, "the app did not start within 40 s"
            time.sleep(0.05)

    def _process(self, command: list[str]) -> subprocess.Popen[bytes] | Started:
        with self.log.open("ab") as log:
            if self._installed:
                return subprocess.Popen([GOLDGRADE, *command], stdout=log, stderr=log)
            return Started(command, self.log, self._jobs_inside)

    def kill(self) -> None:
        """As a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """As Ctrl+C would, and look whether anything went wrong meanwhile."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(20)
        self.store.close()
        assert "Traceback" not in self.log.read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def events(self, annotator: str) -> list[Event]:
        sql = """
            SELECT presentation_id, revision, kind, grade FROM judgment_events WHERE author = ?
            ORDER BY submitted_at, shown_at, presentation_id, revision
        """
        return [Event(*row) for row in rows_of(self.store, sql, annotator)]

    def column(self, annotator: str, column: str) -> list[Any]:
        sql = f"SELECT {column} FROM judgment_events WHERE author = ? ORDER BY submitted_at"
        return [row[0] for row in rows_of(self.store, sql, annotator)]

    def leave_nothing_open(self, who: str) -> None:
        """Take away what somebody has not answered, as when a lead gives it to others."""
        with self.store.transaction() as cursor:
            cursor.execute(
                """
                INSERT INTO withdrawals SELECT presentation_id, 'test', 'command line', now()::TIMESTAMP
                FROM presentations WHERE annotator = ? AND presentation_id NOT IN (
                    SELECT presentation_id FROM presentation_states WHERE answered)
                """,
                [who],
            )

    def query_answers(self, annotator: str) -> list[tuple[str, str]]:
        """What somebody answered about queries: query and answer, in order."""
        sql = """
            SELECT q.text, a.answer FROM query_answers a JOIN queries q USING (query_id)
            WHERE a.annotator = ? ORDER BY a.answered_at
        """
        return rows_of(self.store, sql, annotator)

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=2) as response:
                return bool(json.load(response)["status"] == "ok")
        except (urllib.error.URLError, OSError):
            return False


SKIPPED = {"welcome": "Enter", "question": "Escape"}
"""What comes between items, and the key that leads past it."""


class Annotating:
    """One browser tab of an annotator on the Label page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root: Locator = page.locator(".grading")
        self.wait_for_item()

    @property
    def shown(self) -> str:
        """The presentation on screen."""
        return self.root.get_attribute("data-presentation") or ""

    @property
    def text(self) -> str:
        return self.root.inner_text()

    def wait_for_item(self) -> None:
        """Wait for an item; who is here for the first time starts, who is asked about a query skips it."""
        expect(self.root).to_have_attribute("data-phase", re.compile("item|welcome|question"))
        while self.phase in SKIPPED:
            self.go_on(SKIPPED[self.phase])
            expect(self.root).to_have_attribute("data-phase", re.compile("item|question"))
        expect(self.root).to_have_attribute("data-phase", "item")

    @property
    def phase(self) -> str:
        return self.root.get_attribute("data-phase") or ""

    def go_on(self, key: str) -> None:
        """Look at what is between items, and leave it by a key."""
        self.look()
        phase = self.phase
        self.page.keyboard.press(key)
        expect(self.root).not_to_have_attribute("data-phase", phase)

    def look(self) -> None:
        """Look at what is on screen for as long as a quick person needs, from when it was drawn."""
        self.page.evaluate(DRAWN)
        self.page.wait_for_timeout(160)

    def press(self, key: str) -> str:
        """Press a key that answers the item, wait for what follows, and return which was answered.

        Waits for an item first: a slow server may have let the tab run out of items.
        """
        phase, shown = self.page.evaluate(LOOK)
        while phase in SKIPPED:
            self.go_on(SKIPPED[phase])
            phase, shown = self.page.evaluate(LOOK)
        self.page.keyboard.press(key)
        until(self.page, LEFT)
        return str(shown)

    def saved(self) -> None:
        """Wait until the page says that all is saved."""
        expect(self.root.locator(".saved")).to_have_text("Saved")

    def trouble(self) -> Locator:
        return self.root.locator(".trouble")


class IdleContexts:
    """Browser contexts that a test has done with, by server: the next one finds the app's scripts loaded."""

    def __init__(self) -> None:
        self._idle: dict[str, list[BrowserContext]] = {}
        self._used: dict[BrowserContext, str] = {}

    def take(self, browser: Browser, url: str) -> BrowserContext:
        idle = self._idle.get(url)
        context = idle.pop() if idle else browser.new_context()
        self._used[context] = url
        return context

    def take_back(self) -> None:
        """Leave nothing in them but what the app loads: no page, route, cookie or storage."""
        for context, url in self._used.items():
            context.unroute_all(behavior="ignoreErrors")
            for page in context.pages:
                page.close()
            context.clear_cookies()
            page = context.new_page()
            try:
                page.goto(f"{url}/health")
            except PlaywrightError:  # the server was the test's own, and is gone
                context.close()
                continue
            page.evaluate("localStorage.clear()")
            page.close()
            self._idle.setdefault(url, []).append(context)
        self._used.clear()

    def __contains__(self, context: BrowserContext) -> bool:
        return context in self._used


idle_contexts = IdleContexts()


def sign_in(
    browser: Browser, served: Served, name: str, context: BrowserContext | None = None
) -> BrowserContext:
    """A browser context in which somebody has signed in, until the end of the test."""
    context = context or idle_contexts.take(browser, served.url)
    form, origin = {"name": name, "password": PASSWORD}, {"Origin": served.url}
    answer = context.request.post(f"{served.url}/sign-in", form=form, headers=origin, max_redirects=0)
    assert answer.status == 303
    return context


class Visitors:
    """People signed in to a project, each in one browser for many tests: what a page loads is loaded once.

    For tests that only look; they need nobody else's fresh start.
    """

    def __init__(self, browser: Browser, served: Served) -> None:
        self.served = served
        self._browser = browser
        self._signed_in: dict[str, BrowserContext] = {}

    def page(self, name: str) -> Page:
        if name not in self._signed_in:
            context = self._browser.new_context()
            self._signed_in[name] = sign_in(self._browser, self.served, name, context)
        return self._signed_in[name].new_page()

    def close_pages(self) -> None:
        for context in self._signed_in.values():
            for page in context.pages:
                page.close()

    def close(self) -> None:
        for context in self._signed_in.values():
            context.close()


def until(page: Page, holds: str, argument: object = None) -> None:
    """Wait until a function in JavaScript says that something holds.

    Playwright's own `wait_for_function` asks again by `eval`, which the policy of our pages refuses.
    """
    page.evaluate(UNTIL % holds, argument)


def settled(page: Page) -> None:
    """Wait until a page of the app is whole: its script has run, all is drawn, and colours have faded in."""
    expect(page.locator(".stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)  # instead of a widget whose code is on its way
    page.evaluate(DRAWN)
    until(page, FADED)


@contextmanager
def lost_answers(context: BrowserContext, path: str) -> Iterator[None]:
    """For a while the requests to a path arrive, and their answers do not."""
    context.route(path, lambda route: (route.fetch(), route.abort()))
    yield
    context.unroute_all(behavior="wait")  # `unroute` takes a request out of the hands of who is at it


def open_tab(context: BrowserContext, served: Served) -> Annotating:
    page = context.new_page()
    page.goto(served.url)
    return Annotating(page)


def fill(store: Store, texts: Sequence[str] = QUERIES) -> None:
    """Bring in a small corpus and queries, and pool them."""
    documents = [
        {
            "_id": f"lib/{name}",
            "title": f"{name} {HOSTILE}",
            "text": f"How to read and write {name} files. " * 30,
        }
        for name in SUBJECTS
    ]
    queries = [{"_id": f"q{number}", "text": text} for number, text in enumerate(texts)]
    import_rows(store, documents, queries)
    build_pool(store, PoolRequest(["bm25"], depth=9, random_negatives=9, seed=1))


def known_pairs(folder: Path) -> Path:
    """A file of pairs whose grade is known, with the reason: one query, five documents."""
    rows = [
        {
            "query_id": "q0",
            "document_id": f"lib/{name}",
            "grade": number % 4,
            "explanation": f"{name}: it is {number % 4}.",
        }
        for number, name in enumerate(SUBJECTS[:5])
    ]
    path = folder / "known.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path
