"""The import of a corpus that stays in its files: all of it is read, and ids, hashes and places are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from curation.errors import InputError, RefusedError
from curation.files.fields import CorpusFields
from curation.files.formats import FileLayout
from curation.files.records import Records
from curation.files.storage import Storage, StoredFile, storage_at
from curation.progress import Progress, silent
from curation.sources.corpus import (
    AGAIN,
    TWO_TEXTS,
    CorpusImport,
    Taken,
    columns_of,
    put_in_force,
    read_documents,
)
from curation.sources.left.reading import LeftFile, add_versions
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Document,
    Store,
    append,
    append_rows,
    get_setting,
    put_setting,
    record_event,
    utc_now,
)
from curation.store.documents import HELD, is_held, version_hashes
from curation.text import ListDigest, canonical_json, digest, file_digest

READ = (".parquet", ".pq", ".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz")
"""How files end that a corpus may stay in."""
OTHERS = "files that are neither Parquet nor JSON"
SHOWN = 100
"""Documents of the first file whose texts are taken in: the guide is tried on them."""


@dataclass
class _Left(Taken):
    """What a file says: the place of each document, and the texts of those that the project needs."""

    needed: frozenset[str] = frozenset()
    shown: int = 0
    rows: list[int] = field(default_factory=list)

    def keep(self, document: Document, number: int) -> None:
        self.rows.append(number)
        if document.document_id in self.needed or len(self.rows) <= self.shown:
            super().keep(document, number)


class _Read(NamedTuple):
    """A file that was read: its row in the manifest, and the columns of `left_documents`."""

    file: LeftFile
    documents: pa.Table


def leave_corpus(
    store: Store,
    location: str | Path,
    fields: CorpusFields | None = None,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
) -> CorpusImport:
    """Make the documents of a folder, a file or an address the project's corpus, and leave the texts there.

    The snapshot is that of a copied import. Texts of candidates, and of the first `SHOWN`, are taken in.

    Raises
    ------
    InputError: a file cannot be read, a field is missing, or an id has two different texts.
    RefusedError: another process changed the corpus meanwhile.
    """
    storage = storage_at(location)
    files, left_out = _files(storage)
    with store.reading() as cursor:
        before, known = get_setting(cursor, "corpus"), version_hashes(cursor)
        pooled = cursor.execute("SELECT DISTINCT document_id FROM candidates").fetchall()
    needed = frozenset(one for (one,) in pooled)
    taken, read = list[_Left](), list[_Read]()
    for file in files:
        said = _Left([Path(file.name)], known, needed=needed, shown=0 if taken else SHOWN)
        read.append(_read(storage, file, fields or CorpusFields(), layout or FileLayout(), said, progress))
        taken.append(said)
    versions = _versions(read)
    found = _found(versions, taken, left_out)
    with store.transaction(appends=True, large=True) as cursor:
        if get_setting(cursor, "corpus") != before:
            raise RefusedError("Another import changed the corpus meanwhile; nothing was written. Try again.")
        found = _compared(cursor, before, versions, found)
        _write(cursor, storage.location, found.snapshot, versions, read, taken)
        detail = {"source": storage.location, "left": True, "snapshot": found.snapshot, "added": found.added}
        detail |= {"changed": found.changed, "removed": found.removed, "left_out": found.left_out}
        record_event(cursor, "import corpus", detail, author)
    return found


def _files(storage: Storage) -> tuple[list[StoredFile], dict[str, int]]:
    """The files that can be read, and how many others there are; of a BEIR folder its corpus."""
    every = storage.files()
    beir = [one for one in every if one.name in ("corpus.jsonl", "corpus.jsonl.gz")]
    if beir:
        return beir[:1], {}
    files = [one for one in every if (one.name or storage.location).lower().endswith(READ)]
    if not files:
        raise InputError(
            ["holds neither Parquet nor JSON, in which a corpus may stay"], path=storage.location
        )
    left_out = {OTHERS: len(every) - len(files)}
    return files, {reason: count for reason, count in left_out.items() if count}


def _read(
    storage: Storage,
    file: StoredFile,
    asked: CorpusFields,
    layout: FileLayout,
    said: _Left,
    progress: Progress,
) -> _Read:
    version = storage.version(file)
    with storage.on_disk(file) as path:
        checksum = version if storage.is_local else file_digest(path)
        records = Records(path, layout, progress)
        read_documents(records, asked, said)
        said.pack()
        groups = _row_groups(path) if records.format == "parquet" else []
    reading = canonical_json({"fields": asdict(said.fields[0]), "layout": layout._asdict()})
    file_id = digest("left file", storage.location, file.name, version, reading)
    columns = {
        "file_id": pa.repeat(file_id, len(said.rows)),
        "row": pa.array(said.rows, pa.int32()),
        "document_id": pa.array(said.versions, pa.string()),
        "content_hash": pa.array([one.version for one in said.versions.values()], pa.string()),
    }
    said.versions.clear()
    left = LeftFile(file_id, storage.location, file.name, file.size, version, checksum, reading, groups)
    return _Read(left, pa.table(columns))


def _row_groups(path: Path) -> list[int]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return [file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)]


def _versions(read: Sequence[_Read]) -> pa.Table:
    """The columns document_id and content_hash of all files, each document once and by id.

    Raises
    ------
    InputError: an id has another content in another file.
    """
    every = pa.concat_tables(one.documents.select(_VERSION) for one in read)
    versions = every.group_by(_VERSION).aggregate([]).sort_by("document_id")
    counted = versions.group_by("document_id").aggregate([([], "count_all")])
    twice = counted.filter(pc.greater(counted["count_all"], 1)).sort_by("document_id")["document_id"]
    if len(twice):
        raise InputError([_where(one, read) for one in twice[: InputError.SHOWN]], way_out=TWO_TEXTS)
    return versions


def _where(document_id: pa.Scalar, read: Sequence[_Read]) -> str:
    held = [one.file.name for one in read if pc.index(one.documents["document_id"], document_id).as_py() >= 0]
    return f"The document {document_id.as_py()!r} has another content in {held[0]} than in {held[-1]}."


def _found(versions: pa.Table, taken: Sequence[_Left], left_out: Mapping[str, int]) -> CorpusImport:
    """What the files hold, not yet compared with the corpus in force."""
    snapshot = ListDigest()  # as `snapshot_id_of`, with little of it as Python's texts at once
    for batch in versions.to_batches(10_000):
        for version in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            snapshot.add(version)
    without = sum((said.left_out for said in taken), Counter(left_out))
    without[AGAIN] += sum(len(said.rows) for said in taken) - len(versions)
    return CorpusImport(
        *(snapshot.value(), len(versions), True, 0, 0, 0, 0),
        fields=taken[0].fields[0],
        left_out=dict(+without),
        replaced=dict(sum((said.replaced for said in taken), Counter[str]())),
        without_text=sum(said.without_text for said in taken),
    )


def _compared(cursor: Cursor, before: str | None, versions: pa.Table, found: CorpusImport) -> CorpusImport:
    """With the figures against the snapshot in force before."""
    cursor.register("left_versions", versions)
    added, unchanged, old = cursor.execute(_COMPARED, [before, before]).fetchall()[0]
    cursor.unregister("left_versions")
    kept, is_new = len(versions) - added, found.snapshot != before
    changes = {"changed": kept - unchanged, "removed": old - kept}
    return replace(found, is_new=is_new, added=added, unchanged=unchanged, **changes)


def _write(
    cursor: Cursor,
    location: str,
    snapshot: str,
    versions: pa.Table,
    read: Sequence[_Read],
    taken: Sequence[_Left],
) -> None:
    """Put the documents of the files in force."""
    for file, documents in read:
        if not cursor.execute("SELECT 1 FROM left_files WHERE file_id = ?", [file.file_id]).fetchall():
            append_rows(cursor, "left_files", [file], documents=len(documents))
            append(cursor, "left_documents", columns_of(documents))
    for batch in (batch for said in taken for batch in said.batches):
        add_versions(cursor, batch)
    put_in_force(cursor, snapshot, versions, location)
    now = utc_now()
    append_rows(cursor, "left_snapshots", [(snapshot, one.file.file_id, now) for one in read], _MANIFEST)
    if is_held(cursor):
        put_setting(cursor, HELD, "")


_VERSION = ["document_id", "content_hash"]
_MANIFEST = ("snapshot_id", "file_id", "imported_at")
_COMPARED = """
SELECT count(*) FILTER (s.document_id IS NULL), count(*) FILTER (s.content_hash = v.content_hash),
       (SELECT count(*) FROM snapshot_documents WHERE snapshot_id = ?)
FROM left_versions v LEFT JOIN (FROM snapshot_documents WHERE snapshot_id = ?) s USING (document_id)
"""
