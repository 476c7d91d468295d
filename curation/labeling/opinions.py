"""One more opinion: a disputed pair goes back to somebody who has not judged it.

A request makes one more presentation, in the round that showed the pair, for whoever there has least before
them and never had the pair. It comes after what they have open and looks like any other item. Whose it is,
nobody is told: neither is the reviewer told who judges, nor the annotator why. The dispute rests until the
opinion is in, or the round is closed without it.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.errors import NotFoundError, RefusedError
from curation.labeling.annotators import list_annotators, require_author
from curation.labeling.layouts import presentations_of
from curation.labeling.members import members
from curation.labeling.orders import Candidate, Step
from curation.labeling.practice import standings
from curation.sources.queries import find_query
from curation.store import Cursor, Store, append_rows, record_event, utc_now
from curation.store.settings import COMMAND_LINE
from curation.text import digest

Pair = tuple[str, str]


class Asked(NamedTuple):
    """A pair that waits for one more opinion, and the round that brings it."""

    query_id: str
    document_id: str
    round: str
    asked_at: datetime


class _Round(NamedTuple):
    """A round that showed the pair, and the document version that it shows."""

    round_id: str
    name: str
    kind: str
    closed: bool
    content_hash: str


def ask_opinion(store: Store, query: str, document_id: str, reviewer: str = COMMAND_LINE) -> Asked:
    """Send a judged pair back for one more opinion; nothing happens if it waits for one already.

    Parameters
    ----------
    query: the query's id or its text.
    reviewer: the name of an annotator with the role reviewer or lead, or 'command line'.

    Raises
    ------
    NotFoundError: the query or reviewer is unknown, or nobody has judged the pair.
    RefusedError: it is not the reviewer's to ask, the pair is decided, no round that shows it is open, or
        nobody is left who has not had it.
    """
    with store.reading() as cursor:
        require_author(cursor, reviewer, "reviewer", "lead")
        named = find_query(cursor, query)
    with store.transaction() as cursor:
        if named is None or not cursor.execute(_JUDGED, [named.query_id, document_id]).fetchall():
            raise NotFoundError(f"Nobody has judged the document {document_id!r} for the query {query!r}.")
        pair = (named.query_id, document_id)
        before = awaited(cursor).get(pair)
        if before is not None:
            return before
        if cursor.execute(_DECIDED, list(pair)).fetchall():
            raise RefusedError("This pair is decided: the decision stands, whatever is judged later.")
        found = _open_round(cursor, pair)
        who = _whom(cursor, found, pair, reviewer)
        asked = Asked(*pair, found.name, utc_now())
        _write(cursor, asked, found, who, reviewer)
    return asked


def awaited(cursor: Cursor) -> dict[Pair, Asked]:
    """The pairs that wait for an opinion that was asked for and may still come."""
    rows = [Asked(*row) for row in cursor.execute(_AWAITED).fetchall()]
    return {(row.query_id, row.document_id): row for row in rows}


def _open_round(cursor: Cursor, pair: Pair) -> _Round:
    """The newest open round that shows the pair for judging."""
    rounds = [_Round(*row) for row in cursor.execute(_ROUNDS, list(pair)).fetchall()]
    usable = [found for found in rounds if not found.closed and found.kind != "imported"]
    if usable:
        return usable[0]
    closed = [found.name for found in rounds if found.closed]
    if closed:
        raise RefusedError(
            f"{closed[0]} is closed: nobody would be shown the pair. Decide it, or let the lead reopen the "
            "round."
        )
    raise RefusedError(
        "The pair was judged elsewhere and imported: no round of this project shows it. Decide it, or let "
        "the lead open a round over it."
    )


def _whom(cursor: Cursor, found: _Round, pair: Pair, reviewer: str) -> str:
    """Who has least before them, of those in the round who never had the pair."""
    had = {row[0] for row in cursor.execute(_HAD, list(pair)).fetchall()}
    shut = {one.annotator for one in standings(cursor) if one.open}
    able = {one.name for one in list_annotators(cursor) if not one.imported} - had - shut - {reviewer}
    left = [who for who in members(cursor, found.round_id) if who in able]
    if not left:
        raise RefusedError(
            f"Nobody is left in {found.name} who could judge this pair without having had it before. Decide "
            "it, or let the lead add somebody to the round."
        )
    loads = dict(cursor.execute(_LOADS).fetchall())
    return min(left, key=lambda who: (loads.get(who, 0), digest("opinion", *pair, who)))


def _write(cursor: Cursor, asked: Asked, found: _Round, who: str, reviewer: str) -> None:
    start = cursor.execute(_START, [found.round_id, who]).fetchall()[0][0]
    candidate = Candidate(asked.query_id, asked.document_id, found.content_hash)
    rows = presentations_of(found.round_id, who, [Step(candidate, again=False)], start)
    append_rows(cursor, "presentations", rows)
    cursor.execute(
        "INSERT INTO opinion_requests VALUES (?, ?, ?, ?, ?)",
        [rows[0].presentation_id, asked.query_id, asked.document_id, reviewer, asked.asked_at],
    )
    detail = {"query_id": asked.query_id, "document_id": asked.document_id, "round": asked.round}
    record_event(cursor, "ask for one more opinion", detail, reviewer)


_JUDGED = "SELECT 1 FROM counted_judgments WHERE query_id = ? AND document_id = ? LIMIT 1"

_DECIDED = "SELECT 1 FROM current_adjudications WHERE query_id = ? AND document_id = ?"

_AWAITED = """
SELECT o.query_id, o.document_id, r.name, o.asked_at
FROM opinion_requests o
JOIN live_presentations p USING (presentation_id)
JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE NOT r.closed AND NOT coalesce(s.answered, false)
ORDER BY o.asked_at, o.query_id, o.document_id
"""

_ROUNDS = """
SELECT r.round_id, r.name, r.kind, r.closed, max(p.content_hash)
FROM live_presentations p JOIN round_states r USING (round_id)
WHERE p.query_id = ? AND p.document_id = ? AND r.kind IN ('labeling', 'audit', 'imported') AND NOT EXISTS (
    FROM known_answers k
    WHERE k.round_id = p.round_id AND k.query_id = p.query_id AND k.document_id = p.document_id)
GROUP BY r.round_id, r.name, r.kind, r.closed, r.opened_at
ORDER BY r.opened_at DESC, r.round_id
"""

_HAD = "SELECT DISTINCT annotator FROM live_presentations WHERE query_id = ? AND document_id = ?"

_LOADS = """
SELECT p.annotator, count(*)
FROM live_presentations p JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE NOT r.closed AND NOT coalesce(s.answered, false) GROUP BY p.annotator
"""

_START = "SELECT coalesce(max(position) + 1, 0) FROM presentations WHERE round_id = ? AND annotator = ?"
