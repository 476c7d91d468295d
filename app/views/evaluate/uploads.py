"""Run files from a browser: their systems' names, and a folder that is removed once they were read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import NamedTuple, Protocol

import streamlit as st

from curation.evaluation.inputs.system_runs import RunSource

LARGEST = 200
"""Megabytes of one file."""
AT_ONCE = 1_000_000
"""Bytes of all files that are evaluated while the page waits; more is a job."""
FOLDER = "goldset-runs-"


class Uploaded(Protocol):
    """A file as the browser sent it."""

    name: str
    size: int

    def getvalue(self) -> bytes: ...


class UploadedRun(NamedTuple):
    """A file, and the name of its system."""

    name: str
    file: Uploaded


def choose_runs(key: str) -> list[UploadedRun]:
    """Let people choose run files and name their systems.

    Parameters
    ----------
    key: of the widgets; another one makes them empty.
    """
    files = st.file_uploader(
        "Run files",
        accept_multiple_files=True,
        max_upload_size=LARGEST,
        key=f"files {key}",
        help="TREC runs, CSV, TSV, JSON lines or Parquet, also with gzip. One name for several files makes "
        "them runs of one system.",
    )
    runs = []
    for number, file in enumerate(files, 1):
        label = "Name of the system" if len(files) == 1 else f"Name of system {number}"
        name = st.text_input(
            label, system_name(file.name), max_chars=80, key=f"name {key} {number} {file.name}"
        )
        runs.append(UploadedRun(name.strip(), file))
    return runs


def remove_uploads(folder: str) -> None:
    """Remove what a job that was stopped has left."""
    if Path(folder).name.startswith(FOLDER):
        rmtree(folder, ignore_errors=True)


def write_uploads(runs: Sequence[UploadedRun]) -> tuple[Path, list[RunSource]]:
    """Write the files into a new folder; their names keep the endings by which formats are known."""
    folder = Path(mkdtemp(prefix=FOLDER))
    sources = []
    try:
        for number, run in enumerate(runs):
            own = folder / str(number)
            own.mkdir()
            path = own / file_name(run.file.name)
            path.write_bytes(run.file.getvalue())
            sources.append(RunSource(run.name, path))
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    return folder, sources


def file_name(sent: str) -> str:
    """The last part of a name from a browser, without what a file system could take for something else."""
    last = sent.replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter for letter in last if letter.isprintable() and letter != "\0")
    return kept.lstrip(".")[-120:] or "run"


def system_name(sent: str) -> str:
    """A name for a system, from its file's."""
    return file_name(sent).partition(".")[0] or "run"
