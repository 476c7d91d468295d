"""The import of a corpus that stays in its files: all of it is read, and ids, hashes and places are kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.text import canonical_json, digest, file_digest
from curation.ingest.filters.stored import Withdraw, keep_items
from curation.ingest.importers.corpus import (
    CorpusBuilder,
    CorpusImport,
    compare,
    known_versions,
    read_documents,
    record_import,
    write_corpus,
)
from curation.ingest.importers.left.reading import LeftFile
from curation.ingest.readers.fields import CorpusFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.storage import Storage, StoredFile, storage_at
from curation.store import COMMAND_LINE, Cursor, Document, Store, append, append_rows, utc_now

READ = (".parquet", ".pq", ".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz")
"""How files end that a corpus may stay in."""
OTHERS = "files that are neither Parquet nor JSON"
SHOWN = 100
"""Documents whose texts are taken in at once: the guide is tried on them."""


@dataclass
class _Left(CorpusBuilder):
    """What the files say: where each document is, and the texts of those that the project needs.

    places: columns of `left_documents`, of each file; `here` are those of the file that is read.
    """

    needed: frozenset[str] = frozenset()
    here: list[tuple[int, str, str]] = field(default_factory=list)
    places: list[pa.Table] = field(default_factory=list)
    files: list[LeftFile] = field(default_factory=list)

    def keep(self, document: Document, number: int) -> None:
        self.here.append((number, document.document_id, document.content_hash))
        if document.document_id in self.needed or len(self.versions) <= SHOWN:
            super().keep(document, number)

    def end(self, file: LeftFile) -> None:
        """The file that was read until now is this one."""
        rows, ids, hashes = map(list, zip(*self.here, strict=True)) if self.here else ([], [], [])
        columns = {"file_id": pa.repeat(file.file_id, len(rows)), "row": rows, "document_id": ids}
        self.places.append(pa.table(columns | {"content_hash": hashes}))
        self.files.append(file)
        self.here.clear()


def leave_corpus(
    store: Store,
    location: str | Path,
    fields: CorpusFields | None = None,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    withdraw: Withdraw = keep_items,
) -> CorpusImport:
    """Make the documents of a folder, a file or an address the project's corpus, and leave the texts there.

    The snapshot is that of a copied import. Texts of candidates, and of the first `SHOWN`, are taken in.

    Raises
    ------
    InputError: a file cannot be read, a field is missing, or an id has two different texts.
    RefusedError: another process changed the corpus meanwhile.
    """
    storage = storage_at(location)
    files, others = _files(storage)
    with store.reading() as cursor:
        held = known_versions(cursor)
        pooled = cursor.execute("SELECT DISTINCT document_id FROM candidates").fetchall()
    paths = [Path(file.name) for file in files]
    in_files = held.hashes.union(held.versions.values())
    taken = _Left(paths, held.hashes, in_files=in_files, needed=frozenset(one for (one,) in pooled))
    for file in files:
        _read(storage, file, fields or CorpusFields(), layout or FileLayout(), taken, progress)
    taken.pack()
    if others:
        taken.left_out[OTHERS] = others
    versions = {document_id: version for document_id, (version, *_) in taken.versions.items()}
    found = compare(held, versions, taken)
    with store.transaction(appends=True, large=True) as cursor:
        write_corpus(cursor, held, versions, taken.batches, storage.location, held=False)
        _write_manifest(cursor, found.snapshot, taken)
        record_import(cursor, {"source": storage.location, "left": True}, found, author)
        return replace(found, withdrawn=withdraw(cursor, author))


def _files(storage: Storage) -> tuple[list[StoredFile], int]:
    """The files that can be read, and how many others there are; of a BEIR folder its corpus."""
    every = storage.files()
    beir = [one for one in every if one.name in ("corpus.jsonl", "corpus.jsonl.gz")]
    files = beir[:1] or [one for one in every if (one.name or storage.location).lower().endswith(READ)]
    if not files:
        raise InputError(
            ["holds neither Parquet nor JSON, in which a corpus may stay"], path=storage.location
        )
    return files, 0 if beir else len(every) - len(files)


def _read(
    storage: Storage,
    file: StoredFile,
    asked: CorpusFields,
    layout: FileLayout,
    taken: _Left,
    progress: Progress,
) -> None:
    version = storage.version(file.name)
    with storage.on_disk(file.name) as path:
        checksum = version if storage.is_local else file_digest(path)
        records = Records(path, layout, progress)
        read_documents(records, asked, taken)
        parquet = pq.read_metadata(path) if records.format == "parquet" else None
    used = asdict(taken.fields[-1])
    if not used["inside"]:
        del used["inside"]  # ids are those of older imports
    reading = canonical_json({"fields": used, "layout": layout._asdict()})
    rows = [number for number, *_ in taken.here]  # not all, where files before this one have some of them
    file_id = digest("left file", storage.location, file.name, version, reading, rows)
    groups = [parquet.row_group(place).num_rows for place in range(parquet.num_row_groups)] if parquet else []
    place = (storage.location, file.name, file.size)
    taken.end(LeftFile(file_id, *place, version, checksum, reading, groups))


def _write_manifest(cursor: Cursor, snapshot: str, taken: _Left) -> None:
    for file, places in zip(taken.files, taken.places, strict=True):
        if not cursor.execute("SELECT 1 FROM left_files WHERE file_id = ?", [file.file_id]).fetchall():
            append_rows(cursor, "left_files", [file], documents=len(places))
            append(cursor, "left_documents", dict(zip(places.column_names, places.columns, strict=True)))
    rows = [(snapshot, file.file_id, utc_now()) for file in taken.files]
    append_rows(cursor, "left_snapshots", rows, ("snapshot_id", "file_id", "imported_at"))
