"""Import, the file: the upload of a file, and its replacement by a different file."""

from __future__ import annotations

from html import escape

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import ui
from app.page_context import PageContext
from app.uploads import LARGEST, HeldFile, hold, let_go
from curation.core.errors import CurationError
from curation.core.text import pluralize
from curation.ingest.requests import ImportRequest


def show_held(context: PageContext, file: HeldFile) -> None:
    """Show the name of the uploaded file, and a button that removes the file."""
    with st.container(horizontal=True, vertical_alignment="center", key="file"):
        st.html(
            f'<p class="gs-file"><b><bdi dir="auto">{escape(file.name)}</bdi></b> '
            f"<span>{size_of(file.size)}</span></p>"
        )
        if st.button(
            "Another file",
            key=f"another {file.folder.name}",
            disabled=context.is_running(context.jobs.get("check file")),
        ):
            let_go(context.store.path, context.annotator.name)
            st.rerun()


def size_of(size: int) -> str:
    """Return a number of bytes as readable text, such as "1.2 MB"."""
    for unit, bytes_of in (("MB", 1_000_000), ("KB", 1_000)):
        if size >= bytes_of:
            return f"{size / bytes_of:,.1f} {unit}"
    return pluralize(size, "byte")


def show(context: PageContext, kind: type[ImportRequest]) -> None:
    """Ask for a file; after the upload the page shows the first rows of the file."""
    sent = st.file_uploader(
        f"{kind.title}: JSON, CSV, TSV, Parquet or xlsx; also with gzip",
        max_upload_size=LARGEST,
        key="file to import",
        help=f"Up to {LARGEST} MB. Import larger files in the terminal.",
    )
    if sent is not None:
        try:
            hold(context.store.path, context.annotator.name, sent)
        except CurationError as error:
            ui.problem(error)
        else:
            _free(sent.file_id)
            st.rerun()


def _free(file_id: str) -> None:
    """Remove an upload that is stored on disk from Streamlit's memory, where it would stay until the tab is
    closed.
    """
    session = get_script_run_ctx()
    if session is not None and isinstance(session.uploaded_file_mgr, MemoryUploadedFileManager):
        session.uploaded_file_mgr.remove_file(session.session_id, file_id)
