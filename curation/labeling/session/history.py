"""An annotator's History: pages of answers that the annotator can still change.

While the annotator has open items, the History lists the last items without their answers, so that neither
the list nor its length reveals blind duplicates (`rounds.withheld_answers`). Without open items, the History
lists the newest answer to each pair. A changed answer is a new event.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from curation.core.errors import RefusedError
from curation.guides.guide import load_guide
from curation.ingest.filters import NEED
from curation.labeling.presentation.drawing import NO_IMAGE_HOSTS, Hosts
from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE
from curation.labeling.rounds.withheld_answers import may_see_own_answers
from curation.labeling.session.item_views import AnsweredItem, draw_answers, read_answered
from curation.store import Cursor, Store
from curation.store.documents import VERSION

LAST_ITEMS = CLOSEST_DUPLICATE // 2
"""Number of listed items while the annotator has open items; the browser holds fewer upcoming items."""
PAGE_SIZE = 20
"""The number of answers on a page."""
_ANSWERS = f"""
WITH first_answers AS (
    SELECT presentation_id, min(rowid) AS first_rowid, count(*) > 1 AS changed FROM judgment_events
    WHERE author = $who AND kind IN ('grade', 'cannot_tell') GROUP BY presentation_id),
latest_answers AS (
    SELECT p.*, f.first_rowid, f.changed, r.guide_hash, r.kind AS round_kind
    FROM first_answers f
    JOIN presentations p USING (presentation_id)
    JOIN round_states r USING (round_id)
    WHERE p.annotator = $who AND r.kind NOT IN ('practice', 'imported')
    QUALIFY CASE WHEN $withheld THEN row_number() OVER (ORDER BY f.first_rowid DESC) <= $last
            ELSE row_number() OVER (PARTITION BY query_id, document_id ORDER BY f.first_rowid DESC) = 1 END),
filtered AS (
    SELECT l.presentation_id, s.next_revision, q.text, {NEED}, d.title, d.body, d.url,
           d.published, d.metadata, l.guide_hash, l.round_kind, s.kind, s.grade, s.reason,
           s.note, s.flagged, l.changed, s.guide_hash AS given_under, l.first_rowid
    FROM latest_answers l
    JOIN presentation_states s USING (presentation_id)
    JOIN queries q USING (query_id)
    JOIN {VERSION}
    WHERE s.answered
      AND ($text = '' OR contains(strip_accents(lower(concat(q.text, chr(10), d.title))),
                                  strip_accents(lower($text))))
      AND ($grade::INTEGER IS NULL OR s.grade = $grade)
      AND (NOT $cannot_tell OR s.kind = 'cannot_tell')
      AND (NOT $changed OR l.changed)
      AND (NOT $noted OR coalesce(s.note, '') != '')
      AND (NOT $flagged OR s.flagged))
"""  # noqa: S608
_COUNT = f"{_ANSWERS} SELECT count(*) FROM filtered"  # noqa: S608
_PAGE = f"""
{_ANSWERS}
SELECT * EXCLUDE (first_rowid) FROM filtered ORDER BY first_rowid DESC LIMIT $limit OFFSET $offset
"""  # noqa: S608
_GUIDES = """
SELECT e.guide_hash
FROM judgment_events e JOIN presentations p USING (presentation_id) JOIN rounds r USING (round_id)
WHERE e.author = ? AND e.kind = 'grade' AND r.kind NOT IN ('practice', 'imported')
GROUP BY e.guide_hash ORDER BY max(e.rowid) DESC
"""


class HistoryFilter(BaseModel):
    """A filter for the annotator's History; listed answers must match each field of the filter.

    Attributes
    ----------
    page: the number of the page, from 0.
    text: a part of the query or of the document's title; case and accents are ignored.
    changed: only answers that the annotator has changed.
    """

    model_config = ConfigDict(extra="forbid")

    page: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    text: Annotated[str, Field(max_length=200)] = ""
    grade: Annotated[int, Field(ge=-1_000_000, le=1_000_000)] | None = None
    cannot_tell: bool = False
    changed: bool = False
    noted: bool = False
    flagged: bool = False


NO_FILTER = HistoryFilter()


class HistoryPage(NamedTuple):
    """One page of an annotator's History: answers, newest first.

    Attributes
    ----------
    total: the number of answers that match the filter.
    page, pages: the number of this page, from 0, and the number of pages, at least 1.
    size: the number of answers on a full page.
    grades: the grades of each guide under which the annotator gave a grade, the last guide first.
    withheld: whether the annotator has open items, so that the page shows the last items without their
        answers.
    """

    answers: list[AnsweredItem]
    total: int
    page: int
    pages: int
    size: int
    grades: list[dict[str, Any]]
    withheld: bool


def read_history_page(
    store: Store, annotator: str, filters: HistoryFilter = NO_FILTER, image_hosts: Hosts = NO_IMAGE_HOSTS
) -> HistoryPage:
    """Read the annotator's answers that match the filter, newest first, with their revisions.

    The answers are ordered by the time of the first answer to each item. Practice answers are left out,
    because they cannot be changed. Answers from closed rounds are listed, and changes to them are marked
    late. For a page beyond the last page, the last page is read.

    Raises
    ------
    RefusedError: the filter asks for grades or marks while answers are withheld.
    """
    with store.reading() as cursor:
        withheld = not may_see_own_answers(cursor, annotator)
        if withheld and filters != HistoryFilter(page=filters.page, text=filters.text):
            raise RefusedError(
                "You can filter your answers by grade or evidence after you finish your open items."
            )
        parameters = filters.model_dump(exclude={"page"})
        parameters |= {"who": annotator, "withheld": withheld, "last": LAST_ITEMS}
        ((total,),) = cursor.execute(_COUNT, parameters).fetchall()
        pages = max(1, -(-total // PAGE_SIZE))
        page = min(filters.page, pages - 1)
        limits = {"limit": PAGE_SIZE, "offset": page * PAGE_SIZE}
        rows = read_answered(cursor, _PAGE, {**parameters, **limits}) if total else []
        grades = [] if withheld else _read_grade_choices(cursor, annotator)
    answers = draw_answers(rows, image_hosts)
    if withheld:
        answers = [AnsweredItem(answer.showing) for answer in answers]
    return HistoryPage(answers, total, page, pages, PAGE_SIZE, grades, withheld)


def _read_grade_choices(cursor: Cursor, annotator: str) -> list[dict[str, Any]]:
    rows = cursor.execute(_GUIDES, [annotator]).fetchall()
    guides = [load_guide(cursor, guide_hash) for (guide_hash,) in rows]
    return [
        {"guide_hash": guide.guide_hash, **grade.model_dump(include={"value", "name", "key", "colour"})}
        for guide in guides
        for grade in guide.scale
    ]
