"""Limits on the size of imported files: lines, texts, JSON, gzip data and zip archives.

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
"""Greatest length of a line in bytes, and of a table's cell in characters."""
MAX_RECORD_LENGTH = 16_000_000
"""Greatest length of a document, topic or record in characters; splitting needs 30 times the memory."""
MAX_BLANK = 8_000_000
"""Greatest size of consecutive blank lines in bytes."""
MAX_NESTING = 100
"""Greatest depth of nested lists and objects in JSON."""
MAX_VALUES = 1_000_000
"""Greatest number of lists and objects in a JSON text, which need up to 30 times the text's memory."""
MAX_UNPACKED, MAX_TIMES = 64_000_000, 40
"""Limits on unpacking a file: the number of bytes that any file may unpack to, and for larger files a
multiple of the packed size. Gzipped logs and runs unpack to 5 to 25 times the packed size, and lines of a run
take 27 times their size in memory.
"""
PARQUET_FACTOR = 3
"""Factor for the unpacking limits of Parquet, which stores repeated values only once."""
MAX_PARTS = 10_000
"""Greatest number of files in a zip archive."""
BOUNDED_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods that Python unpacks in bounded steps."""
_CHUNK = 1 << 20


class OutOfBoundsError(Exception):
    """Error: a file exceeds a size limit; its message completes a sentence about the file, such as "unpacks
    to more than 2 MB"."""


def limit_lines(binary: IO[bytes]) -> io.BufferedReader:
    """Return a stream of the same bytes that raises an error at overlong lines or runs of blank lines."""
    return io.BufferedReader(_BoundedStream(binary), _CHUNK)


class BoundedText:
    """A text built from parts, up to a maximum length, without memory overhead for each part."""

    def __init__(self, problems: Problems, what: str, limit: int, way_out: str) -> None:
        self._problems, self._what, self._limit, self._way_out = problems, what, limit, way_out
        self._text = io.StringIO()
        self._size = 0

    def add(self, part: str) -> None:
        """Add a part at the end of the text.

        Raises
        ------
        InputError: the text exceeds its limit; `what` names the text.
        """
        self._size += len(part)
        if self._size > self._limit:
            self._problems.stop(
                f"{self._what} contains more than {self._limit // 10**6} MB of text", self._way_out
            )
        self._text.write(part)

    def whole(self) -> str:
        """Return the text that was built from all parts so far."""
        return self._text.getvalue()


def start_record_text(problems: Problems, what: str) -> BoundedText:
    """Return an empty text for one document, topic or record; `what` names the unit in an error."""
    way_out = "If the end of the text is missing, download the file again. Otherwise divide the text."
    return BoundedText(problems, what, MAX_RECORD_LENGTH, way_out)


class BoundedGzip(gzip.GzipFile):
    """A gzip file that raises `OutOfBoundsError` when it unpacks to more than its limit."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._limit = max_unpacked_size(path)

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        refuse_larger(self._limit, self.tell())
        return data


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive within the size limits; read its files with `read_part`.

    Raises
    ------
    OutOfBoundsError: the archive has too many files, or the stated sizes of its files exceed the limit.
    BadZipFile: the file is not a zip archive, has two files of the same name, or has a file that is not
    compressed with deflate.
    """
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if len(parts) > MAX_PARTS:
            raise OutOfBoundsError(f"contains {len(parts):,} files; expected at most {MAX_PARTS:,}")
        if len({part.filename.lower() for part in parts}) < len(parts):
            raise zipfile.BadZipFile("two files in the archive have the same name")
        if others := [part for part in parts if part.compress_type not in BOUNDED_PACKING]:
            raise zipfile.BadZipFile(f"{others[0].filename} is not compressed with deflate")
        refuse_larger(max_unpacked_size(path), sum(part.file_size for part in parts))
        yield archive


def read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """Return the content of a file in a zip archive, up to its stated size."""
    with archive.open(part) as file:
        return file.read(part.file_size)


def max_unpacked_size(path: Path, times: int = 1) -> int:
    """Return the largest allowed size of a packed file's content in bytes, multiplied by `times`."""
    return times * max(MAX_UNPACKED, MAX_TIMES * path.stat().st_size)


def refuse_larger(limit: int, unpacked: int) -> None:
    """Raise `OutOfBoundsError` if more bytes were unpacked than the limit allows."""
    if unpacked > limit:
        raise OutOfBoundsError(f"unpacks to more than {limit // 10**6:,} MB")


class _BoundedStream(io.RawIOBase):
    """A byte stream that raises `OutOfBoundsError` at a long line, or at a long run of blank lines."""

    def __init__(self, binary: IO[bytes]) -> None:
        self._binary = binary
        self._line = self._blank = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._binary.read(min(len(buffer), _CHUNK))
        buffer[: len(data)] = data
        self._check_bounds(data)
        return len(data)

    def close(self) -> None:
        self._binary.close()
        super().close()

    def _check_bounds(self, data: bytes) -> None:
        end = data.rfind(b"\n")
        self._line = self._line + len(data) if end < 0 else len(data) - end - 1
        self._blank = 0 if data.strip() else self._blank + len(data)
        if self._blank > MAX_BLANK:
            raise OutOfBoundsError(f"contains more than {MAX_BLANK // 10**6} MB of consecutive blank lines")
        if self._line > MAX_LINE_LENGTH:
            raise OutOfBoundsError(f"has a line of more than {MAX_LINE_LENGTH // 10**6} MB")


def is_too_deep(text: str, value: object) -> bool:
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
    """Return the lists and objects that are direct items of a JSON value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in inner if isinstance(item, dict | list)]
