"""The page of one query, and the links that lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app import context
from app.components.links import query_address
from curation.reports.page import QueryName, Table
from curation.store import Store
from curation.store.rows import Annotator
from tests.support.page import html, page_at, run
from tests.support.projects import add_pairs, grid, new_project

LEE = Annotator("lee", "lead", False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    store = new_project(tmp_path / "project.duckdb")
    add_pairs(store, grid(2, 3))
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    store.close()


def test_a_cell_that_names_a_query_is_its_words_everywhere_but_in_the_app() -> None:
    table = Table("Queries", ("Query",), ((QueryName("red & blue", "q 1", "d/2"),),))
    assert table.rows == (("red & blue",),)
    assert query_address("q 1", "d/2") == "/query?id=q+1&document=d%2F2"


def test_the_page_says_what_to_do_without_a_query_or_with_one_that_is_not_there(project: Store) -> None:
    assert "No query is named" in run(page_at("query", LEE)).info[0].value


def test_the_page_shows_the_query_that_its_address_names(project: Store) -> None:
    page = page_at("query", LEE)
    page.query_params["id"] = "query 1"
    assert "query 1" in html(run(page))
