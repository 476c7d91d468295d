"""A release in one file: the full export in a zip file whose members are stored as they are.

    manifest.json   names the release and each file's sum, and has a sum of itself
    release.json    the form of the file, and the sum of each part as it was frozen: these make the release id
    PART.parquet    the rows of a part (`part_tables`), without those about queries whose grades are left out

A part is compared with its sum the first time that it is read whole. One that lacks rows can be compared with
the sum of what is here alone: that those rows are the release's, the id does not prove.

Tables are compressed already. So a member that is compressed once more was not written by goldgrade, and a
table whose rows would take hundreds of times its own bytes is given up while it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.text import canonical_json
from curation.releases.packing.manifest import MANIFEST, read_manifest
from curation.releases.packing.part_tables import batch_rows, values_of
from curation.releases.release_rows import Pin, ReleaseRow, release_id_of
from curation.store import Document
from curation.store.release_parts import BATCH, PartText, batched

if TYPE_CHECKING:
    import pyarrow as pa

RELEASE = "release.json"
PACKED = 1
"""The form of these files; another one is refused."""
ADDED = ("title", "body", "url", "published", "group_key", "metadata")
"""What the table of documents has besides the part's own fields."""
MOST_TIMES, ALWAYS = 300, 16 << 20
"""A table's rows may take so many times its bytes in memory, and so many bytes in any case."""


class PartHere(NamedTuple):
    """A part's sum as it was frozen; `here` is that of the rows in the file, where rows were left out."""

    sha256: str
    lines: int
    here: str | None = None


