"""Import, the file: from this computer, or from a folder of the server that its operator allowed."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import ui
from app.context import IMPORT_FROM
from app.page_context import PageContext
from app.uploads import LARGEST, HeldFile, allowed_file, allowed_files, hold, hold_on_server, let_go
from curation.core.errors import CurationError
from curation.core.text import amount
from curation.ingest.picking.kinds import FileKind

HERE, THERE = "From this computer", "On the server"


def show(context: PageContext, kind: FileKind) -> None:
    """Ask for a file; once there is one, the page is drawn with it."""
    folder = os.environ.get(IMPORT_FROM)
    where = HERE
    if folder:
        where = (
            st.segmented_control("Where the file is", [HERE, THERE], default=HERE, required=True, key="where")
            or HERE
        )
    if where == THERE and folder:
        _choose_on_server(context, Path(folder))
    else:
        _upload(context, kind)


def show_held(context: PageContext, file: HeldFile) -> None:
    """Which file is looked at, and the way to another."""
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
    """A number of bytes for people."""
    for unit, bytes_of in (("MB", 1_000_000), ("KB", 1_000)):
        if size >= bytes_of:
            return f"{size / bytes_of:,.1f} {unit}"
    return amount(size, "byte")


def _upload(context: PageContext, kind: FileKind) -> None:
    sent = st.file_uploader(
        f"{kind.title}: JSON, CSV, TSV, Parquet or xlsx; also with gzip",
        max_upload_size=LARGEST,
        key="file to import",
        help=f"Up to {LARGEST} MB. Larger files are imported from the server, or by command.",
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
    """Let Streamlit forget a file that is on disk now; it would keep it in memory until the tab is closed."""
    session = get_script_run_ctx()
    if session is not None and isinstance(session.uploaded_file_mgr, MemoryUploadedFileManager):
        session.uploaded_file_mgr.remove_file(session.session_id, file_id)


def _choose_on_server(context: PageContext, folder: Path) -> None:
    name = st.selectbox(
        "File", allowed_files(folder), index=None, placeholder="Choose a file", accept_new_options=True
    )
    if name and st.button("Look at it", type="primary"):
        try:
            path = allowed_file(folder, name)
            hold_on_server(context.store.path, context.annotator.name, path, name)
        except CurationError as error:
            ui.problem(error)
        else:
            st.rerun()
