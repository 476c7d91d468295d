"""Pinned bodies: the bodies of a release's versions of documents, for runs of chunks.

A body is read once, when the first run names its document. The length of the body and the places of its words
stay in memory. A search in the texts reads the bodies again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from curation.core.statistics.arrays import Ints
from curation.core.words import word_starts
from curation.evaluation.scoring.chunk_measures import UNKNOWN
from curation.evaluation.scoring.evidence import OPEN
from curation.releases.verify import FrozenRelease
from curation.store import Store


class PinnedBodies:
    """The bodies of one release's documents, read when they are needed."""

    def __init__(self, store: Store, release: FrozenRelease) -> None:
        self._store, self._release = store, release
        self._number: dict[str, int] = {}
        self._lengths: list[int] = []
        self._starts: list[Ints] = []
        self._every: tuple[Ints, Ints] | None = None

    @property
    def hashes(self) -> dict[str, str]:
        """Document id → content hash of the release's version."""
        return self._release.versions

    def walk(self, ids: Collection[str]) -> Iterator[tuple[str, str | None]]:
        """Yield the id and the body of each document; the body is None if the project no longer has it."""
        for document_id, document in self._release.documents(self._store, ids):
            yield document_id, None if document is None else document.body

    def lengths(self, ids: Sequence[str]) -> Ints:
        """Return the number of characters of each body, or `OPEN` for an unknown body."""
        numbers = self._numbers(ids)
        return np.array([*self._lengths, OPEN])[numbers]

    @property
    def bounds(self) -> Ints:
        """The boundaries of words, as in `RunChunks`, of all documents that were read so far."""
        return self._all_words()[1]

    def words(self, ids: Sequence[str], document: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Count the words that begin in each part of a body, and find the position of the first word in
        `bounds`.

        The two results have the shape (C,), and are `UNKNOWN` for an unknown body.

        Parameters
        ----------
        document: the position of each part's document in `ids`, shape (C,).
        start, end: the characters of each part, shape (C,).
        """
        number = self._numbers(ids)[document]
        starts, _ = self._all_words()
        first, last = (np.searchsorted(starts, number * OPEN + at) for at in (start, end))
        known = self.lengths(ids)[document] < OPEN
        return np.where(known, last - first, UNKNOWN), np.where(known, first + number, UNKNOWN)

    def _all_words(self) -> tuple[Ints, Ints]:
        """Return the beginnings of words, each document shifted by `OPEN`, and `bounds`.

        `bounds` have one place more for each document.
        """
        if self._every is None:
            none = np.zeros(0, np.int64)
            shifted = [starts + at * OPEN for at, starts in enumerate(self._starts)]
            bounds = [
                np.concatenate([np.zeros(min(len(starts), 1), np.int64), starts[1:], [length]])
                for starts, length in zip(self._starts, self._lengths, strict=True)
            ]
            self._every = np.concatenate([none, *shifted]), np.concatenate([none, *bounds])
        return self._every

    def _numbers(self, ids: Sequence[str]) -> Ints:
        """Number the documents, and read new ones; an unknown body has the number after the last."""
        missing = {name for name in ids if name not in self._number and name in self.hashes}
        for name, body in self.walk(missing):
            self._number[name] = len(self._lengths)
            self._lengths.append(OPEN if body is None else len(body))
            self._starts.append(np.array(word_starts(body or ""), np.int64))
            self._every = None
        return np.array([self._number.get(name, len(self._lengths)) for name in ids], np.int64)
