"""Identical documents: documents with equal title and body under several ids, whose text is judged once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

Grade = TypeVar("Grade")


class IdenticalTexts:
    """The groups of documents in a corpus that have the same text. A document without text is its own group.

    Parameters
    ----------
    documents: id, title and body of each document.
    """

    def __init__(self, documents: Iterable[tuple[str, str, str]]) -> None:
        by_text: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for document_id, title, body in documents:
            if title.strip() or body.strip():
                by_text[title, body].append(document_id)
        self._ids = {
            document_id: sorted(ids) for ids in by_text.values() if len(ids) > 1 for document_id in ids
        }

    def first(self, document_id: str) -> str:
        """Find the smallest id under which the document's text occurs."""
        return self.of(document_id)[0]

    def all_ids(self, document_ids: Iterable[str]) -> set[str]:
        """Collect all ids under which the documents' texts occur."""
        every_id = set(document_ids)
        return every_id.union(*(self._ids[document_id] for document_id in every_id & self._ids.keys()))

    def of(self, document_id: str) -> Sequence[str]:
        """List all ids under which the document's text occurs, in order."""
        return self._ids.get(document_id, (document_id,))

    def shared(self, grades: Mapping[tuple[str, str], Grade]) -> dict[tuple[str, str], Grade]:
        """Copy each grade to the other ids of the same text that have no grade for the query."""
        copies = {
            (query, same_id): grade
            for (query, document_id), grade in grades.items()
            for same_id in self.of(document_id)
        }
        return copies | dict(grades)


class Representatives:
    """The ids under which texts with several ids are judged for a query: an id that is already a candidate,
    otherwise the smallest id.

    Imported candidates decide which id is taken, so a pool depends on these candidates; `unusual` lists the
    taken ids that are not the smallest id. Candidates that a pool adds change no representative.

    Parameters
    ----------
    outside: function that tells whether a document is outside a query's filter; the id of such a document
        never represents other documents.
    """

    def __init__(
        self,
        identical: IdenticalTexts,
        candidates: Iterable[tuple[str, str]],
        outside: Callable[[str, str], object] = lambda query_id, document_id: None,
    ) -> None:
        self._identical, self._outside = identical, outside
        self._taken: dict[tuple[str, str], str] = {}
        for query_id, document_id in sorted(candidates):
            if not outside(query_id, document_id):
                self._taken.setdefault((query_id, identical.first(document_id)), document_id)

    def of(self, query_id: str, document_id: str) -> str:
        """Choose the id under which the document's text is judged."""
        return self.all_of(query_id, document_id)[-1]

    def all_of(self, query_id: str, document_id: str) -> tuple[str, ...]:
        """List the ids under which a document is judged: its own id if it is outside the filter, then the
        chosen id, if any.
        """
        ids = self._identical.of(document_id)
        itself = (document_id,) if self._outside(query_id, document_id) else ()
        inside = self._taken.get((query_id, ids[0])) or next(
            (same_id for same_id in ids if not self._outside(query_id, same_id)), None
        )
        return itself if inside is None else (*itself, inside)

    @property
    def unusual(self) -> list[tuple[str, str]]:
        """List, sorted, the (query id, document id) pairs whose text is not judged under its smallest id."""
        return sorted((query_id, taken) for (query_id, first), taken in self._taken.items() if taken != first)
