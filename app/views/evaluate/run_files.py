"""Evaluate, the files: uploads of runs, answers and topics, each with its system's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app import ui
from app.uploads import MAX_UPLOAD_MEGABYTES, make_safe_name, write_upload
from app.views.importing.import_form import ask_column
from curation.core.errors import CurationError, RefusedError
from curation.core.request import find_option
from curation.evaluation.request import EvaluateRequest, RunFiles
from curation.ingest.preview import FilePreview, preview_file
from curation.ingest.readers.fields import RunFields, file_fields
from curation.ingest.requests import RunRequest

RUN_FILES_HELP = (
    "TREC runs, CSV, TSV, JSON lines or Parquet, also with gzip. Give several runs of one system the "
    "same name."
)
MAX_CACHED_PREVIEWS = 20
COLUMN_FIELDS = file_fields(RunFields)
"""The fields of a run whose columns people choose: query, document, rank and score."""
Uploads = Sequence[tuple[str, UploadedFile]]
"""Pairs of a system's name and its uploaded file of a run or of answers."""
RunColumns = tuple[dict[str, Any], ...]
"""Field → column, for the file of each uploaded run."""


def ask_runs(key: str) -> tuple[Uploads, RunColumns]:
    """Ask for run files, for each system's name, and for the columns of tables."""
    columns: list[dict[str, Any]] = []
    uploads = ask_files(
        "Or upload runs",
        "Name of the system",
        key,
        RUN_FILES_HELP,
        lambda file: columns.append(_ask_columns(file)),
    )
    return uploads, tuple(columns)


def _ask_columns(file: UploadedFile) -> dict[str, Any]:
    """Ask for the columns of a table; formats with fixed columns have none."""
    try:
        preview = _preview_run(file.file_id, file)
    except (CurationError, OSError):  # the evaluation reports the problems of the file
        return {}
    columns = dict(preview.fields)
    cells = [cell for _ in range(2) for cell in st.columns(2)]
    for field, cell in zip(COLUMN_FIELDS, cells, strict=True):
        if preview.columns:
            with cell:
                columns[field.name] = str(ask_column(field, preview, file.file_id))
    return columns


@st.cache_data(max_entries=MAX_CACHED_PREVIEWS, show_spinner=False)
def _preview_run(file_id: str, _file: UploadedFile) -> FilePreview:
    with TemporaryDirectory() as folder:
        path = Path(folder) / make_safe_name(_file.name)
        write_upload(path, _file)
        return preview_file(RunRequest(path=str(path)))


def ask_files(
    label: str,
    name_label: str,
    key: str,
    help_text: str,
    ask_more: Callable[[UploadedFile], object] = lambda _: None,
) -> Uploads:
    """Ask for files, and for the name of each file's system.

    Parameters
    ----------
    name_label: the label of the field for the name, such as "Name of the system".
    help_text: a sentence about the accepted file formats.
    ask_more: a function that asks further questions about a file.
    """
    key = f"{label} {key}"
    files = st.file_uploader(label, accept_multiple_files=True, max_upload_size=MAX_UPLOAD_MEGABYTES, key=key)
    ui.note(help_text)
    uploads = []
    for number, file in enumerate(files, 1):
        numbered_label = name_label if len(files) == 1 else f"{name_label} {number}"
        proposed_name = make_safe_name(file.name).partition(".")[0] or "run"
        name = st.text_input(numbered_label, proposed_name, 80, f"{key} {number} {file.name}")
        uploads.append((name.strip(), file))
        ask_more(file)
    return uploads


def ask_topics(key: str, refusal: CurationError | None) -> UploadedFile | None:
    """Ask for a table of the topics used in the runs.

    Parameters
    ----------
    refusal: the error about runs that need a table of topics; the page shows the error until a table is
        uploaded.
    """
    option = find_option(EvaluateRequest, "topics")
    with st.expander("My run uses other query ids", expanded=refusal is not None):
        container = st.container()
        ui.note(
            "Only if your run uses other query ids than this release: upload a table with each "
            "query's id and text."
        )
        upload = st.file_uploader(
            option.label, max_upload_size=MAX_UPLOAD_MEGABYTES, key=f"topics {key}", help=option.help
        )
        if refusal is not None and upload is None:
            with container:
                ui.problem(refusal)
        return upload


@contextmanager
def refuse_if_disk_full() -> Iterator[None]:
    """Turn a write error, such as a full disk, into a sentence that says whom to contact."""
    try:
        yield
    except OSError as error:
        raise RefusedError(
            f"The files could not be saved on the server ({error.strerror}). Nothing was evaluated. Ask "
            "whoever runs the server for more disk space."
        ) from error


@refuse_if_disk_full()
def write_uploads(folder: Path, files: Uploads) -> RunFiles:
    """Write files into a new subfolder; keep file extensions, because they determine the formats.

    Returns the name of the system and the path of each file, as parameters of a background job.

    Raises
    ------
    RefusedError: the files do not fit on the disk.
    """
    run_files = []
    subfolder = Path(mkdtemp(dir=folder))
    for index, (name, file) in enumerate(files):
        path = subfolder / str(index) / make_safe_name(file.name)
        path.parent.mkdir()
        write_upload(path, file)
        run_files.append((name, str(path)))
    return tuple(run_files)
