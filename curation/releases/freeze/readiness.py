"""What a freeze of this moment would hold, and what is against it, before anybody asks for one."""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.errors import RefusedError
from curation.ingest.filters.stored import read_filters
from curation.releases.freeze.checklist import FreezeCheck, checklist
from curation.releases.freeze.content import ReleaseDraft, draft_of
from curation.releases.freeze.freeze import refuse_open
from curation.releases.freeze.reading import read_rows
from curation.releases.freeze.request import FreezeRequest
from curation.releases.freeze.sharing import grade_outside
from curation.releases.seal import chosen_seals
from curation.store import Store


@dataclass(frozen=True)
class Readiness:
    """What a release would hold; the split is checked again by the freeze itself.

    Attributes
    ----------
    content: without its tables.
    sealed: parts that would be sealed.
    without_relevant: part of the split → queries in it that have no relevant document.
    """

    content: ReleaseDraft
    sealed: tuple[str, ...]
    without_relevant: dict[str, int]
    checks: tuple[FreezeCheck, ...]

    def problem(self, allow_disputed: bool) -> str | None:
        """Why it would be refused whatever the reason, in words for a page; None where nothing is known."""
        content = self.content
        try:
            refuse_open(content.disputed, sum(content.grades.values()), content.left_out, allow_disputed)
        except RefusedError as error:
            return error.found
        return None


def readiness(store: Store, request: FreezeRequest) -> Readiness:
    """What `freeze` would make of the labels of now, without checking the split again.

    Raises
    ------
    RefusedError: there is no corpus or no split.
    """
    filters = read_filters(store)
    with store.reading() as cursor:
        rows = read_rows(cursor)
    content = draft_of(rows, request.allow_changed, request.only_complete, filters)
    grade_outside(store, content, filters)
    sealed = chosen_seals(content.queries, request.seal)
    lacking = content.without_relevant
    content.tables.clear()
    return Readiness(content, sealed, lacking, checklist(content, sealed, request.allow_disputed))
