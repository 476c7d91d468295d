"""Adjudicate's deciding as a Streamlit component: the grading loop's modules, with a loop of its own.

It talks to `app.api_decisions` itself and never causes a rerun.
"""

from __future__ import annotations

from importlib.resources import files

import streamlit as st

from app import grading

MODULES = (
    "dom",
    "memory",
    "server",
    "sight",
    "outbox",
    "status",
    "guide",
    "item",
    "history",
    "keyboard",
    "keylist",
    "trace",
)
"""Those of the grading loop that this one uses, each after those that it imports."""
_own = files(__name__)


def script() -> str:
    """All modules as one script."""
    return "\n".join(
        [grading.script(MODULES), *(grading.joined(_read(name)) for name in ("case.js", "deciding.js"))]
    )


def _read(name: str) -> str:
    return _own.joinpath(name).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "goldset_deciding", html=_read("deciding.html"), css=grading.style() + _read("deciding.css"), js=script()
)


def deciding(reviewer: str, project: str) -> None:
    """Show the loop. Decisions not yet saved are kept in the browser under the reviewer and the project."""
    _component(key="deciding-loop", data={"reviewer": reviewer, "project": project})
