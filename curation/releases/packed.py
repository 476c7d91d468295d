"""Reading of a packed release: a zip file with a Parquet table for each part.

    manifest.json   names the release and the sum of each file (`manifest`)
    release.json    the form of the file, and the sum of each part as it was frozen: these make the release id
    PART.parquet    the rows of a part (`part_tables`), without queries whose grades are left out

A part is compared with its checksum when it is first read completely. A part without the rows of sealed
queries can only be compared with the checksum of its other rows. The release id does not prove that these
other rows belong to the release.

Parquet tables are already compressed. So goldgrade did not write a zip file that compresses the tables again,
and refuses a table whose rows would take hundreds of times its bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from curation.core.digests import canonical_json
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.releases.checksums import compute_release_id
from curation.releases.manifest import MANIFEST, read_manifest
from curation.releases.part_tables import read_batch_rows, read_values
from curation.releases.release_rows import ReleaseRow
from curation.store import Document
from curation.store.release_parts import BATCH, PartSum, PartText, batched

SUFFIX = ".goldgrade"
FORMER_SUFFIX = ".goldset"
"""Ending of the file names of packed releases that older goldgrades wrote."""

if TYPE_CHECKING:
    import pyarrow as pa

RELEASE = "release.json"
PACKED = 1
"""The version of the format of packed releases. A file with another version is refused."""
TEXT_COLUMNS = ("title", "body", "url", "published", "group_key", "metadata")
"""Columns that the table of documents has in addition to the fields of the part."""
MAX_EXPANSION = 300
"""Maximum memory of a table's rows, as a multiple of the table's bytes."""
MIN_MEMORY = 16 << 20
"""Number of bytes that the rows of any table may take."""


class PackedPart(PartText):
    """The text of a part of a packed release, made from its Parquet table."""

    def __init__(self, rows: Callable[[], Iterator[dict[str, Any]]], checksum: str, label: str) -> None:
        super().__init__()
        self._rows, self._checksum, self._label = rows, checksum, label
        self._checked = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows; after the last row of the first pass, compare all rows with the checksum.

        Raises
        ------
        RefusedError: the rows do not agree with the checksum.
        """
        sha256 = hashlib.sha256()
        for row in self._rows():
            if not self._checked:
                sha256.update(f"{canonical_json(row)}\n".encode())
            yield row
        if not self._checked and sha256.hexdigest() != self._checksum:
            raise RefusedError(f"{self._label} was altered: its rows do not have the checksum of the part.")
        self._checked = True

    def pieces(self) -> Iterator[str]:
        for batch in batched(self._rows()):
            yield "".join(f"{canonical_json(row)}\n" for row in batch)


