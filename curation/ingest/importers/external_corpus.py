"""An external corpus, whose texts stay in the imported files.

The import stores the id, the hash, the file and the row number of each document. The text of a document is
read from its file when a step needs the text, and only if the file has not changed since the import.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from curation.core.digests import canonical_json, digest
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.ingest.filters import Withdraw, keep_items
from curation.ingest.importers.corpus import (
    CorpusBuilder,
    CorpusImport,
    compare_versions,
    read_documents,
    record_import,
)
from curation.ingest.importers.corpus_documents import build_document_table, build_known_document
from curation.ingest.importers.corpus_snapshots import read_known_versions, write_corpus
from curation.ingest.readers.fields import CorpusFields
from curation.ingest.readers.folders import compute_checksum, list_files, refuse_address
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.store import COMMAND_LINE, Cursor, Document, Store, append, append_rows, reading_arrow, utc_now
from curation.store.documents import current_snapshot, documents_by_hash, snapshot_versions
from curation.store.release_parts import batched

if TYPE_CHECKING:
    import pyarrow as pa

_CHANGED = "has changed since it was imported, so nothing is read from it"
_NO_COLUMN = {"body": [""]}  # otherwise '' means that the file lacks the field
_RESTORE = "Restore the imported file, or import the corpus again with --in-place."
_CLOCK_PRECISION = timedelta(seconds=2)  # some file systems store whole seconds
LINKABLE_ENDINGS = (".parquet", ".pq", ".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz")
"""Endings of the names of files in which a corpus may stay."""
OTHER_FILES = "files that are neither Parquet nor JSON"
TRIED_DOCUMENTS = 100
"""Number of documents whose texts the import stores, so that a lead can try the labeling guide."""


class LinkedFile(NamedTuple):
    """A file that holds documents of the corpus; a row of the table `left_files`."""

    file_id: str
    location: str
    name: str
    bytes: int
    version: str
    sum: str
    reading: str
    row_groups: list[int]


_CURRENT_FILES = f"""
WITH imported AS (SELECT file_id, max(imported_at) AS imported_at FROM left_snapshots GROUP BY ALL),
used AS (
    SELECT arg_max(file_id, (imported_at, file_id)) AS file_id
    FROM (SELECT DISTINCT content_hash FROM snapshot_documents
          WHERE snapshot_id = (SELECT value FROM settings WHERE name = 'corpus'))
    JOIN left_documents USING (content_hash) JOIN imported USING (file_id)
    GROUP BY content_hash)
SELECT {", ".join(LinkedFile._fields)}, imported_at FROM left_files JOIN imported USING (file_id)
WHERE file_id IN (FROM used) ORDER BY location, name, file_id
"""  # noqa: S608  columns from code


_PLACES = f"""
SELECT {", ".join(LinkedFile._fields)}, rows FROM left_files JOIN (
    SELECT place.file_id AS file_id, list(place.row ORDER BY place.row) AS rows FROM (
        SELECT arg_max({{'file_id': file_id, 'row': row}}, (imported_at, file_id, -row)) AS place
        FROM (SELECT DISTINCT content_hash FROM wanted_versions) JOIN left_documents USING (content_hash)
        JOIN (SELECT file_id, max(imported_at) AS imported_at FROM left_snapshots GROUP BY ALL)
            USING (file_id)
        GROUP BY content_hash)
    GROUP BY ALL) USING (file_id)
