"""The navigation: which pages there are, in which order, and who has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from app import context
from app.app_page import MENUS
from app.components.links import SHOWN_PAGE
from app.navigation import MAX_ROW_LINKS, all_pages, find_menu_index, list_menus, list_pages
from app.signin import current_user
from app.views import write
from curation.queries.new_query import write_query
from curation.store.row_types import Annotator
from tests.support import ROOT, page
from tests.support.gold_project import labelled
from tests.support.projects import add_names

EVERYONE = ["Label", "Write"]
LEAD = [
    *("Home", "Import", "Queries", "Label", "Adjudicate", "Write", "Rounds"),
    *("Agreement", "Judges", "Releases", "Evaluate", "Team", "Settings", "Query"),
]


@pytest.mark.parametrize(
    ("role", "titles"),
    [
        ("annotator", EVERYONE),
        ("reviewer", ["Adjudicate", "Label", "Write", "Agreement", "Query"]),
        ("lead", LEAD),
    ],
)
def test_a_role_has_its_pages_in_order(role: str, titles: list[str]) -> None:
    """Help is the fifteenth page, which has a server of its own."""
    assert [page.title for page in list_pages(role)] == titles


def test_an_evaluator_has_no_page_about_labeling() -> None:
    assert [page.title for page in list_pages("evaluator")] == ["Evaluate"]


@pytest.mark.parametrize("role", ["annotator", "reviewer", "evaluator"])
def test_who_has_few_pages_has_a_row_of_links(role: str) -> None:
    assert list(list_menus(role)) == [""]
    assert 1 <= len(list_menus(role)[""]) <= MAX_ROW_LINKS
    assert find_menu_index(role, list_pages(role)[0].title) is None


def test_a_lead_has_menus_in_the_order_of_the_path_and_each_page_once() -> None:
    menus = list_menus("lead")
    assert [group for group in menus if group] == list(MENUS)
    assert [page for members in menus.values() for page in members] == [
        page for page in list_pages("lead") if page.listed is not None
    ]
    assert max(map(len, menus.values())) <= MAX_ROW_LINKS


def test_the_menu_that_has_a_page_is_known_by_its_place() -> None:
    links = len(list_menus("lead").get("", ()))
    assert find_menu_index("lead", "Team") == links + 4
    assert find_menu_index("lead", "Rounds") == links + 2


def test_every_page_but_home_is_in_a_group() -> None:
    """Say `group=` in the page's record, with one of `app.app_page.MENUS`."""
    assert {page.title for page in all_pages() if page.menu not in MENUS and page.listed} <= {"Home"}


def test_write_is_in_a_leads_menu_once_somebody_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(context.PROJECT, str(labelled(tmp_path / "l", decided=True).path))
    lee = Annotator("lee", "lead", False)
    assert not write._is_listed(lee)
    assert write.list_parts(lee) == ["Queries", "Tasks", "Questions"]
    write_query(context.project_store(), "how to oil a lock")
    assert write._is_listed(lee)


def test_labeling_comes_first_for_who_labels_and_nothing_is_given_twice() -> None:
    assert list_pages("annotator")[0].title == "Label"
    for field in ("position", "title", "address"):
        values = [getattr(page, field) for page in all_pages()]
        assert len(set(values)) == len(values), field


@pytest.fixture
def reviewing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[bool], AppTest]:
    """Open the app as a reviewer of a project whose one dispute is decided or open."""

    def open_app(is_decided: bool) -> AppTest:
        monkeypatch.setenv(context.PROJECT, str(labelled(tmp_path / "l", decided=is_decided).path))
        add_names(context.project_store(), "rosa", role="reviewer")
        monkeypatch.setattr(current_user, "find_current_user", lambda _: Annotator("rosa", "reviewer", False))
        return page.run(AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=page.PATIENCE))

    return open_app


def turn_to(test: AppTest, address: str) -> str:
    """Open a page by its link in the menu; return the address of the page that is shown."""
    test._page_hash = calc_hash(address)
    return str(page.run(test).session_state[SHOWN_PAGE])


def test_a_reviewer_begins_at_the_pairs_that_wait_and_other_pages_count_them(
    reviewing: Callable[[bool], AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[list[str]] = []
    navigate = st.navigation

    def follow(menus: Mapping[str, list[Any]], **options: Any) -> Any:
        titles.append([listed.title for listed in menus[""]])
        return navigate(menus, **options)

    monkeypatch.setattr(st, "navigation", follow)
    test = reviewing(False)
    assert test.session_state[SHOWN_PAGE] == "adjudicate"
    assert "Adjudicate" in titles[-1]
    assert turn_to(test, "write") == "write"
    assert "Adjudicate (1)" in titles[-1]


def test_a_reviewer_without_a_dispute_begins_at_label_and_can_open_adjudicate(
    reviewing: Callable[[bool], AppTest],
) -> None:
    test = reviewing(True)
    assert test.session_state[SHOWN_PAGE] == "label"
    assert turn_to(test, "adjudicate") == "adjudicate"
