"""Questions to an engine and its answers, stored as they come: what breaks off goes on with what is missing.

An answer that is not whole, as with failed shards, is no list: the query is left out with the reason, and is
asked again unless something came of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from time import monotonic
from typing import NamedTuple

from curation.core.errors import CurationError, RefusedError
from curation.core.progress import Progress
from curation.core.text import amount, digest
from curation.retrieval.engines.client import EngineClient, EngineList, RejectedQueryError
from curation.store import Cursor, Query, Store, append_rows, fetch, utc_now

EVERY = 1.0
"""Seconds after which answers are stored: a killed process loses those of so long at most."""
IN_A_ROW = 5
"""Queries that are rejected one after the other, which end the work."""
REJECTED = "queries that the engine rejected"
_OF_IDS = "FROM engine_answers WHERE answer_id IN (SELECT unnest(?::TEXT[]))"


class StoredList(NamedTuple):
    """A row of `engine_answers`; see the schema."""

    answer_id: str
    request_id: str
    attempt: int
    query_id: str
    document_ids: list[str]
    scores: list[float] | None
    seconds: float
    left_out: str
    asked_at: datetime


class EngineQuestion(NamedTuple):
    """A query that is asked, the first time or again."""

    answer_id: str
    attempt: int
    query_id: str
    text: str


class AskedLists(NamedTuple):
    """The questions of a request, attempt by attempt, and the answers that are stored."""

    request_id: str
    questions: list[EngineQuestion]
    stored: dict[str, StoredList]

    @property
    def missing(self) -> list[EngineQuestion]:
        """The questions without an answer."""
        return [question for question in self.questions if question.answer_id not in self.stored]


def read_asked(cursor: Cursor, request_id: str, queries: Sequence[Query], repeat: int = 1) -> AskedLists:
    """What a request asks for these queries, and what of it is answered."""
    questions = [
        EngineQuestion(digest("engine answer", request_id, attempt, query[:2]), attempt, *query[:2])
        for attempt in range(1, repeat + 1)
        for query in queries
    ]
    return AskedLists(
        request_id, questions, _read_lists(cursor, [question.answer_id for question in questions])
    )


def ask_missing(
    store: Store,
    client: EngineClient,
    asked: AskedLists,
    ask: Callable[[EngineQuestion], EngineList],
    progress: Progress,
) -> list[StoredList]:
    """Ask what is missing, and store the answers as they come: the lists, in the order of the questions.

    Raises
    ------
    RefusedError: see `EngineClient.search`; what was answered before is kept.
    """
    answers, missing = list[StoredList](), asked.missing
    kept, rejected, saved = 0, 0, monotonic()
    try:
        for number, one in enumerate(missing):
            progress(f"asking {client.host}, texts redacted", number, len(missing))
            try:
                answer, rejected = ask(one), 0
            except RejectedQueryError:
                answer, rejected = EngineList([], None, 0.0, REJECTED), rejected + 1
                if rejected >= min(IN_A_ROW, len(asked.questions)):
                    raise
            ids = (one.answer_id, asked.request_id, one.attempt, one.query_id)
            answers.append(StoredList(*ids, *answer, utc_now()))
            if monotonic() - saved > EVERY:
                _save(store, answers[kept:])
                kept, saved = len(answers), monotonic()
    except CurationError as error:
        whole = amount(sum(not answer.left_out for answer in answers), "answer is", "answers are")
        raise RefusedError(
            f"{error.found} Nothing came of it: {whole} kept, of {len(missing):,}. The same call asks for "
            "the rest."
        ) from error
    finally:
        _save(store, answers[kept:])
    found = asked.stored | {answer.answer_id: answer for answer in answers}
    return [found[question.answer_id] for question in asked.questions]


def _save(store: Store, answers: Sequence[StoredList]) -> None:
    """Store the answers that are whole."""
    if whole := [answer for answer in answers if not answer.left_out]:
        with store.transaction(appends=True) as cursor:
            append_lists(cursor, whole)


def append_lists(cursor: Cursor, lists: Sequence[StoredList]) -> None:
    """Write answers that are not there: another process may have asked the same."""
    known = _read_lists(cursor, [one.answer_id for one in lists])
    append_rows(cursor, "engine_answers", [one for one in lists if one.answer_id not in known])


def forget(store: Store, asked: AskedLists) -> None:
    """Remove the answers of a request whose outcome is not kept by the project: the next one asks for all."""
    with store.transaction() as cursor:
        cursor.execute(f"DELETE {_OF_IDS}", [[question.answer_id for question in asked.questions]])


def _read_lists(cursor: Cursor, answer_ids: Sequence[str]) -> dict[str, StoredList]:
    sql = f"SELECT {', '.join(StoredList._fields)} {_OF_IDS}"
    return {one.answer_id: one for one in fetch(cursor, StoredList, sql, [list(answer_ids)])}