class PackedPart(PartText):
    """The text of a part, from its table."""

    def __init__(self, rows: Callable[[], Iterator[dict[str, Any]]], expected: str, what: str) -> None:
        super().__init__()
        self._rows, self._expected, self._what = rows, expected, what
        self._checked = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Its rows; the first time they are compared with the sum, after the last one.

        Raises
        ------
        RefusedError: they differ.
        """
        found = hashlib.sha256()
        for row in self._rows():
            if not self._checked:
                found.update(f"{canonical_json(row)}\n".encode())
            yield row
        if not self._checked and found.hexdigest() != self._expected:
            raise RefusedError(f"{self._what} was altered: its rows do not have the sum of the part.")
        self._checked = True

    def pieces(self) -> Iterator[str]:
        for batch in batched(self._rows()):
            yield "".join(f"{canonical_json(row)}\n" for row in batch)


class PackedRelease:
    """A release in a file.

    Attributes
    ----------
    row: of it; who froze it and when is not in the file.
    parts: as the file says.
    texts: part → text.
    with_grades: parts of the split whose grades are in the file.

    Raises
    ------
    InputError: it cannot be read, or is no packed release.
    NotFoundError: there is no such file.
    RefusedError: it is not as it was packed, or another goldgrade packed it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise NotFoundError(
                f"There is no file {path}. A packed release is made where the project is.",
                command="`goldgrade release pack NAME FILE` does.",
            )
        try:
            self._zip = ZipFile(path)
        except BadZipFile:
            raise InputError(
                "is no packed release, or its end is missing; expected a file of `goldgrade release pack`",
                path=path,
            ) from None
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error
        self._refuse_packed_twice()
        manifest, problem = read_manifest(self._member(MANIFEST))
        if manifest is None or problem:
            raise self._altered(f"its {MANIFEST} {problem}")
        self._sums: Mapping[str, Mapping[str, Any]] = manifest["files"]
        if missing := sorted({*self._sums, MANIFEST} ^ set(self._zip.namelist())):
            raise self._altered(f"{missing[0]} is missing or was added")
        about = self._about()
        try:
            self.row = ReleaseRow(manifest["name"], manifest["release_id"], "{}", datetime.min, "")
            self.parts = {part: PartHere(**sums) for part, sums in about["parts"].items()}
            self.with_grades = tuple(about["with_grades"])
        except (KeyError, TypeError, AttributeError):
            raise self._altered(f"its {MANIFEST} or {RELEASE} does not say what is in it") from None
        if release_id_of({part: sums.sha256 for part, sums in self.parts.items()}) != self.row.release_id:
            raise self._altered("the sums of its parts do not make the release id")
        self.texts: dict[str, PartText] = {
            part: PackedPart(self._walk(part), sums.here or sums.sha256, f"{path}: the part {part}")
            for part, sums in self.parts.items()
        }

    @cached_property
    def lacking(self) -> tuple[str, ...]:
        """Parts of the release of which rows were left out."""
        return tuple(part for part, sums in self.parts.items() if sums.here)

    def problems(self) -> list[str]:
        """What is not as it was packed, a sentence for each member and part."""
        found = []
        for name in self._sums:
            try:
                self._content(name)
            except RefusedError as error:
                found.append(str(error))
        for text in self.texts.values() if not found else ():
            try:
                for _ in text:
                    pass
            except RefusedError as error:
                found.append(str(error))
        return found

    def pinned(self, pins: Sequence[Pin]) -> Iterator[tuple[Pin, Document | None]]:
        """As `release_rows.pinned_documents`; both are ordered by document id."""
        wanted = iter(pins)
        pin = next(wanted, None)
        for batch in self._batches("documents"):
            columns = (values_of(batch.column(name)) for name in Document._fields)
            for document in map(Document, *columns):
                if pin is not None and document.document_id == pin.document_id:
                    yield pin, document
                    pin = next(wanted, None)

    def _about(self) -> dict[str, Any]:
        """What `release.json` says."""
        try:
            about: dict[str, Any] = json.loads(self._content(RELEASE))
            form = about["packed"]
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"has no {RELEASE} that says what it is; expected a file of `goldgrade release pack`",
                path=self.path,
            ) from None
        if form != PACKED:
            raise RefusedError(
                f"{self.path} was packed by another goldgrade (form {form}; this one reads {PACKED}). Use "
                "that "
                "goldgrade, or pack the release again with this one."
            )
        return about

    def _walk(self, part: str) -> Callable[[], Iterator[dict[str, Any]]]:
        return lambda: (row for batch in self._batches(part) for row in self._rows_of(part, batch))

    def _rows_of(self, part: str, batch: pa.RecordBatch) -> list[dict[str, Any]]:
        try:
            return batch_rows(batch)
        except (KeyError, TypeError, ValueError):
            raise self._altered(f"the table of {part} is none that goldgrade wrote") from None

    def _batches(self, part: str) -> Iterator[pa.RecordBatch]:
        """The rows of a part's table; no batch where it has none."""
        name = f"{part}.parquet"
        if name not in self._sums:
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = self._content(name)
        left = max(MOST_TIMES * len(content), ALWAYS)
        try:
            columns = pq.read_metadata(pa.BufferReader(content)).schema
            texts = [columns.column(place).path for place in range(len(columns))]
            table = pq.ParquetFile(
                pa.BufferReader(content), read_dictionary=texts
            )  # each text once in memory
            groups = range(table.metadata.num_row_groups)
            if sum(table.metadata.row_group(group).total_byte_size for group in groups) > left:
                raise self._too_large(name)
            for batch in table.iter_batches(BATCH):
                left -= _bytes_of(batch)
                if left < 0:
                    raise self._too_large(name)
                yield batch
        except (pa.ArrowException, OSError) as error:
            raise self._altered(f"{name} cannot be read: {str(error).splitlines()[0]}") from error

    def _content(self, name: str) -> bytes:
        content = self._member(name)
        if hashlib.sha256(content).hexdigest() != self._sums.get(name, {}).get("sha256"):
            raise self._altered(f"{name} does not have the sum that the manifest names")
        return content

    def _member(self, name: str) -> bytes:
        try:
            return self._zip.read(name)
        except KeyError:
            raise InputError(
                f"has no {name}; expected a file of `goldgrade release pack`", path=self.path
            ) from None
        except (BadZipFile, EOFError, OSError, RuntimeError) as error:
            raise self._altered(f"{name} is damaged ({error})") from error

    def _refuse_packed_twice(self) -> None:
        for member in self._zip.infolist():
            if member.compress_type != ZIP_STORED or member.file_size != member.compress_size:
                raise InputError(
                    f"{member.filename} unpacks to {member.file_size:,} bytes from {member.compress_size:,}; "
                    "in a packed release files are stored as they are. Nothing was unpacked",
                    path=self.path,
                )

    def _too_large(self, name: str) -> RefusedError:
        return self._altered(f"the rows of {name} take hundreds of times its size")

    def _altered(self, what: str) -> RefusedError:
        return RefusedError(f"{self.path} is not as a release was packed: {what}. Nothing was read from it.")


def _bytes_of(batch: pa.RecordBatch) -> int:
    """What its rows take, with each text as often as it is used."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = int(batch.nbytes)
    for column in batch.columns:
        texts = column.flatten() if pa.types.is_list(column.type) else column
        if pa.types.is_dictionary(texts.type):
            size += pc.sum(pc.take(pc.binary_length(texts.dictionary), texts.indices)).as_py() or 0
    return size
