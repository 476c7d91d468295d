"""The navigation: each role's pages, in menus.

The navigation does not protect data: the package `curation` checks the role of the person who asks for data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pkgutil import iter_modules

import streamlit as st

from app import ui, views
from app.app_page import MENUS, AppPage
from app.components.links import OFFERED_PAGES, SHOWN_PAGE
from curation.core.errors import CurationError
from curation.people.annotators import require_role
from curation.store import Annotator

MAX_ROW_LINKS = 6
"""Maximum number of links in the navigation row; a role with more pages gets menus."""
NO_COUNTS: Mapping[str, int] = {}


@cache
def all_pages() -> tuple[AppPage, ...]:
    """Return the record `PAGE` of every module and folder in `app.views`, by position."""
    names = [module.name for module in iter_modules(views.__path__, f"{views.__name__}.")]
    return tuple(sorted(import_module(name).PAGE for name in names))


def list_pages(role: str) -> list[AppPage]:
    """Return a role's pages, in navigation order."""
    pages = [page for page in all_pages() if role in page.roles]
    return sorted(pages, key=lambda page: role not in page.first_for)


def list_menus(role: str) -> dict[str, list[AppPage]]:
    """Return a role's pages by menu; pages under the empty menu name are plain links and come first.

    Pages that people can reach only by links on other pages are left out.
    """
    pages = [page for page in list_pages(role) if page.listed is not None]
    if len(pages) <= MAX_ROW_LINKS:
        return {"": pages}
    menus = {menu: [page for page in pages if page.menu == menu] for menu in ("", *MENUS)}
    return {group: menu_pages for group, menu_pages in menus.items() if menu_pages}


def find_menu_index(role: str, title: str) -> int | None:
    """Return the position, from 0, of a page's menu in the navigation row; None if it has no menu."""
    menus = list_menus(role)
    link_count = len(menus.pop("", ()))
    for index, pages in enumerate(menus.values(), link_count):
        if title in {page.title for page in pages}:
            return index
    return None


def count_work(annotator: Annotator) -> dict[str, int]:
    """Count the work that waits for a person, by page title; pages without work are left out."""
    pages = [page for page in list_pages(annotator.role) if annotator.role in page.first_for]
    with suppress(CurationError):  # the pages say why
        return {page.title: count for page in pages if (count := page.count(annotator))}
    return {}


def streamlit_pages(annotator: Annotator, counts: Mapping[str, int] = NO_COUNTS) -> dict[str, list[st.Page]]:
    """Return an annotator's pages by menu for Streamlit; the role's first page has the address `/`.

    Parameters
    ----------
    counts: numbers to show behind the titles of pages.
    """
    pages = list_pages(annotator.role)
    first_page = pages[0]
    st.session_state[OFFERED_PAGES] = {page.address for page in pages}
    menus = {"": [page for page in pages if page.listed is None]}
    for group, menu_pages in list_menus(annotator.role).items():
        menus[group] = menus.get(group, []) + menu_pages
    return {
        group: [
            _streamlit_page(page, annotator, page is first_page, counts.get(page.title, 0))
            for page in menu_pages
        ]
        for group, menu_pages in menus.items()
    }


def palette_pages(menus: Mapping[str, Sequence[st.Page]]) -> list[dict[str, str]]:
    """Return the title, menu and address of each page in these menus, for the command palette."""
    return [
        {"title": page.title, "about": group.rpartition(" ")[2], "address": f"/{page.url_path}"}
        for group, menu_pages in menus.items()
        for page in menu_pages
        if page.visibility == "visible"
    ]


def _streamlit_page(page: AppPage, annotator: Annotator, is_first: bool, count: int = 0) -> st.Page:
    return st.Page(
        partial(_show_page, page, annotator),
        title=f"{page.title} ({count:,})" if count else page.title,
        url_path=page.address,
        default=is_first,
        visibility="visible" if page.listed is not None and page.listed(annotator) else "hidden",
    )


def leave_empty_page(annotator: Annotator, page: st.Page, counts: Mapping[str, int]) -> None:
    """Open the second page for a person who starts on the first page, if no work waits there."""
    first_page = list_pages(annotator.role)[0]
    is_begin = SHOWN_PAGE not in st.session_state and page.title == first_page.title and not st.query_params
    if is_begin and first_page.first_for and first_page.title not in counts:
        second_page = list_pages(annotator.role)[1]
        st.session_state[SHOWN_PAGE] = second_page.address
        st.switch_page(_streamlit_page(second_page, annotator, is_first=False))


def _show_page(page: AppPage, annotator: Annotator) -> None:
    st.session_state[SHOWN_PAGE] = page.address
    if page.shows_title:
        st.title(page.title, anchor=False)
    try:
        require_role(annotator, *page.roles)
        page.show(annotator)
    except CurationError as error:
        ui.problem(error)
