"""Links between pages of the app; the script of the header follows them within the session."""

from __future__ import annotations

from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st

OFFERED = "offered pages"
"""The key of the session under which it keeps the addresses of the pages in its navigation."""
SHOWN = "shown page"
"""The key of the session under which it keeps the address of the current page."""
QUERY = "query"
"""The address of the page of a query."""


class PageLink(NamedTuple):
    """A cell of a table whose words open a page."""

    words: str
    address: str


def is_offered(address: str) -> bool:
    """Whether the navigation of this session has the page with this address."""
    offered = st.session_state.get(OFFERED)
    return offered is None or address in offered


def query_address(query_id: str, document_id: str = "") -> str:
    """Return the address of the page of a query, which opens a document if it is given."""
    values = {"id": query_id} | ({"document": document_id} if document_id else {})
    return f"/{QUERY}?{urlencode(values)}"


def query_link(words: str, query_id: str, document_id: str = "") -> str:
    """Write words that open the page of a query, as HTML; only the words if the person has no such page."""
    if not (query_id and is_offered(QUERY)):
        return escape(words)
    return page_link(PageLink(words, query_address(query_id, document_id)))


def page_link(link: PageLink) -> str:
    """Write words that open a page within the session, as HTML."""
    return f'<a class="gs-page" href="{escape(link.address)}">{escape(link.words)}</a>'
