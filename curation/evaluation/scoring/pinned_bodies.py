"""Pinned bodies: the texts of the document versions in a release.

A body is read once, when the first run names its document. The length of the body and the offsets of its
words stay in memory. A search in the texts reads the bodies again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from curation.core.statistics.arrays import Ints
from curation.core.words import find_word_starts
from curation.evaluation.scoring.chunk_measures import UNKNOWN
from curation.evaluation.scoring.evidence import OPEN
from curation.releases.frozen_release import FrozenRelease
from curation.store import Store


class PinnedBodies:
    """The bodies of one release's documents, read when needed."""

    def __init__(self, store: Store, release: FrozenRelease) -> None:
        self._store, self._release = store, release
        self._indexes: dict[str, int] = {}
        self._lengths: list[int] = []
        self._starts: list[Ints] = []
        self._words_and_bounds: tuple[Ints, Ints] | None = None

    @property
    def hashes(self) -> dict[str, str]:
        """Map each document id to the content hash of the version in the release."""
        return self._release.versions

    def walk(self, ids: Collection[str]) -> Iterator[tuple[str, str | None]]:
        """Yield the id and body of each document; the body is None if the project no longer has it."""
        for document_id, document in self._release.documents(self._store, ids):
            yield document_id, None if document is None else document.body

    def find_lengths(self, ids: Sequence[str]) -> Ints:
        """Return the number of characters of each document's body, or `OPEN` if a body is unknown."""
        indexes = self._find_indexes(ids)  # reads documents that are not known yet
        return np.array([*self._lengths, OPEN])[indexes]

    @property
    def bounds(self) -> Ints:
        """Return the word boundaries of all documents read so far, as in `RunChunks`."""
        return self._read_words_and_bounds()[1]

    def count_words(self, ids: Sequence[str], document: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Count the words that begin in each range of a body, and find the index of the first word in
        `bounds`.

        The two results have the shape (C,), and are `UNKNOWN` for an unknown body.

        Parameters
        ----------
        document: the index of each part's document in `ids`, shape (C,).
        start, end: the characters of each part, shape (C,).
        """
        index = self._find_indexes(ids)[document]
        starts, _ = self._read_words_and_bounds()
        first, last = (np.searchsorted(starts, index * OPEN + offset) for offset in (start, end))
        is_known = self.find_lengths(ids)[document] < OPEN
        return np.where(is_known, last - first, UNKNOWN), np.where(is_known, first + index, UNKNOWN)

    def _read_words_and_bounds(self) -> tuple[Ints, Ints]:
        """Return the positions at which words begin, with each document's positions shifted by a multiple of
        `OPEN`, and `bounds`.

        `bounds` have one boundary more than words for each document.
        """
        if self._words_and_bounds is None:
            empty = np.zeros(0, np.int64)
            shifted = [starts + index * OPEN for index, starts in enumerate(self._starts)]
            bounds = [
                np.concatenate([np.zeros(min(len(starts), 1), np.int64), starts[1:], [length]])
                for starts, length in zip(self._starts, self._lengths, strict=True)
            ]
            self._words_and_bounds = np.concatenate([empty, *shifted]), np.concatenate([empty, *bounds])
        return self._words_and_bounds

    def _find_indexes(self, ids: Sequence[str]) -> Ints:
        """Find the indexes of documents' bodies, after reading new documents; an unknown body gets the index
        after the last one."""
        missing = {name for name in ids if name not in self._indexes and name in self.hashes}
        for name, body in self.walk(missing):
            self._indexes[name] = len(self._lengths)
            self._lengths.append(OPEN if body is None else len(body))
            self._starts.append(np.array(find_word_starts(body or ""), np.int64))
            self._words_and_bounds = None
        return np.array([self._indexes.get(name, len(self._lengths)) for name in ids], np.int64)
