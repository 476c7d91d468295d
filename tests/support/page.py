"""A page of the app as Streamlit's AppTest runs it, and what is on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from streamlit.testing.v1 import AppTest

from curation.store.row_types import Annotator

LEE = Annotator("lee", "lead", False)
PATIENCE = 120
"""Seconds that a run of a page may take: a busy machine takes many."""
FIELDS = """checkbox datetime_input file_uploader multiselect number_input selectbox slider text_area
    text_input""".split()


def page_at(address: str, annotator: Annotator, **parts: str) -> AppTest:
    """The page at an address as somebody gets it, with these parts of it; it has not run yet."""

    def script(address, annotator):  # type: ignore[no-untyped-def]  # its text alone is run
        from app.navigation import all_pages

        next(page for page in all_pages() if page.address == address).show(annotator)

    given = {"address": address, "annotator": annotator}
    page = AppTest.from_function(script, kwargs=given, default_timeout=PATIENCE)
    for key, part in parts.items():
        page.session_state[key] = part
    return page


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
    return _labelled(page.button, label)


def field(page: AppTest, label: str) -> Any:
    """The field of a form with this label, else the first whose label begins with it."""
    return _labelled([widget for kind in FIELDS for widget in page.get(kind)], label)


def _labelled(widgets: Sequence[Any], label: str) -> Any:
    fitting = [widget for widget in widgets if widget.label.startswith(label)]
    assert fitting, f"no {label}: {[widget.label for widget in widgets]}"
    return min(fitting, key=lambda widget: widget.label != label)


def words(boxes: Sequence[Any]) -> str:
    """What messages say, without Markdown's escapes."""
    return " ".join(str(box.value) for box in boxes).replace("\\", "")


def press(page: AppTest, label: str) -> AppTest:
    return whole(button(page, label).click().run())
