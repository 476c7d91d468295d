"""Documents of corpus snapshots; no other module reads the table `documents`.

A row of the table is one version of a document, and the content hash of the version is the key. A corpus
snapshot has exactly one version of each of its documents. The setting `corpus` holds the id of the current
corpus snapshot. SQL in other packages joins `VERSION` by content hash.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from curation.core.characters import find_lookalikes, normalise_query
from curation.core.digests import json_pointer
from curation.core.errors import RefusedError
from curation.store.database import Store
from curation.store.project_file import Cursor
from curation.store.row_types import Document
from curation.store.rows import fetch, reading_arrow
from curation.store.settings import get_setting, require_setting

if TYPE_CHECKING:
    import pyarrow as pa

# SQL to write after JOIN or LEFT JOIN: joins the document version of the row's content_hash, as `d`
VERSION = "documents d USING (content_hash)"

# SQL: the number of characters of a version, with at most `?` characters of its body
LENGTH = "length(d.title) + least(length(d.body), ?)"

_COLUMNS = ", ".join(f"d.{name}" for name in Document._fields)
_IN_SNAPSHOT = f"FROM snapshot_documents s JOIN {VERSION} WHERE s.snapshot_id"
# Name of a setting: the id of the current snapshot if search engines returned all its documents
HELD = "held"

# Maximum number of documents that DuckDB finds by key. For more documents, DuckDB reads the whole table.
MAX_BY_KEY = 500

BATCH_SIZE = 20_000  # maximum number of documents whose texts are in memory at the same time

BEGINNING = 90  # number of characters from the body that replace a missing title

# Map from a field's name in templates to the SQL of the field, for fields outside the metadata
COLUMN_FIELDS = {"title": "d.title", "url": "d.url", "date": "d.published", "published": "d.published"}

# Functions that yield rows for versions outside the table, given the versions' content hashes
ELSEWHERE: list[Callable[[Store, pa.Array], Iterator[pa.Table]]] = []

# SQL: the wanted ids in ASCII, and all ids outside ASCII, whose normal forms the database cannot compute
_POSSIBLE_LOOKALIKES = r"""
SELECT document_id FROM snapshot_documents
WHERE snapshot_id = ? AND (strlen(document_id) > length(document_id)
    OR list_contains(?::TEXT[], lower(trim(regexp_replace(document_id, '\s+', ' ', 'g')))))
"""


def title_last_shown(pair: str) -> str:
    """Make SQL for the title under which a pair's document was last shown, or its id; `pair` is the alias of
    the pair's row.
    """
    return f"""coalesce((
        SELECT max_by(d.title, p.presentation_id) FROM presentations p JOIN {VERSION}
        WHERE p.query_id = {pair}.query_id AND p.document_id = {pair}.document_id), {pair}.document_id)
    """  # noqa: S608  an alias from code


class Corpus(NamedTuple):
    """The ids and content hashes of a snapshot's documents, without their texts."""

    ids: list[str]
    hashes: pa.StringArray

    def part(self, document_ids: Iterable[str]) -> Corpus:
        """Select the documents of a snapshot that have these ids."""
        import pyarrow as pa

        positions = (
            (document_id, bisect_left(self.ids, document_id)) for document_id in sorted({*document_ids})
        )
        known_positions = [
            position
            for document_id, position in positions
            if self.ids[position : position + 1] == [document_id]
        ]
        return Corpus(
            [self.ids[position] for position in known_positions],
            self.hashes.take(pa.array(known_positions, pa.int64())),
        )


@dataclass(frozen=True)
class StoredDocuments:
    """Documents by content hash, in a fixed order; at most a few thousand are in memory at the same time."""

    store: Store
    hashes: pa.StringArray

    def __iter__(self) -> Iterator[Document]:
        for rows in batches_of(self.store, self.hashes, _COLUMNS, BATCH_SIZE):
            yield from map(Document, *(column.to_pylist() for column in rows.columns))


