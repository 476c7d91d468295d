"""Who is signed in, with links to Help, to the account and to sign out, and the palette; on every page.

Its script makes one click of a double click, on whatever page it is. Narrow windows have the pages in a
drawer: it closes after a choice, by a click outside it, and by Escape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from app.annotating import script
from app.components import asset
from app.components.refused_uploads import SENTENCES
from curation.operations.query_facts import READERS
from curation.store import Annotator

_account = st.components.v2.component(
    "goldgrade_account",
    html=asset("account.html"),
    js=script(Path(__file__).with_name("account.js")),
    css=asset("account.css"),
)


def account(annotator: Annotator, pages: Sequence[Mapping[str, str]]) -> None:
    """Show the annotator's name and the links; the palette has these pages."""
    data = {
        "name": annotator.name,
        "role": annotator.role,
        "pages": pages,
        "searches": annotator.role in READERS,
        "refusals": {str(status): said for status, said in SENTENCES.items()},
    }
    _account(key="account", data=data)
