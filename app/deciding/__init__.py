"""Adjudicate's deciding as a Streamlit component: the grading loop's sister, with a loop of its own.

It talks to `app.api_decisions` itself and never causes a rerun.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.annotating import script
from app.grading import style

_own = Path(__file__).parent
_component = st.components.v2.component(
    "goldgrade_deciding",
    html=(_own / "deciding.html").read_text(encoding="utf-8"),
    css=style() + (_own / "deciding.css").read_text(encoding="utf-8"),
    js=script(_own / "deciding.js"),
)


def deciding(reviewer: str, project: str) -> None:
    """Show the loop. Decisions not yet saved are kept in the browser under the reviewer and the project."""
    _component(key="deciding-loop", data={"reviewer": reviewer, "project": project})
