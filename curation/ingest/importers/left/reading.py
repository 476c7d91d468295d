"""Texts that stay in their files: read by file and row group, where the file is still the one that it was."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from curation.core.errors import InputError
from curation.core.text import file_digest
from curation.store import Store, reading_arrow
from curation.store.documents import current_snapshot, documents_by_hash, snapshot_versions
from curation.store.release_parts import batched

if TYPE_CHECKING:
    import pyarrow as pa

    from curation.ingest.readers.storage import Storage

_CHANGED = "is no longer the file that was imported, and nothing is read from it"
_NONE = {"body": [""]}  # else '' says that no column is the field
_AGAIN = "Put it back as it was, or import the corpus again with --leave."
_CLOCK = timedelta(seconds=2)  # storages keep whole seconds


class LeftFile(NamedTuple):
    """A file of the manifest; see the table `left_files`."""

    file_id: str
    location: str
    name: str
    bytes: int
    version: str
    sum: str
    reading: str
    row_groups: list[int]


def read_left(store: Store, hashes: pa.Array) -> Iterator[pa.Table]:
    """Rows of the table `documents`: those of the versions that files have.

    Raises
    ------
    InputError: a file is not there, or is not the one that was imported.
    """
    import pyarrow as pa

    wanted = pa.table({"content_hash": hashes})
    with store.reading() as cursor, reading_arrow(cursor, wanted_versions=wanted):
        found = cursor.sql(_PLACES).to_arrow_table()
    for place in range(len(found)):
        [values] = found.slice(place, 1).to_pylist()
        rows = values.pop("rows")
        yield from _rows_of(LeftFile(**values), rows, frozenset(hashes.to_pylist()))


def bring_texts(store: Store, document_ids: Iterable[str]) -> None:
    """Take the texts of documents of the corpus in force into the project, as far as it lacks them.

    Raises
    ------
    InputError: see `read_left`.
    """
    import pyarrow as pa

    with store.reading() as cursor:
        if not cursor.execute("SELECT 1 FROM left_files LIMIT 1").fetchall():
            return
        versions = snapshot_versions(cursor, current_snapshot(cursor), sorted({*document_ids})).values()
        lacking = sorted({*versions}.difference(documents_by_hash(cursor, versions)))
    for rows in read_left(store, pa.array(lacking, pa.string())):
        names = ", ".join(rows.column_names)
        sql = f"INSERT INTO documents ({names}) SELECT {names} FROM incoming_rows ON CONFLICT DO NOTHING"  # noqa: S608
        with store.transaction(appends=True) as cursor, reading_arrow(cursor, incoming_rows=rows):
            cursor.execute(sql)  # another process may have brought the same


def changed_files(store: Store) -> Iterator[tuple[str, InputError]]:
    """Files of the corpus in force that are gone or are not what was imported, each with its location.

    Places are listed once. A file is read only if it has the same size and changed since the import.
    """
    from curation.ingest.readers.storage import storage_at

    with store.reading() as cursor:
        rows = cursor.execute(_IN_FORCE).fetchall()
    read = [(LeftFile(*values), imported_at) for *values, imported_at in rows]
    for location, of_location in groupby(read, lambda one: one[0].location):
        try:
            storage = storage_at(location)
            present = {file.name: file for file in storage.files()}
        except InputError as error:
            yield location, error
            continue
        for file, imported_at in of_location:
            found = present.get(file.name)
            if found and (found.size, found.changed_at < imported_at - _CLOCK) == (file.bytes, True):
                continue
            try:
                _check(storage, file)
            except InputError as error:
                yield location, error


_IN_FORCE = f"""
WITH imported AS (SELECT file_id, max(imported_at) AS imported_at FROM left_snapshots GROUP BY ALL),
used AS (
    SELECT arg_max(file_id, (imported_at, file_id)) AS file_id
    FROM (SELECT DISTINCT content_hash FROM snapshot_documents
          WHERE snapshot_id = (SELECT value FROM settings WHERE name = 'corpus'))
    JOIN left_documents USING (content_hash) JOIN imported USING (file_id)
    GROUP BY content_hash)
