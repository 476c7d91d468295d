"""The adjudication screen, a Streamlit component that sends requests to `app.api_decisions`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.annotating import read_script
from app.assets import read_asset
from app.grading import STYLE

_component = st.components.v2.component(
    "goldgrade_deciding",
    html=read_asset("deciding/deciding.html"),
    css=STYLE + read_asset("deciding/deciding.css"),
    js=read_script(Path(__file__).with_name("deciding.js")),
)


def show_deciding(reviewer: str, project: str) -> None:
    """Show the adjudication screen; the browser keeps unsaved decisions separately for each reviewer and
    project."""
    _component(key="deciding-loop", data={"reviewer": reviewer, "project": project})
