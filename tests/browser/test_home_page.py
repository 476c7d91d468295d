"""Home in a browser: a lead begins there, and the button of a step opens the part where it is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from curation.people.annotators import add_annotator
from tests.support.projects import add_names, add_pairs, grid, new_project
from tests.support.served import PASSWORD, Served, sign_in


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    store = new_project(tmp_path / "project.duckdb")
    add_pairs(store, grid(2, 3))
    add_names(store, "ada", "ben")
    add_annotator(store, "lena", "lead", PASSWORD)
    store.close()
    running = Served(store.path)
    yield running
    running.stop()


def test_a_lead_begins_on_home_and_its_button_opens_the_part_of_the_step(
    browser: Browser, served: Served
) -> None:
    page = sign_in(browser, served, "lena").new_page()
    page.goto(served.url)
    expect(page.locator(".gs-next")).to_contain_text("6 pairs wait to be judged")
    page.get_by_role("link", name="Open a round").click()
    expect(page).to_have_url(re.compile(r"/rounds\?part=Open.a.round$"))
    expect(
        page.get_by_text("Open the round").or_(page.get_by_label("Name of the round")).first
    ).to_be_visible()
    page.goto(f"{served.url}/label")
    expect(page.locator(".st-key-first-step")).to_contain_text("Open a round")
