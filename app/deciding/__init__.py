"""The loop of Adjudicate as a Streamlit component, similar to the grading loop.

The loop talks to `app.api_decisions` itself and never causes a rerun.
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
    """Show the loop; the browser keeps unsaved decisions under the reviewer and the project."""
    _component(key="deciding-loop", data={"reviewer": reviewer, "project": project})