def corpus_of(documents: Iterable[Document]) -> Corpus:
    """Make a mapping, by content hash, of documents that are all in memory and also in the store."""
    import pyarrow as pa

    ordered = sorted(documents, key=lambda document: document.document_id)
    hashes = pa.array([version.content_hash for version in ordered], pa.string())
    return Corpus([version.document_id for version in ordered], hashes)


def current_snapshot(cursor: Cursor) -> str:
    """Read the id of the current corpus snapshot.

    Raises
    ------
    RefusedError: there is no corpus yet.
    """
    missing = "The project has no corpus yet. Import a corpus first."
    return require_setting(cursor, "corpus", missing, "`goldgrade import corpus PATH` imports a corpus.")


def is_held(cursor: Cursor) -> bool:
    """Return whether the current corpus has only documents that search engines returned."""
    return get_setting(cursor, HELD) == (get_setting(cursor, "corpus") or "none")


def refuse_held(cursor: Cursor, what: str) -> None:
    """Reject an operation that needs the whole corpus if the project has only documents from search engines.

    Raises
    ------
    RefusedError: the current corpus has only documents that search engines returned.
    """
    if is_held(cursor):
        raise RefusedError(
            "The project has only documents that search engines returned, and "
            f"{what} would treat these documents as the whole corpus. Query the search engine instead, or "
            "import the whole corpus.",
            command="`--systems engine:NAME` queries the search engine.",
        )


def current_corpus(cursor: Cursor) -> Corpus:
    """Read the documents of the current snapshot.

    Raises
    ------
    RefusedError: there is no corpus yet.
    """
    return _read_corpus(cursor, current_snapshot(cursor))


def first_documents(cursor: Cursor, count: int) -> list[Document]:
    """Read the first documents of the current snapshot by document id; [] if there is no corpus."""
    sql = f"SELECT {_COLUMNS} {_IN_SNAPSHOT} = ? ORDER BY d.document_id LIMIT ?"
    return fetch(cursor, Document, sql, [get_setting(cursor, "corpus"), count])


def find_document(cursor: Cursor, words: str) -> Document | None:
    """Find the document with this id in the current snapshot, or else the first document with these words."""
    sql = f"""
        SELECT {_COLUMNS} {_IN_SNAPSHOT} = ? AND (d.document_id = ? OR contains(lower(d.title), lower(?))
        OR contains(lower(d.body), lower(?))) ORDER BY d.document_id <> ?, d.document_id LIMIT 1
    """
    documents = fetch(cursor, Document, sql, [get_setting(cursor, "corpus"), *[words] * 4])
    return documents[0] if documents else None


def documents_by_hash(cursor: Cursor, hashes: Iterable[str]) -> dict[str, Document]:
    """Read document versions of any snapshot by content hash. Unknown hashes are left out."""
    distinct_hashes = sorted(set(hashes))
    if not distinct_hashes:
        return {}
    is_few = len(distinct_hashes) <= MAX_BY_KEY
    hash_list = ", ".join("?" * len(distinct_hashes)) if is_few else "SELECT unnest(?::TEXT[])"
    sql = f"SELECT {_COLUMNS} FROM documents d WHERE content_hash IN ({hash_list})"  # noqa: S608  question marks
    documents = fetch(cursor, Document, sql, distinct_hashes if is_few else [distinct_hashes])
    return {document.content_hash: document for document in documents}


def version_hashes(cursor: Cursor) -> frozenset[str]:
    """Read the content hashes of all document versions of all snapshots."""
    return frozenset(row[0] for row in cursor.execute("SELECT content_hash FROM documents").fetchall())


def count_documents(cursor: Cursor) -> int:
    """Count the documents in the current snapshot."""
    sql = "SELECT count(*) FROM snapshot_documents WHERE snapshot_id = ?"
    return int(cursor.execute(sql, [get_setting(cursor, "corpus")]).fetchall()[0][0])


def count_versions(cursor: Cursor) -> int:
    """Count the document versions in all snapshots."""
    return int(cursor.execute("SELECT count(*) FROM documents").fetchall()[0][0])


