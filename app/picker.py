"""A list of rows to choose from: a checkbox each, for the keyboard and the mouse.

Streamlit's own table knows rows by their place, so another filter loses what was chosen; and its arrow keys
do nothing once the mouse was used elsewhere on the page. Here a row is known by its id, and stays chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib.resources import files
from typing import NamedTuple

import streamlit as st


class Row(NamedTuple):
    """cells: one for each column, the first of them what the row is called; a list is shown as labels."""

    row_id: str
    cells: Sequence[str | Sequence[str]]


def _read(ending: str) -> str:
    return files("app").joinpath(f"picker.{ending}").read_text(encoding="utf-8")


_picker = st.components.v2.component("goldset_picker", html=_read("html"), css=_read("css"), js=_read("js"))


def picker(
    key: str, columns: Sequence[str], rows: Sequence[Row], chosen: Collection[str], cleared: int
) -> list[str]:
    """Show the rows; the ids that are chosen, those of rows that are not shown now among them.

    Parameters
    ----------
    chosen: the ids to begin with, when the list appears or `cleared` changes.
    cleared: a number that grows whenever what was chosen shall be `chosen` again.
    """
    data = {"columns": columns, "rows": rows, "chosen": sorted(chosen), "cleared": cleared}
    found = _picker(key=key, data=data, default={"chosen": None}, on_chosen_change=lambda: None)
    said = found.chosen
    return sorted(chosen) if said is None or said["cleared"] != cleared else list(said["ids"])
