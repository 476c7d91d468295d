"""How much of a document's text changed since it was judged: the share of words that only one version has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from curation.core.errors import NotFoundError
from curation.core.similarity.text_blocks import TextBlock, word_blocks
from curation.relabeling.judged_pairs import JudgedPair
from curation.store import Store
from curation.store.documents import documents_by_hash

LONGEST = 4_000
"""Words of a version that are compared word by word; a longer version shows only so many."""


@dataclass(frozen=True)
class TextChange:
    """Two versions of a document side by side.

    Attributes
    ----------
    kept: the share of words that both have, 0 to 1 (Dice); None if neither has a word.
    title, body: runs of words in the order of the text.
    words_left_out: words of the longer version that are not shown.
    """

    kept: float | None
    title: tuple[TextBlock, ...]
    body: tuple[TextBlock, ...]
    words_left_out: int


def text_change(store: Store, before_hash: str, after_hash: str) -> TextChange:
    """What is between two versions of a document.

    Raises
    ------
    NotFoundError: the project does not have one of them.
    """
    with store.reading() as cursor:
        documents = documents_by_hash(cursor, [before_hash, after_hash])
    missing = [name for name in (before_hash, after_hash) if name not in documents]
    if missing:
        raise NotFoundError(f"The project has no document version {missing[0]}.")
    before, after = documents[before_hash], documents[after_hash]
    old, new = before.body.split(), after.body.split()
    return TextChange(
        kept=words_kept(before.text, after.text),
        title=word_blocks(before.title.split(), after.title.split()),
        body=word_blocks(old[:LONGEST], new[:LONGEST]),
        words_left_out=max(0, max(len(old), len(new)) - LONGEST),
    )


def changed_shares(store: Store, pairs: Iterable[JudgedPair]) -> dict[tuple[str | None, str | None], float]:
    """(version judged, version now) → the share of words that changed, of all documents that changed."""
    wanted = sorted(
        {(p.read_hash, p.now_hash) for p in pairs if p.read_hash and p.now_hash and p.read_hash != p.now_hash}
    )
    with store.reading() as cursor:
        documents = documents_by_hash(cursor, [name for both in wanted for name in both])
    shares: dict[tuple[str | None, str | None], float] = {}
    for before, after in wanted:
        if before in documents and after in documents:
            kept = words_kept(documents[before].text, documents[after].text)
            shares[before, after] = 0.0 if kept is None else 1 - kept
    return shares


def words_kept(before: str, after: str) -> float | None:
    """Twice the common words over the words of both, each counted as often as it is there (Dice 1945)."""
    old, new = Counter(before.split()), Counter(after.split())
    total = old.total() + new.total()
    return 2 * (old & new).total() / total if total else None
