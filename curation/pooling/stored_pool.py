"""Stored pools, each with its candidates and its report."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import canonical_json
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.request import DEFAULT_MODEL, list_options
from curation.core.text import join_names, pluralize
from curation.pooling.candidates import CandidateSource
from curation.pooling.pool_report import PoolReport, SystemReport
from curation.pooling.relevance import Pair
from curation.pooling.request import PoolRequest
from curation.retrieval import RUN_PREFIX
from curation.store import Cursor, Store, append, record_event, utc_now


class PoolRow(NamedTuple):
    """A row of the table `pools`.

    Attributes
    ----------
    parameters: all inputs that decide the candidates, without corpus and queries.
    report: the report as it is stored (`pool.build_pool`).
    built_at: time in UTC; None before the pool is stored.
    """

    pool_id: str
    snapshot_id: str
    parameters: Mapping[str, Any]
    report: Mapping[str, Any]
    built_at: datetime | None = None


def read_last_pool(store: Store) -> PoolReport | None:
    """Read the report of the last pool, or return None if the project has no pool.

    The number `added` is not stored, and is 0 in the report.
    """
    with store.reading() as cursor:
        pool = find_last_pool(cursor)
        return None if pool is None else read_pool_report(cursor, pool.pool_id)


def find_last_pool(cursor: Cursor) -> PoolRow | None:
    """Read the row of the last pool, or return None if the project has no pool."""
    has_pool = cursor.execute("SELECT 1 FROM pools LIMIT 1").fetchall()
    return find_pool(cursor, None) if has_pool else None


def read_pool_report(cursor: Cursor, pool_id: str) -> PoolReport | None:
    """Read the report of a pool, or None if the project does not have it."""
    sql = "SELECT snapshot_id, parameters, report FROM pools WHERE pool_id = ?"
    rows = cursor.execute(sql, [pool_id]).fetchall()
    if not rows:
        return None
    snapshot_id, parameters, report = rows[0]
    row = PoolRow(pool_id, snapshot_id, json.loads(parameters), json.loads(report))
    return _make_report(cursor, row, 0, built_before=True)


def _make_report(cursor: Cursor, row: PoolRow, added: int, built_before: bool) -> PoolReport:
    report = row.report
    systems = [SystemReport(**system) for system in report["systems"]]
    counts = {name: report[name] for name in ("queries", "candidates", "random_negatives", "left_out")}
    ids = sorted({query_id for system in systems for ids in system.no_hit_ids.values() for query_id in ids})
    rows = cursor.execute("SELECT query_id, text FROM queries WHERE query_id IN (SELECT unnest(?))", [ids])
    return PoolReport(
        row.pool_id,
        row.snapshot_id,
        added=added,
        built_before=built_before,
        systems=systems,
        rank_bm25=report.get("rank_bm25") or {},
        texts=dict(rows.fetchall()),
        lost_words=report.get("lost_words") or {},
        seed=row.parameters["seed"],
        **counts,
    )


def store_pool(
    store: Store, row: PoolRow, sources: Sequence[CandidateSource], outside: Collection[Pair], author: str
) -> PoolReport:
    """Store a pool that the project lacks, and return its report.

    Parameters
    ----------
    sources: proposals of pairs. Pairs in `outside` are outside the filter of their query, and become no
        candidates.
    """
    with store.transaction(appends=True) as cursor:
        stored_report = read_pool_report(cursor, row.pool_id)
        if stored_report is not None:
            return stored_report
        added = _append_pool(cursor, row, sources, outside)
        detail = {"pool": row.pool_id, **row.parameters, "candidates added": added}
        record_event(cursor, "pool", detail, author)
        return _make_report(cursor, row, added, built_before=False)


def _append_pool(
    cursor: Cursor, row: PoolRow, sources: Sequence[CandidateSource], outside: Collection[Pair]
) -> int:
    """Append a pool and the sources of its candidates, and count the new candidates."""
    columns = {name: [getattr(source, name) for source in sources] for name in CandidateSource._fields}
    query_ids = [query_id for query_id, _ in outside]
    document_ids = [document_id for _, document_id in outside]
    values = [row.pool_id, row.snapshot_id, canonical_json(row.parameters), canonical_json(row.report)]
    cursor.execute("INSERT INTO pools VALUES (?, ?, ?, ?, ?)", [*values, utc_now()])
    append(cursor, "candidate_sources", {"pool_id": [row.pool_id] * len(sources), **columns})
    added = cursor.execute(
        """
        INSERT INTO candidates
        SELECT DISTINCT query_id, document_id FROM candidate_sources s
        WHERE pool_id = ? AND NOT EXISTS (
            FROM candidates c WHERE c.query_id = s.query_id AND c.document_id = s.document_id)
        AND (query_id, document_id) NOT IN (SELECT (unnest(?::TEXT[]), unnest(?::TEXT[])))
        ORDER BY query_id, document_id
        """,
        [row.pool_id, query_ids, document_ids],
    ).fetchall()
    return int(added[0][0])


def restore_request(pool: PoolRow) -> PoolRequest:
    """Make the request of a stored pool from its parameters."""
    numbers = {name: pool.parameters[name] for name in ("depth", "random_negatives", "seed", "budget")}
    settings: Mapping[str, Any] = pool.parameters["systems"]
    dense = settings.get("dense") or settings.get("hybrid", {}).get("parts", {}).get("dense", {})
    bm25 = settings.get("bm25") or settings.get("hybrid", {}).get("parts", {}).get("bm25", {})
    kept_words = tuple(bm25.get("kept_words", ()))
    model = dense.get("model", DEFAULT_MODEL)
    return PoolRequest(tuple(settings), model=model, keep_words=kept_words, **numbers)


def describe_rebuild(pool: PoolRow, request: PoolRequest, queries: int) -> str:
    """Return a sentence about how a stored pool differs from a new one."""
    before = restore_request(pool)
    if request.keep_words is None:
        request = replace(request, keep_words=before.keep_words)
    gone = [name.removeprefix(RUN_PREFIX) for name in before.systems if name not in request.systems]
    new = [name.removeprefix(RUN_PREFIX) for name in request.systems if name not in before.systems]
    changes = [f"{word} {join_names(names)}" for word, names in (("without", gone), ("with", new)) if names]
    for option in list_options(PoolRequest):
        old, new = getattr(before, option.name), getattr(request, option.name)
        if option.name not in ("systems", "judged_queries") and old != new:
            texts = (_describe_value(value, option.unset) for value in (new, old))
            changes.append(f"{option.label[0].lower()}{option.label[1:]}: {' instead of '.join(texts)}")
    if queries != pool.report["queries"]:
        changes.append(f"{pluralize(queries, 'query', 'queries')} instead of {pool.report['queries']:,}")
    return (
        f"Differences from the current pool: {'; '.join(changes)}."
        if changes
        else "The options are the same as for the current pool."
    )


def _describe_value(value: Any, unset: str) -> str:
    if isinstance(value, tuple):
        return join_names(value, len(value)) or "none"
    return unset if value is None else str(value)


def find_pool(cursor: Cursor, beginning: str | None) -> PoolRow:
    """Read the pool whose id begins with a text, or the last pool if no text is given.

    Raises
    ------
    RefusedError: there is no pool.
    NotFoundError, InputError: no pool's id, or several pools' ids, begin with the text.
    """
    columns = ", ".join(PoolRow._fields)
    sql = f"SELECT {columns} FROM pools WHERE starts_with(pool_id, ?) ORDER BY rowid DESC"  # noqa: S608
    rows = cursor.execute(sql, [beginning or ""]).fetchall()
    if not rows and beginning is None:
        raise RefusedError("There is no pool yet. Build a pool.", command="`goldgrade pool` builds a pool.")
    if not rows:
        command = "`goldgrade pool` shows the id of the pool."
        raise NotFoundError(f"No pool has an id that begins with {beginning!r}.", command=command)
    if beginning is not None and len(rows) > 1:
        ids = ", ".join(sorted(row[0] for row in rows))
        raise InputError(f"Several pools have an id that begins with {beginning!r}: {ids}.")
    pool_id, snapshot_id, parameters, report, built_at = rows[0]
    return PoolRow(pool_id, snapshot_id, json.loads(parameters), json.loads(report), built_at)
