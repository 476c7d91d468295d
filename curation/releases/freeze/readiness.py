"""What a freeze of this moment would hold, and what is against it, before anybody asks for one."""

from __future__ import annotations

from dataclasses import dataclass

from curation.agreement.gate import Gate
from curation.errors import RefusedError
from curation.releases.freeze.content import CHANGED, content_of
from curation.releases.freeze.freeze import refuse_open
from curation.releases.freeze.reading import read_rows
from curation.releases.seal import chosen_seals
from curation.store import Store


@dataclass(frozen=True)
class Readiness:
    """What a release would hold; the split is checked again by the freeze itself.

    Attributes
    ----------
    queries, grades: part of the split → number.
    sealed: parts that are sealed in any case.
    changed: pairs that were graded on another version of their document only.
    without_relevant: part of the split → queries in it that have no relevant document.
    left_out: reason → number.
    """

    queries: dict[str, int]
    grades: dict[str, int]
    sealed: tuple[str, ...]
    documents: int
    disputed: int
    changed: int
    without_relevant: dict[str, int]
    left_out: dict[str, int]
    gate: Gate

    def problem(self, allow_disputed: bool) -> str | None:
        """Why it would be refused whatever the reason, in words for a page; None where nothing is known."""
        try:
            refuse_open(self.disputed, sum(self.grades.values()), self.left_out, allow_disputed)
        except RefusedError as error:
            return error.found
        return None


def readiness(store: Store, allow_changed: bool = False) -> Readiness:
    """What `freeze` would make of the labels of now, without checking the split again.

    Raises
    ------
    RefusedError: there is no corpus or no split.
    """
    with store.reading() as cursor:
        rows = read_rows(cursor)
    content = content_of(rows, allow_changed)
    return Readiness(
        queries=content.queries,
        grades=content.grades,
        sealed=chosen_seals(content.queries),
        documents=content.documents,
        disputed=content.disputed,
        changed=content.changed or content.left_out.get(CHANGED, 0),
        without_relevant=content.without_relevant,
        left_out=content.left_out,
        gate=content.agreement.gate,
    )
