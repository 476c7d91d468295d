"""Import, the look: how the file is read, its first rows, and which column is which field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.uploads import HeldFile
from app.views.importing.options import ask_options
from curation.ingest.picking.file_preview import FilePreview
from curation.ingest.picking.kinds import FileKind
from curation.ingest.picking.request import ImportRequest
from curation.ingest.readers.columns import FileField
from curation.ingest.readers.formats import FORMATS
from curation.ingest.readers.run_files import FORMATS as RUN_FORMATS

ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252")
BY_ITSELF = "found by itself"
NONE = "–"
AT_ONCE = 2
"""Fields side by side."""


def encoding_key(file: HeldFile) -> str:
    """The key of the field with the encoding."""
    return f"encoding {file.folder.name}"


def ask_layout(file: HeldFile) -> dict[str, Any]:
    """How the file is to be read, as parts of an `ImportRequest`."""
    key = file.folder.name
    with st.expander("How the file is read"):
        left, middle, right = st.columns(3)
        formats = dict.fromkeys([BY_ITSELF, *FORMATS, *RUN_FORMATS])
        format = left.selectbox("Format", list(formats), key=f"format {key}")
        encoding = middle.selectbox(
            "Encoding", ENCODINGS, accept_new_options=True, key=encoding_key(file), help="Of a file of text."
        )
        headless = right.checkbox("The first line is data", key=f"headless {key}")
        columns = None
        if headless:
            columns = st.text_input(
                "Names of the columns", placeholder="time, query, session", key=f"columns {key}"
            )
    names = [name.strip() for name in columns.split(",")] if columns else None
    return {
        "format": None if format == BY_ITSELF else format,
        "encoding": encoding or "utf-8",
        "columns": names,
        "header": not headless,
    }


def show_rows(file_look: FilePreview) -> None:
    """The first rows of the file, as they were read."""
    read = file_look.format if file_look.encoding == "utf-8" else f"{file_look.format}, {file_look.encoding}"
    with st.container(key="rows"):
        rows = "row" if len(file_look.rows) == 1 else f"{len(file_look.rows)} rows"
        ui.table(f"The first {rows}, read as {read}", file_look.heads, file_look.rows)


def ask_fields(
    context: PageContext, asked: ImportRequest, file_look: FilePreview, kind: FileKind
) -> ImportRequest:
    """The request with the fields that somebody picks, and with what else the kind takes."""
    asked = asked._replace(encoding=file_look.encoding)
    key = f"{kind.name} {asked.path}"
    if file_look.columns:
        fields = _pick_all([field for field in kind.fields if not field.rare], file_look, key)
        if rare := [field for field in kind.fields if field.rare]:
            with st.expander("Further columns"):
                fields |= _pick_all(rare, file_look, key)
        asked = asked._replace(fields=fields)
    return ask_options(context, asked, file_look, key)


def _pick_all(fields: Sequence[FileField], file_look: FilePreview, key: str) -> dict[str, Any]:
    picked: dict[str, Any] = {}
    places = [column for _ in range(0, len(fields), AT_ONCE) for column in st.columns(AT_ONCE)]
    for field, place in zip(fields, places, strict=False):
        with place:
            picked[field.name] = _pick(field, file_look, key)
    return picked


def _pick(field: FileField, file_look: FilePreview, key: str) -> str | list[str]:
    label = f"{field.label} (needed)" if field.needed else field.label
    proposed = file_look.fields.get(field.name)
    if field.several:
        return st.multiselect(label, file_look.columns, default=proposed, key=f"{field.name} {key}")
    choices = [NONE, *file_look.columns]
    picked = st.selectbox(label, choices, index=choices.index(proposed or NONE), key=f"{field.name} {key}")
    return "" if picked == NONE else picked
