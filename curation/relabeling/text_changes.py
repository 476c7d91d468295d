"""Changes in a document's text since it was judged, and the pairs that the changes touch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from curation.core.errors import NotFoundError
from curation.core.similarity.text_blocks import TextBlock, word_blocks
from curation.labeling.presentation.excerpts import find_best_passage
from curation.relabeling.judged_pairs import CHANGED, JudgedPair, Pair
from curation.store import Document, Query, Store
from curation.store.documents import documents_by_hash

MAX_WORDS = 4_000
"""Number of words from the beginning of a version that are compared word by word and shown."""


@dataclass(frozen=True)
class TextChange:
    """The comparison of two versions of a document, word by word.

    Attributes
    ----------
    kept: the share of words that both versions contain, 0 to 1 (Dice); None if both versions are empty.
    title, body: kept, removed and added runs of words in the order of the text.
    words_left_out: number of words of the longer version that are not shown.
    """

    kept: float | None
    title: tuple[TextBlock, ...]
    body: tuple[TextBlock, ...]
    words_left_out: int


def compare_texts(store: Store, before_hash: str, after_hash: str) -> TextChange:
    """Compare two versions of a document word by word.

    Raises
    ------
    NotFoundError: the project does not have both versions.
    """
    with store.reading() as cursor:
        documents = documents_by_hash(cursor, [before_hash, after_hash])
    missing = [name for name in (before_hash, after_hash) if name not in documents]
    if missing:
        raise NotFoundError(f"The project has no document version {missing[0]}.")
    before, after = documents[before_hash], documents[after_hash]
    old, new = before.body.split(), after.body.split()
    return TextChange(
        kept=compute_kept_share(before.text, after.text),
        title=word_blocks(before.title.split(), after.title.split()),
        body=word_blocks(old[:MAX_WORDS], new[:MAX_WORDS]),
        words_left_out=max(0, max(len(old), len(new)) - MAX_WORDS),
    )


def find_untouched(store: Store, pairs: Iterable[JudgedPair], queries: Mapping[str, Query]) -> set[Pair]:
    """Find the pairs whose document changed, but neither in the marked evidence nor in the shown passage.

    A pair with an unknown text, such as a text of an external corpus that is not stored, counts as touched.

    Parameters
    ----------
    queries: query id → query.
    """
    changed = [pair for pair in pairs if pair.document == CHANGED and not pair.evidence_lost]
    hashes = {name for pair in changed for name in (pair.read_hash, pair.now_hash) if name}
    with store.reading() as cursor:
        documents = documents_by_hash(cursor, hashes)
    untouched = set()
    for pair in changed:
        versions = [documents.get(name or "") for name in (pair.read_hash, pair.now_hash)]
        if None not in versions:
            query = queries[pair.query_id].text
            before, after = (_read_shown_words(version, query) for version in versions if version)
            if before == after:
                untouched.add(pair.pair)
    return untouched


def _read_shown_words(document: Document, query: str) -> list[str]:
    """Return the words of the title and the passage that the page shows for a query."""
    _, segments = find_best_passage(document.body, query)
    return f"{document.title} {''.join(segment.text for segment in segments)}".split()


def compute_kept_share(before: str, after: str) -> float | None:
    """Return twice the number of common words over the total number of words in both texts (Dice 1945)."""
    old, new = Counter(before.split()), Counter(after.split())
    total = old.total() + new.total()
    return 2 * (old & new).total() / total if total else None
