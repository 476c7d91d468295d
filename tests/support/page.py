"""A page of the app as Streamlit's AppTest runs it, and what is on it."""

from __future__ import annotations

import re
from typing import Any

from streamlit.testing.v1 import AppTest

from curation.store.rows import Annotator

PATIENCE = 120
"""Seconds that a run of a page may take: a busy machine takes many."""


def page_at(address: str, annotator: Annotator) -> AppTest:
    """The page at an address as somebody gets it; it has not run yet."""

    def script(address, annotator):  # type: ignore[no-untyped-def]  # its text alone is run
        from app.navigation import all_pages

        next(page for page in all_pages() if page.address == address).show(annotator)

    given = {"address": address, "annotator": annotator}
    return AppTest.from_function(script, kwargs=given, default_timeout=PATIENCE)


def run(page: AppTest) -> AppTest:
    """Run a page, which shows no exception."""
    return whole(page.run())


def whole(page: AppTest) -> AppTest:
    assert not page.exception, page.exception
    return page


TABLE = re.compile(r"<caption>(.*?)</caption><thead>(.*?)</thead><tbody>(.*?)</tbody>", re.DOTALL)
NAMES_A_QUERY = re.compile(r">(?:Query|Question|Query id)</th>", re.IGNORECASE)


def unlinked_rows(page: AppTest) -> list[str]:
    """Rows of tables with a column of queries that do not open the page of their query."""
    return [
        f"{caption}: {row}"
        for caption, head, body in TABLE.findall(html(page))
        if NAMES_A_QUERY.search(head)
        for row in body.split("</tr>")[:-1]
        if 'class="gs-page"' not in row and "<td>the whole guide</td>" not in row
    ]


def html(page: AppTest) -> str:
    return " ".join(str(element.proto.body) for element in page.get("html"))


def button(page: AppTest, label: str) -> Any:
    """The button with this label, else the first whose label begins with it."""
    found = [one for one in page.button if one.label.startswith(label)]
    assert found, f"no button {label}: {[one.label for one in page.button]}"
    return min(found, key=lambda one: one.label != label)


def press(page: AppTest, label: str) -> AppTest:
    return whole(button(page, label).click().run())
