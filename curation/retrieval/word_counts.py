"""How often each content word occurs in each document: counted once for a version of a document, and stored.

Cutting texts into words is most of the work of a lexical index; weighing them is a few passes over arrays.
So the counts are stored by content hash, in chunks with a short transaction each: after any interruption
the next call continues after the last chunk, and a new snapshot counts only the documents that changed. They
are kept under a hash of what decides what a word is (`counter`): another way of cutting counts again.

Counts are read in pieces of the table, one short lease each, in the order of the table. A word
becomes a number when it is first met; no list of all words of the corpus is ever made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.retrieval.terms import STOP_WORDS, indexed_terms, is_gram
from curation.store import Store
from curation.store.documents import current_snapshot, snapshot_versions, texts_at, version_places
from curation.text import digest
from curation.words import CUT

CHUNK = 20_000  # documents that are counted, or held as text, at once
_PIECE = 61_440  # rows that are read at once: half a row group of DuckDB's
_COUNTED = pa.schema({"terms": pa.list_(pa.string()), "counts": pa.list_(pa.int32())})


class WordCounts(NamedTuple):
    """The counts of documents: `rows[i]` has `counts[starts[i]:starts[i + 1]]` of words `numbers[…]`.

    Attributes
    ----------
    word_number: word → its number.
    rows: for each counted document its place among those that were asked for.
    """

    word_number: dict[str, int]
    rows: NDArray[np.int32]
    starts: NDArray[np.int64]
    numbers: NDArray[np.int32]
    counts: NDArray[np.int32]


def counter(stemmer: str | None = None) -> str:
    """The name under which counts are kept."""
    return digest("content words", CUT, sorted(STOP_WORDS), *([stemmer] if stemmer else ()))


def count_words(
    texts: Iterable[str], progress: Progress = silent, total: int = 0, stemmer: str | None = None
) -> WordCounts:
    """The counts of texts that are in no store."""
    return _gather(_count_pieces(texts, progress, total, stemmer))


def stored_word_counts(
    store: Store, content_hashes: Sequence[str], progress: Progress = silent, stemmer: str | None = None
) -> WordCounts:
    """The counts of stored versions of documents; what was not counted before is counted and kept.

    Raises
    ------
    ValueError: the project does not hold one of the versions.
    """
    wanted = pa.table(
        {"content_hash": list(content_hashes), "row": np.arange(len(content_hashes), dtype="i4")}
    )
    _count_missing(store, wanted, progress, stemmer)
    found = _gather(_read_pieces(store, wanted, counter(stemmer)))
    if len(found.rows) != len(content_hashes):
        raise ValueError(f"{len(content_hashes)} documents were asked for, {len(found.rows)} are stored")
    return found


def vocabulary(store: Store, progress: Progress = silent) -> dict[str, int]:
    """Content word → number of documents of the snapshot in force that hold it.

    Words are `terms.content_words`: folded, without stop words; of scripts without spaces whole runs.

    Raises
    ------
    RefusedError: there is no corpus yet.
    """
    with store.reading() as cursor:
        versions = snapshot_versions(cursor, current_snapshot(cursor))
    found = stored_word_counts(store, list(versions.values()), progress)
    documents = np.bincount(found.numbers, minlength=len(found.word_number)).tolist()
    counted = zip(found.word_number, documents, strict=True)
    return {word: held for word, held in counted if not is_gram(word)}


def _count(texts: Iterable[str], stemmer: str | None) -> pa.Table:
    found = [Counter(indexed_terms(text, stemmer)) for text in texts]
    return pa.table([[list(words) for words in found], [list(words.values()) for words in found]], _COUNTED)


def _count_missing(store: Store, wanted: pa.Table, progress: Progress, stemmer: str | None) -> None:
    """In the order of the table of documents, so that each chunk is read from one place."""
    step = "bm25: count words"
    with store.reading() as cursor:
        cursor.register("wanted_versions", wanted)
        uncounted = cursor.sql(
            "SELECT content_hash FROM wanted_versions "
            "ANTI JOIN (SELECT content_hash FROM document_terms WHERE counter = ?) counted "
            "USING (content_hash)",
            params=[counter(stemmer)],
        ).to_arrow_table()
        cursor.unregister("wanted_versions")
        missing = version_places(cursor, uncounted)
    for start in range(0, len(missing), CHUNK):
        progress(step, start, len(missing))
        _store(store, *_read_texts(store, missing[start : start + CHUNK]), stemmer)
    if missing:
        progress(step, len(missing), len(missing))


def _read_texts(store: Store, places: Sequence[tuple[int, str]]) -> tuple[list[str], list[str]]:
    with store.reading() as cursor:
        rows = texts_at(cursor, places)
    return [row[0] for row in rows], [row[1] for row in rows]


def _store(store: Store, content_hashes: Sequence[str], texts: Sequence[str], stemmer: str | None) -> None:
    """Count and keep what nobody else has counted meanwhile."""
    counted = _count(texts, stemmer).append_column("content_hash", pa.array(content_hashes, pa.string()))
    with store.transaction() as cursor:
        cursor.register("counted_documents", counted)
        cursor.execute(
            "INSERT INTO document_terms SELECT ?, content_hash, terms, counts FROM counted_documents "
            "ANTI JOIN (SELECT content_hash FROM document_terms WHERE counter = ?) counted "
            "USING (content_hash)",
            [counter(stemmer)] * 2,
        )
        cursor.unregister("counted_documents")


def _count_pieces(
    texts: Iterable[str], progress: Progress, total: int, stemmer: str | None
) -> Iterator[pa.Table]:
    chunk: list[str] = []
    done = 0
    for text in texts:
        chunk.append(text)
        if len(chunk) == CHUNK:
            yield _numbered(chunk, done, stemmer)
            done += len(chunk)
            progress("bm25: count words", done, total)
            chunk = []
    if chunk:
        yield _numbered(chunk, done, stemmer)


def _numbered(texts: Sequence[str], first: int, stemmer: str | None) -> pa.Table:
    rows = pa.array(np.arange(first, first + len(texts), dtype=np.int32))
    return _count(texts, stemmer).append_column("row", rows)


def _read_pieces(store: Store, wanted: pa.Table, kept_under: str) -> Iterator[pa.Table]:
    with store.reading() as cursor:
        [(end,)] = cursor.execute("SELECT coalesce(max(rowid) + 1, 0) FROM document_terms").fetchall()
    for start in range(0, end, _PIECE):
        with store.reading() as cursor:
            cursor.register("wanted_versions", wanted)
            piece = cursor.sql(
                "SELECT terms, counts, w.row "
                "FROM document_terms t JOIN wanted_versions w USING (content_hash) "
                "WHERE t.rowid >= $1 AND t.rowid < $2 AND counter = $3",
                params=[start, start + _PIECE, kept_under],
            ).to_arrow_table()
            cursor.unregister("wanted_versions")
        yield piece


def _gather(pieces: Iterable[pa.Table]) -> WordCounts:
    word_number: dict[str, int] = {}
    rows, lengths, numbers, counts = [], [np.zeros(1, np.int64)], [], []
    for piece in pieces:
        for batch in piece.to_batches():
            terms = batch.column("terms")
            coded = terms.flatten().dictionary_encode()
            known = [word_number.setdefault(word, len(word_number)) for word in coded.dictionary.to_pylist()]
            numbers.append(np.array(known, np.int32)[coded.indices.to_numpy()])
            counts.append(batch.column("counts").flatten().to_numpy())
            lengths.append(np.diff(terms.offsets.to_numpy()).astype(np.int64))
            rows.append(batch.column("row").to_numpy())
    return WordCounts(
        word_number,
        _joined(rows, np.int32),
        np.cumsum(np.concatenate(lengths)),
        _joined(numbers, np.int32),
        _joined(counts, np.int32),
    )


def _joined(parts: list[NDArray[np.int32]], kind: type[np.int32]) -> NDArray[np.int32]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)