def snapshot_versions(
    cursor: Cursor, snapshot: str | None, document_ids: Sequence[str] | None = None
) -> dict[str, str]:
    """Map document ids to content hashes, for a snapshot or some of its documents; {} for no snapshot."""
    sql = "SELECT document_id, content_hash FROM snapshot_documents WHERE snapshot_id = ?"
    if document_ids is None:
        return dict(cursor.execute(sql, [snapshot]).fetchall())
    sql += " AND document_id IN (SELECT unnest(?::TEXT[]))"
    return dict(cursor.execute(sql, [snapshot, document_ids]).fetchall())


def current_versions(store: Store, document_ids: Iterable[str]) -> dict[str, str]:
    """Map document ids to content hashes, for these documents of the current snapshot.

    Raises
    ------
    RefusedError: there is no corpus yet.
    """
    with store.reading() as cursor:
        return snapshot_versions(cursor, current_snapshot(cursor), list(document_ids))


def ids_alike(store: Store, names: Collection[str]) -> dict[str, str]:
    """Map each name that looks like a document's id in the current snapshot to that id."""
    normal_forms = [normalise_query(name) for name in names]
    with store.reading() as cursor:
        parameters = [current_snapshot(cursor), normal_forms]
        rows = cursor.execute(_POSSIBLE_LOOKALIKES, parameters).fetchall()
    return find_lookalikes(names, (name for (name,) in rows))


def snapshot_texts(cursor: Cursor, snapshot: str, document_ids: Sequence[str] | None = None) -> pa.Table:
    """Read id, title and body of a snapshot's documents, or of some of them, by document id."""
    sql = f"SELECT d.document_id, d.title, d.body {_IN_SNAPSHOT} = ?"
    parameters: list[str | Sequence[str]] = [snapshot]
    if document_ids is not None:
        sql += " AND s.document_id IN (SELECT unnest(?::TEXT[]))"
        parameters.append(document_ids)
    return cursor.sql(f"{sql} ORDER BY s.document_id", params=parameters).to_arrow_table()


def snapshot_titles(cursor: Cursor, snapshot: str, document_ids: Sequence[str]) -> dict[str, str]:
    """Map document ids to titles. If there is no title, use the beginning of the text; if there is no text,
    use the id."""
    title = f"coalesce(nullif(trim(d.title), ''), left(d.body, {BEGINNING}), s.document_id)"
    sql = f"""
        SELECT s.document_id, {title} FROM snapshot_documents s LEFT JOIN {VERSION}
        WHERE s.snapshot_id = ? AND list_contains(?::TEXT[], s.document_id)
    """  # noqa: S608  columns from above
    return dict(cursor.execute(sql, [snapshot, list(document_ids)]).fetchall())


def group_keys(cursor: Cursor, document_ids: Sequence[str]) -> dict[str, str]:
    """Map document ids to group keys, for documents of the current snapshot that have one."""
    sql = f"""
        SELECT d.document_id, d.group_key {_IN_SNAPSHOT} = ? AND list_contains(?::TEXT[], s.document_id)
        AND nullif(d.group_key, '') IS NOT NULL
    """
    return dict(cursor.execute(sql, [current_snapshot(cursor), document_ids]).fetchall())


def version_texts(
    cursor: Cursor, hashes: Sequence[str], whole: Sequence[str], longest: int
) -> dict[str, tuple[str, str, str | None, str | None, str]]:
    """Map content hashes to the title, body, url, publication date and metadata of document versions.

    Versions with a body of more than `longest` bytes are left out, unless `whole` names the version.
    """
    sql = """
        SELECT content_hash, title, body, url, published, metadata
        FROM documents JOIN (SELECT unnest($hashes::TEXT[]) AS content_hash) USING (content_hash)
        WHERE strlen(body) <= $longest OR content_hash IN (SELECT unnest($whole::TEXT[]))
    """
    rows = cursor.execute(sql, {"hashes": hashes, "whole": whole, "longest": longest}).fetchall()
    return {row[0]: row[1:] for row in rows}


