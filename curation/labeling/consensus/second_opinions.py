"""Second opinions: a disputed pair goes back to an annotator who has not judged it.

A request makes one more presentation in the round that showed the pair, for the member with the smallest
number of open items who never had the pair with this text. It comes after their open items and looks like any
other. The reviewer does not learn who judges, nor the annotator why. The dispute is not listed until the
opinion is in, or the round is closed.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.errors import NotFoundError, RefusedError
from curation.core.text import digest
from curation.labeling.consensus.decisions import Pair, judged_versions
from curation.labeling.practice.status import practice_statuses
from curation.labeling.rounds.assignment import Slot
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.layout import presentations_of
from curation.labeling.rounds.rounds import members
from curation.people.annotators import able_to_judge, require_author
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, fetch, record_event, utc_now

_JUDGED = "SELECT 1 FROM eligible_judgments WHERE query_id = ? AND document_id = ? LIMIT 1"
_DECIDED = "SELECT 1 FROM counted_adjudications WHERE query_id = ? AND document_id = ?"

_AWAITED = """
SELECT o.query_id, o.document_id, r.name, o.asked_at
FROM opinion_requests o
JOIN live_presentations p USING (presentation_id)
JOIN round_states r USING (round_id)
LEFT JOIN judged_versions v ON v.query_id = o.query_id AND v.document_id = o.document_id
LEFT JOIN presentation_states s USING (presentation_id)
WHERE NOT r.closed AND NOT coalesce(s.answered, false)
  AND p.content_hash = coalesce(v.content_hash, p.content_hash)
ORDER BY o.rowid
"""

_ROUNDS = """
SELECT DISTINCT r.round_id, r.name, r.kind, r.closed, r.sequence
FROM live_presentations p JOIN round_states r USING (round_id)
WHERE p.query_id = ? AND p.document_id = ? AND r.kind IN ('labeling', 'audit', 'imported') AND NOT EXISTS (
    FROM known_answers k
    WHERE k.round_id = p.round_id AND k.query_id = p.query_id AND k.document_id = p.document_id)
ORDER BY r.sequence DESC
"""

_HAD = """
SELECT DISTINCT annotator FROM live_presentations
WHERE query_id = ? AND document_id = ? AND content_hash = ?
"""

_LOADS = """
SELECT p.annotator, count(*)
FROM live_presentations p JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE NOT r.closed AND NOT coalesce(s.answered, false) GROUP BY p.annotator
"""

_START = "SELECT coalesce(max(position) + 1, 0) FROM presentations WHERE round_id = ? AND annotator = ?"


class OpinionRequest(NamedTuple):
    """A pair that waits for one more opinion, and the round that brings it."""

    query_id: str
    document_id: str
    round: str
    asked_at: datetime


class _Round(NamedTuple):
    """A round that showed the pair."""

    round_id: str
    name: str
    kind: str
    closed: bool


def ask_opinion(
    store: Store, query_id: str, document_id: str, reviewer: str = COMMAND_LINE
) -> OpinionRequest:
    """Ask for one more opinion on a judged pair; nothing happens if it waits for one already.

    Parameters
    ----------
    reviewer: the name of an annotator with the role reviewer or lead, or 'command line'.

    Raises
    ------
    NotFoundError: the query or reviewer is unknown, or nobody has judged the pair.
    RefusedError: it is not the reviewer's to ask, the pair is decided, no round that shows it is open, or
        nobody is left who has not had it.
    """
    with store.reading() as cursor:
        require_author(cursor, reviewer, "reviewer", "lead")
    with store.transaction(appends=True) as cursor:
        pair = (query_id, document_id)
        if not cursor.execute(_JUDGED, list(pair)).fetchall():
            raise NotFoundError(f"Nobody has judged the document {document_id!r} for the query {query_id!r}.")
        before = awaited_opinions(cursor).get(pair)
        if before is not None:
            return before
        if cursor.execute(_DECIDED, list(pair)).fetchall():
            raise RefusedError("This pair is decided, and a decision counts whatever is judged later.")
        round_, version = _open_round(cursor, pair), judged_versions(cursor, [pair])[pair]
        who = _choose_annotator(cursor, round_, pair, version, reviewer)
        request = OpinionRequest(*pair, round_.name, utc_now())
        _write(cursor, request, round_, who, version, reviewer)
    return request


def awaited_opinions(cursor: Cursor) -> dict[Pair, OpinionRequest]:
    """The pairs that wait for an opinion that was requested and may still come."""
    return {(row.query_id, row.document_id): row for row in fetch(cursor, OpinionRequest, _AWAITED)}


def _open_round(cursor: Cursor, pair: Pair) -> _Round:
    """The newest open round that shows the pair for judging."""
    rounds = [_Round(*row[:4]) for row in cursor.execute(_ROUNDS, list(pair)).fetchall()]
    usable = [round_ for round_ in rounds if not round_.closed and round_.kind != "imported"]
    if usable:
        return usable[0]
    closed = [round_.name for round_ in rounds if round_.closed]
    if closed:
        raise RefusedError(
            f"{closed[0]} is closed: nobody would be shown the pair. Decide it, or let the lead reopen the "
            "round."
        )
    raise RefusedError(
        "The pair was judged elsewhere and imported: no round of this project shows it. Decide it, or let "
        "the lead open a round over it."
    )


def _choose_annotator(cursor: Cursor, round_: _Round, pair: Pair, version: str, reviewer: str) -> str:
    """The member of the round with least open items who never had the pair with this text."""
    had = {row[0] for row in cursor.execute(_HAD, [*pair, version]).fetchall()}
    practising = {
        practice_status.annotator for practice_status in practice_statuses(cursor) if practice_status.open
    }
    judging = {one.name for one in able_to_judge(cursor)}
    able = judging - had - practising - {reviewer}
    left = [who for who in members(cursor, round_.round_id) if who in able]
    if not left:
        raise RefusedError(
            f"Nobody is left in {round_.name} who could judge this pair without having had it before. Decide "
            "it, or let the lead add somebody to the round."
        )
    loads = dict(cursor.execute(_LOADS).fetchall())
    return min(left, key=lambda who: (loads.get(who, 0), digest("opinion", *pair, who)))


def _write(
    cursor: Cursor, request: OpinionRequest, round_: _Round, who: str, version: str, reviewer: str
) -> None:
    start = cursor.execute(_START, [round_.round_id, who]).fetchall()[0][0]
    candidate = Candidate(request.query_id, request.document_id, version)
    rows = presentations_of(round_.round_id, who, [Slot(candidate, again=False)], start)
    append_rows(cursor, "presentations", rows)
    cursor.execute(
        "INSERT INTO opinion_requests VALUES (?, ?, ?, ?, ?)",
        [rows[0].presentation_id, request.query_id, request.document_id, reviewer, request.asked_at],
    )
    detail = {"query_id": request.query_id, "document_id": request.document_id, "round": request.round}
    record_event(cursor, "ask for one more opinion", detail, reviewer)
