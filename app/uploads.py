"""Uploads: files that people have uploaded but not yet imported, stored on disk, one file for each person.

An uploaded file leaves the server's memory as soon as the upload is complete. The file survives reloads of
the page and refused imports. The app removes the file when the person imports or replaces the file or does
not use it for `KEPT` seconds, or when the server ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple, TypeVar

from streamlit.runtime.uploaded_file_manager import UploadedFile

from curation.core.errors import InputError, RefusedError
from curation.operations.jobs.files import discard_upload, is_uncompressed, uploads_folder

LARGEST = 200
"""Maximum megabytes of a file, and of all files of a person."""
KEPT = 12 * 3600.0
AT_ONCE = 1_000_000
"""Maximum bytes of a plain file that the app reads while a page waits; a background job reads larger files
and compressed files.
"""
Result = TypeVar("Result")
_lock = threading.Lock()
_held: dict[tuple[Path, str], tuple[HeldFile, float]] = {}


class HeldFile(NamedTuple):
    """A stored upload that a person is about to import.

    Attributes
    ----------
    name: the name that the person gave to the file.
    folder: the folder of this file and of the findings about it.
    path: the path of the file, in this folder or elsewhere on the server.
    identity: the id of the upload, so that an upload is stored only once.
    """

    name: str
    folder: Path
    path: Path
    size: int
    identity: str


def held_file(project: Path, person: str) -> HeldFile | None:
    """Return the stored upload of a person, or None; remove uploads that were unused for too long."""
    with _lock:
        now = time.monotonic()
        for key, (file, used) in list(_held.items()):
            if now - used > KEPT or not file.folder.is_dir():
                del _held[key]
                discard_upload(key[0], str(file.folder))
        if (project, person) not in _held:
            return None
        return _keep(project, person, _held[project, person][0])


def hold(project: Path, person: str, sent: UploadedFile) -> HeldFile:
    """Write an upload to disk, only once, in place of the person's previous file.

    Raises
    ------
    RefusedError: the file does not fit on the disk.
    """
    with _lock:
        before = _held.get((project, person))
        if before is not None and before[0].identity == sent.file_id:
            return before[0]
        _drop(project, person)
        folder = Path(mkdtemp(dir=uploads_folder(project)))
        path = folder / "upload" / file_name(sent.name)
        path.parent.mkdir()
        try:
            write_unread(path, sent)
        except OSError as error:
            discard_upload(project, str(folder))
            raise RefusedError(
                f"{file_name(sent.name)} cannot be kept on the server ({error.strerror}). Nothing was "
                "imported. Ask the operator of the server for more disk space."
            ) from error
        return _keep(project, person, HeldFile(path.name, folder, path, sent.size, sent.file_id))


def write_unread(path: Path, sent: UploadedFile) -> None:
    """Write an upload to disk unchanged.

    Raises
    ------
    OSError: the file does not fit on the disk.
    """
    sent.seek(0)
    with path.open("wb") as file:
        while piece := sent.read(1 << 20):
            file.write(piece)


def read_small_text(sent: UploadedFile, longest: int) -> str:
    """Read an upload as text in UTF-8 of at most `longest` bytes.

    Raises
    ------
    InputError: the file is too large or is not UTF-8.
    """
    if sent.size > longest:
        raise InputError(
            f"The file has {sent.size:,} bytes. Expected {longest:,} at most; choose another file."
        )
    sent.seek(0)
    try:
        return sent.read().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"The file is not UTF-8 (byte {error.start}). Save the file as UTF-8.") from error


def read_now(files: Sequence[Path], read: Callable[[], Result]) -> Result | None:
    """Return the result of `read` if a page can wait for the uploads to be read; None if a job must read
    them.

    A page waits only for plain text of at most `AT_ONCE` bytes. Background jobs read compressed files,
    spreadsheets and Parquet.
    """
    if sum(path.stat().st_size for path in files) > AT_ONCE or not all(map(is_uncompressed, files)):
        return None
    return read()


def let_go(project: Path, person: str) -> None:
    """Remove the stored upload of a person."""
    with _lock:
        _drop(project, person)


def hand_over(project: Path, person: str) -> None:
    """Hand the stored upload of a person over to a background job, which removes the file."""
    with _lock:
        _held.pop((project, person), None)


def file_name(sent: str) -> str:
    """Return the last part of a file's name from a browser, without characters that are unsafe in paths."""
    last = sent.replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter for letter in last if letter.isprintable() and letter != "\0")
    return kept.lstrip(".")[-120:] or "file"


def _keep(project: Path, person: str, file: HeldFile) -> HeldFile:
    _held[project, person] = (file, time.monotonic())
    return file


def _drop(project: Path, person: str) -> None:
    dropped = _held.pop((project, person), None)
    if dropped is not None:
        discard_upload(project, str(dropped[0].folder))
