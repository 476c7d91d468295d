"""Widgets of our own: the keyboard, drafts in the browser, a picker, a list, and a chart.

A held key acts once, and a field gets the focus in time. What is typed and not sent yet can be kept in the
browser as a draft, which survives a reload.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import streamlit as st

from app.components import asset

_drawing = st.components.v2.component(
    "goldgrade_drawing",
    html='<div class="drawing"></div>',
    js="export default ({ parentElement, data }) => {"
    ' parentElement.querySelector(".drawing").innerHTML = data.svg; };',
    css=asset("drawing.css"),
)

_live = st.components.v2.component("goldgrade_live", html="", js=asset("live.js"))
_keys = st.components.v2.component("goldgrade_keys", html="", js=asset("keys.js"))


def drawing(svg: str) -> None:
    """Show an SVG of `curation.core.reports`, which escapes its texts."""
    _drawing(data={"svg": svg})


def live(area: str) -> None:
    """Follow the text fields in the container of this key; without the script they are sent when left."""
    _live(key="live", data={"area": area})


class Draft(NamedTuple):
    """The key of a text field, and the name under which the browser keeps what is typed into it.

    shown: what the field holds before anything is typed: the words that are to be changed.
    """

    field: str
    name: str
    shown: str = ""


def keys(focus: str, reason: str, draft: Draft | None = None, sent: str = "") -> None:
    """Focus a field whenever `reason` changes; Esc leaves it.

    Parameters
    ----------
    focus: the key of the container that holds the field.
    reason: '' leaves the focus where it is.
    sent: the name of a draft that is not needed any more.
    """
    data = {"focus": focus, "reason": reason, "sent": sent}
    _keys(key="keys", data={**data, "draft": draft._asdict() if draft else None})


class PickerRow(NamedTuple):
    """cells: one for each column, the first of them what the row is called; a list is shown as labels.

    address: of the page that the first cell opens, in the same session; '' for none.
    """

    row_id: str
    cells: Sequence[str | Sequence[str]]
    address: str = ""


_picker = st.components.v2.component(
    "goldgrade_picker", html=asset("picker.html"), css=asset("picker.css"), js=asset("picker.js")
)


def picker(
    key: str, columns: Sequence[str], rows: Sequence[PickerRow], chosen: Collection[str], cleared: int
) -> list[str]:
    """Show the rows; returns the chosen ids, with the ids of chosen rows that are not shown now.

    Parameters
    ----------
    chosen: the ids to start with, when the list appears or `cleared` changes.
    cleared: a number that grows whenever the list must go back to `chosen`.
    """
    data = {"columns": columns, "rows": rows, "chosen": sorted(chosen), "cleared": cleared}
    answer = _picker(key=key, data=data, default={"chosen": None}, on_chosen_change=lambda: None).chosen
    if answer is None or answer["cleared"] != cleared:
        return sorted(chosen)
    return list(answer["ids"])


class QueryBar(NamedTuple):
    """A query with a bar from −1 to 1, its figure and what that means, in words."""

    query_id: str
    text: str
    length: float
    figure: str
    meaning: str


_queries = st.components.v2.component(
    "goldgrade_queries",
    html='<div class="queries"><div class="drawing"></div><fieldset><legend></legend></fieldset></div>',
    css=asset("drawing.css") + asset("queries.css"),
    js=asset("queries.js"),
)


def queries(key: str, legend: str, svg: str, bars: Sequence[QueryBar]) -> str:
    """Show the bars, next to a plot whose points have the queries' ids as keys; returns the chosen id.

    Parameters
    ----------
    bars: not empty; the first is chosen to begin with, and where what was chosen is not there any more.
    """
    data = {"legend": legend, "svg": svg, "bars": bars}
    found = _queries(key=key, data=data, default={"chosen": None}, on_chosen_change=lambda: None)
    chosen = {bar.query_id for bar in bars} & {found.chosen}
    return str(next(iter(chosen), bars[0].query_id))
