"""Uploaded files, which the app writes to disk before any use and keeps until they are imported.

An uploaded file leaves the server's memory as soon as the upload is complete. The file survives reloads of
the page and refused imports. The app removes the file when the person imports or replaces the file or does
not use it for `MAX_IDLE_SECONDS`, or when the server ends.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple, TypeVar

from streamlit.runtime.uploaded_file_manager import UploadedFile

from curation.core.errors import InputError, RefusedError
from curation.operations.jobs.files import discard_upload, is_uncompressed, uploads_folder

MAX_UPLOAD_MEGABYTES = 200
"""Maximum megabytes of a file, and of all files of a person."""
MAX_IDLE_SECONDS = 12 * 3600.0
MAX_WAITING_BYTES = 1_000_000
"""Maximum bytes of plain files that the app reads while a page waits; background jobs read all others."""
Result = TypeVar("Result")
_lock = threading.Lock()
_stored_uploads: dict[tuple[Path, str], tuple[StoredUpload, float]] = {}


class StoredUpload(NamedTuple):
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


def find_stored_upload(project: Path, person: str) -> StoredUpload | None:
    """Return a person's stored upload, or None; remove uploads that have been unused for too long."""
    with _lock:
        now = time.monotonic()
        for key, (file, used_at) in list(_stored_uploads.items()):
            if now - used_at > MAX_IDLE_SECONDS or not file.folder.is_dir():
                del _stored_uploads[key]
                discard_upload(key[0], str(file.folder))
        if (project, person) not in _stored_uploads:
            return None
        return _record_use(project, person, _stored_uploads[project, person][0])


def store_upload(project: Path, person: str, upload: UploadedFile) -> StoredUpload:
    """Write an upload to disk, only once, replacing the person's previous file.

    Raises
    ------
    RefusedError: the file does not fit on the disk.
    """
    with _lock:
        previous = _stored_uploads.get((project, person))
        if previous is not None and previous[0].identity == upload.file_id:
            return previous[0]
        _remove(project, person)
        folder = Path(mkdtemp(dir=uploads_folder(project)))
        path = folder / "upload" / make_safe_name(upload.name)
        path.parent.mkdir()
        try:
            write_upload(path, upload)
        except OSError as error:
            discard_upload(project, str(folder))
            raise RefusedError(
                f"{make_safe_name(upload.name)} could not be saved on the server ({error.strerror}). "
                "Nothing was imported. Ask whoever runs the server for more disk space."
            ) from error
        return _record_use(
            project, person, StoredUpload(path.name, folder, path, upload.size, upload.file_id)
        )


def write_lines(project: Path, name: str, rows: Iterable[object]) -> Path:
    """Write rows as JSON lines to a file in a new folder of uploads; return its path."""
    path = Path(mkdtemp(dir=uploads_folder(project))) / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def write_upload(path: Path, upload: UploadedFile) -> None:
    """Write an uploaded file to disk, byte by byte as it was sent.

    Raises
    ------
    OSError: the file does not fit on the disk.
    """
    upload.seek(0)
    with path.open("wb") as file:
        while chunk := upload.read(1 << 20):
            file.write(chunk)


def read_small_text(file: UploadedFile, max_bytes: int) -> str:
    """Read an upload as text in UTF-8 of at most `max_bytes` bytes.

    Raises
    ------
    InputError: the file is too large or is not UTF-8.
    """
    if file.size > max_bytes:
        raise InputError(
            f"The file has {file.size:,} bytes. The limit is {max_bytes:,} bytes: choose a smaller file."
        )
    file.seek(0)
    try:
        return file.read().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"The file is not UTF-8 (byte {error.start}). Save the file as UTF-8.") from error


def read_if_small(files: Sequence[Path], read: Callable[[], Result]) -> Result | None:
    """Return the result of `read` if a page can wait for it; None if a background job must read the files.

    A page waits only for plain text of at most `MAX_WAITING_BYTES`. Background jobs read compressed files,
    spreadsheets and Parquet.
    """
    file_bytes = sum(path.stat().st_size for path in files)
    return read() if file_bytes <= MAX_WAITING_BYTES and all(map(is_uncompressed, files)) else None


def remove_stored_upload(project: Path, person: str) -> None:
    """Remove the file that a person uploaded and has not imported yet."""
    with _lock:
        _remove(project, person)


def hand_over_upload(project: Path, person: str) -> None:
    """Hand a person's stored upload over to a background job, which then removes the file."""
    with _lock:
        _stored_uploads.pop((project, person), None)


def make_safe_name(browser_name: str) -> str:
    """Return the last part of a file name sent by a browser, without characters that are unsafe in paths."""
    name = browser_name.replace("\\", "/").rpartition("/")[2]
    safe_name = "".join(letter for letter in name if letter.isprintable() and letter != "\0")
    return safe_name.lstrip(".")[-120:] or "file"


def _record_use(project: Path, person: str, file: StoredUpload) -> StoredUpload:
    _stored_uploads[project, person] = (file, time.monotonic())
    return file


def _remove(project: Path, person: str) -> None:
    removed = _stored_uploads.pop((project, person), None)
    if removed is not None:
        discard_upload(project, str(removed[0].folder))
