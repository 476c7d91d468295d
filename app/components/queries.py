"""Queries to choose one of: points of a plot for the mouse, bars that are radio buttons for the keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from app.components import asset


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
