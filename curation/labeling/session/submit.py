"""The judgments that an annotator's screen submits.

Most judgments are new and valid, and the session cache holds all that is needed to judge them. For those that
are sent again, or come from a tab that is behind, only the client keys are read with it. The cache is read
again where the database refuses what the cache took for new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import duckdb

from curation.guides.guide import guide_by_hash
from curation.labeling.judging import (
    ANSWERED,
    EvidenceMark,
    JudgingContext,
    JudgmentEvent,
    Outcome,
    PresentationState,
    Submission,
    UsedKey,
    append_events,
    judge,
)
from curation.labeling.rounds.upcoming import GUIDES_HAD
from curation.labeling.session.cache import SessionCache, session_cache
from curation.store import Cursor, Store
from curation.store.documents import documents_by_hash


def submit(store: Store, annotator: str, submissions: Sequence[Submission]) -> list[Outcome]:
    """Record what an annotator did; each submission is answered on its own, in order.

    All in one transaction: when this returns, everything 'saved' is in the database.
    """
    with session_cache(store, annotator) as cache:
        outcomes = _submit_from_cache(store, cache, submissions)
        return _submit_from_database(store, cache, submissions) if outcomes is None else outcomes


def _submit_from_cache(
    store: Store, cache: SessionCache, submissions: Sequence[Submission]
) -> list[Outcome] | None:
    """Judge and write submissions on items that the cache holds; else None, and nothing is written."""
    # The two keys of the table refuse a revision or a client key that is stored, whoever wrote it.
    with suppress(duckdb.ConstraintException):
        with store.transaction(new_data_version=False, appends=len(submissions) > 1) as cursor:
            cache.read(cursor, store.data_version)
            judged = _judged_from_cache(cursor, cache, submissions)
            if judged is None:
                return None
            outcomes, events, marks = judged
            append_events(cursor, events, marks)
        cache.add(events)
        return outcomes
    cache.forget()  # it is behind the database
    return None


def _judged_from_cache(
    cursor: Cursor, cache: SessionCache, submissions: Sequence[Submission]
) -> tuple[list[Outcome], list[JudgmentEvent], list[EvidenceMark]] | None:
    """What is judged; the client keys in use are read only where not every submission is saved."""
    context = _cached_context(cursor, cache, submissions, {})
    if context is None:
        return None
    judged = judge(cache.annotator, submissions, context)
    if len(judged[1]) == len(submissions):
        return judged
    context = _cached_context(cursor, cache, submissions, _used_keys(cursor, submissions))
    return context and judge(cache.annotator, submissions, context)


def _submit_from_database(
    store: Store, cache: SessionCache, submissions: Sequence[Submission]
) -> list[Outcome]:
    """The other way: everything about these presentations and client keys is read from the database."""
    with store.transaction(new_data_version=False, appends=len(submissions) > 1) as cursor:
        context = _read_context(cursor, submissions)
        outcomes, events, marks = judge(cache.annotator, submissions, context)
        append_events(cursor, events, marks)
    if events:
        cache.forget()
    return outcomes


def _cached_context(
    cursor: Cursor, cache: SessionCache, submissions: Sequence[Submission], used_keys: dict[str, UsedKey]
) -> JudgingContext | None:
    """The context of submissions as the cache knows it; None if it misses an item."""
    states, shown = {}, {}
    for submission in submissions:
        item = cache.item(submission.presentation_id)
        if item is None:
            return None
        round_, shown[item.presentation_id] = cache.rounds[item.round_id], item.content_hash
        states[item.presentation_id] = PresentationState(
            cache.annotator,
            round_.guide_hash,
            item.revision,
            item.answered is not None,
            practice=round_.kind == "practice",
            guides=round_.guides,
        )
    return JudgingContext(states, dict(used_keys), cache.guides, _bodies(cursor, submissions, shown))


def _read_context(cursor: Cursor, submissions: Sequence[Submission]) -> JudgingContext:
    """The context of submissions from the database.

    Lookups by key take some tenths of a millisecond each; one join of them would scan every presentation.
    """
    wanted = list(dict.fromkeys(item.presentation_id for item in submissions))
    columns = "annotator, round_id, content_hash"
    shown = _by_key(cursor, "presentations", wanted, "presentation_id", columns)
    acted = _by_key(cursor, "judgment_events", wanted, "presentation_id", "revision, kind")
    withdrawn = {row[0] for row in _by_key(cursor, "withdrawals", wanted, "presentation_id", "author")}
    last = {row[0]: row[1:] for row in sorted(acted)}
    rounds = _rounds(cursor)
    states = {}
    for presentation_id, annotator, round_id, _ in shown:
        revision, kind = last.get(presentation_id, (-1, ""))
        guide_hash, closed, practice, had = rounds[round_id]
        moved = presentation_id in withdrawn
        states[presentation_id] = PresentationState(
            annotator, guide_hash, revision + 1, kind in ANSWERED, closed, moved, practice, had
        )
    hashes = {guide_hash for state in states.values() for guide_hash in (state.guide_hash, *state.guides)}
    guides = {guide_hash: guide_by_hash(cursor, guide_hash) for guide_hash in sorted(hashes)}
    bodies = _bodies(cursor, submissions, {row[0]: row[-1] for row in shown})
    return JudgingContext(states, _used_keys(cursor, submissions), guides, bodies)


def _bodies(cursor: Cursor, submissions: Sequence[Submission], shown: Mapping[str, str]) -> dict[str, str]:
    """Presentation → the body that is shown, of those with evidence; `shown` is its version."""
    marked = {item.presentation_id for item in submissions if item.evidence}.intersection(shown)
    versions = documents_by_hash(cursor, [shown[name] for name in marked])
    return {name: versions[shown[name]].body for name in marked}


def _used_keys(cursor: Cursor, submissions: Sequence[Submission]) -> dict[str, UsedKey]:
    keys = list(dict.fromkeys(item.client_key for item in submissions))
    known = _by_key(cursor, "judgment_events", keys, "client_key", "author, presentation_id, revision")
    return {row[0]: row[1:] for row in known}


def _by_key(cursor: Cursor, table: str, keys: Sequence[str], key: str, columns: str) -> list[Any]:
    """Rows of these keys, the key first. DuckDB looks constants up in the index of the key."""
    places = ", ".join("?" * len(keys)) or "NULL"
    sql = f"SELECT {key}, {columns} FROM {table} WHERE {key} IN ({places})"  # noqa: S608  names from above
    return cursor.execute(sql, keys).fetchall()


_ROUNDS = f"""
SELECT round_id, guide_hash, closed, kind = 'practice', guides
FROM round_states JOIN ({GUIDES_HAD}) USING (round_id)
"""  # noqa: S608  a query from `upcoming`


def _rounds(cursor: Cursor) -> dict[str, tuple[str, bool, bool, tuple[str, ...]]]:
    """Round id → guide in force, closed, practice, and the guides that it ever had."""
    rows = cursor.execute(_ROUNDS).fetchall()
    return {
        round_id: (guide_hash, closed, practice, tuple(sorted(guides)))
        for round_id, guide_hash, closed, practice, guides in rows
    }
