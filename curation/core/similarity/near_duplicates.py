"""Near-duplicates: documents whose texts are the same or nearly so, as groups and with relevant ones.

A million short documents fit: texts stay in Arrow, shingles become arrays as they come, and of all pairs a
spanning forest is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from curation.core.progress import Progress, silent
from curation.core.similarity.forest import Links
from curation.core.similarity.pairs import alike
from curation.core.similarity.shingles import Shingles, jaccard, word_shingles
from curation.core.statistics.arrays import Ints

_BATCH = 8_192


class NearDuplicate(NamedTuple):
    """A document judged not relevant that is nearly the text of a relevant one: no use as a negative."""

    document_id: str
    positive_id: str
    similarity: float


class DuplicateGroup(NamedTuple):
    """Documents that hang together by near-duplicates.

    Attributes
    ----------
    documents: ids, ordered.
    identical: whether title and body are the same in all of them.
    similarity: the weakest tie that holds the group together (Jaccard of word 3-shingles).
    """

    documents: tuple[str, ...]
    identical: bool
    similarity: float


class DuplicateGroups(NamedTuple):
    """The near-duplicate groups of a corpus, largest first.

    Attributes
    ----------
    method: how documents were compared.
    pairs: pairs of documents at or above the threshold.
    without_words: documents that were compared with none.
    """

    method: str
    pairs: int
    groups: tuple[DuplicateGroup, ...]
    without_words: int


def near_duplicate(
    document_id: str, positives: Iterable[str], shingles: Mapping[str, Shingles], threshold: float
) -> NearDuplicate | None:
    """The relevant document most like this one, if it reaches the threshold; of equals the first by id."""
    own = shingles[document_id]
    likeness = [(-jaccard(own, shingles[other]), other) for other in positives if other in shingles]
    negated, nearest = min(likeness, default=(0.0, ""))
    return NearDuplicate(document_id, nearest, -negated) if likeness and -negated >= threshold else None


def near_duplicate_groups(corpus: pa.Table, threshold: float, progress: Progress = silent) -> DuplicateGroups:
    """The near-duplicate groups of a table with document_id, title and body."""
    without_words = 0

    def shingles() -> Iterator[Shingles]:
        nonlocal without_words
        for _, title, body in _rows(corpus):
            found = word_shingles(f"{title}\n{body}")
            if not found:
                without_words += 1
            yield found

    found = alike(shingles(), threshold, progress=progress)
    return DuplicateGroups(found.method, found.pairs, _groups(corpus, found.links), without_words)


def _rows(corpus: pa.Table) -> Iterator[tuple[str, str, str]]:
    """Document id, title and body of each document, in batches: never all of them as Python texts."""
    for batch in corpus.select(["document_id", "title", "body"]).to_batches(max_chunksize=_BATCH):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _groups(corpus: pa.Table, links: Links) -> tuple[DuplicateGroup, ...]:
    size = corpus.num_rows
    graph = sparse.coo_matrix(
        (np.ones(len(links.first), bool), (links.first, links.second)), shape=(size, size)
    )
    _, labels = connected_components(graph, directed=False)
    weakest = np.ones(size)
    np.minimum.at(weakest, labels[links.first], links.similarity)
    tied: Ints = np.unique(np.concatenate((links.first, links.second)))
    order = tied[np.argsort(labels[tied], kind="stable")]
    members = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if len(order) else []
    texts = list(_rows(corpus.take(pa.array(order))))
    groups, at = [], 0
    for places in members:
        rows = texts[at : at + len(places)]
        at += len(places)
        groups.append(_group(rows, float(weakest[labels[places[0]]])))
    return tuple(sorted(groups, key=lambda group: (-len(group.documents), group.documents)))


def _group(rows: Sequence[tuple[str, str, str]], similarity: float) -> DuplicateGroup:
    identical = len({row[1:] for row in rows}) == 1
    return DuplicateGroup(tuple(sorted(row[0] for row in rows)), identical, similarity)
