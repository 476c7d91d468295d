"""The bodies of documents as a release pins them, for runs of chunks.

A body is read when a run names its document, once. Its length and the places of its words are kept; who looks
for something in the texts walks through them again.
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
    """The documents of one release."""

    def __init__(self, store: Store, release: FrozenRelease) -> None:
        self._store, self._release = store, release
        self._number: dict[str, int] = {}
        self._lengths: list[int] = []
        self._starts: list[Ints] = []
        self._every: tuple[Ints, Ints] | None = None

    @property
    def hashes(self) -> dict[str, str]:
        """Document id → content hash of the version that is pinned."""
        return self._release.versions

    def walk(self, ids: Collection[str]) -> Iterator[tuple[str, str | None]]:
        """Id and body of these documents of the release; None if the project no longer has it."""
        for document_id, document in self._release.documents(self._store, ids):
            yield document_id, None if document is None else document.body

    def lengths(self, ids: Sequence[str]) -> Ints:
        """The characters of each body, `OPEN` where it is not known."""
        numbers = self._numbers(ids)
        return np.array([*self._lengths, OPEN])[numbers]

    @property
    def bounds(self) -> Ints:
        """Where words begin and end, as in `RunChunks`, of the documents that were asked for so far."""
        return self._words_of_all()[1]

    def words(self, ids: Sequence[str], document: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """How many words begin in each part of a body, and the position of the first one in `bounds`; both
        `UNKNOWN` where the body is not known, and of shape (C,).

        Parameters
        ----------
        document: positions in `ids`, shape (C,), as the others.
        """
        number = self._numbers(ids)[document]
        starts, _ = self._words_of_all()
        first, last = (np.searchsorted(starts, number * OPEN + at) for at in (start, end))
        known = self.lengths(ids)[document] < OPEN
        return np.where(known, last - first, UNKNOWN), np.where(known, first + number, UNKNOWN)

    def _words_of_all(self) -> tuple[Ints, Ints]:
        """Where words begin, in each document `OPEN` behind the one before; and `bounds`, which have one
        place more for each document."""
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
        """The number of each document, one above the last where the release has no such body."""
        missing = {name for name in ids if name not in self._number and name in self.hashes}
        for name, body in self.walk(missing):
            self._number[name] = len(self._lengths)
            self._lengths.append(OPEN if body is None else len(body))
            self._starts.append(np.array(word_starts(body or ""), np.int64))
            self._every = None
        return np.array([self._number.get(name, len(self._lengths)) for name in ids], np.int64)
