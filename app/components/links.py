"""Links from one page of the app to another; the script of the account follows them within the session."""

from __future__ import annotations

from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st

OFFERED = "offered pages"
"""Where a session keeps the addresses of the pages that its navigation has."""
SHOWN = "shown page"
"""Where a session keeps the address of the page that is shown."""
QUERY = "query"
"""The address of the page of a query."""


class PageLink(NamedTuple):
    """Words that open a page, as a cell of a table."""

    words: str
    address: str


def is_offered(address: str) -> bool:
    """Whether the navigation of this session has that page."""
    offered = st.session_state.get(OFFERED)
    return offered is None or address in offered


def query_address(query_id: str, document_id: str = "") -> str:
    """The address of the page of a query; with a document, its card is open there."""
    values = {"id": query_id} | ({"document": document_id} if document_id else {})
    return f"/{QUERY}?{urlencode(values)}"


def query_link(words: str, query_id: str, document_id: str = "") -> str:
    """HTML: words that open the page of a query; the words alone for who has no such page."""
    if not (query_id and is_offered(QUERY)):
        return escape(words)
    return page_link(PageLink(words, query_address(query_id, document_id)))


def page_link(link: PageLink) -> str:
    """HTML: words that open a page within the session."""
    return f'<a class="gs-page" href="{escape(link.address)}">{escape(link.words)}</a>'
