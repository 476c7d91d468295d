"""Documents with the same title and body under several ids: judged once, not once an id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from curation.store.rows import Document


class Identical:
    """Which documents of a corpus are the same text. Documents without any text are each their own."""

    def __init__(self, documents: Sequence[Document]) -> None:
        by_text: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for document in documents:
            if document.text:
                by_text[document.title, document.body].append(document.document_id)
        self._ids = {
            document_id: sorted(ids) for ids in by_text.values() if len(ids) > 1 for document_id in ids
        }

    def first(self, document_id: str) -> str:
        """The smallest id of the document's text."""
        return self._of(document_id)[0]

    def stand_in(self, document_id: str, taken: Collection[str]) -> str:
        """The id under which the text is judged: one that is taken already, else the smallest."""
        return next((other for other in self._of(document_id) if other in taken), self.first(document_id))

    def all_ids(self, document_ids: Iterable[str]) -> set[str]:
        """All ids of the documents' texts."""
        return {other for document_id in document_ids for other in self._of(document_id)}

    def _of(self, document_id: str) -> Sequence[str]:
        return self._ids.get(document_id, (document_id,))
