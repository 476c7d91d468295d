"""Counts of content words in texts: how often each word occurs in each document.

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
from curation.retrieval.stemming import stem_word
from curation.retrieval.terms import PLAIN, Analyzer, indexed_terms

_MAX_CHARACTERS = 1 << 24  # approximate number of characters that are cut together
_LOWER_CASE = np.zeros(256, np.uint8)
for _letter in b"abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ":
    _LOWER_CASE[_letter] = ord(chr(_letter).lower())
"""Byte → its letter, digit or underscore in lower case, or 0 for a byte between words."""
Positions = NDArray[np.int64]


class WordCounts(NamedTuple):
    """Word counts: document `d` has the words `numbers[starts[d]:starts[d + 1]]`, `counts[…]` times.

    Attributes
    ----------
    words: words by their numbers.
    counts: counts in two bytes each, or in four bytes if a count is too large.
    """

    words: pa.StringArray
    starts: NDArray[np.int32]
    numbers: NDArray[np.int32]
    counts: NDArray[Any]


def hash_word_rules(analyzer: Analyzer = PLAIN) -> str:
    """Compute a hash of the rules that cut texts into words, under which word counts are stored."""
    stemmer = [analyzer.stemmer] if analyzer.stemmer else []
    return digest("content words", TOKENIZATION, sorted(analyzer.stop_words), *stemmer)


def count_words(texts: pa.ChunkedArray, analyzer: Analyzer = PLAIN) -> WordCounts:
    """Count the words of texts that each end with a line break."""
    word_numbers: dict[str, int] = {}
    lengths, numbers, counts = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for chunk in texts.chunks:
        step = max(1, len(chunk) * _MAX_CHARACTERS // max(1, chunk.nbytes))
        for start in range(0, len(chunk), step):
            batch = chunk.slice(start, step)
            occurrences = np.sort(_find_occurrences(batch, word_numbers, analyzer))
            firsts = np.flatnonzero(np.diff(occurrences, prepend=-1))
            lengths.append(np.bincount(occurrences[firsts] >> 32, minlength=len(batch)))
            numbers.append(occurrences[firsts].astype(np.int32))  # the lower half
            counts.append(np.diff(firsts, append=len(occurrences)))
    starts = np.cumsum(np.concatenate(lengths), dtype=np.int32)
    all_counts = np.concatenate(counts)
    count_type = np.uint16 if all_counts.max(initial=0) < 2**16 else np.uint32
    words = pa.array(list(word_numbers), pa.string())
    return WordCounts(words, starts, np.concatenate(numbers), all_counts.astype(count_type))


def _find_occurrences(texts: pa.StringArray, word_numbers: dict[str, int], analyzer: Analyzer) -> Positions:
    """Compute (position of the text) · 2³² + (number of the word) for each occurrence of a content word."""
    is_ascii = pc.string_is_ascii(texts)
    rows, encoded = _split_ascii_texts(texts.filter(is_ascii))
    stop_words, stemmer = analyzer.stop_words, analyzer.stemmer
    content = [None if word in stop_words else word for word in encoded.dictionary.to_pylist()]
    if stemmer is not None:
        content = [word and stem_word(stemmer, word) for word in content]
    numbers = _number_words(content, word_numbers)[encoded.indices.to_numpy()]
    occurrences = [(np.flatnonzero(is_ascii)[rows] << 32 | numbers)[numbers >= 0]]
    others = np.flatnonzero(pc.invert(is_ascii))
    for row, text in zip(others, texts.take(pa.array(others)).to_pylist(), strict=True):
        occurrences.append(row << 32 | _number_words(indexed_terms(text, analyzer), word_numbers))
    return np.concatenate(occurrences)


def _number_words(words: Iterable[str | None], word_numbers: dict[str, int]) -> Positions:
    """Give each word its number: a new word gets a new number, and None gets -1."""
    numbers = [-1 if word is None else word_numbers.setdefault(word, len(word_numbers)) for word in words]
    return np.array(numbers, np.int64)


def _split_ascii_texts(texts: pa.StringArray) -> tuple[Positions, pa.DictionaryArray]:
    """Cut ASCII texts into words; return the position of each word's text, and the words, in order."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[: len(texts) + 1]
    letters = _LOWER_CASE[np.frombuffer(texts.buffers()[2], np.uint8)[: offsets[-1]]]
    is_letter = np.zeros(len(letters) + 2, bool)
    is_letter[1:-1] = letters > 0
    edges = np.flatnonzero(is_letter[1:] != is_letter[:-1])
    ends = np.cumsum(np.concatenate([[0], edges[1::2] - edges[::2]]), dtype=np.int32)
    words = pa.StringArray.from_buffers(
        len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(letters[is_letter[1:-1]])
    ).dictionary_encode()
    return np.repeat(np.arange(len(texts)), np.diff(np.searchsorted(edges[::2], offsets))), words
