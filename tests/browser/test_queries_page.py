"""Queries, Pool and opening a round in a browser: work outlives a reload, and a choice the rest."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from curation.people.accounts import add_annotator
from curation.queries.stored_tags import read_tagged_queries
from curation.store import open_store
from tests.support.projects import import_rows, rows_of
from tests.support.served import PASSWORD, SUBJECTS, Served, settled, sign_in

LIST = "/queries?part=All queries"
WRITTEN = [
    f"{what} {kind} files"
    for what in SUBJECTS
    for kind in ("open", "close", "sort", "merge", "split", "copy")
]


@pytest.fixture(scope="module")
def led(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served project with two leads and 58 queries, for all tests; who kills it starts it again."""
    store = open_store(Path(shutil.copy(template, tmp_path_factory.mktemp("led") / "project.duckdb")))
    for name in ("lee", "mia"):
        add_annotator(store, name, "lead", PASSWORD)
    rows = [{"_id": f"w{number:02}", "text": text} for number, text in enumerate(WRITTEN)]
    import_rows(store, [], rows)
    store.close()
    with Served(store.path) as running:
        yield running


def opened(browser: Browser, served: Served, path: str, name: str = "lee") -> Page:
    page = sign_in(browser, served, name).new_page()
    page.goto(f"{served.url}{path}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    return page


def halt_next_job(served: Served) -> int:
    """Halt the process that waits for the next job, so that this job stays at work; its process id."""
    deadline = time.monotonic() + 20
    while not (workers := workers_of(served)):
        assert time.monotonic() < deadline, "no process waits for a job"
        time.sleep(0.01)
    (worker,) = workers
    os.kill(worker, signal.SIGSTOP)
    return worker


def workers_of(served: Served) -> list[int]:
    tasks = Path(f"/proc/{served.process.pid}/task").iterdir()
    children = {int(child) for task in tasks for child in read(task / "children").split()}
    return [
        child
        for child in children
        if "curation.operations.jobs.worker" in read(Path(f"/proc/{child}/cmdline"))
    ]


def read(path: Path) -> str:
    """A file below /proc; nothing once its task or process is gone."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def wait_for_end_asked(process: int) -> None:
    """Wait until somebody has asked a halted process to end: SIGTERM waits for it."""
    deadline = time.monotonic() + 20
    term = 1 << (signal.SIGTERM - 1)
    while not int(re.findall(r"ShdPnd:\s*(\w+)", read(Path(f"/proc/{process}/status")))[0], 16) & term:
        assert time.monotonic() < deadline, "nobody asked it to end"
        time.sleep(0.02)


def look_for_tags(page: Page, clicks: int = 1) -> None:
    button = page.get_by_role("button", name="Look for tags")
    if not button.is_visible():
        page.get_by_text("Find tags by rule").click()
    button.click(click_count=clicks)


def query_box(page: Page, text: str) -> Locator:
    return page.get_by_role("checkbox", name=text, exact=True)


def tag_button(page: Page, queries: str) -> Locator:
    return page.get_by_role("button", name=f"Apply tags to {queries}")


def jobs(served: Served) -> list[tuple[str, str | None]]:
    sql = "SELECT kind, outcome FROM jobs LEFT JOIN job_endings USING (job_id) ORDER BY started_at"
    return rows_of(served.store, sql)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds the job's process in /proc")
def test_a_job_outlives_a_reload_and_a_killed_server_is_told(browser: Browser, led: Served) -> None:
    page = opened(browser, led, LIST)
    before = jobs(led)
    worker = halt_next_job(led)
    look_for_tags(page, clicks=2)
    expect(page.get_by_text("Tagging queries by rule:")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Tagging queries by rule:")).to_be_visible()
    expect(page.get_by_role("button", name="Look for tags", include_hidden=True)).to_be_disabled()
    other = opened(browser, led, "/queries?part=Pool", "mia")
    expect(other.get_by_text("Started by lee at")).to_be_visible()
    expect(other.get_by_role("button", name="Build the pool", include_hidden=True)).to_be_disabled()
    assert jobs(led) == [*before, ("tags", None)], "a double click starts one job"

    led.kill()
    os.kill(worker, signal.SIGCONT)
    led.start()
    page.goto(f"{led.url}{LIST}")
    expect(page.get_by_text("The server stopped while tagging queries by rule")).to_be_visible()
    assert jobs(led) == [*before, ("tags", None)]
    look_for_tags(page)
    expect(page.get_by_text("tags changed")).to_be_visible(timeout=30_000)
    assert jobs(led) == [*before, ("tags", None), ("tags", "done")]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds the job's process in /proc")
def test_another_lead_can_stop_a_job(browser: Browser, led: Served) -> None:
    page = opened(browser, led, LIST)
    before = jobs(led)
    worker = halt_next_job(led)
    look_for_tags(page)
    other = opened(browser, led, LIST, "mia")
    other.get_by_role("button", name="Stop").click()
    wait_for_end_asked(worker)
    os.kill(worker, signal.SIGCONT)  # a halted process hears of its end when it goes on
    expect(other.get_by_text("Stopped by mia")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("Stopped by mia")).to_be_visible()
    assert jobs(led) == [*before, ("tags", "stopped")]


def test_a_choice_outlives_filters_jobs_and_other_steps_and_is_said_once(
    browser: Browser, led: Served
) -> None:
    page = opened(browser, led, LIST)
    page.get_by_role(
        "heading", name="Queries", exact=True
    ).click()  # the keyboard goes on where the mouse was elsewhere
    query_box(page, "csv open files").focus()
    page.keyboard.press("Space")
    expect(tag_button(page, "1 query")).to_be_enabled()
    page.keyboard.press("Shift+ArrowDown")
    expect(tag_button(page, "2 queries")).to_be_enabled()
    look_for_tags(page)
    expect(page.get_by_text("People set entity")).to_be_visible(timeout=30_000)
    expect(tag_button(page, "2 queries")).to_be_enabled()
    search = page.get_by_label("Text contains")
    search.fill("gzip")
    search.press("Enter")
    expect(page.get_by_text("2 of them not shown by the filter")).to_be_visible()
    page.get_by_role("cell", name="gzip merge files").last.click()
    expect(tag_button(page, "3 queries")).to_be_enabled()
    page.get_by_role("radio", name="Sample").click()
    expect(page.get_by_role("button", name="Draw the sample")).to_be_visible()
    page.get_by_role("radio", name="All queries").click()
    expect(tag_button(page, "3 queries")).to_be_enabled()
    settled(page)
    page.get_by_role("combobox", name="Tags to add", exact=True).focus()
    page.keyboard.type("advers")
    expect(page.get_by_role("option", name="adversarial")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Remove adversarial")).to_be_visible()
    page.keyboard.press("Escape")
    tag_button(page, "3 queries").dblclick()
    expect(page.get_by_text("tags added 3")).to_be_visible()
    expect(page.get_by_role("button", name="Choose none")).to_be_hidden()
    tagged = {query.text for query in read_tagged_queries(led.store, "adversarial")}
    assert tagged == {"csv open files", "csv close files", "gzip merge files"}
    said = rows_of(led.store, "SELECT actor FROM events WHERE action = 'tags set'")
    assert said == [("lee",)], "one click, one act, whose it was"


def test_a_range_of_rows_is_chosen_with_shift_and_taken_back(browser: Browser, led: Served) -> None:
    page = opened(browser, led, LIST)
    query_box(page, "json open files").click()
    page.get_by_role("cell", name="json split files").last.click(modifiers=["Shift"])
    expect(tag_button(page, "5 queries")).to_be_enabled()
    query_box(page, "json sort files").click()
    expect(tag_button(page, "4 queries")).to_be_enabled()
    page.get_by_role("button", name="Choose none").click()
    expect(tag_button(page, "")).to_have_count(0)
    page.get_by_role("checkbox", name="All that are shown").click()
    expect(tag_button(page, "58 queries")).to_be_enabled()
