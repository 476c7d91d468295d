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
from curation.operations.jobs.uploads import discard, is_plain, uploads_folder

LARGEST = 200
"""Megabytes of one file, and of what one person may hold."""
KEPT = 12 * 3600.0
AT_ONCE = 1_000_000
"""Bytes of plain files that are read while a page waits; of more, or of a packed one, a job is begun."""
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
    folder: of this file alone; what is found out about it is kept there, too.
    path: in that folder, or elsewhere on the server.
    identity: of the upload, so that it is taken once.
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
        for key, (one, used) in list(_held.items()):
            if now - used > KEPT or not one.folder.is_dir():
                del _held[key]
                discard(key[0], str(one.folder))
        found = _held.get((project, person))
        if found is not None:
            _held[project, person] = (found[0], now)
        return found and found[0]


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
        folder = _new_folder(project)
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
    """What `read` makes of uploads that can be read while a page waits; None where a job must read them.

    These are plain text of `AT_ONCE` bytes in all. What is packed, or a sheet or Parquet, is a job's.
    """
    if sum(path.stat().st_size for path in files) > AT_ONCE or not all(map(is_plain, files)):
        return None
    return read()


def hold_on_server(project: Path, person: str, path: Path, name: str) -> HeldFile:
    """Hold a file that is on the server already; it is read where it is, and never removed."""
    with _lock:
        _drop(project, person)
        size = path.stat().st_size
        return _keep(project, person, HeldFile(name, _new_folder(project), path, size, str(path)))


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


def allowed_files(folder: Path, most: int = 500) -> list[str]:
    """Names of the files below a folder, by path; hidden ones and links that lead out are not listed."""
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") for part in parts) or not path.is_file():
            continue
        if folder.resolve() in path.resolve().parents:
            found.append("/".join(parts))
        if len(found) == most:
            break
    return found


def allowed_file(folder: Path, name: str) -> Path:
    """The file of that name below a folder, with no link in its path.

    Raises
    ------
    InputError: there is none, or it is elsewhere.
    """
    root = folder.resolve()
    path = (root / name).resolve()
    if root not in path.parents:
        raise InputError(f"{name} is not below the folder from which files may be imported.")
    if not path.exists():
        raise InputError(f"There is no file {name} in the folder from which files may be imported.")
    return path


def _new_folder(project: Path) -> Path:
    return Path(mkdtemp(dir=uploads_folder(project)))


def _keep(project: Path, person: str, one: HeldFile) -> HeldFile:
    _held[project, person] = (one, time.monotonic())
    return one


def _drop(project: Path, person: str) -> None:
    found = _held.pop((project, person), None)
    if found is not None:
        discard(project, str(found[0].folder))
