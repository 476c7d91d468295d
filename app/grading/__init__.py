"""The grading screen, a Streamlit component that sends requests to `app.api` and never causes a rerun."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import streamlit as st

from app.annotating import read_script
from app.app_page import LEADS
from app.assets import read_asset
from app.components.markdown import markdown_to_html
from curation.guides.guide import Guide
from curation.store import Annotator

CONSISTENCY = "consistency"
"""The value of the address parameter `show` with which the page Label opens the part My consistency."""
_FOLDER = Path(__file__).parent
_HTML = read_asset("grading/grading.html")
STYLE = read_asset("grading/grading.css") + read_asset("document.css")
"""The style sheet of items, which the page Adjudicate uses, too."""

_component = st.components.v2.component(
    "goldgrade_grading", html=_HTML, css=STYLE, js=read_script(_FOLDER / "grading.js")
)


_guide_html = re.search(r'<aside class="guide".*?</aside>', _HTML, re.DOTALL)
assert _guide_html is not None
_panel = st.components.v2.component(
    "goldgrade_guide_panel",
    html=f'<div class="grading reading">{_guide_html[0]}</div>',
    css=read_asset("grading/grading.css"),
    js=read_script(_FOLDER / "panel.js"),
)


def make_guide_json(guide: Guide) -> dict[str, Any]:
    """Return a labeling guide for the side panel, with its text as safe HTML."""
    return {
        "guide_hash": guide.guide_hash,
        "title": guide.title,
        "scale": [grade.model_dump() for grade in guide.scale],
        "html": markdown_to_html(guide.body),
        "evidence": guide.evidence and guide.evidence.model_dump(),
    }


def show_guide(guide: Guide, name: str, is_wide: bool = False) -> None:
    """Show a labeling guide as annotators read it; `is_wide` puts the text next to the scale."""
    _panel(key=f"guide {name}", data={"guide": make_guide_json(guide), "wide": is_wide})


def show_grading(annotator: Annotator, project: str) -> None:
    """Show the grading screen; the browser keeps unsaved answers separately for each annotator and
    project."""
    leads = annotator.role in LEADS
    _component(key="grading", data={"annotator": annotator.name, "project": project, "leads": leads})
