"""The screen of the page Adjudicate as a Streamlit component, similar to the grading screen.

The screen sends requests to `app.api_decisions` itself and never causes a rerun of the page.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.annotating import script
from app.assets import read_asset
from app.grading import STYLE

_component = st.components.v2.component(
    "goldgrade_deciding",
    html=read_asset("deciding/deciding.html"),
    css=STYLE + read_asset("deciding/deciding.css"),
    js=script(Path(__file__).with_name("deciding.js")),
)


def deciding(reviewer: str, project: str) -> None:
    """Show the adjudication screen; the browser keeps unsaved decisions for each reviewer and project."""
    _component(key="deciding-loop", data={"reviewer": reviewer, "project": project})
