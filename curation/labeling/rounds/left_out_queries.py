"""Queries that a lead leaves out: nobody is asked about them any more, until the lead puts them back."""

from __future__ import annotations

from collections.abc import Sequence

from curation.core.errors import InputError
from curation.labeling.rounds.items import withdraw_unanswered
from curation.people.annotators import require_author
from curation.queries.retired_queries import LEFT_OUT, retire_query, return_query
from curation.store import COMMAND_LINE, Store

LEFT_OUT_QUERY = "a lead left the query out"
_RETURN_ITEMS = """
DELETE FROM withdrawals WHERE reason = ? AND presentation_id IN (
    SELECT presentation_id FROM presentations WHERE query_id IN (SELECT unnest(?::TEXT[])))
"""


def set_aside(store: Store, query_ids: Sequence[str], reason: str | None, author: str = COMMAND_LINE) -> None:
    """Leave queries out of all rounds and of the next release; with the reason None, put them back.

    Rounds lose the queries' unanswered items, and get them back with the queries.

    Raises
    ------
    InputError: the reason is empty.
    RefusedError: the author is not a lead.
    """
    if reason is not None and not reason.strip():
        raise InputError("Give a reason for leaving the query out.")
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        for query_id in query_ids:
            if reason is None:
                return_query(cursor, query_id, "put back", author)
            else:
                retire_query(cursor, query_id, f"{LEFT_OUT}{reason.strip()}", author)
        if reason is None:
            cursor.execute(_RETURN_ITEMS, [LEFT_OUT_QUERY, list(query_ids)])
        else:
            withdraw_unanswered(cursor, lambda item: item.query_id in query_ids, LEFT_OUT_QUERY, author)