ORDER BY location, name, file_id
"""  # noqa: S608  columns from code


def read_linked_documents(store: Store, hashes: pa.Array) -> Iterator[pa.Table]:
    """Yield rows of the table `documents` for document versions whose texts are in files.

    Raises
    ------
    InputError: a file does not exist any more, or has changed since the import.
    """
    import pyarrow as pa

    requested = pa.table({"content_hash": hashes})
    with store.reading() as cursor, reading_arrow(cursor, wanted_versions=requested):
        locations = cursor.sql(_PLACES).to_arrow_table()
    for row in range(len(locations)):
        [values] = locations.slice(row, 1).to_pylist()
        rows = values.pop("rows")
        yield from _read_rows(LinkedFile(**values), rows, frozenset(hashes.to_pylist()))


def store_linked_texts(store: Store, document_ids: Iterable[str]) -> None:
    """Store texts of documents in the current corpus that the project lacks.

    Raises
    ------
    InputError: see `read_linked_documents`.
    """
    import pyarrow as pa

    with store.reading() as cursor:
        if not cursor.execute("SELECT 1 FROM left_files LIMIT 1").fetchall():
            return
        versions = snapshot_versions(cursor, current_snapshot(cursor), sorted({*document_ids})).values()
        missing_hashes = sorted({*versions}.difference(documents_by_hash(cursor, versions)))
    for rows in read_linked_documents(store, pa.array(missing_hashes, pa.string())):
        names = ", ".join(rows.column_names)
        sql = f"INSERT INTO documents ({names}) SELECT {names} FROM incoming_rows ON CONFLICT DO NOTHING"  # noqa: S608
        with store.transaction(appends=True) as cursor, reading_arrow(cursor, incoming_rows=rows):
            cursor.execute(sql)  # another process may have stored the same texts


def find_changed_files(store: Store) -> Iterator[tuple[str, InputError]]:
    """Yield an error for each file of the current corpus that is missing or has changed.

    The content of a file is compared only if the file was written since the import and has the same size.
    """
    with store.reading() as cursor:
        rows = cursor.execute(_CURRENT_FILES).fetchall()
    files = [(LinkedFile(*values), imported_at) for *values, imported_at in rows]
    for location, files_at_location in groupby(files, lambda pair: pair[0].location):
        try:
            present = list_files(location)
        except InputError as error:
            yield location, error
            continue
        for file, imported_at in files_at_location:
            if file.name in present and _is_older(present[file.name], file.bytes, imported_at):
                continue
            try:
                _require_unchanged(file)
            except InputError as error:
                yield location, error


def _is_older(path: Path, size: int, imported_at: datetime) -> bool:
    """Return whether a file still has the size that it had at the import, and was last changed before the
    import."""
    state = path.stat()
    changed_at = datetime.fromtimestamp(state.st_mtime, UTC).replace(tzinfo=None)
    return state.st_size == size and changed_at < imported_at - _CLOCK_PRECISION


def _read_rows(file: LinkedFile, rows: Sequence[int], hashes: frozenset[str]) -> Iterator[pa.Table]:
    """Yield the records of a file with these content hashes, as rows of the table `documents`."""
    reading = json.loads(file.reading)
    used = reading["fields"]
    fields = CorpusFields(**used)
    with _select_rows(_require_unchanged(file), rows, file.row_groups) as (path, rows_in_file):
        records = Records(path, FileLayout(**reading["layout"]))
        resolved: dict[str, Any] = {name: value or _NO_COLUMN.get(name, "") for name, value in used.items()}
        records.resolve(CorpusFields(**resolved))
        row_numbers = set(rows_in_file)
        selected_records = (record.fields for number, record in enumerate(records) if number in row_numbers)
        for batch in batched(build_known_document(values, fields, hashes) for values in selected_records):
            yield build_document_table(batch)


def _require_unchanged(file: LinkedFile) -> Path:
    """Return the path of a file; reject a file that is missing or is not the one imported."""
    refuse_address(file.location)
    path = Path(file.location, file.name)
    try:
        checksum = compute_checksum(path)
    except InputError as error:
        raise InputError(error.problems, path=path, way_out=_RESTORE) from error
    if checksum != file.sum:
        raise InputError([_CHANGED], path=path, way_out=_RESTORE)
    return path


@contextmanager
def _select_rows(
    path: Path, rows: Sequence[int], sizes: Sequence[int]
) -> Iterator[tuple[Path, Sequence[int]]]:
    """Yield a file with these rows (a copy of the rows for Parquet), and their numbers in this file."""
    if not sizes or 2 * len(rows) > sum(sizes):
        yield path, rows
        return
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from curation.ingest.readers.parquet import open_parquet

    ends = np.cumsum(sizes)
    group_of = np.searchsorted(ends, rows, side="right")
    with tempfile.TemporaryDirectory(prefix="goldgrade-") as folder, open_parquet(path) as file:
        tables = []
        for group in np.unique(group_of).tolist():
            first = int(ends[group]) - sizes[group]
            tables.append(file.read_row_group(group).take(np.array(rows)[group_of == group] - first))
        smaller = Path(folder) / "rows.parquet"
        pq.write_table(pa.concat_tables(tables), smaller)
        yield smaller, range(len(rows))


@dataclass
class _LinkedCorpus(CorpusBuilder):
    """The documents of a corpus that stays in its files: their positions in the files, and the texts to store
    now.

    places: columns of `left_documents` for each file. here: documents of the file that the import is reading.
    """

    needed: frozenset[str] = frozenset()
    file_documents: list[tuple[int, str, str]] = field(default_factory=list)
    places: list[pa.Table] = field(default_factory=list)
    files: list[LinkedFile] = field(default_factory=list)

    def add_document(self, document: Document, number: int) -> None:
        self.file_documents.append((number, document.document_id, document.content_hash))
        if document.document_id in self.needed or len(self.versions) <= TRIED_DOCUMENTS:
            super().add_document(document, number)

    def add_file(self, location: str, name: str, checksum: str, format: str, layout: FileLayout) -> None:
        """Add a file to the list of files: the file whose documents were read since the last call."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        column_of_field = asdict(self.fields[-1])
        if not column_of_field["inside"]:
            del column_of_field["inside"]  # older imports keep their ids
        reading = canonical_json({"fields": column_of_field, "layout": layout._asdict()})
        rows = [row for row, _, _ in self.file_documents]
        ids = [document_id for _, document_id, _ in self.file_documents]
        hashes = [content_hash for _, _, content_hash in self.file_documents]
        file_id = digest("left file", location, name, checksum, reading, rows)
        path = Path(location, name)
        footer = pq.read_metadata(path) if format == "parquet" else None
        sizes = [footer.row_group(group).num_rows for group in range(footer.num_row_groups)] if footer else []
        size = path.stat().st_size
        self.files.append(LinkedFile(file_id, location, name, size, checksum, checksum, reading, sizes))
        columns = {"file_id": pa.repeat(file_id, len(rows)), "row": rows, "document_id": ids}
        self.places.append(pa.table(columns | {"content_hash": hashes}))
        self.file_documents.clear()


