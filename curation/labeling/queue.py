"""The annotator's queue: what is shown next, and all that a screen may know about it.

`Showing` is blind by construction: it has no rank, score, system, duplicate mark, split or other
person's grade, and its id is a hash that carries none of them. Nothing else about a presentation
leaves the server.

What is open lies in rounds that are neither paused nor closed, and was not moved to somebody else. An
unfinished or failed practice round comes before everything else.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from curation.errors import NotFoundError
from curation.labeling.ahead import Ahead, Item, ahead
from curation.labeling.excerpts import Segment, best_passage, in_body, mark, query_stems
from curation.labeling.matched import matched_passages
from curation.labeling.practice import PracticeState, Standing, standings
from curation.labeling.query_answers import ASKED_IN
from curation.store import Cursor, Store, utc_now

PACE_ANSWERS = 50
"""The pace is the median of so many last answers."""

FEWEST_FOR_PACE = 5


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
    with store.reading() as cursor:
        practice = standings(cursor, annotator)
        waiting = next((standing for standing in practice if standing.open), None)
        work = ahead(cursor, annotator, waiting.round_id if waiting else None)
        held = set(after)
        items = [item for item in work.open if item.presentation_id not in held][:limit]
        texts = _texts(cursor, annotator, work, items)
        matched = matched_passages(cursor, [item.presentation_id for item in items])
        hour, seconds_each = pace(cursor, annotator)
        over = not work.items and bool(cursor.execute(_WORKED, [annotator]).fetchall())
    return Queue(
        showings=[showing_of(text, matched.get(text.presentation_id)) for text in texts],
        done=waiting.state.answered if waiting else work.answered,
        total=waiting.state.total if waiting else work.total,
        round=work.sources[items[0].round_id].name if items else None,
        message="" if items or after else _why_empty(work, waiting, over),
        hour=hour,
        seconds_each=seconds_each,
        practice=waiting.state if waiting else practice[-1].state if practice else None,
    )


def _texts(cursor: Cursor, annotator: str, work: Ahead, items: Sequence[Item]) -> list[ShowingRow]:
    if not items:
        return []
    wanted = [item.query_id for item in items]
    queries = {row[0]: row[1:] for row in cursor.execute(_QUERIES, [wanted]).fetchall()}
    hashes = [item.content_hash for item in items]
    documents = {row[0]: row[1:] for row in cursor.execute(_DOCUMENTS, [hashes]).fetchall()}
    told = set(cursor.execute(_TOLD, [annotator, list(queries)]).fetchall())
    lasts = work.lasts()
    texts = []
    for item in items:
        source = work.sources[item.round_id]
        asks = item.presentation_id in lasts and (item.round_id, item.query_id) not in told
        text, need = queries[item.query_id]
        title, body, url, published = documents[item.content_hash]
        about = (source.guide_hash, source.kind, asks and source.kind in ASKED_IN)
        shown = (text, need, title, body, url, published, *about)
        texts.append(ShowingRow(item.presentation_id, item.revision, *shown))
    return texts


def pace(cursor: Cursor, annotator: str) -> tuple[int, float | None]:
    """An annotator's answers in the last 60 minutes, and the median seconds of the last `PACE_ANSWERS`."""
    hour = cursor.execute(_HOUR, [annotator, utc_now() - timedelta(hours=1)]).fetchall()[0][0]
    rows = cursor.execute(_SECONDS, [annotator, PACE_ANSWERS]).fetchall()
    seconds = [row[0] / 1000 for row in rows]
    return int(hour), statistics.median(seconds) if len(seconds) >= FEWEST_FOR_PACE else None


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
    resting = work.resting()
    if resting:
        return (
            f"The lead has paused {' and '.join(resting)}. Your answers are kept; when the round goes on, "
            "this page fills by itself."
        )
    return "You have answered every item that was given to you. Thank you; the next round brings new ones."


# Apart from what is next: five texts are found in a millisecond, joined they cost several.
_QUERIES = """
SELECT query_id, text, information_need
FROM queries JOIN (SELECT unnest(?::TEXT[]) AS query_id) USING (query_id)
"""

_DOCUMENTS = """
SELECT content_hash, title, body, url, published
FROM documents JOIN (SELECT unnest(?::TEXT[]) AS content_hash) USING (content_hash)
"""

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

_HOUR = """
SELECT count(DISTINCT presentation_id) FROM judgment_events
WHERE author = ? AND submitted_at > ? AND kind IN ('grade', 'cannot_tell')
"""

_SECONDS = """
SELECT active_ms FROM judgment_events
WHERE author = ? AND kind IN ('grade', 'cannot_tell') AND active_ms IS NOT NULL
ORDER BY submitted_at DESC, presentation_id LIMIT ?
"""
