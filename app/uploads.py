"""Files that people have uploaded and not imported yet: on disk, one a person at a time.

A file leaves the server's memory as soon as it came. It stays with its person over reloads and refusals, and
goes when they import it, replace it, or leave it for `KEPT` seconds; at the latest when the server ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple, Protocol, TypeVar

from curation.core.errors import InputError, RefusedError
from curation.operations.jobs.files import discard, is_plain, uploads_folder

LARGEST = 200
"""Megabytes of one file, and of what one person may hold."""
KEPT = 12 * 3600.0
AT_ONCE = 1_000_000
"""Bytes of plain files that are read while a page waits; a job reads more, or a packed file."""
Result = TypeVar("Result")
_lock = threading.Lock()
_held: dict[tuple[Path, str], tuple[HeldFile, float]] = {}


class UploadedBytes(Protocol):
    """A file as the browser sent it."""

    name: str
    size: int
    file_id: str

    def seek(self, place: int, /) -> int: ...

    def read(self, size: int | None = -1, /) -> bytes: ...


class HeldFile(NamedTuple):
    """A file that somebody is about to import.

    Attributes
    ----------
    name: as they named it.
    folder: holds this file alone, and what is found out about it.
    path: in that folder, or elsewhere on the server.
    identity: the upload's, so that it is taken once.
    """

    name: str
    folder: Path
    path: Path
    size: int
    identity: str


def held_file(project: Path, person: str) -> HeldFile | None:
    """The file that somebody holds, or None; what others have left for too long is removed."""
    with _lock:
        now = time.monotonic()
        for key, (file, used) in list(_held.items()):
            if now - used > KEPT or not file.folder.is_dir():
                del _held[key]
                discard(key[0], str(file.folder))
        if (project, person) not in _held:
            return None
        return _keep(project, person, _held[project, person][0])


def hold(project: Path, person: str, sent: UploadedBytes) -> HeldFile:
    """Write an uploaded file to disk, in place of the one that its person held; the same one once.

    Raises
    ------
    RefusedError: it does not fit on the disk.
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
            discard(project, str(folder))
            raise RefusedError(
                f"{file_name(sent.name)} cannot be kept on the server ({error.strerror}). Nothing was "
                "imported. Ask who runs the server to make room."
            ) from error
        return _keep(project, person, HeldFile(path.name, folder, path, sent.size, sent.file_id))


def write_unread(path: Path, sent: UploadedBytes) -> None:
    """Write an uploaded file to disk as it came.

    Raises
    ------
    OSError: it does not fit.
    """
    sent.seek(0)
    with path.open("wb") as file:
        while piece := sent.read(1 << 20):
            file.write(piece)


def small_text(sent: UploadedBytes, longest: int) -> str:
    """An uploaded text of at most `longest` bytes in UTF-8.

    Raises
    ------
    InputError: it is larger, or no UTF-8.
    """
    if sent.size > longest:
        raise InputError(
            f"The file has {sent.size:,} bytes. Expected {longest:,} at most; choose another file."
        )
    sent.seek(0)
    try:
        return sent.read().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"The file is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error


def read_now(files: Sequence[Path], read: Callable[[], Result]) -> Result | None:
    """What `read` makes of uploads that can be read while a page waits; None if a job must read them.

    These are plain text of `AT_ONCE` bytes in all. What is packed, or a sheet or Parquet, is a job's.
    """
    if sum(path.stat().st_size for path in files) > AT_ONCE or not all(map(is_plain, files)):
        return None
    return read()


def let_go(project: Path, person: str) -> None:
    """Remove what somebody holds."""
    with _lock:
        _drop(project, person)


def hand_over(project: Path, person: str) -> None:
    """Forget what somebody holds: from now on a job has it, and removes it."""
    with _lock:
        _held.pop((project, person), None)


def file_name(sent: str) -> str:
    """The last part of a name from a browser, without what a file system could take for something else."""
    last = sent.replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter for letter in last if letter.isprintable() and letter != "\0")
    return kept.lstrip(".")[-120:] or "file"


def _keep(project: Path, person: str, file: HeldFile) -> HeldFile:
    _held[project, person] = (file, time.monotonic())
    return file


def _drop(project: Path, person: str) -> None:
    dropped = _held.pop((project, person), None)
    if dropped is not None:
        discard(project, str(dropped[0].folder))
