"""An SVG chart in a page: `st.html` would remove it."""

from __future__ import annotations

import streamlit as st

from app.components import asset

_drawing = st.components.v2.component(
    "goldgrade_drawing",
    html='<div class="drawing"></div>',
    js="export default ({ parentElement, data }) => {"
    ' parentElement.querySelector(".drawing").innerHTML = data.svg; };',
    css=asset("drawing.css"),
)


def drawing(svg: str) -> None:
    """Show an SVG of `curation.core.reports`, which escapes its texts."""
    _drawing(data={"svg": svg})
