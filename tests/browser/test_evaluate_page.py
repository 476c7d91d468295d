"""Evaluate in a browser: an evaluator has this page alone, uploads a run and downloads its report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from curation.people.accounts import add_annotator
from tests.support.accessibility import COLOURS, IN_SCHEME, SCHEMES, passes
from tests.support.evaluated_project import QUERIES, evaluated_project, ranked, write_run
from tests.support.served import PASSWORD, Served, settled, sign_in, until


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    store = evaluated_project(tmp_path)
    add_annotator(store, "eva", "evaluator", PASSWORD)
    store.close()
    with Served(store.path) as running:
        yield running


def test_an_evaluator_uploads_a_run_and_downloads_its_report(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    page = sign_in(browser, served, "eva").new_page()
    for path in ("/", "/evaluate"):
        page.goto(f"{served.url}{path}")
        expect(page.get_by_role("heading", name="Evaluate", exact=True)).to_be_visible()
    settled(page)
    page.get_by_text("More options", exact=True).click()
    expect(page.get_by_text("ndcg_exp@10").first).to_be_visible()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        until(page, IN_SCHEME, scheme)
        settled(page)
        passes(page, f"options, {scheme}", COLOURS)
    runs = [write_run(tmp_path / f"{name}.trec", ranked(name)) for name in "ab"]
    page.locator("input[type=file]").first.set_input_files(runs)
    page.get_by_label("Name of the system 1").fill("dense@may")
    lowest = page.get_by_role("combobox", name="Lowest grade of a relevant document")
    expect(lowest).to_have_value("every grade above the lowest")
    page.get_by_role("button", name="Evaluate", exact=True).click()
    download = page.get_by_role("button", name="Download the report")
    expect(download).to_be_visible()
    with page.expect_download() as waiting:
        download.click()
    report = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert "dense@may: ndcg_exp@10" in report
    bars = page.get_by_role("radio")
    expect(bars).to_have_count(QUERIES // 2)
    chosen, shown = page.locator("label:has(:checked) .text"), page.locator(".gs-query")
    bars.first.focus()
    page.keyboard.press("ArrowDown")
    expect(bars.nth(1)).to_be_checked()
    expect(shown).to_have_text(chosen.inner_text())
    page.locator("[data-key]:visible").last.click()
    expect(bars.nth(1)).not_to_be_checked()
    expect(shown).to_have_text(chosen.inner_text())
    expect(page.get_by_role("cell", name="dense@may").first).to_be_visible()
    page.goto(f"{served.url}/releases")
    expect(page.get_by_role("heading", name="Releases", exact=True)).not_to_be_visible()
