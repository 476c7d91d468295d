"""The annotator's queue: what is shown next, and all that a screen may know about it.

`Showing` is blind by construction: it has no rank, score, system, duplicate mark, split or other
person's grade, and its id is a hash that carries none of them. Nothing else about a presentation
leaves the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.errors import NotFoundError
from curation.labeling.excerpts import Segment, best_passage, mark, query_stems
from curation.store import Cursor, Store


class Showing(NamedTuple):
    """All that an annotator's screen may read of a presentation.

    Attributes
    ----------
    passage: the best passage in segments, the query's words marked.
    has_more: the document is longer than the passage; `whole_document` has it.
    guide_hash: the guide under which the round was opened.
    """

    presentation_id: str
    revision: int
    query: str
    information_need: str | None
    title: list[Segment]
    passage: list[Segment]
    has_more: bool
    url: str | None
    published: str | None
    guide_hash: str


class Answered(NamedTuple):
    """A showing that its annotator has answered, with the answer."""

    showing: Showing
    kind: str
    grade: int | None
    reason: str | None
    note: str | None


class Queue(NamedTuple):
    """What comes next for one annotator.

    Attributes
    ----------
    showings: the next open presentations, in order.
    done, total: presentations answered, and all of them, over the annotator's rounds.
    round: the name of the round of the first showing, or None.
    message: why there is nothing to show, or ''.
    """

    showings: list[Showing]
    done: int
    total: int
    round: str | None
    message: str


def next_showings(store: Store, annotator: str, limit: int = 5, after: Sequence[str] = ()) -> Queue:
    """The annotator's next open presentations, without those that the screen holds already (`after`).

    Rounds come in the order in which they were opened; what was put off comes after everything else.
    """
    with store.reading() as cursor:
        rows = cursor.execute(_OPEN, [annotator, list(after), limit]).fetchall()
        done, total = cursor.execute(_COUNTS, [annotator]).fetchone() or (0, 0)
    return Queue(
        showings=[_showing(row) for row in rows],
        done=done,
        total=total,
        round=rows[0][9] if rows else None,
        message="" if rows or after else _why_empty(total),
    )


def previous_answered(store: Store, annotator: str) -> Answered | None:
    """The presentation that the annotator answered last, or None: what undo takes back."""
    with store.reading() as cursor:
        row = cursor.execute(_LAST, [annotator]).fetchone()
    return None if row is None else Answered(_showing(row), *row[9:])


def whole_document(store: Store, annotator: str, presentation_id: str) -> list[Segment]:
    """The whole text of the document of one of the annotator's presentations, the query's words marked.

    Raises
    ------
    NotFoundError: there is no such presentation, or it is somebody else's; the two are told alike.
    """
    with store.reading() as cursor:
        row = _own(cursor, annotator, presentation_id)
    if row is None:
        raise NotFoundError("This item is not among your items.")
    query, body = row
    return mark(body, query_stems(query))


def _own(cursor: Cursor, annotator: str, presentation_id: str) -> tuple[str, str] | None:
    return cursor.execute(
        """
        SELECT q.text, d.body
        FROM presentations p JOIN queries q USING (query_id) JOIN documents d USING (content_hash)
        WHERE p.presentation_id = ? AND p.annotator = ?
        """,
        [presentation_id, annotator],
    ).fetchone()


def _showing(row: tuple[object, ...]) -> Showing:
    presentation_id, revision, query, need, title, body, url, published, guide_hash = row[:9]
    excerpt = best_passage(str(body), str(query))
    return Showing(
        presentation_id=str(presentation_id),
        revision=int(str(revision)),
        query=str(query),
        information_need=None if need is None else str(need),
        title=mark(str(title), query_stems(str(query))),
        passage=excerpt.segments,
        has_more=not excerpt.whole,
        url=None if url is None else str(url),
        published=None if published is None else str(published),
        guide_hash=str(guide_hash),
    )


def _why_empty(total: int) -> str:
    if total == 0:
        return "No round has items for you yet. Once one is opened with you in it, this page fills by itself."
    return "You have answered every item that was given to you. Thank you; the next round brings new ones."


_OPEN = """
WITH open AS (
    SELECT p.*, r.name AS round, r.guide_hash, coalesce(s.next_revision, 0) AS revision,
           (s.kind IS NOT DISTINCT FROM 'later',
            CASE s.kind WHEN 'later' THEN s.submitted_at END,
            r.opened_at, r.round_id, p.position) AS place
    FROM presentations p
    JOIN rounds r USING (round_id)
    LEFT JOIN presentation_states s USING (presentation_id)
    WHERE p.annotator = ? AND r.kind = 'labeling' AND NOT coalesce(s.answered, false)
      AND p.presentation_id NOT IN (SELECT unnest(?::TEXT[]))
    ORDER BY place
    LIMIT ?)
SELECT o.presentation_id, o.revision, q.text, q.information_need, d.title, d.body, d.url, d.published,
       o.guide_hash, o.round
FROM open o JOIN queries q USING (query_id) JOIN documents d USING (content_hash)
ORDER BY o.place
"""

_LAST = """
SELECT p.presentation_id, s.next_revision, q.text, q.information_need, d.title, d.body, d.url, d.published,
       r.guide_hash, s.kind, s.grade, s.reason, s.note
FROM presentations p
JOIN rounds r USING (round_id)
JOIN presentation_states s USING (presentation_id)
JOIN queries q USING (query_id)
JOIN documents d USING (content_hash)
WHERE p.annotator = ? AND r.kind = 'labeling' AND s.answered
ORDER BY s.submitted_at DESC, p.position DESC
LIMIT 1
"""

_COUNTS = """
SELECT count(*) FILTER (s.answered), count(*)
FROM presentations p
JOIN rounds r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.annotator = ? AND r.kind = 'labeling'
"""
