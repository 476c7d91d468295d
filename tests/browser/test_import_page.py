"""Import in a browser: a lead brings a corpus and a log in, and a tab that is signed out imports nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from shutil import make_archive

import pytest
from playwright.sync_api import Browser, Page, expect

from app.components.refused_uploads import SERVER_LIMIT
from curation.operations.jobs.files import uploads_root
from curation.people.accounts import add_annotator
from tests.support.accessibility import passes, passes_in_light
from tests.support.document_folder import write_site
from tests.support.projects import new_project, rows_of
from tests.support.served import HOSTILE, PASSWORD, Served, settled, sign_in

CORPUS = f"sku_no,title,text\n1,Green tea,leaves\n2,{HOSTILE},{HOSTILE}\n"
BAD = "keyword,n\ntea,3\ncoffee,many\n"
LOG = "keyword,n\ntea,3\ncoffee,2\n"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    store = new_project(tmp_path / "project.duckdb")
    add_annotator(store, "lee", "lead", PASSWORD)
    store.close()
    with Served(store.path) as running:
        yield running


def send(page: Page, name: str, text: str) -> None:
    file = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    page.locator("input[type=file]").first.set_input_files(files=[file])
    expect(page.get_by_role("button", name="Check the file")).to_be_visible()


def pick(page: Page, label: str, column: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=column, exact=True).click()


def refuses_a_broken_upload_in_a_sentence(page: Page) -> None:
    """Screen readers read the alert out; what Streamlit puts there is "Error: AxiosError: Network Error".

    Where the server refused the file, its own sentence is there and on the page.
    """
    uploads = "**/_stcore/upload_file/**"
    page.route(uploads, lambda route: route.abort())
    file = {"name": "broken.csv", "mimeType": "text/csv", "buffer": b"a"}
    page.locator("input[type=file]").first.set_input_files(files=[file])
    alert = page.get_by_test_id("stFileUploader").first.get_by_role("alert")
    expect(alert).to_have_text(re.compile(r"^The upload failed: .* Choose the file again\.$"))
    page.get_by_role("button", name="Remove broken.csv").click()
    expect(alert).to_have_count(0)
    page.route(uploads, lambda route: route.fulfill(status=503, body=SERVER_LIMIT))
    page.locator("input[type=file]").first.set_input_files(files=[{**file, "name": "refused.csv"}])
    expect(alert).to_have_text(SERVER_LIMIT)
    shown = "element => getComputedStyle(element, '::after').content"
    assert page.get_by_test_id("stFileUploader").first.evaluate(shown).startswith(f'"{SERVER_LIMIT}"')
    page.unroute(uploads)
    page.get_by_role("button", name="Remove refused.csv").click()
    expect(alert).to_have_count(0)


@pytest.mark.slow
def test_a_folder_that_is_chosen_and_its_zip_are_one_corpus_with_the_paths_of_its_files(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    page = sign_in(browser, served, "lee").new_page()
    page.goto(f"{served.url}/import")
    expect(page.get_by_text("a folder of documents")).to_be_visible()
    settled(page)
    folder = write_site(tmp_path / "site")
    page.locator("input[type=file]").last.set_input_files(folder)
    expect(page.get_by_test_id("stFileChipName").get_by_text("site.zip")).to_be_visible()
    for reason in ("hidden files", "pictures, videos and fonts", "scripts, styles and data files"):
        expect(page.get_by_role("cell", name=reason)).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("The corpus now has 294 documents.")).to_be_visible()
    ids = "SELECT document_id FROM documents ORDER BY ALL"
    found = rows_of(served.store, ids)
    assert ("orders/pay-by-invoice",) in found
    page.get_by_text("Corpus", exact=True).last.click()
    settled(page)
    page.locator("input[type=file]").first.set_input_files(make_archive(str(folder), "zip", folder))
    expect(page.get_by_text("documents: nothing would change")).to_be_visible()
    assert rows_of(served.store, ids) == found


def test_a_lead_imports_a_corpus_and_a_log(browser: Browser, served: Served) -> None:
    context = sign_in(browser, served, "lee")
    page = context.new_page()
    page.goto(f"{served.url}/import")
    expect(page.get_by_role("heading", name="Import", exact=True)).to_be_visible()
    run, bring = (page.get_by_role("button", name=name, exact=True) for name in ("Check the file", "Import"))
    refuses_a_broken_upload_in_a_sentence(page)
    send(page, "pages.csv", CORPUS)
    pick(page, "Id (needed)", "sku_no")
    expect(bring).to_have_count(0)
    run.click()
    expect(page.get_by_text("documents would be added")).to_be_visible()
    passes_in_light(page, "a dry run")
    bring.click()
    expect(page.get_by_text("The corpus now has 2 documents.")).to_be_visible()
    page.get_by_role("button", name="Import traffic").click()
    expect(page.get_by_text("Traffic: JSON")).to_be_visible()
    send(page, "log.csv", BAD)
    run.click()
    expect(page.get_by_role("cell", name="line 3")).to_be_visible()
    settled(page)
    passes(page, "problems")
    page.get_by_role("button", name="Another file").click()
    send(page, "log.csv", LOG)
    run.click()
    expect(bring).to_be_enabled()
    assert page.evaluate("window.hacked") is None

    done = context.request.post(f"{served.url}/sign-out", headers={"Origin": served.url}, max_redirects=0)
    assert done.status == 303
    bring.click()
    page.wait_for_timeout(700)
    assert rows_of(served.store, "SELECT kind FROM jobs ORDER BY ALL") == [("import",)]
    assert rows_of(served.store, "SELECT count(*) FROM traffic") == [(0,)]
    page = sign_in(browser, served, "lee").new_page()
    page.goto(f"{served.url}/import?kind=traffic")
    expect(page.get_by_text("log.csv")).to_be_visible()  # it is still there for its owner
    expect(page.get_by_role("radio", name="Traffic")).to_be_checked()
    assert uploads_root(served.project).stat().st_mode & 0o077 == 0
