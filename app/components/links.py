"""Links between pages of the app, which open without a reload of the browser page."""

from __future__ import annotations

from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st

from app.context import BY_PATH, project_store
from curation.queries.coverage.writing.synthetic_queries import read_synthetic_ids
from curation.store import Store

OFFERED_PAGES = "offered pages"
"""The key under which a Streamlit session stores the addresses of the pages in its navigation."""
SHOWN_PAGE = "shown page"
"""The key under which a Streamlit session stores the address of the current page."""
QUERY_PAGE = "query"
SYNTHETIC_MARK = ' <small class="gs-quiet">synthetic</small>'
SECONDS_CACHED = 10.0
"""Seconds for which the ids of the synthetic queries are kept."""


class PageLink(NamedTuple):
    """A table cell that links to a page of the app."""

    words: str
    address: str


def is_offered(address: str) -> bool:
    """Return whether the navigation of this browser session has the page with this address."""
    addresses = st.session_state.get(OFFERED_PAGES)
    return addresses is None or address in addresses


def query_address(query_id: str, document_id: str = "") -> str:
    """Return the address of the page of a query; if a document is given, the page opens it."""
    values = {"id": query_id} | ({"document": document_id} if document_id else {})
    return f"/{QUERY_PAGE}?{urlencode(values)}"


def query_link(words: str, query_id: str, document_id: str = "") -> str:
    """Return a link to the page of a query as HTML, or only its text if the person may not open the page.

    The name of a query that a language model wrote is marked.
    """
    if not (query_id and is_offered(QUERY_PAGE)):
        return escape(words)
    is_synthetic = not document_id and query_id in _read_synthetic(project_store())
    return page_link(PageLink(words, query_address(query_id, document_id))) + SYNTHETIC_MARK * is_synthetic


@st.cache_data(ttl=SECONDS_CACHED, show_spinner=False, hash_funcs=BY_PATH)
def _read_synthetic(store: Store) -> frozenset[str]:
    with store.reading() as cursor:
        return read_synthetic_ids(cursor)


def page_link(link: PageLink) -> str:
    """Return a link, as HTML, that opens a page within the session."""
    return f'<a class="gs-page" href="{escape(link.address)}">{escape(link.words)}</a>'
