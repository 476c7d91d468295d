"""The widgets that the app adds to Streamlit.

A key that is held down acts once, and a text field gets the focus before people type. The browser can keep
unsent text as a draft, which survives a reload.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import streamlit as st

from app.assets import read_asset

_drawing = st.components.v2.component(
    "goldgrade_drawing",
    html='<div class="drawing"></div>',
    js="export default ({ parentElement, data }) => {"
    ' parentElement.querySelector(".drawing").innerHTML = data.svg; };',
    css=read_asset("components/drawing.css"),
)

_live = st.components.v2.component("goldgrade_live", html="", js=read_asset("components/live.js"))
_keys = st.components.v2.component("goldgrade_keys", html="", js=read_asset("components/keys.js"))


def show_drawing(svg: str) -> None:
    """Show an SVG from `curation.core.reports`, which has already escaped its texts."""
    _drawing(data={"svg": svg})


def send_while_typing(area: str) -> None:
    """Send the content of text fields while people type, not only when they leave a field.

    `area` is the key of the container that holds the text fields."""
    _live(key="live", data={"area": area})


class Draft(NamedTuple):
    """A text field whose unsent text the browser keeps: the field's key, and the name under which the browser
    stores the text.

    shown: the initial text of the field, which people edit.
    """

    field: str
    name: str
    shown: str = ""


def focus_field(focus: str, reason: str, draft: Draft | None = None, sent: str = "") -> None:
    """Move the keyboard focus to a field whenever `reason` changes; Esc leaves the field.

    Parameters
    ----------
    focus: the key of the container that holds the field.
    reason: any text; '' leaves the focus where it is.
    sent: the name of a draft that was sent and can be deleted.
    """
    data = {"focus": focus, "reason": reason, "sent": sent}
    _keys(key="keys", data={**data, "draft": draft._asdict() if draft else None})


class PickerRow(NamedTuple):
    """A row that a person can select in a list of choices.

    cells: the text of each column; the first cell names the row, and a list is shown as labels.
    address: the address of the page that the first cell opens in the same session; '' for no page.
    """

    row_id: str
    cells: Sequence[str | Sequence[str]]
    address: str = ""


_picker = st.components.v2.component(
    "goldgrade_picker",
    html=read_asset("components/picker.html"),
    css=read_asset("components/picker.css"),
    js=read_asset("components/picker.js"),
)


def pick_rows(
    key: str,
    columns: Sequence[str],
    rows: Sequence[PickerRow],
    initial_ids: Collection[str],
    reset_count: int,
) -> list[str]:
    """Show selectable rows; return the ids of the chosen rows, including rows that a filter hides.

    Parameters
    ----------
    initial_ids: the ids that are selected when the list appears and when `reset_count` changes.
    reset_count: a number that grows whenever the list must reset its selection to `initial_ids`.
    """
    data = {"columns": columns, "rows": rows, "chosen": sorted(initial_ids), "cleared": reset_count}
    selection = _picker(key=key, data=data, default={"chosen": None}, on_chosen_change=lambda: None).chosen
    if selection is None or selection["cleared"] != reset_count:
        return sorted(initial_ids)
    return list(selection["ids"])


class QueryBar(NamedTuple):
    """A query with a bar from −1 to 1, the value, and the meaning of the value in words."""

    query_id: str
    text: str
    length: float
    figure: str
    meaning: str


_queries = st.components.v2.component(
    "goldgrade_queries",
    html='<div class="queries"><div class="drawing"></div><fieldset><legend></legend></fieldset></div>',
    css=read_asset("components/drawing.css") + read_asset("components/queries.css"),
    js=read_asset("components/queries.js"),
)


def pick_query(key: str, legend: str, svg: str, bars: Sequence[QueryBar]) -> str:
    """Show the bars next to a plot whose points have query ids as keys; return the chosen id.

    Parameters
    ----------
    bars: at least one bar. The first bar is chosen initially, and whenever the chosen query has disappeared.
    """
    data = {"legend": legend, "svg": svg, "bars": bars}
    state = _queries(key=key, data=data, default={"chosen": None}, on_chosen_change=lambda: None)
    chosen_ids = {bar.query_id for bar in bars} & {state.chosen}
    return str(next(iter(chosen_ids), bars[0].query_id))