SELECT {", ".join(LeftFile._fields)}, imported_at FROM left_files JOIN imported USING (file_id)
WHERE file_id IN (FROM used) ORDER BY location, name, file_id
"""  # noqa: S608  columns from code
_PLACES = f"""
SELECT {", ".join(LeftFile._fields)}, rows FROM left_files JOIN (
    SELECT place.file_id AS file_id, list(place.row ORDER BY place.row) AS rows FROM (
        SELECT arg_max({{'file_id': file_id, 'row': row}}, (imported_at, file_id, -row)) AS place
        FROM (SELECT DISTINCT content_hash FROM wanted_versions) JOIN left_documents USING (content_hash)
        JOIN (SELECT file_id, max(imported_at) AS imported_at FROM left_snapshots GROUP BY ALL)
            USING (file_id)
        GROUP BY content_hash)
    GROUP BY ALL) USING (file_id)
ORDER BY location, name, file_id
"""  # noqa: S608  columns from code


def _rows_of(file: LeftFile, rows: Sequence[int], hashes: frozenset[str]) -> Iterator[pa.Table]:
    """Records of a file as rows of the table `documents`, in the versions of these hashes."""
    from curation.ingest.importers.corpus import document_rows, known_document
    from curation.ingest.readers.fields import CorpusFields
    from curation.ingest.readers.formats import FileLayout
    from curation.ingest.readers.records import Records

    reading = json.loads(file.reading)
    used = reading["fields"]
    fields = CorpusFields(**used)
    with _unchanged(file) as whole, _cut_down(whole, rows, file.row_groups) as (path, wanted):
        records = Records(path, FileLayout(**reading["layout"]))
        again: dict[str, Any] = {name: value or _NONE.get(name, "") for name, value in used.items()}
        records.resolve(CorpusFields(**again))
        numbers = set(wanted)
        taken = (record.fields for number, record in enumerate(records) if number in numbers)
        for batch in batched(known_document(values, fields, hashes) for values in taken):
            yield document_rows(batch)


@contextmanager
def _unchanged(file: LeftFile) -> Iterator[Path]:
    """The file on this machine, if it is the one that was imported."""
    from curation.ingest.readers.storage import storage_at

    storage = storage_at(file.location)
    _check(storage, file)
    with storage.on_disk(file.name) as path:
        if not storage.is_local and file_digest(path) != file.sum:
            raise InputError([_CHANGED], path=storage.address(file.name), way_out=_AGAIN)
        yield path


def _check(storage: Storage, file: LeftFile) -> None:
    """Refuse a file that is gone or has another version."""
    address = storage.address(file.name)
    try:
        version = storage.version(file.name)
    except InputError as error:
        raise InputError(error.problems, path=address, way_out=error.way_out or _AGAIN) from error
    if version != file.version:
        raise InputError([_CHANGED], path=address, way_out=_AGAIN)


@contextmanager
def _cut_down(
    path: Path, rows: Sequence[int], row_groups: Sequence[int]
) -> Iterator[tuple[Path, Sequence[int]]]:
    """A file with these rows, and their numbers in it: of Parquet, only their row groups, if they are few."""
    if not row_groups or 2 * len(rows) > sum(row_groups):
        yield path, rows
        return
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from curation.ingest.readers.parquet.rows import open_parquet

    ends = np.cumsum(row_groups)
    group_of = np.searchsorted(ends, rows, side="right")
    with tempfile.TemporaryDirectory(prefix="goldgrade-") as folder, open_parquet(path) as file:
        parts = []
        for group in np.unique(group_of).tolist():
            first = int(ends[group]) - row_groups[group]
            parts.append(file.read_row_group(group).take(np.array(rows)[group_of == group] - first))
        smaller = Path(folder) / "rows.parquet"
        pq.write_table(pa.concat_tables(parts), smaller)
        yield smaller, range(len(rows))
