"""The grading loop as a Streamlit component: it talks to `app.api` itself and never causes a rerun.

Its script is written as modules, each of which owns one noun. Streamlit gets them joined into one, because a
component's script has no address to which an import could be relative.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import streamlit as st
from markdown_it import MarkdownIt

from curation.guides.guide import Guide

MODULES = (
    "dom",
    "memory",
    "server",
    "sight",
    "outbox",
    "status",
    "guide",
    "asking",
    "item",
    "question",
    "practice",
    "history",
    "search",
    "keyboard",
    "keylist",
    "keymap",
    "rest",
    "settings",
    "trace",
    "grading",
)
"""Each after those that it imports."""
_own = files(__name__)
_BOUNDARIES = re.compile(r"^import .*;\n|^export (?!default)", re.MULTILINE)


def script(modules: Sequence[str] = MODULES) -> str:
    """Modules as one script, without their imports and exports."""
    return "\n".join(joined(_read(f"{name}.js")) for name in modules)


def joined(module: str) -> str:
    """A module as it is within one script."""
    return _BOUNDARIES.sub("", module)


def style() -> str:
    """The style sheet, for another component that shows items as this one does."""
    return _read("grading.css") + files("app").joinpath("document.css").read_text(encoding="utf-8")


def _read(name: str) -> str:
    return _own.joinpath(name).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "goldset_grading", html=_read("grading.html"), css=style(), js=script()
)


_aside = re.search(r'<aside class="guide".*?</aside>', _read("grading.html"), re.DOTALL)
assert _aside is not None
_panel = st.components.v2.component(
    "goldset_guide_panel",
    html=f'<div class="grading reading">{_aside[0]}</div>',
    css=_read("grading.css"),
    js=script(("dom", "server", "guide", "panel")),
)


def guide_json(found: Guide) -> dict[str, Any]:
    """A guide as the panel draws it: its text as HTML in which no foreign HTML survives."""
    text = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(found.body)
    return {
        "guide_hash": found.guide_hash,
        "title": found.title,
        "scale": [grade.model_dump() for grade in found.scale],
        "html": text,
    }


def guide_panel(found: Guide, name: str, wide: bool = False) -> None:
    """A guide as annotators read it; `wide` puts its text beside the scale where there is room."""
    _panel(key=f"guide {name}", data={"guide": guide_json(found), "wide": wide})


def grading(annotator: str, project: str) -> None:
    """Show the loop. Answers not yet saved are kept in the browser under the annotator and the project."""
    _component(key="grading", data={"annotator": annotator, "project": project})
