"""Files from a browser: their systems' names, and a folder next to the project until they were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import streamlit as st

from app import ui
from app.uploads import LARGEST, UploadedBytes, file_name, write_unread
from curation.core.errors import CurationError, RefusedError
from curation.core.operation import option_of
from curation.evaluation.request import EvaluateRequest, RunFiles
from curation.evaluation.scoring.inputs.run_seconds import seconds_path
from curation.operations.jobs.uploads import uploads_folder


class UploadedFile(NamedTuple):
    """A run or answers, and the name of its system."""

    name: str
    file: UploadedBytes


def choose_files(label: str, what: str, key: str, about: str) -> list[UploadedFile]:
    """Ask for files, and for the name of the system of each.

    Parameters
    ----------
    what: whose the name is, when there is one file.
    about: which files can be read.
    """
    files = st.file_uploader(
        label, accept_multiple_files=True, max_upload_size=LARGEST, key=f"{label} {key}", help=about
    )
    chosen = []
    for number, file in enumerate(files, 1):
        asked = what if len(files) == 1 else f"{what} {number}"
        name = st.text_input(
            asked, system_name(file.name), max_chars=80, key=f"{label} name {key} {number} {file.name}"
        )
        chosen.append(UploadedFile(name.strip(), file))
    return chosen


def choose_runs(key: str) -> list[UploadedFile]:
    """Ask for run files, and for the name of the system of each."""
    return choose_files(
        "Run files",
        "Name of the system",
        key,
        "TREC runs, CSV, TSV, JSON lines or Parquet, also with gzip. One name for several files makes "
        "them runs of one system.",
    )


def choose_times(key: str) -> list[UploadedBytes]:
    """Ask for the files of times that belong to run files."""
    with st.expander("Times of the runs"):
        return list(
            st.file_uploader(
                "Files of times",
                type="json",
                accept_multiple_files=True,
                max_upload_size=LARGEST,
                key=f"times {key}",
                help="A JSON file with seconds, named as its run: bm25.json for bm25.trec. "
                "The baselines that goldgrade runs have such files.",
            )
        )


def choose_topics(topics: Callable[[], str], key: str, refusal: CurationError | None) -> UploadedBytes | None:
    """Offer the release's topics, and ask for a table of those that the runs name.

    Parameters
    ----------
    refusal: that runs were refused for want of such a table; it is shown until there is one.
    """
    about = option_of(EvaluateRequest, "topics")
    with st.expander("Runs with ids of their own", expanded=refusal is not None):
        place = st.container()
        ui.quiet(
            "A run over the release's topics has its ids. For a run over others, upload the table of id and "
            "text that it was made with."
        )
        st.download_button(
            "Download this release's topics",
            topics,
            "topics.tsv",
            "text/tab-separated-values",
            icon=":material/download:",
            on_click="ignore",
        )
        sent = st.file_uploader(about.label, max_upload_size=LARGEST, key=f"topics {key}", help=about.help)
        if refusal is not None and sent is None:
            with place:
                ui.problem(refusal)
        return sent


@contextmanager
def _room() -> Iterator[None]:
    """A disk that is full is nothing that a person at the page can correct: a sentence says whom to ask."""
    try:
        yield
    except OSError as error:
        raise RefusedError(
            f"The files cannot be kept on the server ({error.strerror}). Nothing was evaluated. Ask who runs "
            "the server to make room."
        ) from error


@_room()
def new_folder(project: Path) -> Path:
    """A folder for uploads, which `discard` removes; whatever ends a job, and the server, removes it, too."""
    return Path(mkdtemp(dir=uploads_folder(project)))


@_room()
def write_uploads(folder: Path, files: Sequence[UploadedFile]) -> RunFiles:
    """Write files into a new folder in this one; their names keep the endings by which formats are known.

    Returns name of the system and path, as parameters of a job.

    Raises
    ------
    RefusedError: they do not fit on the disk.
    """
    written = []
    inside = Path(mkdtemp(dir=folder))
    for number, one in enumerate(files):
        own = inside / str(number)
        own.mkdir()
        path = own / file_name(one.file.name)
        write_unread(path, one.file)
        written.append((one.name, str(path)))
    return tuple(written)


def unmatched_times(runs: Sequence[str], times: Sequence[UploadedBytes]) -> list[str]:
    """Sentences about files of times that are of no run file, or of several."""
    known = Counter(_times_name(run) for run in runs)
    found = []
    for name in (file_name(time.name) for time in times):
        if not known[name]:
            expected = ", ".join(sorted(filter(None, known)))
            found.append(f"{name} has the name of no run file; expected {expected or 'none'}.")
        elif known[name] > 1:
            found.append(f"{name} could be of {known[name]} run files: give these names of their own.")
    return found


@_room()
def write_times(runs: Sequence[tuple[str, str]], times: Sequence[UploadedBytes]) -> None:
    """Write files of times next to the run files that they are named as."""
    sent = {file_name(time.name): time for time in times}
    for _, run in runs:
        times_file = seconds_path(Path(run))
        if times_file is not None and times_file.name in sent:
            write_unread(times_file, sent[times_file.name])


def _times_name(run: str) -> str | None:
    times_file = seconds_path(Path(file_name(run)))
    return None if times_file is None else times_file.name


def system_name(sent: str) -> str:
    """A name for a system, from its file's."""
    return file_name(sent).partition(".")[0] or "run"
