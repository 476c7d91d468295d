"""The annotator's queue: what is shown next, and all that a screen may know about it.

`Showing` is blind by construction: it has no rank, score, system, duplicate mark, split or other
person's grade, and its id is a hash that carries none of them. Nothing else about a presentation
leaves the server.

What is open lies in rounds that are neither paused nor closed, and was not moved to somebody else. An
unfinished or failed practice round comes before everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.errors import NotFoundError
from curation.labeling.ahead import Ahead, Item, ahead
from curation.labeling.desk import Desk, desk_of
from curation.labeling.excerpts import Segment, best_passage, in_body, mark, query_stems
from curation.labeling.matched import Span, matched_passages
from curation.labeling.practice import PracticeState, Standing
from curation.labeling.query_answers import ASKED_IN
from curation.labeling.recent import recent
from curation.store import Cursor, Store, utc_now


class Showing(NamedTuple):
    """All that an annotator's screen may read of a presentation.

    Attributes
    ----------
    passage: the best passage in segments, the query's words marked.
    has_more: the document is longer than the passage; `whole_document` has it.
    guide_hash: the guide in force in the round.
    kind: 'practice' or 'work'.
    asks: it is the annotator's last open item of its query, and the annotator has not said yet whether the
        corpus answers the query.
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
    kind: str
    asks: bool


class Answered(NamedTuple):
    """A showing that its annotator has answered, with the answer."""

    showing: Showing
    kind: str
    grade: int | None
    reason: str | None
    note: str | None
    flagged: bool


class Queue(NamedTuple):
    """What comes next for one annotator.

    Attributes
    ----------
    showings: the next open presentations, in order.
    done, total: presentations answered, and all of them: of the practice round while that stands before
        the rest, else over the annotator's rounds that are not closed.
    round: the name of the round of the first showing, or None.
    message: why there is nothing to show and what comes next, or ''.
    hour: answers in the last 60 minutes.
    seconds_each: median seconds on screen over the last 50 answers; None below 5.
    practice: the practice round that stands before the rest, else the one passed last, if any.
    """

    showings: list[Showing]
    done: int
    total: int
    round: str | None
    message: str
    hour: int
    seconds_each: float | None
    practice: PracticeState | None


class ShowingRow(NamedTuple):
    """What the database holds for a `Showing`."""

    presentation_id: str
    revision: int
    query: str
    information_need: str | None
    title: str
    body: str
    url: str | None
    published: str | None
    guide_hash: str
    kind: str
    asks: bool


def next_showings(store: Store, annotator: str, limit: int = 5, after: Sequence[str] = ()) -> Queue:
    """The annotator's next open presentations, without those that the screen holds already (`after`)."""
    held = set(after)
    with desk_of(store, annotator) as desk, store.reading() as cursor:
        desk.read(cursor, store.edition)
        practice = desk.standings(cursor)
        waiting = next((standing for standing in practice if standing.open), None)
        work = ahead(desk.sources, desk.items(), waiting.round_id if waiting else None)
        coming = [item for item in work.open if item.presentation_id not in held]
        items = coming[:limit]
        rows = _rows(cursor, desk, work, items, coming)
        hour, seconds_each = desk.pace()
        over = not work.items and bool(cursor.execute(_WORKED, [annotator]).fetchall())
    return Queue(
        showings=[showing_of(row, matched) for row, matched in rows],
        done=waiting.state.answered if waiting else work.answered,
        total=waiting.state.total if waiting else work.total,
        round=work.sources[items[0].round_id].name if items else None,
        message="" if items or after else _why_empty(work, waiting, over),
        hour=hour,
        seconds_each=seconds_each,
        practice=waiting.state if waiting else practice[-1].state if practice else None,
    )


def _rows(
    cursor: Cursor, desk: Desk, work: Ahead, items: Sequence[Item], coming: Sequence[Item]
) -> list[tuple[ShowingRow, Span | None]]:
    asked = _asked(cursor, desk.annotator, work, items)
    rows = []
    for item, text in zip(items, desk.texts(cursor, items, coming), strict=True):
        source = work.sources[item.round_id]
        about = (source.guide_hash, source.kind, item.presentation_id in asked)
        rows.append((ShowingRow(item.presentation_id, item.revision, *text[:-1], *about), text.matched))
    return rows


