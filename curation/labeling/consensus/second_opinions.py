"""Second opinions: a reviewer's requests for one more judgment of a pair before the reviewer decides it.

A request adds a presentation of the pair to the round that showed the pair. The presentation goes to the end
of the queue of the member with the fewest open items who never saw the pair with this text. The presentation
looks like all others: the reviewer does not learn who judges, and the annotator does not learn why the pair
is shown. The dispute is not listed until the annotator has judged the pair or the round is closed.
"""

from __future__ import annotations

from datetime import datetime

from curation.core.digests import digest
from curation.core.errors import RefusedError
from curation.labeling.consensus.decisions import Pair, is_judged, read_judged_versions, unjudged_error
from curation.labeling.rounds.assignment import Slot, make_presentations
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.practice import read_practice_statuses
from curation.labeling.rounds.rounds import read_free_positions, read_members
from curation.labeling.rounds.status import count_workloads
from curation.people.annotators import list_eligible_annotators, require_author
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now

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
_SEEN_BY = """
SELECT DISTINCT annotator FROM live_presentations
WHERE query_id = ? AND document_id = ? AND content_hash = ?
"""


def ask_opinion(
    store: Store, query_id: str, document_id: str, reviewer: str = COMMAND_LINE
) -> tuple[str, datetime]:
    """Ask for a second opinion on a judged pair, unless the pair is already waiting for one.

    Return the round that shows the pair again, and the time of the request.

    Parameters
    ----------
    reviewer: the name of an annotator with the role reviewer or lead, or 'command line'.

    Raises
    ------
    NotFoundError: the query or reviewer is unknown, or nobody has judged the pair.
    RefusedError: the author is neither reviewer nor lead, the pair is decided, no round that shows the pair
        is open, or every member has seen the pair.
    """
    with store.reading() as cursor:
        require_author(cursor, reviewer, "reviewer", "lead")
    with store.transaction(appends=True) as cursor:
        pair = (query_id, document_id)
        if not is_judged(cursor, pair):
            raise unjudged_error(*pair)
        awaited = read_awaited_opinions(cursor).get(pair)
        if awaited is not None:
            return awaited
        if cursor.execute(_DECIDED, list(pair)).fetchall():
            raise RefusedError("This pair is already decided, and later judgments do not change a decision.")
        (round_id, name), version = _find_open_round(cursor, pair), read_judged_versions(cursor, [pair])[pair]
        annotator = _choose_judge(cursor, round_id, name, pair, version, reviewer)
        asked_at = utc_now()
        start = read_free_positions(cursor, round_id).get(annotator, 0)
        slot = Slot(Candidate(*pair, version), again=False)
        rows = make_presentations(round_id, annotator, [slot], start)
        append_rows(cursor, "presentations", rows)
        request_row = [rows[0].presentation_id, *pair, reviewer, asked_at]
        cursor.execute("INSERT INTO opinion_requests VALUES (?, ?, ?, ?, ?)", request_row)
        detail = {"query_id": query_id, "document_id": document_id, "round": name}
        record_event(cursor, "ask for one more opinion", detail, reviewer)
    return name, asked_at


def read_awaited_opinions(cursor: Cursor) -> dict[Pair, tuple[str, datetime]]:
    """Read the pairs that await a second opinion: pair → name of the round and time of the request."""
    rows = cursor.execute(_AWAITED).fetchall()
    return {(query_id, document_id): (name, asked_at) for query_id, document_id, name, asked_at in rows}


def _find_open_round(cursor: Cursor, pair: Pair) -> tuple[str, str]:
    """Find the id and name of the newest open round that shows the pair for judging."""
    rounds = cursor.execute(_ROUNDS, list(pair)).fetchall()
    for round_id, name, kind, is_closed, _ in rounds:
        if not is_closed and kind != "imported":
            return round_id, name
    closed = [name for _, name, _, is_closed, _ in rounds if is_closed]
    if closed:
        raise RefusedError(
            f"{closed[0]} is closed, so nobody would see the pair. Decide the pair, or ask the lead to "
            "reopen the round."
        )
    raise RefusedError(
        "The judgments of this pair were imported, so it is in no round. Decide the pair, or "
        "ask the lead to open a round with it."
    )


def _choose_judge(cursor: Cursor, round_id: str, name: str, pair: Pair, version: str, reviewer: str) -> str:
    """Choose the round member with the fewest open items who has never seen the pair with this text."""
    seen_by = {row[0] for row in cursor.execute(_SEEN_BY, [*pair, version]).fetchall()}
    practising = {status.annotator for status in read_practice_statuses(cursor) if status.open}
    judges = {person.name for person in list_eligible_annotators(cursor)} - seen_by - practising - {reviewer}
    eligible = [who for who in read_members(cursor, round_id) if who in judges]
    if not eligible:
        raise RefusedError(
            f"No member of {name} can judge this pair without having seen it before. Decide the pair, "
            "or ask the lead to add an annotator to the round."
        )
    loads = count_workloads(cursor)
    return min(eligible, key=lambda who: (loads.get(who, (0, 0))[1], digest("opinion", *pair, who)))
