"""How often each content word occurs in each document: counted once for a version of a document, and stored.

Cutting texts into words is most of the work of a lexical index; weighing them is a few passes over arrays.
So the counts are stored by content hash, in chunks with a short transaction each: after any interruption
the next call continues after the last chunk, and a new snapshot counts only the documents that changed. They
are kept under a hash of what decides what a word is (`counter`): another way of cutting counts again.

A word is a number, given when it is first met and stored once. Texts in ASCII are cut as one array of bytes:
a word is a run of letters, digits and underscores there, and equal runs become one number in one pass. What
`terms.indexed_terms` finds in them, word by word, is the same (a test compares both).

Counts are read in pieces of the table, one short lease each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.retrieval.terms import STOP_WORDS, indexed_terms, is_gram, stemmed
from curation.store import Cursor, Store, append
from curation.store.documents import batches_of_texts, current_snapshot, snapshot_versions
from curation.text import digest
from curation.words import CUT

CHUNK = 20_000  # documents that are counted, or held as text, at once
_CHARACTERS = 1 << 24  # that are cut at once, about
_PIECE = 61_440  # rows that are read at once: half a row group of DuckDB's
_STEP = "bm25: count words"

_LETTERS = np.zeros(256, np.uint8)
for _letter in b"abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ":
    _LETTERS[_letter] = ord(chr(_letter).lower())
"""Of each byte the letter, digit or underscore that it is, in lower case; 0 between words."""

Numbers = NDArray[np.int32]
Places = NDArray[np.int64]


class WordCounts(NamedTuple):
    """The counts of documents: `rows[i]` has `counts[starts[i]:starts[i + 1]]` of words `numbers[…]`.

    Attributes
    ----------
    word_number: word → its number; words may be there that no document of these holds.
    rows: for each counted document its place among those that were asked for.
    """

    word_number: dict[str, int]
    rows: Numbers
    starts: NDArray[np.int64]
    numbers: Numbers
    counts: NDArray[np.uint16] | NDArray[np.uint32]


class _Piece(NamedTuple):
    """The counts of some documents: how many words each has, and their numbers and counts in a row."""

    rows: Numbers
    lengths: Numbers
    numbers: Numbers
    counts: NDArray[np.uint32]


def counter(stemmer: str | None = None) -> str:
    """The name under which counts are kept."""
    return digest("content words", CUT, sorted(STOP_WORDS), *([stemmer] if stemmer else ()))


def count_words(
    texts: Iterable[str], progress: Progress = silent, total: int = 0, stemmer: str | None = None
) -> WordCounts:
    """The counts of texts that are in no store."""
    word_number: dict[str, int] = {}
    return _gather(word_number, _count_chunks(texts, word_number, progress, total, stemmer))


def stored_word_counts(
    store: Store,
    content_hashes: pa.StringArray | Sequence[str],
    progress: Progress = silent,
    stemmer: str | None = None,
) -> WordCounts:
    """The counts of stored versions of documents; what was not counted before is counted and kept.

    Raises
    ------
    ValueError: the project does not hold one of the versions.
    """
    wanted = pa.table({"content_hash": content_hashes, "row": np.arange(len(content_hashes), dtype="i4")})
    word_number = _count_missing(store, wanted, progress, stemmer)
    found = _gather(word_number, _read_pieces(store, wanted, counter(stemmer)))
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
    return {word: held for word, held in counted if held and not is_gram(word)}


def _count_missing(store: Store, wanted: pa.Table, progress: Progress, stemmer: str | None) -> dict[str, int]:
    """Count in the order of the table of documents, so that each chunk is read from one place.

    Returns the numbers of all words that are stored.
    """
    name = counter(stemmer)
    with store.reading() as cursor:
        word_number = _stored_words(cursor, name)
        cursor.register("wanted_versions", wanted)
        uncounted = cursor.sql(
            "SELECT content_hash FROM wanted_versions ANTI JOIN (SELECT content_hash FROM document_terms "
            "WHERE counter = ?) counted USING (content_hash)",
            params=[name],
        ).to_arrow_table()
        cursor.unregister("wanted_versions")
    missing, done = uncounted["content_hash"], 0
    for texts in batches_of_texts(store, missing, CHUNK):
        progress(_STEP, done, len(missing))
        done += len(texts)
        while not _store(store, name, texts, word_number, stemmer):
            with store.reading() as cursor:
                word_number = _stored_words(cursor, name)
    if len(missing):
        progress(_STEP, len(missing), len(missing))
    return word_number


def _stored_words(cursor: Cursor, name: str) -> dict[str, int]:
    words = cursor.sql("SELECT word FROM counted_words WHERE counter = ? ORDER BY number", params=[name])
    return {word: number for number, word in enumerate(words.to_arrow_table()["word"].to_pylist())}


def _store(
    store: Store, name: str, texts: pa.Table, word_number: dict[str, int], stemmer: str | None
) -> bool:
    """Count and keep what nobody else has counted; False where others have numbered words meanwhile."""
    known = len(word_number)
    piece = _count(texts["text"], word_number, stemmer)
    ends = np.cumsum(np.concatenate([[0], piece.lengths]), dtype=np.int32)
    lists = {"numbers": pa.ListArray.from_arrays(ends, piece.numbers)}
    lists["counts"] = pa.ListArray.from_arrays(ends, piece.counts)
    counted = pa.table({"content_hash": texts["content_hash"]} | lists)
    with store.transaction(appends=True) as cursor:
        [(stored,)] = cursor.execute(
            "SELECT count(*) FROM counted_words WHERE counter = ?", [name]
        ).fetchall()
        if stored != known:
            return False
        new = list(islice(word_number, known, None))
        words = {"counter": [name] * len(new), "number": range(known, len(word_number)), "word": new}
        append(cursor, "counted_words", words)
        cursor.register("counted_documents", counted)
        cursor.execute(
            "INSERT INTO document_terms SELECT ?, content_hash, numbers, counts FROM counted_documents ANTI "
            "JOIN (SELECT content_hash FROM document_terms WHERE counter = ?) counted USING (content_hash)",
            [name] * 2,
        )
        cursor.unregister("counted_documents")
    return True


def _count_chunks(
    texts: Iterable[str], word_number: dict[str, int], progress: Progress, total: int, stemmer: str | None
) -> Iterator[_Piece]:
    waiting, done = iter(texts), 0
    while chunk := list(islice(waiting, CHUNK)):
        piece = _count(pa.chunked_array([[f"{text}\n" for text in chunk]], pa.string()), word_number, stemmer)
        yield piece._replace(rows=piece.rows + done)
        done += len(chunk)
        progress(_STEP, done, total)


def _count(texts: pa.ChunkedArray, word_number: dict[str, int], stemmer: str | None) -> _Piece:
    """The counts of texts that each end with a line break; new words get the next numbers."""
    lengths, numbers, counts = [], [], []  # of each part
    for chunk in texts.chunks:
        step = max(1, len(chunk) * _CHARACTERS // max(1, chunk.nbytes))
        for start in range(0, len(chunk), step):
            part = chunk.slice(start, step)
            found = np.sort(_occurrences(part, word_number, stemmer))
            firsts = np.flatnonzero(np.diff(found, prepend=-1))
            lengths.append(np.bincount(found[firsts] >> 32, minlength=len(part)).astype(np.int32))
            numbers.append(found[firsts].astype(np.int32))  # the lower half
            counts.append(np.diff(firsts, append=len(found)).astype(np.uint32))
    return _Piece(
        np.arange(len(texts), dtype=np.int32),
        _joined(lengths, np.int32),
        _joined(numbers, np.int32),
        _joined(counts, np.uint32),
    )


def _occurrences(texts: pa.StringArray, word_number: dict[str, int], stemmer: str | None) -> Places:
    """Of each occurrence of a content word in a text the place of the text · 2³² + the word's number."""
    plain = pc.string_is_ascii(texts)
    rows, encoded = _ascii_words(texts.filter(plain))
    content = [None if word in STOP_WORDS else word for word in encoded.dictionary.to_pylist()]
    if stemmer is not None:
        content = [word and stemmed(stemmer, word) for word in content]
    numbers = _numbers(content, word_number)[encoded.indices.to_numpy()]
    found = [(np.flatnonzero(plain)[rows] << 32 | numbers)[numbers >= 0]]
    others = np.flatnonzero(pc.invert(plain))
    for place, text in zip(others, texts.take(pa.array(others)).to_pylist(), strict=True):
        found.append(place << 32 | _numbers(indexed_terms(text, stemmer), word_number))
    return np.concatenate(found)