def _asked(cursor: Cursor, annotator: str, work: Ahead, items: Sequence[Item]) -> set[str]:
    """Those of the items after which it is asked whether the corpus answers the query."""
    lasts = work.lasts() if items else set()
    those = [
        item
        for item in items
        if item.presentation_id in lasts and work.sources[item.round_id].kind in ASKED_IN
    ]
    if not those:
        return set()
    told = set(cursor.execute(_TOLD, [annotator, [item.query_id for item in those]]).fetchall())
    return {item.presentation_id for item in those if (item.round_id, item.query_id) not in told}


def pace(cursor: Cursor, annotator: str) -> tuple[int, float | None]:
    """Answers in the last 60 minutes, and the median seconds of the last ones, None where they are few."""
    return recent(cursor, annotator).pace(utc_now())


def previous_answered(store: Store, annotator: str) -> Answered | None:
    """The presentation that the annotator answered last, or None: what undo takes back."""
    with store.reading() as cursor:
        rows = cursor.execute(_LAST, [annotator]).fetchall()
        matched = matched_passages(cursor, [row[0] for row in rows])
    answered = [Answered(showing_of(ShowingRow(*row[:11]), matched.get(row[0])), *row[11:]) for row in rows]
    return answered[0] if answered else None


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


def showing_of(row: ShowingRow, matched: tuple[int, int] | None = None) -> Showing:
    """What the screen may read of a row; `matched` is the part of the text to take the excerpt from."""
    within = in_body(row.title, row.body, matched) if matched else None
    excerpt = best_passage(row.body, row.query, within=within)
    return Showing(
        presentation_id=row.presentation_id,
        revision=row.revision,
        query=row.query,
        information_need=row.information_need,
        title=mark(row.title, query_stems(row.query)),
        passage=excerpt.segments,
        has_more=not excerpt.whole,
        url=row.url,
        published=row.published,
        guide_hash=row.guide_hash,
        kind="practice" if row.kind == "practice" else "work",
        asks=row.asks,
    )


def _why_empty(work: Ahead, waiting: Standing | None, over: bool) -> str:
    if waiting is not None and not waiting.paused:
        state = waiting.state
        return (
            f"You gave the expected grade {state.right} times of {state.total}; to pass, "
            f"{state.pass_mark:.0%} is needed. Read the guide once more. The lead sees this and decides "
            "whether you practise again or go on; either way this page fills by itself."
        )
    if over:
        return (
            "The lead has closed what you worked on; your answers are kept. Once a round is opened with you "
            "in it, this page fills by itself."
        )
    if not work.items:
        return "No round has items for you yet. Once one is opened with you in it, this page fills by itself."
    if work.resting():
        return (
            "The lead has paused this work. Your answers are kept; when it goes on, this page fills by "
            "itself."
        )
    return "You have answered every item that was given to you. Thank you; the next round brings new ones."


_WORKED = """
SELECT 1 FROM presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = ? AND r.kind NOT IN ('practice', 'imported') LIMIT 1
"""

_TOLD = """
SELECT DISTINCT round_id, query_id FROM query_answers
WHERE annotator = ? AND query_id IN (SELECT unnest(?::TEXT[]))
"""

_LAST = """
SELECT p.presentation_id, s.next_revision, q.text, q.information_need, d.title, d.body, d.url, d.published,
       r.guide_hash, r.kind, false, s.kind, s.grade, s.reason, s.note, s.flagged
FROM live_presentations p
JOIN round_states r USING (round_id)
JOIN presentation_states s USING (presentation_id)
JOIN queries q USING (query_id)
JOIN documents d USING (content_hash)
WHERE p.annotator = ? AND NOT r.closed AND r.kind NOT IN ('practice', 'imported') AND s.answered
ORDER BY s.submitted_at DESC, p.position DESC
LIMIT 1
"""
