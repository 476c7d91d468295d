"""Near-duplicate groups of the corpus: documents that are the same text, or nearly.

Identical documents (same title, same body) are shown to annotators as one item already
(`pooling.identical`). Nearly identical ones are not: whoever wants them to share a judgment has to say so.

A million short documents fit: texts stay in Arrow, shingles become arrays as they come, and of all pairs a
spanning forest is kept (`similarity`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from curation.errors import InputError
from curation.progress import Progress, silent
from curation.sources.corpus import current_snapshot
from curation.splits.forest import Ints, Links
from curation.splits.rules import DOCUMENT, LEAST_THRESHOLD
from curation.splits.similarity import alike, word_shingles
from curation.store import Store
from curation.store.rows import Document

_BATCH = 8_192


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


@dataclass(frozen=True)
class DuplicateReport:
    """The near-duplicate groups of a corpus, largest first.

    Attributes
    ----------
    documents: all documents of the snapshot.
    method: how they were compared.
    pairs: pairs of documents at or above the threshold.
    grouped: documents in a group with others.
    identical_groups: groups of which all documents are identical.
    left_out: reason → number of documents.
    """

    snapshot_id: str
    documents: int
    threshold: float
    method: str
    pairs: int
    grouped: int
    identical_groups: int
    groups: tuple[DuplicateGroup, ...]
    left_out: dict[str, int]


def corpus_duplicates(
    store: Store, threshold: float = DOCUMENT, progress: Progress = silent
) -> DuplicateReport:
    """The near-duplicate groups of the corpus in force.

    Raises
    ------
    InputError: the threshold is none.
    RefusedError: there is no corpus.
    """
    if not LEAST_THRESHOLD <= threshold <= 1:
        raise InputError(
            f"--threshold {threshold:g}: expected a Jaccard similarity from {LEAST_THRESHOLD} to 1"
        )
    with store.reading() as cursor:
        snapshot = current_snapshot(cursor)
        corpus = cursor.sql(_CORPUS, params=[snapshot]).to_arrow_table()
    return near_duplicates(snapshot, corpus, threshold, progress)


def near_duplicates(
    snapshot_id: str, corpus: pa.Table, threshold: float, progress: Progress = silent
) -> DuplicateReport:
    """The near-duplicate groups of a table with document_id, title and body."""
    without_words = 0

    def shingles() -> Iterator[frozenset[str]]:
        nonlocal without_words
        for _, title, body in _rows(corpus):
            found = word_shingles(Document("", "", title, body).text)
            without_words += not found
            yield found

    found = alike(shingles(), threshold, progress=progress)
    groups = _groups(corpus, found.links)
    return DuplicateReport(
        snapshot_id,
        corpus.num_rows,
        threshold,
        found.method,
        found.pairs,
        sum(len(group.documents) for group in groups),
        sum(group.identical for group in groups),
        groups,
        {"without a word, which were compared with none": without_words} if without_words else {},
    )


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


_CORPUS = """
    SELECT s.document_id, d.title, d.body
    FROM snapshot_documents s JOIN documents d USING (content_hash)
    WHERE s.snapshot_id = ?
    ORDER BY s.document_id
"""
