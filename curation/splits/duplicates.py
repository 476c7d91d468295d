"""Near-duplicate groups of the corpus: documents that are the same text, or nearly.

Identical documents (same title, same body) are shown to annotators as one item already
(`core.similarity.identical`). Nearly identical ones are not, unless the project asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.similarity.near_duplicates import DuplicateGroup, near_duplicate_groups
from curation.splits.rules import DOCUMENT, LEAST_THRESHOLD
from curation.store import Store
from curation.store.documents import current_snapshot, whole_texts


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
            f"A threshold of {threshold:g}: expected a Jaccard similarity from {LEAST_THRESHOLD} to 1"
        )
    with store.reading() as cursor:
        snapshot = current_snapshot(cursor)
    corpus = whole_texts(store, snapshot)
    found = near_duplicate_groups(corpus, threshold, progress)
    skipped = found.without_words
    return DuplicateReport(
        snapshot,
        corpus.num_rows,
        threshold,
        found.method,
        found.pairs,
        sum(len(group.documents) for group in found.groups),
        sum(group.identical for group in found.groups),
        found.groups,
        {"without a word, which were compared with none": skipped} if skipped else {},
    )
