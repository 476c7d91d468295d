"""What a file of 200 MB costs on the page Import: seconds, and memory of the server and of the job.

A lead uploads a corpus in a Chromium, makes the dry run, imports it, and uploads the file twice more.
Written: seconds of each step, and the server's memory before, at the highest, and after. What stays after the
third upload is what uploads leave in the server.

Usage: python -m benchmarks.bench_upload [megabytes]
Smallest: python -m benchmarks.bench_upload 5
Needs: Chromium
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from curation.operations.project import init_project
from curation.people.accounts import add_annotator
from tests.support.chromium import find_chromium
from tests.support.served import PASSWORD, Served, sign_in

WORDS = "the quick brown fox jumps over a lazy dog while rivers and lakes shine "
PATIENCE = 600_000  # milliseconds


class MemoryOfServer:
    """Megabytes of the server's process and of its jobs, looked at twenty times a second."""

    def __init__(self, process: int) -> None:
        self._process = process
        self.now = self.peak = self.job = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self.peak = self.job = 0.0
        begun = time.perf_counter()
        yield
        seconds = time.perf_counter() - begun
        time.sleep(1)
        server = f"server {self.peak:5.0f} MB at the highest, {self.now:5.0f} MB after"
        print(f"{name:22} {seconds:6.1f} s   {server}   job {self.job:5.0f} MB")

    def _watch(self) -> None:
        while True:
            self.now = _resident(Path(f"/proc/{self._process}/status"))
            self.peak = max(self.peak, self.now)
            with suppress(OSError):
                for children in Path(f"/proc/{self._process}/task").glob("*/children"):
                    for child in children.read_text().split():
                        self.job = max(self.job, _resident(Path(f"/proc/{child}/status")))
            time.sleep(0.05)


def _resident(status: Path) -> float:
    with suppress(OSError):
        for line in status.read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0.0


def write_corpus(path: Path, megabytes: int) -> int:
    """Write documents of some 950 bytes; returns how many there are."""
    number = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < (megabytes - 1) * 1_000_000:
            text = (WORDS * 14)[number % 70 :][:900]
            document = {"_id": f"d{number}", "title": f"Document {number}", "text": f"{text} {number * 7919}"}
            file.write(json.dumps(document) + "\n")
            number += 1
    return number


def upload(page: Page, file: Path) -> None:
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_role("button", name="Dry run")).to_be_visible(timeout=PATIENCE)


def trial(page: Page, served: Served, file: Path) -> None:
    memory = MemoryOfServer(served.process.pid)
    page.goto(f"{served.url}/import")
    expect(page.locator("input[type=file]")).to_be_attached()
    imports = page.get_by_role("button", name="Import", exact=True)
    with memory.step("page"):
        time.sleep(3)
    with memory.step("upload and first rows"):
        upload(page, file)
    with memory.step("dry run"):
        page.get_by_role("button", name="Dry run").click()
        expect(imports).to_be_enabled(timeout=PATIENCE)
    with memory.step("import"):
        imports.click()
        expect(page.get_by_text("The corpus now has")).to_be_visible(timeout=PATIENCE)
    for name in ("upload again", "and again"):
        with memory.step(name):
            upload(page, file)
            page.get_by_role("button", name="Another file").click()
            expect(page.locator("input[type=file]")).to_be_attached()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("megabytes", type=int, nargs="?", default=200)
    megabytes = parser.parse_args().megabytes
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "corpus.jsonl"
        print(f"{write_corpus(file, megabytes):,} documents, {file.stat().st_size / 1e6:,.0f} MB")
        store = init_project(Path(folder) / "project.duckdb")
        add_annotator(store, "lee", "lead", PASSWORD)
        store.close()
        served = Served(store.path, installed=True)
        try:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            trial(sign_in(browser, served, "lee").new_page(), served, file)
            browser.close()
        finally:
            served.stop()


if __name__ == "__main__":
    main()
