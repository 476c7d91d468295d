"""Releases in a real browser: an export is prepared and downloaded, by who asked for it alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, expect

from app.signin.current_user import AccountCache
from curation.people.accounts import set_role
from curation.people.annotators import add_annotator
from tests.support.accessibility import measure, passes_in_light
from tests.support.gold_project import export, frozen_project
from tests.support.served import PASSWORD, Served, settled, sign_in


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    store = frozen_project(tmp_path)
    for name in ("lee", "max"):
        add_annotator(store, name, "lead", PASSWORD)
    store.close()
    running = Served(store.path)
    yield running
    running.stop()


def test_an_export_is_downloaded_whole_by_who_asked_for_it_alone(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    page = sign_in(browser, served, "lee").new_page()
    measure(page)
    page.goto(f"{served.url}/releases?view=Export")
    page.get_by_text("leaderboard", exact=True).click()
    page.get_by_role("button", name="Prepare the export").click()
    link = page.get_by_role("link", name="Download v1-leaderboard.zip")
    expect(link).to_be_visible()
    settled(page)
    passes_in_light(page, "export")
    with page.expect_download() as waiting:
        link.click()
    assert waiting.value.suggested_filename == "v1-leaderboard.zip"
    export(served.store, "v1", "leaderboard", tmp_path / "out")
    with ZipFile(waiting.value.path()) as archive:
        for name in archive.namelist():
            written = tmp_path / "out" / name.removeprefix("v1-leaderboard/")
            assert archive.read(name) == written.read_bytes()
        assert len(archive.namelist()) == sum(path.is_file() for path in (tmp_path / "out").rglob("*"))
    address = f"{served.url}{link.get_attribute('href')}"
    assert page.context.request.get(address).status == 200
    other = sign_in(browser, served, "max")
    assert other.request.get(address).status == 404
    set_role(served.store, "lee", "annotator")
    page.wait_for_timeout(1_000 * AccountCache.MAX_AGE)
    assert page.context.request.get(address).status == 403, "for what was prepared before, too"
