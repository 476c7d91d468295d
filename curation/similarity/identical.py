"""Documents with the same title and body under several ids: judged once, not once an id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from curation.store import Document


class Identical:
    """Which documents of a corpus are the same text. Documents without any text are each their own."""

    def __init__(self, documents: Iterable[Document]) -> None:
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

    def all_ids(self, document_ids: Iterable[str]) -> set[str]:
        """All ids of the documents' texts."""
        found = set(document_ids)
        return found.union(*(self._ids[document_id] for document_id in found & self._ids.keys()))

    def _of(self, document_id: str) -> Sequence[str]:
        return self._ids.get(document_id, (document_id,))


class StandIns:
    """Under which id a text is judged for a query: one that is a candidate already, else its smallest.

    Candidates that were imported decide this, so a pool depends on them; `unusual` is all that it depends on.
    What a pool itself adds changes no representative.
    """

    def __init__(self, identical: Identical, held: Iterable[tuple[str, str]]) -> None:
        self._identical = identical
        self._taken: dict[tuple[str, str], str] = {}
        for query_id, document_id in sorted(held):
            self._taken.setdefault((query_id, identical.first(document_id)), document_id)

    def of(self, query_id: str, document_id: str) -> str:
        """The id under which the document's text is judged."""
        first = self._identical.first(document_id)
        return self._taken.get((query_id, first), first)

    @property
    def unusual(self) -> list[tuple[str, str]]:
        """(query id, document id) where a text is judged under another than its smallest id; ordered."""
        return sorted((query_id, held) for (query_id, first), held in self._taken.items() if held != first)
