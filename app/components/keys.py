"""The keyboard on a page of Streamlit widgets: a held key acts once, and a field gets the focus in time.

What is typed into a field and not sent yet can be kept in the browser as a draft. It survives a reload.

Fields that the page follows while somebody writes, instead of when they leave the field.
"""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from app.components import asset

_live = st.components.v2.component("goldgrade_live", html="", js=asset("live.js"))
_keys = st.components.v2.component("goldgrade_keys", html="", js=asset("keys.js"))


def live(area: str) -> None:
    """Follow the text fields in the container of this key; without the script they are sent when left."""
    _live(key="live", data={"area": area})


class Draft(NamedTuple):
    """The key of a text field, and the name under which the browser keeps what is typed into it.

    shown: what the field holds before anything is typed: the words that are to be changed.
    """

    field: str
    name: str
    shown: str = ""


def keys(focus: str, reason: str, draft: Draft | None = None, sent: str = "") -> None:
    """Focus a field whenever `reason` changes; Esc leaves it.

    Parameters
    ----------
    focus: the key of the container that holds the field.
    reason: '' leaves the focus where it is.
    sent: the name of a draft that is not needed any more.
    """
    data = {"focus": focus, "reason": reason, "sent": sent}
    _keys(key="keys", data={**data, "draft": draft._asdict() if draft else None})
