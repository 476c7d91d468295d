"""The grading loop as a Streamlit component: it talks to `app.api` itself and never causes a rerun."""

from __future__ import annotations

from importlib.resources import files

import streamlit as st

_own = files(__name__)
_component = st.components.v2.component(
    "goldset_grading",
    html=_own.joinpath("grading.html").read_text(encoding="utf-8"),
    css=_own.joinpath("grading.css").read_text(encoding="utf-8"),
    js=_own.joinpath("grading.js").read_text(encoding="utf-8"),
)


def grading(annotator: str, project: str) -> None:
    """Show the loop. Answers not yet saved are kept in the browser under the annotator and the project."""
    _component(key="grading", data={"annotator": annotator, "project": project})
