"""Fields that the page follows while somebody writes, instead of when they leave the field."""

from __future__ import annotations

import streamlit as st

from app.components import asset

_live = st.components.v2.component("goldset_live", html="", js=asset("live.js"))


def live(area: str) -> None:
    """Follow the text fields in the container of this key; without the script they are sent when left."""
    _live(key="live", data={"area": area})