def count_fields(cursor: Cursor, names: Sequence[str]) -> tuple[int, list[int]]:
    """Count the documents in the current snapshot, and those that have a value in each field.

    Raises
    ------
    RefusedError: there is no corpus yet.
    """
    counts, pointers = ["count(*)"], []
    for name in names:
        field_sql = "d.metadata ->> ?"
        pointers.append(json_pointer(name))
        if name in COLUMN_FIELDS:
            field_sql = f"coalesce({field_sql}, {COLUMN_FIELDS[name]})"
        counts.append(f"count(*) FILTER (coalesce({field_sql}, '') NOT IN ('', '[]', '{{}}'))")
    sql = f"SELECT {', '.join(counts)} {_IN_SNAPSHOT} = ?"
    row = cursor.execute(sql, [*pointers, current_snapshot(cursor)]).fetchall()[0]
    return row[0], list(row[1:])


def batches_of_texts(store: Store, hashes: pa.StringArray, size: int) -> Iterator[pa.Table]:
    """Yield tables with content_hash and text of document versions, `size` rows each, in storage order.

    A text is the title and the body of a version, each followed by a line break. Unknown versions are left
    out.
    """
    text = "title || chr(10) || body || chr(10) AS text"
    return batches_of(store, hashes, f"d.content_hash, {text}", size)


def read_facts(store: Store, hashes: pa.StringArray) -> Iterator[pa.Table]:
    """Yield tables with the content_hash of each document version and three facts about its text.

    The facts are sum (a hash of the text), blank (whether the text may be blank) and ascii (whether the text
    is ASCII).
    """
    blank = r"NOT regexp_matches(title || body, '[\pL\pN\pP\pS\pM]') AS blank"
    ascii = "strlen(title) + strlen(body) = length(title) + length(body) AS ascii"
    columns = f"d.content_hash, hash(title, body) AS sum, {blank}, {ascii}"
    return batches_of(store, hashes, columns, BATCH_SIZE)


def batches_of(store: Store, hashes: pa.Array, columns: str, size: int) -> Iterator[pa.Table]:
    """Yield tables with columns (SQL over `d`) of document versions, `size` rows each, in storage order.

    Document versions outside the table `documents` come last, from the functions in `ELSEWHERE`. Unknown
    versions are left out.
    """
    import pyarrow as pa

    wanted_versions = pa.table({"content_hash": hashes})
    with store.reading() as cursor, reading_arrow(cursor, wanted_versions=wanted_versions):
        sql = f"SELECT DISTINCT d.rowid AS row_number FROM wanted_versions JOIN {VERSION} ORDER BY ALL"  # noqa: S608
        row_numbers = cursor.sql(sql).to_arrow_table()
        missing = cursor.sql("FROM wanted_versions ANTI JOIN documents USING (content_hash)").to_arrow_table()
    for start in range(0, len(row_numbers), size):
        with store.reading() as cursor:
            batch = _read_rows(cursor, row_numbers.slice(start, size), columns)
        yield batch
    for read_elsewhere in ELSEWHERE if len(missing) else ():
        for rows in read_elsewhere(store, missing["content_hash"].combine_chunks()):
            with store.reading() as cursor, reading_arrow(cursor, rows_elsewhere=rows):
                batch = cursor.sql(f"SELECT {columns} FROM rows_elsewhere d").to_arrow_table()  # noqa: S608
            yield batch


def _read_corpus(cursor: Cursor, snapshot: str) -> Corpus:
    sql = "SELECT document_id, content_hash FROM snapshot_documents WHERE snapshot_id = ? ORDER BY ALL"
    rows = cursor.sql(sql, params=[snapshot]).to_arrow_table()
    return Corpus(rows["document_id"].to_pylist(), rows["content_hash"].combine_chunks())


def _read_rows(cursor: Cursor, row_numbers: pa.Table, columns: str) -> pa.Table:
    bounds = [row_numbers["row_number"][side].as_py() for side in (0, -1)]
    sql = f"""
        SELECT {columns} FROM documents d JOIN wanted_rows p ON p.row_number = d.rowid
        WHERE d.rowid BETWEEN ? AND ? ORDER BY d.rowid
    """  # noqa: S608  columns from code
    with reading_arrow(cursor, wanted_rows=row_numbers):
        return cursor.sql(sql, params=bounds).to_arrow_table()
