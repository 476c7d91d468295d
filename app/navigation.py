"""The navigation: the pages that are in `app.views`, and which of them a role has.

This forbids nothing by itself: `curation` checks the role of whoever asks for what a page shows.
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import streamlit as st

from app import ui, views
from app.page import AppPage
from curation.errors import CurationError
from curation.people.annotators import require_role
from curation.store import Annotator

ROOT = "start"
"""The address that Streamlit wants of a page at `/` that is at its own address, too."""


@cache
def all_pages() -> tuple[AppPage, ...]:
    """The record `PAGE` of every module in `app.views`, or of a folder's module `page`, by position."""
    modules = [
        import_module(f"{found.name}.page" if found.ispkg else found.name)
        for found in iter_modules(views.__path__, f"{views.__name__}.")
    ]
    return tuple(sorted(module.PAGE for module in modules))


def pages_of(role: str) -> list[AppPage]:
    """The pages that a role has, in the order of the navigation."""
    return [page for page in all_pages() if role in page.roles]


def streamlit_pages(annotator: Annotator) -> list[st.Page]:
    """The pages of an annotator, as Streamlit's navigation takes them; the first one is at `/`."""
    first, *others = pages_of(annotator.role)
    pages = [_streamlit_page(page, annotator) for page in others]
    if first is all_pages()[0]:  # whose own address leads to `/`
        return [_streamlit_page(first, annotator, default=True), *pages]
    own = _streamlit_page(first, annotator, visibility="hidden")
    at_root = st.Page(partial(_show, first, annotator), title=first.title, url_path=ROOT, default=True)
    return [at_root, own, *pages]


def _streamlit_page(page: AppPage, annotator: Annotator, **more: Any) -> st.Page:
    show = partial(_show, page, annotator)
    return st.Page(show, title=page.title, url_path=page.address, **more)


def _show(page: AppPage, annotator: Annotator) -> None:
    if page.shows_title:
        st.title(page.title, anchor=False)
    try:
        require_role(annotator, *page.roles)
        page.show(annotator)
    except CurationError as error:
        ui.problem(error)
