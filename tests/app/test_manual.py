"""Help: the built documentation for who is signed in, and a sentence where it is not built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from app import context, manual
from app.front.guard import Guard
from curation.people.accounts import add_annotator
from docs import site_hooks
from tests.support import ROOT
from tests.support.projects import new_project
from tests.support.signed_in import cookie_of


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A client in which an annotator has signed in; the site is a folder with two files."""
    store = new_project(tmp_path / "p.duckdb")
    add_annotator(store, "anna", "annotator", "correct horse battery")
    monkeypatch.setenv(context.PROJECT, str(store.path))
    monkeypatch.setattr(manual, "SITE_FOLDER", tmp_path / "site")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<p>first page</p>")
    (tmp_path / "site" / "lead.html").write_text("<p>a lead's manual</p>")
    application = Starlette(routes=manual.ROUTES, middleware=[Middleware(Guard)])
    with TestClient(application, follow_redirects=False) as client:
        client.cookies.set(*cookie_of(store, "anna"))
        yield client


def test_help_begins_with_the_first_page(reader: TestClient) -> None:
    assert reader.get("/help").headers["location"] == "/help/"
    assert "first page" in reader.get("/help/").text
    assert "a lead's manual" in reader.get("/help/lead.html").text


def test_who_is_not_signed_in_is_led_to_the_sign_in(reader: TestClient) -> None:
    reader.cookies.clear()
    assert reader.get("/help/lead.html").status_code == 401
    asked = reader.get("/help/", headers={"Accept": "text/html"})
    assert (asked.status_code, asked.headers["location"]) == (303, "/sign-in?next=/help/")


def test_no_script_runs_in_help_but_its_own_files(reader: TestClient) -> None:
    policy = reader.get("/help/lead.html").headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("path", ["nothing.html", "../p.duckdb", "%2e%2e/p.duckdb", "..%2fp.duckdb"])
def test_help_has_no_file_outside_its_folder(reader: TestClient, path: str) -> None:
    answer = reader.get(f"/help/{path}")
    assert answer.status_code == 404
    assert "DUCK" not in answer.text


def test_where_the_site_is_not_built_a_sentence_says_how(reader: TestClient) -> None:
    (manual.SITE_FOLDER / "index.html").unlink()
    answer = reader.get("/help/")
    assert answer.status_code == 404
    assert "Run `make site`" in answer.text


def names(entries: Any) -> Iterator[str]:
    """The files of a navigation, in their order."""
    if isinstance(entries, str):
        yield entries
    else:
        for entry in entries.values() if isinstance(entries, dict) else entries:
            yield from names(entry)


def test_the_navigation_has_every_page_once() -> None:
    text = (ROOT / ".ci" / "mkdocs.yml").read_text(encoding="utf-8")
    nav = yaml.safe_load(re.sub(r"!!python/\S+.*", "", text))["nav"]
    pages = [path.name for path in (ROOT / "docs").glob("*.md")]
    assert sorted(names(nav)) == sorted([*pages, "changelog.md"])


def test_scripts_of_a_page_become_files_and_links_out_of_the_site_become_text() -> None:
    file = SimpleNamespace(src_uri="lead.md")
    page = SimpleNamespace(url="lead.html", file=file, meta={})
    written = site_hooks.on_post_page('<script>go()</script><script src="a.js"></script>', page)
    assert "go()" not in written
    assert written.count("<script src=") == 2
    assert site_hooks.on_page_markdown("[the schema](../curation/a.sql) and [x](y.md)", page) == (
        "the schema (`curation/a.sql`) and [x](y.md)"
    )
