"""Submission of judgments from an annotator's screen: they are checked and written in one transaction.

Most submissions are new and valid, and the session cache holds all data to check such submissions. If a
submission is repeated, or comes from an outdated tab, the client keys are read from the database. If the
database refuses an event that was new to the cache, the cache is outdated and is read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import duckdb

from curation.guides.guide import load_guide
from curation.labeling.judging import (
    ANSWER_KINDS,
    EvidenceMark,
    JudgingContext,
    JudgmentEvent,
    Outcome,
    PresentationState,
    Submission,
    UsedKey,
    append_events,
    judge_submissions,
)
from curation.labeling.rounds.upcoming import ShownRound, read_rounds
from curation.labeling.session.cache import SessionCache, hold_session_cache
from curation.store import Cursor, Store
from curation.store.documents import documents_by_hash


def submit_judgments(store: Store, annotator: str, submissions: Sequence[Submission]) -> list[Outcome]:
    """Record an annotator's submissions in order, and return an outcome for each.

    All writes are in one transaction: when the function returns, every 'saved' submission is in the database.
    """
    with hold_session_cache(store, annotator) as cache:
        outcomes = _try_cached(store, cache, submissions)
        return _submit_uncached(store, cache, submissions) if outcomes is None else outcomes


def _try_cached(store: Store, cache: SessionCache, submissions: Sequence[Submission]) -> list[Outcome] | None:
    """Check and write submissions on cached items; if an item is not cached, write nothing and return
    None."""
    # The two keys of the table refuse a revision or a client key that is stored, whoever wrote it.
    with suppress(duckdb.ConstraintException):
        with store.transaction(new_data_version=False, appends=len(submissions) > 1) as cursor:
            cache.read(cursor, store.data_version)
            judged = _judge_from_cache(cursor, cache, submissions)
            if judged is None:
                return None
            outcomes, events, marks = judged
            append_events(cursor, events, marks)
        cache.add(events)
        return outcomes
    cache.forget()  # the cache is outdated
    return None


def _judge_from_cache(
    cursor: Cursor, cache: SessionCache, submissions: Sequence[Submission]
) -> tuple[list[Outcome], list[JudgmentEvent], list[EvidenceMark]] | None:
    """Check submissions against the cache; read the client keys in use only if some submission would not be
    saved."""
    context = _build_cached_context(cursor, cache, submissions, {})
    if context is None:
        return None
    judged = judge_submissions(cache.annotator, submissions, context)
    if len(judged[1]) == len(submissions):
        return judged
    context = _build_cached_context(cursor, cache, submissions, _read_used_keys(cursor, submissions))
    return context and judge_submissions(cache.annotator, submissions, context)


def _submit_uncached(store: Store, cache: SessionCache, submissions: Sequence[Submission]) -> list[Outcome]:
    """Check and write submissions against the database, which holds all presentations and client keys."""
    with store.transaction(new_data_version=False, appends=len(submissions) > 1) as cursor:
        context = _read_context(cursor, submissions)
        outcomes, events, marks = judge_submissions(cache.annotator, submissions, context)
        append_events(cursor, events, marks)
    if events:
        cache.forget()
    return outcomes


def _build_cached_context(
    cursor: Cursor, cache: SessionCache, submissions: Sequence[Submission], used_keys: dict[str, UsedKey]
) -> JudgingContext | None:
    """Build the submissions' context from the cache; None if an item is missing from the cache."""
    states, versions = {}, {}
    for submission in submissions:
        item = cache.get_item(submission.presentation_id)
        if item is None:
            return None
        round_, versions[item.presentation_id] = cache.rounds[item.round_id], item.content_hash
        answered = item.answer_number is not None
        states[item.presentation_id] = _build_state(round_, cache.annotator, item.revision, answered)
    return JudgingContext(states, dict(used_keys), cache.guides, _read_bodies(cursor, submissions, versions))


def _read_context(cursor: Cursor, submissions: Sequence[Submission]) -> JudgingContext:
    """Read from the database the data against which submissions are checked.

    A lookup by key takes some tenths of a millisecond; a join would scan every presentation.
    """
    ids = list(dict.fromkeys(item.presentation_id for item in submissions))
    columns = "annotator, round_id, content_hash"
    presentation_rows = _read_by_key(cursor, "presentations", ids, "presentation_id", columns)
    events = _read_by_key(cursor, "judgment_events", ids, "presentation_id", "revision, kind")
    withdrawn = {row[0] for row in _read_by_key(cursor, "withdrawals", ids, "presentation_id", "author")}
    last_events = {row[0]: row[1:] for row in sorted(events)}
    rounds = read_rounds(cursor)
    states = {}
    for presentation_id, annotator, round_id, _ in presentation_rows:
        revision, kind = last_events.get(presentation_id, (-1, ""))
        round_ = rounds[round_id]
        state = _build_state(round_, annotator, revision + 1, kind in ANSWER_KINDS)
        states[presentation_id] = state._replace(withdrawn=presentation_id in withdrawn)
    hashes = {guide_hash for state in states.values() for guide_hash in state.guide_hashes}
    guides = {guide_hash: load_guide(cursor, guide_hash) for guide_hash in sorted(hashes)}
    bodies = _read_bodies(cursor, submissions, {row[0]: row[-1] for row in presentation_rows})
    return JudgingContext(states, _read_used_keys(cursor, submissions), guides, bodies)


def _build_state(round_: ShownRound, annotator: str, next_revision: int, answered: bool) -> PresentationState:
    """Build the state that submissions are checked against, for a presentation that has not been withdrawn
    from its round."""
    state = PresentationState(annotator, round_.guide_hash, next_revision, answered, round_.closed)
    return state._replace(practice=round_.kind == "practice", guide_hashes=round_.guide_hashes)


def _read_bodies(cursor: Cursor, items: Sequence[Submission], versions: Mapping[str, str]) -> dict[str, str]:
    """Read the document bodies for presentations with evidence; `versions` holds each presentation's document
    version."""
    marked_ids = {item.presentation_id for item in items if item.evidence}.intersection(versions)
    documents = documents_by_hash(cursor, [versions[presentation_id] for presentation_id in marked_ids])
    return {presentation_id: documents[versions[presentation_id]].body for presentation_id in marked_ids}


def _read_used_keys(cursor: Cursor, submissions: Sequence[Submission]) -> dict[str, UsedKey]:
    keys = list(dict.fromkeys(item.client_key for item in submissions))
    rows = _read_by_key(cursor, "judgment_events", keys, "client_key", "author, presentation_id, revision")
    return {row[0]: row[1:] for row in rows}


def _read_by_key(cursor: Cursor, table: str, keys: Sequence[str], key: str, columns: str) -> list[Any]:
    """Read a table's rows with the given keys; the first column is the key. Keys are SQL constants, so that
    DuckDB looks them up in the key's index."""
    markers = ", ".join("?" * len(keys)) or "NULL"
    sql = f"SELECT {key}, {columns} FROM {table} WHERE {key} IN ({markers})"  # noqa: S608  names from above
    return cursor.execute(sql, keys).fetchall()
