"""Who is signed in, with links to Help, to the account and to sign out; on every page.

Its script makes one click of a double click, on whatever page it is. Narrow windows have the pages in a
drawer: it closes after a choice, by a click outside it, and by Escape.
"""

from __future__ import annotations

import streamlit as st

from app.components import asset
from app.components.refused_uploads import SENTENCES
from curation.store import Annotator

_account = st.components.v2.component(
    "goldset_account",
    html='<span class="who"></span>'
    '<span class="ways"><a href="/help/" target="_blank">Help</a><a href="/password">Account</a>'
    '<button type="button">Sign out</button></span>',
    js=asset("account.js"),
    css=asset("account.css"),
)


def account(annotator: Annotator) -> None:
    """Show the annotator's name and the links."""
    data = {
        "name": annotator.name,
        "role": annotator.role,
        "refusals": {str(status): said for status, said in SENTENCES.items()},
    }
    _account(key="account", data=data)