def link_corpus(
    store: Store,
    location: str | Path,
    fields: CorpusFields | None = None,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    withdraw: Withdraw = keep_items,
) -> CorpusImport:
    """Import the documents of a folder or a file as the project's corpus, leaving the texts in the files.

    The snapshot of the corpus has the same id as if the texts were copied. The import stores the texts of
    documents that are pooled or judged, and of the first `TRIED_DOCUMENTS` documents.

    Raises
    ------
    InputError: a file cannot be read, a field is missing, or an id has two different texts.
    RefusedError: another process changed the corpus during the import.
    """
    files, other_files = _list_linkable_files(location)
    source = str(Path(location).absolute())
    with store.reading() as cursor:
        stored_versions = read_known_versions(cursor)
        pooled_rows = cursor.execute("SELECT DISTINCT document_id FROM candidates").fetchall()
    builder = _LinkedCorpus(
        [Path(name) for name in files],
        stored_versions.hashes,
        in_files=stored_versions.hashes.union(stored_versions.versions.values()),
        needed=frozenset(document_id for (document_id,) in pooled_rows),
    )
    for name, path in files.items():
        checksum = compute_checksum(path)
        records = Records(path, layout, progress)
        read_documents(records, fields or CorpusFields(), builder)
        builder.add_file(source, name, checksum, records.format, layout or FileLayout())
    builder.pack_documents()
    if other_files:
        builder.left_out[OTHER_FILES] = other_files
    versions = {document_id: version for document_id, (version, *_) in builder.versions.items()}
    imported = compare_versions(stored_versions, versions, builder)
    with store.transaction(appends=True, large=True) as cursor:
        write_corpus(cursor, stored_versions, versions, builder.batches, source, is_held=False)
        _write_manifest(cursor, imported.snapshot, builder)
        record_import(cursor, {"source": source, "left": True}, imported, author)
        return replace(imported, withdrawn=withdraw(cursor, author))


def _list_linkable_files(location: str | Path) -> tuple[dict[str, Path], int]:
    """Return the files with documents, by name, and the number of other files."""
    all_files = list_files(location)
    for name in ("corpus.jsonl", "corpus.jsonl.gz"):
        if name in all_files:
            return {name: all_files[name]}, 0
    files = {name: path for name, path in all_files.items() if path.name.lower().endswith(LINKABLE_ENDINGS)}
    if not files:
        raise InputError(
            ["has no Parquet or JSON files; only files in these formats can stay in place"],
            path=Path(location).absolute(),
        )
    return files, len(all_files) - len(files)


def _write_manifest(cursor: Cursor, snapshot: str, builder: _LinkedCorpus) -> None:
    for file, table in zip(builder.files, builder.places, strict=True):
        if not cursor.execute("SELECT 1 FROM left_files WHERE file_id = ?", [file.file_id]).fetchall():
            append_rows(cursor, "left_files", [file], documents=len(table))
            append(cursor, "left_documents", dict(zip(table.column_names, table.columns, strict=True)))
    rows = [(snapshot, file.file_id, utc_now()) for file in builder.files]
    append_rows(cursor, "left_snapshots", rows, ("snapshot_id", "file_id", "imported_at"))
