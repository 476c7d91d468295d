"""A list of rows to choose from: a checkbox each, for the keyboard and the mouse.

Streamlit's own table identifies rows by their position, so another filter loses what was chosen. Its arrow
keys do nothing once the mouse was used elsewhere on the page. Here a row has an id, and stays chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import streamlit as st

from app.components import asset


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
    """Show the rows; returns the chosen ids, also those of rows that are not shown now.

    Parameters
    ----------
    chosen: the ids to start with, when the list appears or `cleared` changes.
    cleared: a number that grows whenever the list must go back to `chosen`.
    """
    data = {"columns": columns, "rows": rows, "chosen": sorted(chosen), "cleared": cleared}
    found = _picker(key=key, data=data, default={"chosen": None}, on_chosen_change=lambda: None)
    answer = found.chosen
    if answer is None or answer["cleared"] != cleared:
        return sorted(chosen)
    return list(answer["ids"])
