"""An engine's result lists, which goldgrade stores as they arrive.

A request has an id and a list of queries. Each answer of the engine is stored by the request and the query,
so that an interrupted request continues with the queries that have no stored answer. An incomplete answer,
such as an answer with failed shards, is not stored: the next request sends its query again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from time import monotonic
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.errors import CurationError, RefusedError
from curation.core.progress import Progress
from curation.core.text import pluralize
from curation.retrieval.engines.client import EngineClient, EngineList, RejectedQueryError
from curation.store import Cursor, Query, Store, append_rows, fetch, utc_now

SAVE_SECONDS = 1.0
"""Seconds after which answers are stored, so that a killed process loses only newer answers."""
MAX_CONSECUTIVE_REJECTIONS = 5
"""Number of consecutive rejected queries after which a request ends."""
REJECTED_QUERIES = "queries that the engine rejected"
_OF_IDS = "FROM engine_answers WHERE answer_id IN (SELECT unnest(?::TEXT[]))"


class StoredList(NamedTuple):
    """A row of the table `engine_answers`, an engine's stored answer to a query."""

    answer_id: str
    request_id: str
    attempt: int
    query_id: str
    document_ids: list[str]
    scores: list[float] | None
    seconds: float
    left_out: str
    asked_at: datetime


class RequestedLists(NamedTuple):
    """The result lists that one request to an engine should get: its queries, and the answers stored so far.

    Attributes
    ----------
    queries: id of the answer → query.
    stored: id of the answer → stored list.
    """

    request_id: str
    queries: dict[str, Query]
    stored: dict[str, StoredList]

    @property
    def missing(self) -> dict[str, Query]:
        """Return the queries without a stored answer."""
        return {answer_id: query for answer_id, query in self.queries.items() if answer_id not in self.stored}


def read_requested_lists(cursor: Cursor, request_id: str, queries: Sequence[Query]) -> RequestedLists:
    """Read the engine's stored answers to these queries for one kind of request."""
    query_of_answer = {digest("engine answer", request_id, 1, query[:2]): query for query in queries}
    return RequestedLists(request_id, query_of_answer, _read_lists(cursor, [*query_of_answer]))


def request_missing_lists(
    store: Store,
    client: EngineClient,
    requested: RequestedLists,
    request_list: Callable[[Query], EngineList],
    progress: Progress,
) -> list[StoredList]:
    """Request and store the missing lists, and return all lists in the order of the queries.

    Parameters
    ----------
    request_list: function that requests the list of one query from the engine.

    Raises
    ------
    RefusedError: see `EngineClient.search`. Earlier lists are kept.
    """
    missing = requested.missing
    max_rejections = min(MAX_CONSECUTIVE_REJECTIONS, len(requested.queries))
    new_lists: list[StoredList] = []
    n_saved, n_rejections = 0, 0
    save_time = monotonic()
    try:
        for index, (answer_id, query) in enumerate(missing.items()):
            progress(f"asking {client.host}, texts redacted", index, len(missing))
            try:
                answer = request_list(query)
                n_rejections = 0
            except RejectedQueryError:
                answer = EngineList([], None, 0.0, REJECTED_QUERIES)
                n_rejections += 1
                if n_rejections >= max_rejections:
                    raise
            ids = (answer_id, requested.request_id, 1, query.query_id)
            new_lists.append(StoredList(*ids, *answer, utc_now()))
            if monotonic() - save_time > SAVE_SECONDS:
                _store_complete_lists(store, new_lists[n_saved:])
                n_saved, save_time = len(new_lists), monotonic()
    except CurationError as error:
        complete = pluralize(sum(not row.left_out for row in new_lists), "answer is", "answers are")
        raise RefusedError(
            f"{error.found} No run was stored: {complete} kept, of {len(missing):,}. The next attempt "
            "requests the missing answers."
        ) from error
    finally:
        _store_complete_lists(store, new_lists[n_saved:])
    list_of_answer = requested.stored | {row.answer_id: row for row in new_lists}
    return [list_of_answer[answer_id] for answer_id in requested.queries]


def append_lists(cursor: Cursor, lists: Sequence[StoredList]) -> None:
    """Store lists, except those that another process has stored in the meantime."""
    stored_ids = _read_lists(cursor, [row.answer_id for row in lists]).keys()
    append_rows(cursor, "engine_answers", [row for row in lists if row.answer_id not in stored_ids])


def delete_lists(store: Store, requested: RequestedLists) -> None:
    """Delete the stored lists of a request, so that the next request asks for all queries again."""
    with store.transaction() as cursor:
        cursor.execute(f"DELETE {_OF_IDS}", [[*requested.queries]])


def _store_complete_lists(store: Store, lists: Sequence[StoredList]) -> None:
    complete_lists = [row for row in lists if not row.left_out]
    if complete_lists:
        with store.transaction(appends=True) as cursor:
            append_lists(cursor, complete_lists)


def _read_lists(cursor: Cursor, answer_ids: Sequence[str]) -> dict[str, StoredList]:
    sql = f"SELECT {', '.join(StoredList._fields)} {_OF_IDS}"
    return {row.answer_id: row for row in fetch(cursor, StoredList, sql, [list(answer_ids)])}
