"""The header of every page, with the account links and the command palette.

The header's script turns a double click into a single click on every page. In narrow windows the list of
pages is a drawer, which closes after a choice, after a click outside the drawer, and at the Escape key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from app.annotating import read_script
from app.assets import read_asset
from app.components.refused_uploads import SENTENCES_BY_STATUS
from curation.ingest.readers.document_files.listing import ENDINGS
from curation.operations.query_facts import READER_ROLES
from curation.store import Annotator

_header = st.components.v2.component(
    "goldgrade_account",
    html=read_asset("components/account.html"),
    js=read_script(Path(__file__).with_name("account.js")),
    css=read_asset("components/account.css"),
)


def show_header(annotator: Annotator, pages: Sequence[Mapping[str, str]]) -> None:
    """Show the annotator's name and the header links, with a command palette of these pages."""
    data = {
        "name": annotator.name,
        "role": annotator.role,
        "pages": pages,
        "searches": annotator.role in READER_ROLES,
        "documents": ENDINGS,
        "refusals": {str(status): sentence for status, sentence in SENTENCES_BY_STATUS.items()},
    }
    _header(key="account", data=data)
