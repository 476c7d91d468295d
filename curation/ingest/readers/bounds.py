"""The bounds of what is read: lines, texts, JSON, gzip and zip archives.

A small file can unpack to more than the machine has.
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
"""Bytes of one line, and characters of one cell of a table."""
MAX_RECORD_LENGTH = 16_000_000
"""Characters of a document, topic or record. Taken apart into its words, it needs thirty times the memory."""
MAX_BLANK = 8_000_000
"""Bytes of blank lines in a row."""
MAX_NESTING = 100
"""Lists and objects in one another."""
MAX_VALUES = 1_000_000
"""Lists and objects of a JSON text. The smallest one needs thirty times the memory of its characters."""
MAX_UNPACKED, MAX_TIMES = 64_000_000, 40
"""Bytes that any gzip or zip may unpack to, and how many times its own size a larger one. Logs and runs
unpack to 5 to 25 times theirs, and lines of a run take 27 times theirs in memory."""
OF_PARQUET = 3
"""Bounds of Parquet are so many times larger: it stores a value once, however often it is meant."""
MAX_PARTS = 10_000
"""Files in a zip archive."""
_BOUNDED_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Python unpacks others by whole blocks, however much is in them."""
_READ = 1 << 20


class OutOfBoundsError(Exception):
    """The file is not one that can be meant; the message is a part of a sentence."""


def bounded(binary: IO[bytes]) -> io.BufferedReader:
    """A stream of the same bytes that raises `OutOfBoundsError` where a line or a blank part is too long."""
    return io.BufferedReader(_Bounded(binary), _READ)


class BoundedText:
    """A text that grows by parts up to a bound. A million short parts need no more memory than a long one."""

    def __init__(self, problems: Problems, what: str, most: int, way_out: str) -> None:
        self._problems, self._what, self._most, self._way_out = problems, what, most, way_out
        self._text = io.StringIO()
        self._size = 0

    def add(self, part: str) -> None:
        """Put a part at the end.

        Raises
        ------
        InputError: the text has more than the characters that it may have; `what` names it.
        """
        self._size += len(part)
        if self._size > self._most:
            self._problems.stop(
                f"{self._what} has more than {self._most // 10**6} MB of text; expected less", self._way_out
            )
        self._text.write(part)

    def whole(self) -> str:
        """All that was added."""
        return self._text.getvalue()


def record_text(problems: Problems, what: str) -> BoundedText:
    """Return an empty text for one document, topic or record; `what` names it in a refusal."""
    way_out = "Is its end missing? Fetch the file again then; else make several of it."
    return BoundedText(problems, what, MAX_RECORD_LENGTH, way_out)


class BoundedGzip(gzip.GzipFile):
    """A gzip file that raises `OutOfBoundsError` where it unpacks to more than can be meant."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._most = most_unpacked(path)

    def read(self, size: int | None = -1) -> bytes:
        read = super().read(size)
        refuse_beyond(self._most, self.tell())
        return read


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip archive within bounds; read each part by `read_part`, which holds it to the size that it says.

    Raises
    ------
    OutOfBoundsError: it has too many parts, or says that they unpack to more than can be meant.
    BadZipFile: it is no zip archive, has two parts of one name, or one that is packed otherwise than by
        deflate.
    """
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if len(parts) > MAX_PARTS:
            raise OutOfBoundsError(f"holds {len(parts):,} files; expected {MAX_PARTS:,} at most")
        if len({part.filename.lower() for part in parts}) < len(parts):
            raise zipfile.BadZipFile("two of its files have one name")
        if others := [part for part in parts if part.compress_type not in _BOUNDED_PACKING]:
            raise zipfile.BadZipFile(f"{others[0].filename} is packed otherwise than by deflate")
        refuse_beyond(most_unpacked(path), sum(part.file_size for part in parts))
        yield archive


def read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """The content of a part: never more than it says that it has, where `ZipFile.read` unpacks 2 GB first."""
    with archive.open(part) as file:
        return file.read(part.file_size)


def most_unpacked(path: Path, times: int = 1) -> int:
    """Bytes that a packed file of this size may unpack to; or so many times as many."""
    return times * max(MAX_UNPACKED, MAX_TIMES * path.stat().st_size)


def refuse_beyond(most: int, unpacked: int) -> None:
    """Raise `OutOfBoundsError` where more is unpacked than that."""
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
        self._check(read)
        return len(read)

    def close(self) -> None:
        self._binary.close()
        super().close()

    def _check(self, read: bytes) -> None:
        end = read.rfind(b"\n")
        self._line = self._line + len(read) if end < 0 else len(read) - end - 1
        self._blank = 0 if read.strip() else self._blank + len(read)
        if self._blank > MAX_BLANK:
            raise OutOfBoundsError(f"has more than {MAX_BLANK // 10**6} MB of blank lines in a row")
        if self._line > MAX_LINE_LENGTH:
            raise OutOfBoundsError(f"has a line of more than {MAX_LINE_LENGTH // 10**6} MB")


def too_deep(text: str, value: object) -> bool:
    """Whether what was read from a JSON text has more than `MAX_NESTING` lists and objects in one another."""
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return False
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_NESTING:
            return True
        level = [item for value in level for item in _inside(value)]
    return False


def _inside(value: object) -> list[object]:
    """The lists and objects right inside of one."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in inner if isinstance(item, dict | list)]
