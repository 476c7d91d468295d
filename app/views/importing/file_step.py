"""Import, the file: a person's upload, which the page keeps until the person imports or removes it."""

from __future__ import annotations

from html import escape

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import ui
from app.page_context import PageContext
from app.uploads import MAX_UPLOAD_MEGABYTES, StoredUpload, remove_stored_upload, store_upload
from curation.core.errors import CurationError
from curation.core.text import pluralize
from curation.ingest.requests import ImportRequest


def show_file(context: PageContext, file: StoredUpload) -> None:
    """Show the name of the uploaded file, and a button that removes the file."""
    with st.container(horizontal=True, vertical_alignment="center", key="file"):
        st.html(
            f'<p class="gs-file"><b><bdi dir="auto">{escape(file.name)}</bdi></b> '
            f"<span>{describe_size(file.size)}</span></p>"
        )
        if st.button(
            "Another file",
            key=f"another {file.folder.name}",
            disabled=context.is_running(context.jobs.get("check file")),
        ):
            remove_stored_upload(context.store.path, context.annotator.name)
            st.rerun()


def describe_size(size: int) -> str:
    """Return a number of bytes as readable text, such as "1.2 MB"."""
    for unit, unit_bytes in (("MB", 1_000_000), ("KB", 1_000)):
        if size >= unit_bytes:
            return f"{size / unit_bytes:,.1f} {unit}"
    return pluralize(size, "byte")


def ask_file(context: PageContext, kind: type[ImportRequest]) -> None:
    """Ask for a file; after the upload the page shows the first rows of the file."""
    upload = st.file_uploader(
        f"{kind.title}: JSON, CSV, TSV, Parquet or xlsx; also with gzip",
        max_upload_size=MAX_UPLOAD_MEGABYTES,
        key="file to import",
        help=f"Up to {MAX_UPLOAD_MEGABYTES} MB. Import larger files in the terminal.",
    )
    if upload is not None:
        try:
            store_upload(context.store.path, context.annotator.name, upload)
        except CurationError as error:
            ui.problem(error)
        else:
            _free_memory(upload.file_id)
            st.rerun()


def _free_memory(file_id: str) -> None:
    """Remove an upload that is stored on disk from Streamlit's memory, where it would stay until the tab is
    closed.
    """
    session = get_script_run_ctx()
    if session is not None and isinstance(session.uploaded_file_mgr, MemoryUploadedFileManager):
        session.uploaded_file_mgr.remove_file(session.session_id, file_id)
