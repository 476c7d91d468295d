"""Changes in a document's text between its judged version and another version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from curation.core.errors import NotFoundError
from curation.core.similarity.text_blocks import TextBlock, word_blocks
from curation.relabeling.judged_pairs import CHANGED, JudgedPair
from curation.store import Store
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


def compute_changed_shares(
    store: Store, pairs: Iterable[JudgedPair]
) -> dict[tuple[str | None, str | None], float]:
    """Return each changed document's share of changed words, from its judged to its current version."""
    changed = {pair.hashes for pair in pairs if pair.document == CHANGED}
    with store.reading() as cursor:
        documents = documents_by_hash(cursor, {name for hashes in changed for name in hashes if name})
    shares: dict[tuple[str | None, str | None], float] = {}
    for before, after in changed:
        if before in documents and after in documents:
            kept = compute_kept_share(documents[before].text, documents[after].text)
            shares[before, after] = 0.0 if kept is None else 1 - kept
    return shares


def compute_kept_share(before: str, after: str) -> float | None:
    """Return twice the number of common words over the total number of words in both texts (Dice 1945)."""
    old, new = Counter(before.split()), Counter(after.split())
    total = old.total() + new.total()
    return 2 * (old & new).total() / total if total else None
