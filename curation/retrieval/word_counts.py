"""Counts of content words in texts.

Each distinct word gets a number at its first occurrence. ASCII texts are cut into words as one array of
bytes, in which a word is a run of letters, digits and underscores. A test checks that the words are the same
as the words from `terms.indexed_terms`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.digests import digest
from curation.core.words import TOKENIZATION
from curation.retrieval.terms import STOP_WORDS, indexed_terms, stemmed

_CHARACTERS = 1 << 24  # that are cut at once, about
_LETTERS = np.zeros(256, np.uint8)
for _letter in b"abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ":
    _LETTERS[_letter] = ord(chr(_letter).lower())
"""Byte → its letter, digit or underscore in lower case, or 0 for a byte between words."""
Places = NDArray[np.int64]


class Counts(NamedTuple):
    """Word counts of documents: document `d` has the words `numbers[starts[d]:starts[d + 1]]`, each
    `counts[…]` times.

    Attributes
    ----------
    words: words by their numbers.
    counts: counts in two bytes each, or in four bytes if a count is too large.
    """

    words: pa.StringArray
    starts: NDArray[np.int32]
    numbers: NDArray[np.int32]
    counts: NDArray[Any]


def counter(stemmer: str | None = None) -> str:
    """Compute the name under which counts are stored, a hash of the rules that cut texts into words."""
    return digest("content words", TOKENIZATION, sorted(STOP_WORDS), *([stemmer] if stemmer else ()))


def count_words(texts: pa.ChunkedArray, stemmer: str | None = None) -> Counts:
    """Count the words of texts that each end with a line break."""
    word_number: dict[str, int] = {}
    lengths, numbers, counts = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for chunk in texts.chunks:
        step = max(1, len(chunk) * _CHARACTERS // max(1, chunk.nbytes))
        for start in range(0, len(chunk), step):
            part = chunk.slice(start, step)
            occurrences = np.sort(_occurrences(part, word_number, stemmer))
            firsts = np.flatnonzero(np.diff(occurrences, prepend=-1))
            lengths.append(np.bincount(occurrences[firsts] >> 32, minlength=len(part)))
            numbers.append(occurrences[firsts].astype(np.int32))  # the lower half
            counts.append(np.diff(firsts, append=len(occurrences)))
    starts, counted = np.cumsum(np.concatenate(lengths), dtype=np.int32), np.concatenate(counts)
    small = np.uint16 if counted.max(initial=0) < 2**16 else np.uint32
    words = pa.array(list(word_number), pa.string())
    return Counts(words, starts, np.concatenate(numbers), counted.astype(small))


def _occurrences(texts: pa.StringArray, word_number: dict[str, int], stemmer: str | None) -> Places:
    """Compute (position of the text) · 2³² + (number of the word) for each occurrence of a content word."""
    plain = pc.string_is_ascii(texts)
    rows, encoded = _ascii_words(texts.filter(plain))
    content = [None if word in STOP_WORDS else word for word in encoded.dictionary.to_pylist()]
    if stemmer is not None:
        content = [word and stemmed(stemmer, word) for word in content]
    numbers = _numbers(content, word_number)[encoded.indices.to_numpy()]
    occurrences = [(np.flatnonzero(plain)[rows] << 32 | numbers)[numbers >= 0]]
    others = np.flatnonzero(pc.invert(plain))
    for number, text in zip(others, texts.take(pa.array(others)).to_pylist(), strict=True):
        occurrences.append(number << 32 | _numbers(indexed_terms(text, stemmer), word_number))
    return np.concatenate(occurrences)


def _numbers(words: Iterable[str | None], word_number: dict[str, int]) -> Places:
    """Give each word its number: a new word gets a new number, and None gets -1."""
    numbers = [-1 if word is None else word_number.setdefault(word, len(word_number)) for word in words]
    return np.array(numbers, np.int64)


def _ascii_words(texts: pa.StringArray) -> tuple[Places, pa.DictionaryArray]:
    """Cut ASCII texts into words; return the position of each word's text, and the words, in order."""
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
