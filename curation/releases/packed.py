"""A release in one file: its tables as Parquet in a zip file, written and read.

    manifest.json   names the release and each file's sum, and has a sum of itself
    release.json    the form of the file, and the sum of each part as it was frozen: these make the release id
    PART.parquet    the rows of a part, without those about queries whose grades are left out

A part is compared with its sum the first time that it is read whole. A part that lacks rows can only be
compared with the sum of the rows that are here: the id does not prove that those rows are the release's.

Tables are compressed already. So a member that is compressed once more was not written by goldgrade, and a
table whose rows would take hundreds of times its own bytes is given up while it is read.

In a part's table, texts, numbers and lists of texts are columns of their type. Everything else, such as the
votes of a pair, is a column of JSON texts. A field that some rows lack is null there; one that also has nulls
of its own is JSON. A field's metadata says which it is, and whether it was added to the part, as a document's
text is. The rows are walked twice: types follow from all of them. The same rows give the same bytes.

The manifest, of this and of all exports, names the release and the sum of each file. Its text is a function
of what it says (sorted keys, two spaces, one line feed at the end), so that not a space in it can change
unseen: `sum` is the SHA-256 of the canonical JSON of all else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from curation.core.digests import canonical_json
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.releases.release_id import release_id_of
from curation.releases.release_rows import ReleaseRow
from curation.store import Document
from curation.store.release_parts import BATCH, PartSum, PartText, batched

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "manifest.json"
RELEASE = "release.json"
PACKED = 1
"""The form of these files; another one is refused."""
TEXT_COLUMNS = ("title", "body", "url", "published", "group_key", "metadata")
"""What the table of documents has besides the part's own fields."""
MAX_TIMES, ALWAYS = 300, 16 << 20
"""A table's rows may take so many times its bytes in memory, and so many bytes in any case."""
Row = Mapping[str, Any]
FORM, ABSENT, ADDED = b"goldset", b"goldset_absent", b"goldset_added"
"""Keys of a field's metadata: 'json' or 'plain'; whether null is a missing field; whether it was added."""
NUMBERS = {"traffic": int, "inclusion_probability": float, "rank": int, "score": float, "confidence": float}
"""Columns of numbers that may be empty in a whole release → their type."""
_MISSING = object()
_LARGEST = 2**63


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
        sha256 = hashlib.sha256()
        for row in self._rows():
            if not self._checked:
                sha256.update(f"{canonical_json(row)}\n".encode())
            yield row
        if not self._checked and sha256.hexdigest() != self._expected:
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
    parts: part → its sum as it was frozen. here: part → the sum of its rows in the file, where rows were
        left out.
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
                command="`goldgrade export NAME --out NAME.goldgrade` does.",
            )
        try:
            self._zip = ZipFile(path)
        except BadZipFile:
            raise InputError(
                "is no packed release, or its end is missing; expected a packed release", path=path
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
            parts = about["parts"].items()
            self.parts = {part: PartSum(sums["sha256"], sums["lines"], "") for part, sums in parts}
            self.here: dict[str, str] = {part: sums["here"] for part, sums in parts if "here" in sums}
            self.with_grades = tuple(about["with_grades"])
        except (KeyError, TypeError, AttributeError):
            raise self._altered(f"its {MANIFEST} or {RELEASE} does not say what is in it") from None
        if release_id_of({part: sums.sha256 for part, sums in self.parts.items()}) != self.row.release_id:
            raise self._altered("the sums of its parts do not make the release id")
        self.texts: dict[str, PartText] = {
            part: PackedPart(self._walk(part), self.here.get(part, sums.sha256), f"{path}: the part {part}")
            for part, sums in self.parts.items()
        }

    def problems(self) -> list[str]:
        """What is not as it was packed, a sentence for each member and part."""
        problems = []
        for name in self._sums:
            try:
                self._content(name)
            except RefusedError as error:
                problems.append(str(error))
        for text in self.texts.values() if not problems else ():
            try:
                for _ in text:
                    pass
            except RefusedError as error:
                problems.append(str(error))
        return problems

    def documents(self, ids: Iterable[str]) -> Iterator[tuple[str, Document | None]]:
        """As `release_rows.pinned_documents`; ids are ordered as in the file."""
        wanted = iter(ids)
        document_id = next(wanted, None)
        for batch in self._batches("documents"):
            columns = (values_of(batch.column(name)) for name in Document._fields)
            for document in map(Document, *columns):
                if document.document_id == document_id:
                    yield document_id, document
                    document_id = next(wanted, None)

    def _about(self) -> dict[str, Any]:
        """What `release.json` says."""
        try:
            about: dict[str, Any] = json.loads(self._content(RELEASE))
            form = about["packed"]
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"has no {RELEASE} that says what it is; expected a packed release", path=self.path
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
            raise self._altered(f"the table of {part} was not written by goldgrade") from None

    def _batches(self, part: str) -> Iterator[pa.RecordBatch]:
        """The rows of a part's table; no batch where it has none."""
        name = f"{part}.parquet"
        if name not in self._sums:
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = self._content(name)
        left = max(MAX_TIMES * len(content), ALWAYS)
        try:
            columns = pq.read_metadata(pa.BufferReader(content)).schema
            texts = [columns.column(index).path for index in range(len(columns))]
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
            raise InputError(f"has no {name}; expected a packed release", path=self.path) from None
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


def write_part(path: Path, rows: Iterable[Row], added: Iterable[str] = ()) -> int:
    """Write the rows, which can be walked twice, and return their number; no file without a row.

    added: fields that the part does not have.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(rows, frozenset(added))
    if schema is None:
        return 0
    written = 0
    with pq.ParquetWriter(path, schema, compression="zstd", version="2.6") as writer:
        for batch in batched(rows):
            columns = [[_cell(row.get(field.name, _MISSING), field) for row in batch] for field in schema]
            arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            written += len(batch)
    return written


def batch_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a batch of such a table as the part has them, without what was added."""
    fields = [field for field in batch.schema if ADDED not in field.metadata]
    columns = [values_of(batch.column(field.name)) for field in fields]
    for index, field in enumerate(fields):
        if field.metadata[FORM] == b"json":
            columns[index] = [_MISSING if text is None else json.loads(text) for text in columns[index]]
        elif ABSENT in field.metadata:
            columns[index] = [_MISSING if value is None else value for value in columns[index]]
    names = [field.name for field in fields]
    return [
        {name: value for name, value in zip(names, values, strict=True) if value is not _MISSING}
        for values in zip(*columns, strict=True)
    ]


def values_of(column: pa.Array) -> list[Any]:
    """The values of a column; of a dictionary they are sixteen times slower one by one."""
    import pyarrow as pa

    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    values: list[Any] = plain.to_pylist()
    return values


def _schema(rows: Iterable[Row], added: frozenset[str]) -> pa.Schema | None:
    """The columns by name, ids first; None without a row."""
    import pyarrow as pa

    kinds: dict[str, set[Any]] = {}
    count: dict[str, int] = {}
    total = 0
    for row in rows:
        total += 1
        for name, value in row.items():
            kinds.setdefault(name, set()).add(_kind(value))
            count[name] = count.get(name, 0) + 1
    names = sorted(kinds, key=lambda name: (name in added, not name.endswith("_id"), name))
    fields = [_field(name, kinds[name], count[name] < total, name in added) for name in names]
    return pa.schema(fields) if total else None


def _kind(value: Any) -> Any:
    """The type of a value that is a column's; list of texts as [str]; other values are JSON."""
    if isinstance(value, list):
        return "texts" if all(type(item) is str for item in value) else "json"
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        return "json"
    return type(value) if value is None or isinstance(value, str | int | float) else "json"


def _field(name: str, kinds: set[Any], lacking: bool, added: bool) -> pa.Field:
    import pyarrow as pa

    types: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    types |= {bool: pa.bool_(), "texts": pa.list_(pa.string())}
    with_null = type(None) in kinds
    known = kinds - {type(None)} or {NUMBERS.get(name, str)}
    column_type = types.get(next(iter(known))) if len(known) == 1 and not (lacking and with_null) else None
    metadata = {FORM: b"plain" if column_type else b"json"}
    metadata |= {ABSENT: b"1"} if lacking and column_type else {}
    metadata |= {ADDED: b"1"} if added else {}
    return pa.field(name, column_type or pa.string(), metadata=metadata)


def _cell(value: Any, field: pa.Field) -> Any:
    if value is _MISSING:
        return None
    return canonical_json(value) if field.metadata[FORM] == b"json" else value


def manifest_text(contents: Mapping[str, Any]) -> str:
    """The file's text; its `sum` is computed, whatever the contents say."""
    rest = {name: value for name, value in contents.items() if name != "sum"}
    whole = rest | {"sum": hashlib.sha256(canonical_json(rest).encode("utf-8")).hexdigest()}
    return f"{json.dumps(whole, ensure_ascii=False, indent=2, sort_keys=True)}\n"


def read_manifest(content: bytes) -> tuple[dict[str, Any] | None, str]:
    """What the manifest tells, None if it tells nothing; and what is wrong with it, '' for nothing."""
    try:
        text = content.decode("utf-8")
        manifest = json.loads(text)
    except UnicodeDecodeError as error:
        return None, f"was altered: byte {error.start + 1:,} is not UTF-8; nothing else could be looked at"
    except ValueError as error:
        return None, f"was altered: it is no JSON any more ({error}); nothing else could be looked at"
    if not _is_manifest(manifest):
        return None, "was altered: it does not tell which files there are; nothing else could be looked at"
    agrees = manifest_text(manifest) == text
    return manifest, "" if agrees else "was altered: it does not agree with its own sum"


def _is_manifest(manifest: Any) -> bool:
    files = manifest.get("files") if isinstance(manifest, dict) else None
    return isinstance(files, dict) and all(
        isinstance(entry, dict) and _inside(name) for name, entry in files.items()
    )


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts
