"""Bounds of what is read: how long a line and a run of blank lines may be, and how deep a record is nested.

A packed file of a megabyte can hold a line of gigabytes. Nothing in memory grows with what is no data.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from curation.files.problems import Problems

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_LINE = 64_000_000
"""Bytes of one line, and characters of one cell of a table."""
MOST_BLANK = 8_000_000
"""Bytes of blank lines in a row."""
DEEPEST = 100
"""Lists and objects in one another."""
MOST_VALUES = 1_000_000
"""Lists and objects of a JSON text. The smallest one needs thirty times the memory of its characters."""
MOST_UNPACKED, MOST_TIMES = 200_000_000, 100
"""Bytes that any gzip or Parquet may unpack to, and how many times its own size a larger one."""
OF_A_VALUE = 50
"""Bytes that a value of Parquet takes besides its own: a kilobyte can repeat one a hundred million times."""
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


class BoundedGzip(gzip.GzipFile):
    """A gzip file that raises `OutOfBoundsError` where it unpacks to more than can be meant."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._most = _most_unpacked(path)

    def read(self, size: int | None = -1) -> bytes:
        read = super().read(size)
        _refuse_beyond(self._most, self.tell())
        return read


def refuse_large_zip(path: Path) -> None:
    """Raise where a zip archive says that it unpacks to more than can be meant; `zipfile` holds it to that.

    Raises
    ------
    OutOfBoundsError: so it is. BadZipFile: it is none.
    """
    with zipfile.ZipFile(path) as archive:
        _refuse_beyond(_most_unpacked(path), sum(part.file_size for part in archive.infolist()))


def parquet_batches(path: Path, most_rows: int, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file, so many at a time, or fewer where one value may be large.

    Raises
    ------
    OutOfBoundsError: it unpacks to more than can be meant.
    """
    import pyarrow.parquet as pq

    most = _most_unpacked(path)
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(place) for place in range(file.num_row_groups)]
        _refuse_beyond(most, sum(group.total_byte_size for group in groups))
        largest = max((_largest_row(group) for group in groups), default=1)
        unpacked = 0
        for batch in file.iter_batches(min(most_rows, max(1, most // largest)), columns=columns):
            unpacked += sum(map(_size, batch.columns))
            _refuse_beyond(most, unpacked)
            yield batch


def _largest_row(group: Any) -> int:
    """Bytes of a row, at most, where lists are of one length: a value is stored once for all that have it."""
    values = max(group.column(place).num_values for place in range(group.num_columns))
    return max(1, int(group.total_byte_size * -(-values // max(1, group.num_rows))))


def _size(column: pa.Array) -> int:
    """Bytes of the values of a column, each as often as it is meant."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(column.type):
        inner = column.flatten()
        return sum(map(_size, inner if isinstance(inner, list) else [inner]))
    if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
        lengths = pc.binary_length(column.dictionary)
        size = pc.sum(lengths.take(column.indices)).as_py() or 0
    else:
        size = column.nbytes
    return int(size) + OF_A_VALUE * len(column)


def _most_unpacked(path: Path) -> int:
    return max(MOST_UNPACKED, MOST_TIMES * path.stat().st_size)


def _refuse_beyond(most: int, unpacked: int) -> None:
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
        if self._blank > MOST_BLANK:
            raise OutOfBoundsError(f"has more than {MOST_BLANK // 10**6} MB of blank lines in a row")
        if self._line > LONGEST_LINE:
            raise OutOfBoundsError(f"has a line of more than {LONGEST_LINE // 10**6} MB")


def too_deep(text: str, value: object) -> bool:
    """Whether what was read from a JSON text has more than `DEEPEST` lists and objects in one another."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            return True
        level = [item for one in level for item in _inside(one)]
    return False


def _inside(value: object) -> list[object]:
    """The lists and objects right inside of one."""
    found = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in found if isinstance(item, dict | list)]