class PackedRelease:
    """A packed release that is read from its file.

    Attributes
    ----------
    row: the name and id of the release; the file does not say who froze the release, and when.
    parts: part → its sum as it was frozen.
    row_sums: part → the sum of its rows in the file, where rows were left out.
    texts: part → text.
    with_grades: parts of the split whose grades are in the file.

    Raises
    ------
    InputError: the file cannot be read, or is not a packed release.
    NotFoundError: there is no such file.
    RefusedError: the file was altered, or a different goldgrade packed it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise NotFoundError(
                f"There is no file {path}. Pack a release on the machine that has the project.",
                command="`goldgrade export NAME --out NAME.goldgrade` packs a release.",
            )
        try:
            self._zip = ZipFile(path)
        except BadZipFile:
            raise InputError(
                "is not a packed release, or is cut off; expected a packed release", path=path
            ) from None
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error
        self._refuse_packed_twice()
        manifest, problem = read_manifest(self._read_member(MANIFEST))
        if manifest is None or problem:
            raise self._altered_error(f"its {MANIFEST} {problem}")
        self._sums: Mapping[str, Mapping[str, Any]] = manifest["files"]
        if missing := sorted({*self._sums, MANIFEST} ^ set(self._zip.namelist())):
            raise self._altered_error(f"{missing[0]} is missing or was added")
        content = self._read_content()
        try:
            self.row = ReleaseRow(manifest["name"], manifest["release_id"], "{}", datetime.min, "")
            parts = content["parts"].items()
            self.parts = {part: PartSum(sums["sha256"], sums["lines"], "") for part, sums in parts}
            self.row_sums: dict[str, str] = {part: sums["here"] for part, sums in parts if "here" in sums}
            self.with_grades = tuple(content["with_grades"])
        except (KeyError, TypeError, AttributeError):
            raise self._altered_error(f"its {MANIFEST} or {RELEASE} does not match its content") from None
        checksums = {part: sums.sha256 for part, sums in self.parts.items()}
        if compute_release_id(checksums) != self.row.release_id:
            raise self._altered_error("the checksums of its parts do not match the release id")
        self.texts: dict[str, PartText] = {
            part: PackedPart(partial(self._walk_rows, part), checksum, f"{path}: the part {part}")
            for part, checksum in (checksums | self.row_sums).items()
        }

    def find_problems(self) -> list[str]:
        """Return a sentence for each file and part that was altered since the release was packed."""
        checks: list[Callable[[], object]] = [partial(self._read_checked, name) for name in self._sums]
        return _run_checks(checks) or _run_checks(partial(deque, text, 0) for text in self.texts.values())

    def documents(self, ids: Iterable[str]) -> Iterator[tuple[str, Document | None]]:
        """Yield documents as `frozen_release.read_pinned` does, with ids in the order of the file."""
        remaining_ids = iter(ids)
        document_id = next(remaining_ids, None)
        for batch in self._read_batches("documents"):
            columns = (read_values(batch.column(name)) for name in Document._fields)
            for document in map(Document, *columns):
                if document.document_id == document_id:
                    yield document_id, document
                    document_id = next(remaining_ids, None)

    def _read_content(self) -> dict[str, Any]:
        """Read the file `release.json` in a packed release."""
        try:
            content: dict[str, Any] = json.loads(self._read_checked(RELEASE))
            packed_format = content["packed"]
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"has no {RELEASE} that describes a release; expected a packed release", path=self.path
            ) from None
        if packed_format != PACKED:
            raise RefusedError(
                f"{self.path} was packed by a different version of goldgrade (format {packed_format}; this "
                f"version reads format {PACKED}). Use that version, or pack the release again."
            )
        return content

    def _walk_rows(self, part: str) -> Iterator[dict[str, Any]]:
        for batch in self._read_batches(part):
            try:
                rows = read_batch_rows(batch)
            except (KeyError, TypeError, ValueError):
                raise self._altered_error(f"the table of {part} was not written by goldgrade") from None
            yield from rows

    def _read_batches(self, part: str) -> Iterator[pa.RecordBatch]:
        """Read the rows of a part's Parquet table in batches. A part without rows gives no batch."""
        name = f"{part}.parquet"
        if name not in self._sums:
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = self._read_checked(name)
        remaining_bytes = max(MAX_EXPANSION * len(content), MIN_MEMORY)
        try:
            columns = pq.read_metadata(pa.BufferReader(content)).schema
            texts = [columns.column(index).path for index in range(len(columns))]
            # each text once in memory
            table = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
            groups = range(table.metadata.num_row_groups)
            if sum(table.metadata.row_group(group).total_byte_size for group in groups) > remaining_bytes:
                raise self._too_large_error(name)
            for batch in table.iter_batches(BATCH):
                remaining_bytes -= _measure_memory(batch)
                if remaining_bytes < 0:
                    raise self._too_large_error(name)
                yield batch
        except (pa.ArrowException, OSError) as error:
            raise self._altered_error(f"{name} cannot be read: {str(error).splitlines()[0]}") from error

    def _read_checked(self, name: str) -> bytes:
        content = self._read_member(name)
        if hashlib.sha256(content).hexdigest() != self._sums.get(name, {}).get("sha256"):
            raise self._altered_error(f"{name} does not have the checksum that the manifest names")
        return content

    def _read_member(self, name: str) -> bytes:
        try:
            return self._zip.read(name)
        except KeyError:
            raise InputError(f"has no {name}; expected a packed release", path=self.path) from None
        except (BadZipFile, EOFError, OSError, RuntimeError) as error:
            raise self._altered_error(f"{name} is damaged ({error})") from error

    def _refuse_packed_twice(self) -> None:
        for member in self._zip.infolist():
            if member.compress_type != ZIP_STORED or member.file_size != member.compress_size:
                raise InputError(
                    f"{member.filename} unpacks to {member.file_size:,} bytes from {member.compress_size:,}; "
                    "expected files that are stored without compression. Nothing was unpacked",
                    path=self.path,
                )

    def _too_large_error(self, name: str) -> RefusedError:
        return self._altered_error(f"the rows of {name} take hundreds of times its size")

    def _altered_error(self, problem: str) -> RefusedError:
        return RefusedError(f"{self.path} was altered after it was packed: {problem}. Nothing was read.")


def _run_checks(checks: Iterable[Callable[[], object]]) -> list[str]:
    """Run checks of a file, and return the error messages of the checks that failed."""
    problems = []
    for check in checks:
        try:
            check()
        except RefusedError as error:
            problems.append(str(error))
    return problems


def _measure_memory(batch: pa.RecordBatch) -> int:
    """Compute the memory that a table's rows need, with repeated texts counted each time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = int(batch.nbytes)
    for column in batch.columns:
        texts = column.flatten() if pa.types.is_list(column.type) else column
        if pa.types.is_dictionary(texts.type):
            size += pc.sum(pc.take(pc.binary_length(texts.dictionary), texts.indices)).as_py() or 0
    return size


def is_file(reference: str) -> bool:
    """Return whether a reference to a release is a file, not a name or an id."""
    return "/" in reference or os.sep in reference or reference.endswith((SUFFIX, FORMER_SUFFIX))
