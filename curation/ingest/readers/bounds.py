"""Bounds of files: lines, texts, JSON, gzip and zip archives.

A small file can unpack to more than the memory of the machine.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from curation.ingest.readers.problems import Problems

MAX_LINE_LENGTH = 64_000_000
"""Limit of a line in bytes, and of a table's cell in characters."""
MAX_RECORD_LENGTH = 16_000_000
"""Limit of a document, topic or record in characters; its words need thirty times the memory."""
MAX_BLANK = 8_000_000
"""Limit of consecutive blank lines in bytes."""
MAX_NESTING = 100
"""Limit of nested lists and objects."""
MAX_VALUES = 1_000_000
"""Limit of the lists and objects in a JSON text; an empty list needs thirty times the memory of its
characters.
"""
MAX_UNPACKED, MAX_TIMES = 64_000_000, 40
"""Limits of a packed file: bytes that any file may unpack to, and multiple of its size for larger files. Logs
and runs unpack to 5 to 25 times their size, and lines of a run take 27 times their size in memory."""
OF_PARQUET = 3
"""Factor by which limits of Parquet are larger, because Parquet stores repeated values once."""
MAX_PARTS = 10_000
"""Limit of the files in a zip archive."""
_BOUNDED_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods that Python unpacks in bounded steps."""
_READ = 1 << 20


class OutOfBoundsError(Exception):
    """A file exceeds a bound; the message is a clause about it."""


def bounded(binary: IO[bytes]) -> io.BufferedReader:
    """Return a stream of the same bytes that raises `OutOfBoundsError` at a line or blank part that is too
    long.
    """
    return io.BufferedReader(_Bounded(binary), _READ)


class BoundedText:
    """A text that grows by parts up to a limit. A million short parts need no more memory than one
    long part.
    """

    def __init__(self, problems: Problems, what: str, most: int, way_out: str) -> None:
        self._problems, self._what, self._most, self._way_out = problems, what, most, way_out
        self._text = io.StringIO()
        self._size = 0

    def add(self, part: str) -> None:
        """Add a part at the end.

        Raises
        ------
        InputError: the text exceeds its limit; `what` names the text.
        """
        self._size += len(part)
        if self._size > self._most:
            self._problems.stop(
                f"{self._what} has more than {self._most // 10**6} MB of text; expected less", self._way_out
            )
        self._text.write(part)

    def whole(self) -> str:
        """Return the whole text."""
        return self._text.getvalue()


def record_text(problems: Problems, what: str) -> BoundedText:
    """Return an empty text for one document, topic or record; `what` names it in a refusal."""
    way_out = "Is its end missing? Fetch the file again then; else make several of it."
    return BoundedText(problems, what, MAX_RECORD_LENGTH, way_out)


class BoundedGzip(gzip.GzipFile):
    """A gzip file that raises `OutOfBoundsError` when it unpacks to more than its limit."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._most = most_unpacked(path)

    def read(self, size: int | None = -1) -> bytes:
        read = super().read(size)
        refuse_beyond(self._most, self.tell())
        return read


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive within bounds, for the duration of the context; read its parts with `read_part`.

    Raises
    ------
    OutOfBoundsError: the archive has too many parts, or their stated sizes exceed the limit.
    BadZipFile: the file is no zip archive, has two parts of one name, or a part packed by another method
        than deflate.
    """
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if len(parts) > MAX_PARTS:
            raise OutOfBoundsError(f"holds {len(parts):,} files; expected {MAX_PARTS:,} at most")
        if len({part.filename.lower() for part in parts}) < len(parts):
            raise zipfile.BadZipFile("two of its files have one name")
        if others := [part for part in parts if part.compress_type not in _BOUNDED_PACKING]:
            raise zipfile.BadZipFile(f"{others[0].filename} is not packed by deflate")
        refuse_beyond(most_unpacked(path), sum(part.file_size for part in parts))
        yield archive


def read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """Return the content of a part up to its stated size; `ZipFile.read` would unpack 2 GB first."""
    with archive.open(part) as file:
        return file.read(part.file_size)


def most_unpacked(path: Path, times: int = 1) -> int:
    """Return the number of bytes that a packed file may unpack to, multiplied by `times`."""
    return times * max(MAX_UNPACKED, MAX_TIMES * path.stat().st_size)


def refuse_beyond(most: int, unpacked: int) -> None:
    """Raise `OutOfBoundsError` if more bytes than the limit were unpacked."""
    if unpacked > most:
        raise OutOfBoundsError(f"unpacks to more than {most // 10**6:,} MB")


class _Bounded(io.RawIOBase):
    def __init__(self, binary: IO[bytes]) -> None:
        self._binary = binary
        self._line = self._blank = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = self._binary.read(min(len(buffer), _READ))
        buffer[: len(read)] = read
        self._check_bounds(read)
        return len(read)

    def close(self) -> None:
        self._binary.close()
        super().close()

    def _check_bounds(self, read: bytes) -> None:
        end = read.rfind(b"\n")
        self._line = self._line + len(read) if end < 0 else len(read) - end - 1
        self._blank = 0 if read.strip() else self._blank + len(read)
        if self._blank > MAX_BLANK:
            raise OutOfBoundsError(f"has more than {MAX_BLANK // 10**6} MB of blank lines in a row")
        if self._line > MAX_LINE_LENGTH:
            raise OutOfBoundsError(f"has a line of more than {MAX_LINE_LENGTH // 10**6} MB")


def too_deep(text: str, value: object) -> bool:
    """Return whether a value of a JSON text has more than `MAX_NESTING` nested lists and objects."""
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return False
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_NESTING:
            return True
        level = [item for value in level for item in _inner_containers(value)]
    return False


def _inner_containers(value: object) -> list[object]:
    """Return the lists and objects directly inside a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in inner if isinstance(item, dict | list)]
