"""Shingles of texts, and the Jaccard similarity of two sets of shingles.

Reworded texts differ only in punctuation and the order of words: "T-shirt, blue" and "blue t shirt". The
words of such texts are compared in alphabetical order. Alphabetical order would bring "iphone 14 case" nearer
to "iphone 13 case", so texts are only compared if they have the same words with a digit, and the same signs
after a word, as in c++ and c#.

Shingles are kept as 64-bit hashes. A collision of two hashes changes the similarity of a pair once in 10^14
pairs of texts with a hundred shingles each.

A. Broder (1997), On the resemblance and containment of documents.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.characters import normalise_query
from curation.core.statistics.arrays import Ints
from curation.core.words import split_whole_words, split_words

if TYPE_CHECKING:
    from scipy import sparse

Shingles = frozenset[str]

CHARACTERS = 3
WORDS = 3

NAME = "words in any order, same numbers"

_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_SIGNS = re.compile(r"(?<=\w)[+#]+(?![\w+#])")


class ShingleSets(NamedTuple):
    """The shingle sets of several texts.

    Attributes
    ----------
    matrix: shape (texts, distinct shingles), 1 where a text has the shingle.
    hashes: a 64-bit hash of each distinct shingle.
    """

    matrix: sparse.csr_matrix
    hashes: NDArray[np.uint64]

    @property
    def sizes(self) -> Ints:
        """Count the shingles of each text."""
        sizes: Ints = np.diff(self.matrix.indptr).astype(np.int64)
        return sizes

    def similarity(self, first: Ints, second: Ints) -> NDArray[np.float64]:
        """Compute the Jaccard similarity of each text in `first` and the text at its index in `second`."""
        shared = np.asarray(self.matrix[first].multiply(self.matrix[second]).sum(axis=1)).ravel()
        union = self.sizes[first] + self.sizes[second] - shared
        similarities: NDArray[np.float64] = shared / np.maximum(union, 1)
        return similarities


def character_shingles(text: str) -> Shingles:
    """Cut a normalised text into 3-grams; a shorter text is one shingle, and an empty text has none."""
    normal = normalise_query(text)
    return _shingles(normal, CHARACTERS)


def word_shingles(text: str) -> Shingles:
    """Cut a text into runs of three words; a shorter text is one shingle, and a text without words has none.

    In scripts without spaces words are grams, so that a shingle is four signs: see `curation.core.words`.
    """
    words = split_words(text)
    grams = [" ".join(words[start : start + WORDS]) for start in range(max(1, len(words) - WORDS + 1))]
    return frozenset(grams) - {""}


def jaccard(first: Shingles, second: Shingles) -> float:
    """Compute two sets' Jaccard similarity: the share of their union that is in both. An empty set has
    similarity 0 to every set.
    """
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0


def collect_distinct_sets(
    texts: Iterable[Shingles], single: Collection[int] = ()
) -> tuple[ShingleSets, Ints]:
    """Collect the distinct shingle sets, and for each text the number of its set (-1 without shingles).

    Parameters
    ----------
    single: numbers of texts that keep a separate set, even if a different text has an equal set.
    """
    separate = set(single)
    set_ids: dict[bytes, int] = {}
    class_of, flat, ends = array("q"), array("Q"), array("q", [0])
    for number, shingles in enumerate(texts):
        if not shingles:
            class_of.append(-1)
            continue
        hashes = np.sort(np.fromiter(map(_hash, shingles), np.uint64, len(shingles)))
        label = f"{number} " if number in separate else " "
        key = blake2b(hashes.tobytes() + label.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        set_id = set_ids.setdefault(key, len(set_ids))
        class_of.append(set_id)
        if set_id == len(ends) - 1:
            flat.frombytes(hashes.tobytes())
            ends.append(len(flat))
    return _sets(np.frombuffer(flat, np.uint64), np.array(ends, np.int64)), np.array(class_of, np.int64)


class NearDuplicate(NamedTuple):
    """A document judged not relevant whose text nearly equals a relevant document's, so that it cannot serve
    as a negative.
    """

    document_id: str
    positive_id: str
    similarity: float


def find_near_duplicate(
    document_id: str, positives: Iterable[str], shingles: Mapping[str, Shingles], threshold: float
) -> NearDuplicate | None:
    """Find the most similar relevant document at or above the threshold; if several tie, the first by id."""
    document_shingles = shingles[document_id]
    ids = [positive_id for positive_id in positives if positive_id in shingles]
    scores = [(-jaccard(document_shingles, shingles[positive_id]), positive_id) for positive_id in ids]
    negated, nearest = min(scores, default=(0.0, ""))
    return NearDuplicate(document_id, nearest, -negated) if scores and -negated >= threshold else None


def reworded_shingles(text: str) -> Shingles:
    """Cut a text's words, in alphabetical order, into 3-grams."""
    return character_shingles(" ".join(sorted(_words(text))))


def list_essentials(text: str) -> str:
    """List the parts that reworded texts must share: words with a digit, and every + or # at the end of a
    word."""
    numbers = [word for word in _words(text) if any(map(str.isdigit, word))]
    return " ".join(sorted([*numbers, *_SIGNS.findall(normalise_query(text))]))


def _hash(shingle: str) -> int:
    return int.from_bytes(blake2b(shingle.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _shingles(text: str, size: int) -> Shingles:
    return frozenset(text[start : start + size] for start in range(max(1, len(text) - size + 1))) - {""}


def _sets(flat: NDArray[np.uint64], ends: Ints) -> ShingleSets:
    hashes, columns = np.unique(flat, return_inverse=True)
    shape = (len(ends) - 1, len(hashes))
    ones = np.ones(len(flat), dtype=np.int32)
    from scipy import sparse

    return ShingleSets(sparse.csr_matrix((ones, columns, ends), shape=shape), hashes)


def _words(text: str) -> list[str]:
    return split_whole_words(_APOSTROPHE.sub("", text))
