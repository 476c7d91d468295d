"""BM25 as rank-bm25's `BM25Okapi` defines it, on content words, at the speed of a sparse index.

score(d, q) = Σ over q's words w of  idf(w) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / mean |d|))
idf(w)      = ln((N − n + ½) / (n + ½))

with f the times w occurs in d, n the documents that hold w, k1 = 1.5 and b = 0.75; a word asked twice
counts twice (Robertson and Zaragoza 2009; Trotman, Puurula and Burgess 2014 on the variants). `postings`
holds the counts by word, as sparse columns (the idea of Lù, BM25S, 2024), and searches them.

One difference from rank-bm25: a word in half of the documents or more has no positive idf. rank-bm25
gives it a quarter of the average idf, more than many an informative word gets; here it counts nothing:
such a word is no content word *of this corpus*. For queries without one the scores are
rank-bm25's to the last digits of a double.

Grams of scripts without spaces (`terms.indexed_terms`) are a field of their own: |d| and mean |d| count only
them, over the documents that have any. So a Chinese name makes no English description longer.

How often each content word occurs in each document: counted once for a version of a document, and stored.

Cutting texts into words is most of the work of a lexical index; weighing them is a few passes over arrays.
So the counts are stored by content hash, in chunks with a short transaction each: after any interruption
the next call continues after the last chunk, and a new snapshot counts only the documents that changed. They
are kept under a hash of what decides what a word is (`counter`): another way of cutting counts again.

Counts are read in pieces of the table, one short lease each, in the order of the table. A word
becomes a number when it is first met; no list of all words of the corpus is ever made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.retrieval.postings import K1, Postings, search_for
from curation.retrieval.retriever import Hits
from curation.retrieval.terms import STOP_WORDS, content_words, indexed_terms, is_gram, searched_terms
from curation.store import Document, Query, Store
from curation.store.documents import current_snapshot, snapshot_versions, texts_at, version_places
from curation.text import digest
from curation.words import CUT, words

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

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


B = 0.75
_BLOCK = 1_000  # queries that are searched for at once


class _Index(NamedTuple):
    word_number: dict[str, int]
    postings: Postings


class Bm25:
    """A retriever over title and body of documents; the index is made at the first search.

    With the store that holds the documents, words are counted once for a version of a document and kept
    (`word_counts`), and texts are not looked at again; without it they are counted each time.
    """

    name = "bm25"

    def __init__(
        self, documents: Sequence[Document], store: Store | None = None, stemmer: str | None = None
    ) -> None:
        self._stemmer = stemmer
        self._documents = sorted(documents, key=lambda document: document.document_id)
        self._ids = [document.document_id for document in self._documents]
        self._store = store
        self._made: _Index | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """See `Retriever.settings`; the stemmer only where there is one."""
        found = {"b": B, "formula": "okapi", "k1": K1, "stop_words": digest(sorted(STOP_WORDS))[:8]}
        return found if self._stemmer is None else found | {"stemmer": self._stemmer}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[Hits]:
        """See `Retriever.search`."""
        index = self._index(progress)
        asked = [self._numbers(index, query.text) for query in queries]
        search = search_for(index.postings, asked)
        hits: list[Hits] = []
        for start in range(0, len(asked), _BLOCK):
            best = search(index.postings, asked[start : start + _BLOCK], depth)
            hits += [Hits(self._ids, rows, scores) for rows, scores in best]
            progress("bm25: search", len(hits), len(queries))
        return hits

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        if not words(query.text):
            return "the query holds no word"
        if not content_words(query.text):
            return "the query holds stop words only"
        asked = searched_terms(query.text, self._stemmer)
        if not any(term in self._index().word_number for term in asked):
            return "no word of the query occurs in the corpus"
        return "every word of the query that occurs is in half of the documents or more"

    def _numbers(self, index: _Index, text: str) -> list[int]:
        """The query's words that the corpus has and that count, each as often as it is asked for."""
        found = map(index.word_number.get, searched_terms(text, self._stemmer))
        return [number for number in found if number is not None and index.postings.idf[number] > 0]

    def _index(self, progress: Progress = silent) -> _Index:
        if self._made is None:
            self._made = _weigh(self._counts(progress), len(self._documents))
        return self._made

    def _counts(self, progress: Progress) -> WordCounts:
        if self._store is None:
            texts = (document.text for document in self._documents)
            return count_words(texts, progress, len(self._documents), self._stemmer)
        hashes = [document.content_hash for document in self._documents]
        return stored_word_counts(self._store, hashes, progress, self._stemmer)


def _weigh(found: WordCounts, documents: int) -> _Index:
    """The index of a corpus from its counts."""
    from scipy.sparse import csr_matrix

    by_document = csr_matrix(
        (found.counts, found.numbers, found.starts), shape=(len(found.rows), len(found.word_number))
    )
    grams = np.fromiter(map(is_gram, found.word_number), bool, len(found.word_number))
    penalties = _penalties(found, by_document, grams, documents)
    by_word = by_document.tocsc()
    del by_document
    held_by = np.diff(by_word.indptr)
    idf = np.log((documents - held_by + 0.5) / (held_by + 0.5))
    counts = by_word.data.astype(np.uint16 if by_word.data.max(initial=0) < 2**16 else np.uint32)
    starts, rows = by_word.indptr.astype(np.int64), found.rows[by_word.indices]
    return _Index(found.word_number, Postings(idf, grams.astype(np.uint8), starts, rows, counts, penalties))


def _penalties(
    found: WordCounts, by_document: csr_matrix, grams: NDArray[np.bool_], documents: int
) -> NDArray[np.float64]:
    """K1 · (1 − b + b · |d| / mean |d|) of each document: of its words in row 0, of its grams in row 1."""
    lengths = np.zeros((2, documents))
    gram_lengths = by_document @ grams.astype(np.int64)
    lengths[0, found.rows] = by_document.sum(axis=1).A1 - gram_lengths
    lengths[1, found.rows] = gram_lengths
    means = [lengths[0].sum() / max(documents, 1), lengths[1].sum() / max(np.count_nonzero(lengths[1]), 1)]
    penalties: NDArray[np.float64] = K1 * (1 - B + B * lengths / np.maximum(means, 1e-9)[:, None])
    return penalties
