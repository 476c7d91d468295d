"""The navigation: which pages there are, in which order, and who has them."""

from __future__ import annotations

import pytest

from app.app_page import MENUS
from app.navigation import MAX_ROW_LINKS, all_pages, find_menu_index, list_menus, list_pages

EVERYONE = ["Label", "Write"]
LEAD = [
    *("Home", "Import", "Queries", "Label", "Adjudicate", "Write", "Rounds"),
    *("Agreement", "Releases", "Evaluate", "Team", "Settings", "Query"),
]


@pytest.mark.parametrize(
    ("role", "titles"),
    [
        ("annotator", EVERYONE),
        ("reviewer", ["Label", "Adjudicate", "Write", "Agreement", "Query"]),
        ("lead", LEAD),
    ],
)
def test_a_role_has_its_pages_in_order(role: str, titles: list[str]) -> None:
    """Help is the fourteenth page, which has a server of its own."""
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


def test_labeling_comes_first_for_who_labels_and_nothing_is_given_twice() -> None:
    assert {list_pages(role)[0].title for role in ("annotator", "reviewer")} == {"Label"}
    for field in ("position", "title", "address"):
        values = [getattr(page, field) for page in all_pages()]
        assert len(set(values)) == len(values), field
