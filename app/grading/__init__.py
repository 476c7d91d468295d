"""The grading loop as a Streamlit component: it talks to `app.api` itself and never causes a rerun."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import streamlit as st

from app.annotating import script
from app.components.markdown import html_of
from curation.guides.guide import Guide

CONSISTENCY = "consistency"
"""What the address of Label shows besides the loop; its script links to it."""
_own = Path(__file__).parent


def style() -> str:
    """The style sheet, for another component that shows items as this one does."""
    return _read("grading.css") + files("app").joinpath("document.css").read_text(encoding="utf-8")


def _read(name: str) -> str:
    return (_own / name).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "goldgrade_grading", html=_read("grading.html"), css=style(), js=script(_own / "grading.js")
)


_aside = re.search(r'<aside class="guide".*?</aside>', _read("grading.html"), re.DOTALL)
assert _aside is not None
_panel = st.components.v2.component(
    "goldgrade_guide_panel",
    html=f'<div class="grading reading">{_aside[0]}</div>',
    css=_read("grading.css"),
    js=script(_own / "panel.js"),
)


def guide_json(guide: Guide) -> dict[str, Any]:
    """A guide as the panel draws it: its text as HTML in which no foreign HTML survives."""
    return {
        "guide_hash": guide.guide_hash,
        "title": guide.title,
        "scale": [grade.model_dump() for grade in guide.scale],
        "html": html_of(guide.body),
        "evidence": guide.evidence and guide.evidence.model_dump(),
    }


def guide_panel(guide: Guide, name: str, wide: bool = False) -> None:
    """A guide as annotators read it; `wide` puts its text next to the scale where there is room."""
    _panel(key=f"guide {name}", data={"guide": guide_json(guide), "wide": wide})


def grading(annotator: str, project: str) -> None:
    """Show the loop. Answers not yet saved are kept in the browser under the annotator and the project."""
    _component(key="grading", data={"annotator": annotator, "project": project})
