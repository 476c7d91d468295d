"""Annotators' answers to the question whether the corpus answers a query, asked after the query's last
document.

An answer belongs to a round, an annotator and a query; a later answer is a new revision.
`queries.unanswerable` counts the answers.
"""

from __future__ import annotations

from curation.labeling.judging import Outcome
from curation.labeling.rounds.upcoming import ASK_FROM_SQL
from curation.people.annotators import JUDGING_ROLES, require_author
from curation.store import Cursor, Store, utc_now

ANSWERS = ("yes", "partly", "no")
ASKING_KINDS = ("labeling", "pilot", "audit")
"""Kinds of rounds that ask whether the corpus answers a query. An audit round also asks, so that annotators
cannot recognise an audit."""
_INSERT_ANSWER = """
INSERT INTO query_answers
SELECT p.round_id, p.annotator, p.query_id,
       (SELECT count(*) FROM query_answers a
        WHERE a.round_id = p.round_id AND a.annotator = p.annotator AND a.query_id = p.query_id), ?, ?, ?
FROM presentations p WHERE p.presentation_id = ?
"""
_FIND_QUERY = f"""
SELECT p.round_id, p.query_id, r.kind, {ASK_FROM_SQL}
FROM live_presentations p JOIN rounds r USING (round_id)
WHERE p.presentation_id = ? AND p.annotator = ?
"""  # noqa: S608  a constant
_USED_KEY = "SELECT round_id, annotator, query_id FROM query_answers WHERE client_key = ?"


def answer_query(store: Store, annotator: str, presentation_id: str, answer: str, client_key: str) -> Outcome:
    """Store whether the corpus answers the query in one of the annotator's presentations."""
    with store.transaction(appends=False, new_data_version=False) as cursor:  # no cache holds these answers
        require_author(cursor, annotator, *JUDGING_ROLES)
        status, message = _check_answer(cursor, annotator, presentation_id, answer, client_key)
        if status == "saved":
            cursor.execute(_INSERT_ANSWER, [answer, client_key, utc_now(), presentation_id])
    return Outcome(client_key, status, message, presentation_id=presentation_id)


def _check_answer(cursor: Cursor, annotator: str, item_id: str, answer: str, key: str) -> tuple[str, str]:
    rows = cursor.execute(_FIND_QUERY, [item_id, annotator]).fetchall()
    if not rows:
        return "refused", "this item is not assigned to you"
    round_id, query_id, kind, ask_from = rows[0]
    stored = cursor.execute(_USED_KEY, [key]).fetchall()
    if stored:
        is_same = stored[0] == (round_id, annotator, query_id)
        return (
            ("repeated", "")
            if is_same
            else ("refused", "this action's key was already used for another action; load the page again")
        )
    if answer not in ANSWERS:
        return "refused", f"unknown answer {answer!r}; expected one of {', '.join(ANSWERS)}"
    if not 8 <= len(key) <= 128:
        return "refused", "a client key has 8 to 128 characters"
    if kind not in ASKING_KINDS or not ask_from:
        return "refused", "this round does not ask whether the corpus answers a query"
    return "saved", ""
