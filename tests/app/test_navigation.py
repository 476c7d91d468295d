"""The navigation: which pages there are, in which order, and who has them."""

from __future__ import annotations

import pytest

from app.app_page import GROUPS
from app.navigation import ROW, all_pages, menus_of, pages_of, place_in_menus

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
    assert [page.title for page in pages_of(role)] == titles


def test_an_evaluator_has_no_page_about_labeling() -> None:
    assert [page.title for page in pages_of("evaluator")] == ["Evaluate"]


@pytest.mark.parametrize("role", ["annotator", "reviewer", "evaluator"])
def test_who_has_few_pages_has_a_row_of_links(role: str) -> None:
    assert list(menus_of(role)) == [""]
    assert 1 <= len(menus_of(role)[""]) <= ROW
    assert place_in_menus(role, pages_of(role)[0].title) is None


def test_a_lead_has_menus_in_the_order_of_the_path_and_each_page_once() -> None:
    menus = menus_of("lead")
    assert [group for group in menus if group] == list(GROUPS)
    assert [page for members in menus.values() for page in members] == [
        page for page in pages_of("lead") if page.listed is not None
    ]
    assert max(map(len, menus.values())) <= ROW


def test_the_menu_that_has_a_page_is_known_by_its_place() -> None:
    links = len(menus_of("lead").get("", ()))
    assert place_in_menus("lead", "Team") == links + 4
    assert place_in_menus("lead", "Rounds") == links + 2


def test_every_page_but_home_is_in_a_group() -> None:
    """Say `group=` in the page's record, with one of `app.app_page.GROUPS`."""
    assert {page.title for page in all_pages() if page.group not in GROUPS and page.listed} <= {"Home"}


def test_labeling_comes_first_for_who_labels_and_nothing_is_given_twice() -> None:
    assert {pages_of(role)[0].title for role in ("annotator", "reviewer")} == {"Label"}
    for field in ("position", "title", "address"):
        values = [getattr(page, field) for page in all_pages()]
        assert len(set(values)) == len(values), field
