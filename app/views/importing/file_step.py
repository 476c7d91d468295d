"""Import, the file: a person's upload, which the page keeps until the person imports or removes it."""

from __future__ import annotations

from html import escape

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import ui
from app.page_context import PageContext
from app.uploads import MAX_UPLOAD_MEGABYTES, StoredUpload, remove_stored_upload, store_upload, write_lines
from curation.core.errors import CurationError, InputError
from curation.core.text import pluralize
from curation.ingest.requests import CorpusRequest, ImportRequest, QueriesRequest
from curation.operations.import_jobs import IMPORT, dump_job

TABLES = "JSON, CSV, TSV, Parquet or xlsx; also with gzip"
MAX_PASTED_LENGTH = 200_000
PASTED = "pasted queries"
"""The name of pasted queries where the project names the file of an import."""


def show_file(context: PageContext, file: StoredUpload) -> None:
    """Show the name of the uploaded file, and a button that removes it."""
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
    """Ask for a file or, for a corpus, for a file or a folder; after the upload, the page shows what was
    sent."""
    takes_documents = kind is CorpusRequest
    formats = "a zip or tar of documents, or a table" if takes_documents else TABLES
    limit = f"Up to {MAX_UPLOAD_MEGABYTES} MB. Import larger files on the command line."
    left, right = st.columns(2) if takes_documents else (st.container(), None)
    upload = left.file_uploader(
        f"{kind.title}: {formats}",
        max_upload_size=MAX_UPLOAD_MEGABYTES,
        key="file to import",
        help=f"Tables: {TABLES}. {limit}",
    )
    files = [] if upload is None else [upload]
    if right is not None:
        files += right.file_uploader(
            f"{kind.title}: a folder of documents",
            accept_multiple_files="directory",
            max_upload_size=MAX_UPLOAD_MEGABYTES,
            key="folder to import",
            help=f"Uploads the folder's Markdown, HTML, text, PDF and Word files as one zip. {limit}",
        )
    for file in files[:1]:
        try:
            if len(files) > 1:  # a folder arrives as one zip, see `components/folder.js`
                raise InputError("The folder could not be uploaded. Zip it, and upload the zip.")
            store_upload(context.store.path, context.annotator.name, file)
        except CurationError as error:
            ui.problem(error)
        else:
            _free_memory(file.file_id)
            st.rerun()


def ask_queries(context: PageContext) -> None:
    """Ask for queries as text, and import them without a file."""
    form = context.acts.form(PASTED)
    text = st.text_area(
        "Or paste queries, one per line", key=f"{PASTED} {form.key}", max_chars=MAX_PASTED_LENGTH, height=200
    )
    wait = context.find_wait(IMPORT)
    if st.button("Import these queries", type="primary", key=f"import {form.key}", disabled=bool(wait)):
        context.acts.do(form, lambda: _import_queries(context, text))
    if wait:
        ui.note(wait)


def _import_queries(context: PageContext, text: str) -> None:
    queries = [line.strip() for line in text.splitlines() if line.strip()]
    if not queries:
        raise InputError("Paste at least one query, one per line.")
    path = write_lines(context.store.path, PASTED, ({"query": query} for query in queries))
    request = QueriesRequest(str(path), PASTED, format="jsonl")
    context.start_job(IMPORT, dump_job(request, folder=str(path.parent)))


def _free_memory(file_id: str) -> None:
    """Remove an upload that is stored on disk from Streamlit's memory."""
    session = get_script_run_ctx()
    if session is not None and isinstance(session.uploaded_file_mgr, MemoryUploadedFileManager):
        session.uploaded_file_mgr.remove_file(session.session_id, file_id)
