"""The keyboard on a page of Streamlit widgets: a held key acts once, and a field gets the focus in time."""

from __future__ import annotations

import streamlit as st

from app.components import asset

_keys = st.components.v2.component("goldset_keys", html="", js=asset("keys.js"))


def keys(focus: str, reason: str, choices: str = "", opens: str = "") -> None:
    """Focus a field whenever `reason` changes; Esc leaves it.

    Parameters
    ----------
    focus: the key of the container that holds the field.
    reason: '' leaves the focus where it is.
    choices: keys after which the field has the focus at once, before the server has answered.
    opens: the key of a button that brings another field; what is typed until it is there is written into it.
    """
    _keys(key="keys", data={"focus": focus, "reason": reason, "choices": choices, "opens": opens})
