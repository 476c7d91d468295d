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
from curation.labeling.excerpts import Segment, best_passage, in_body, mark, query_stems
from curation.labeling.matched import matched_passages
from curation.labeling.practice import PracticeState, Standing, standings
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


class _Round(NamedTuple):
    """A round from which an annotator can be shown something."""

    name: str
    paused: bool
    answered: int
    total: int


class _Next(NamedTuple):
    """An open presentation that comes next; answered and total are of all rounds that it is chosen from."""

    presentation_id: str
    revision: int
    round_id: str
    query_id: str
    content_hash: str
    guide_hash: str
    kind: str
    last: bool
    round: str
    answered: int
    total: int


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
    """The annotator's next open presentations, without those that the screen holds already (`after`).

    Rounds come in the order in which they were opened; what was put off comes after everything else, and so
    does a blind duplicate whose first showing was put off.
    """
    with store.reading() as cursor:
        practice = standings(cursor, annotator)
        waiting = next((standing for standing in practice if standing.open), None)
        only = waiting.round_id if waiting else None
        asked = {"who": annotator, "only": only, "holding": list(after), "limit": limit}
        rows = [_Next(*row) for row in cursor.execute(_OPEN, asked).fetchall()]
        texts = _texts(cursor, annotator, rows)
        matched = matched_passages(cursor, [row.presentation_id for row in rows])
        rounds = [] if rows else _rounds(cursor, annotator, only)
        hour, seconds_each = pace(cursor, annotator)
    answered, total = (rows[0].answered, rows[0].total) if rows else _sums(rounds)
    return Queue(
        showings=[showing_of(text, matched.get(text.presentation_id)) for text in texts],
        done=waiting.state.answered if waiting else answered,
        total=waiting.state.total if waiting else total,
        round=rows[0].round if rows else None,
        message="" if rows or after else _why_empty(rounds, waiting),
        hour=hour,
        seconds_each=seconds_each,
        practice=waiting.state if waiting else practice[-1].state if practice else None,
    )


def _texts(cursor: Cursor, annotator: str, rows: Sequence[_Next]) -> list[ShowingRow]:
    queries = {row[0]: row[1:] for row in cursor.execute(_QUERIES, [[r.query_id for r in rows]]).fetchall()}
    hashes = [row.content_hash for row in rows]
    documents = {row[0]: row[1:] for row in cursor.execute(_DOCUMENTS, [hashes]).fetchall()}
    told = set(cursor.execute(_TOLD, [annotator, list(queries)]).fetchall())
    texts = []
    for row in rows:
        text, need = queries[row.query_id]
        title, body, url, published = documents[row.content_hash]
        asks = row.last and (row.round_id, row.query_id) not in told
        values = (text, need, title, body, url, published, row.guide_hash, row.kind, asks)
        texts.append(ShowingRow(row.presentation_id, row.revision, *values))
    return texts


def _rounds(cursor: Cursor, annotator: str, only: str | None) -> list[_Round]:
    found = cursor.execute(_ROUNDS, {"who": annotator, "only": only}).fetchall()
    return [_Round(*row) for row in found]


def _sums(rounds: Sequence[_Round]) -> tuple[int, int]:
    return sum(one.answered for one in rounds), sum(one.total for one in rounds)


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


def _why_empty(rounds: Sequence[_Round], waiting: Standing | None) -> str:
    if waiting is not None and not waiting.paused:
        state = waiting.state
        return (
            f"You gave the expected grade {state.right} times of {state.total}; to pass, "
            f"{state.pass_mark:.0%} is needed. Read the guide once more. The lead sees this and decides "
            "whether you practise again or go on; either way this page fills by itself."
        )
    if not rounds:
        return "No round has items for you yet. Once one is opened with you in it, this page fills by itself."
    resting = [one.name for one in rounds if one.paused and one.answered < one.total]
    if resting:
        return (
            f"The lead has paused {' and '.join(resting)}. Your answers are kept; when the round goes on, "
            "this page fills by itself."
        )
    return "You have answered every item that was given to you. Thank you; the next round brings new ones."


# What an annotator may be shown, with where each presentation stands. Of all events only the annotator's own
# are looked at, which is several times as fast as `presentation_states` of everybody's.
_MINE = """
WITH states AS (
    SELECT presentation_id, max(revision) + 1 AS next_revision, arg_max(kind, revision) AS kind,
           arg_max(submitted_at, revision) AS submitted_at, bool_or(kind = 'later') AS put_off
    FROM judgment_events WHERE author = $who GROUP BY presentation_id),
mine AS MATERIALIZED (
    SELECT p.*, r.name, r.kind AS round_kind, r.guide_hash, r.opened_at, r.paused,
           coalesce(s.next_revision, 0) AS revision, s.kind, s.submitted_at,
           coalesce(s.put_off, false) AS put_off,
           coalesce(s.kind IN ('grade', 'cannot_tell'), false) AS answered
    FROM live_presentations p
    JOIN round_states r USING (round_id)
    LEFT JOIN states s USING (presentation_id)
    WHERE p.annotator = $who AND NOT r.closed
      AND CASE WHEN $only::TEXT IS NULL THEN r.kind NOT IN ('practice', 'imported')
          ELSE r.round_id = $only END)
"""

_ROUNDS = (
    _MINE
    + """
SELECT name, paused, count(*) FILTER (answered), count(*) FROM mine
GROUP BY round_id, name, paused ORDER BY any_value(opened_at), round_id
"""
)

_OPEN = (
    _MINE  # noqa: S608 - both are constants
    + """,
open AS (
    SELECT *, (kind IS NOT DISTINCT FROM 'later'
               OR coalesce(duplicate_of IN (SELECT presentation_id FROM mine WHERE put_off), false),
               CASE kind WHEN 'later' THEN submitted_at END, opened_at, round_id, position) AS place
    FROM mine WHERE NOT answered AND NOT paused),
placed AS (
    SELECT *, row_number() OVER (PARTITION BY round_id, query_id ORDER BY place DESC) = 1 AS last FROM open),
next AS (
    FROM placed WHERE presentation_id NOT IN (SELECT unnest($holding::TEXT[])) ORDER BY place LIMIT $limit),
counts AS (SELECT count(*) FILTER (answered) AS answered, count(*) AS total FROM mine)
SELECT n.presentation_id, n.revision, n.round_id, n.query_id, n.content_hash, n.guide_hash, n.round_kind,
       n.last AND n.round_kind IN ('labeling', 'pilot'), n.name, c.answered, c.total
FROM next n CROSS JOIN counts c ORDER BY n.place
"""
)

# Apart from what is next: five texts are found in a millisecond, joined they cost several.
_QUERIES = """
SELECT query_id, text, information_need
FROM queries JOIN (SELECT unnest(?::TEXT[]) AS query_id) USING (query_id)
"""

_DOCUMENTS = """
SELECT content_hash, title, body, url, published
FROM documents JOIN (SELECT unnest(?::TEXT[]) AS content_hash) USING (content_hash)
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