def _numbers(words: Iterable[str | None], word_number: dict[str, int]) -> Places:
    """The number of each word, a new one for a new word; -1 for None."""
    found = [-1 if word is None else word_number.setdefault(word, len(word_number)) for word in words]
    return np.array(found, np.int64)


def _ascii_words(texts: pa.StringArray) -> tuple[Places, pa.DictionaryArray]:
    """The words of texts in ASCII in their order: of each the place of its text, and the word."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[: len(texts) + 1]
    letters = _LETTERS[np.frombuffer(texts.buffers()[2], np.uint8)[: offsets[-1]]]
    inside = np.zeros(len(letters) + 2, bool)
    inside[1:-1] = letters > 0
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    ends = np.cumsum(np.concatenate([[0], edges[1::2] - edges[::2]]), dtype=np.int32)
    words = pa.StringArray.from_buffers(
        len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(letters[inside[1:-1]])
    ).dictionary_encode()
    return np.repeat(np.arange(len(texts)), np.diff(np.searchsorted(edges[::2], offsets))), words


def _read_pieces(store: Store, wanted: pa.Table, name: str) -> Iterator[_Piece]:
    with store.reading() as cursor:
        cursor.register("wanted_versions", wanted)
        places = cursor.sql(
            "SELECT t.rowid AS place, w.row FROM document_terms t "
            "JOIN wanted_versions w USING (content_hash) WHERE counter = ?",
            params=[name],
        ).to_arrow_table()
        cursor.unregister("wanted_versions")
    at = places["place"].to_numpy()
    row_at = np.full(at.max(initial=-1) + 1, -1, np.int32)
    row_at[at] = places["row"].to_numpy()
    for start in range(0, len(row_at), _PIECE):
        if row_at[start : start + _PIECE].max() < 0:
            continue
        with store.reading() as cursor:
            piece = cursor.sql(
                "SELECT rowid AS place, numbers, counts FROM document_terms WHERE rowid >= $1 AND rowid < $2",
                params=[start, min(start + _PIECE, len(row_at))],
            ).to_arrow_table()
        for batch in piece.to_batches():
            rows = row_at[batch.column("place").to_numpy()]
            if rows.min(initial=0) < 0:  # of other snapshots, or ways of cutting
                batch = batch.filter(pa.array(rows >= 0))
            numbers, counts = batch.column("numbers"), batch.column("counts")
            yield _Piece(
                rows[rows >= 0],
                np.diff(numbers.offsets.to_numpy()),
                numbers.flatten().to_numpy(),
                counts.flatten().to_numpy(),
            )


def _gather(word_number: dict[str, int], pieces: Iterable[_Piece]) -> WordCounts:
    """The counts of all pieces, each of which can go once it is added: together they are large."""
    rows: list[Numbers] = []
    lengths: list[NDArray[Any]] = [np.zeros(1, np.int64)]
    numbers, counts = np.zeros(0, np.int32), np.zeros(0, np.uint16)
    for piece in pieces:
        rows.append(piece.rows)
        lengths.append(piece.lengths)
        if piece.counts.max(initial=0) >= 2**16:
            counts = counts.astype(np.uint32)
        for array, added in ((numbers, piece.numbers), (counts, piece.counts)):
            held = len(array)
            array.resize(held + len(added), refcheck=False)
            array[held:] = added
    return WordCounts(
        word_number, _joined(rows, np.int32), np.cumsum(np.concatenate(lengths)), numbers, counts
    )


def _joined(parts: list[NDArray[Any]], kind: type[Any]) -> NDArray[Any]:
    """The parts one after the other, of this type where there are none."""
    return np.concatenate(parts) if parts else np.zeros(0, kind)
