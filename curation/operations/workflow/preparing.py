"""The stages before people judge, which prepare the pairs: import, sample and pool."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.text import join_names, pluralize
from curation.ingest.filters import find_outside_pairs
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.stored_runs import read_stored_runs
from curation.operations.workflow.stage import Action, Stage, State
from curation.queries.sampling.stored_sample import SampleReport, read_current_sample
from curation.store import Cursor, fetch, get_setting
from curation.store.documents import count_documents, is_held

_LAST_POOL = """
SELECT snapshot_id, report->>'$.systems[*].system', (report->>'queries')::INTEGER, built_at
FROM pools ORDER BY rowid DESC LIMIT 1
"""
_PAIRS = """
WITH active AS (SELECT unnest(?::TEXT[]) AS query_id),
shown AS (
    SELECT DISTINCT p.query_id, p.document_id FROM live_presentations p JOIN rounds r USING (round_id)
    WHERE r.kind NOT IN ('pilot', 'practice'))
SELECT count(DISTINCT c.query_id), count(*), count(*) FILTER (s.query_id IS NULL)
FROM candidates c SEMI JOIN active USING (query_id) LEFT JOIN shown s USING (query_id, document_id)
WHERE (c.query_id, c.document_id) NOT IN (SELECT (unnest(?::TEXT[]), unnest(?::TEXT[])))
"""


class BuiltPool(NamedTuple):
    """The pool that was built last; `queries` is the number of queries for which it searched."""

    snapshot_id: str
    systems: list[str]
    queries: int
    built_at: datetime


class Preparation(NamedTuple):
    """The documents, logs, queries and pairs of a project before people judge.

    Attributes
    ----------
    all_from_engines: whether engines brought all documents.
    logs, log_rows: number of logs, and number of their rows.
    queries, pooled_queries: number of active queries, and of active queries with a candidate.
    pairs: number of candidates of these queries.
    unassigned_pairs: number of pairs that no round has shown; practice rounds and pilots do not count.
    is_pool_stale: whether the corpus has changed since the pool was built.
    """

    documents: int
    all_from_engines: bool
    logs: int
    log_rows: int
    runs: int
    queries: int
    pooled_queries: int
    sample: SampleReport | None
    pairs: int
    unassigned_pairs: int
    pool: BuiltPool | None
    is_pool_stale: bool


def read_preparation(cursor: Cursor) -> Preparation:
    """Read how far a project's preparation is: documents, logs, queries and pooled pairs."""
    [(logs, rows)] = cursor.execute("SELECT count(*), coalesce(sum(rows), 0) FROM traffic_imports").fetchall()
    active = [query.query_id for query in read_active_queries(cursor)]
    outside = [list(ids) for ids in zip(*find_outside_pairs(cursor), strict=True)] or [[], []]
    [(pooled_queries, pairs, unassigned_pairs)] = cursor.execute(_PAIRS, [active, *outside]).fetchall()
    pool = next(iter(fetch(cursor, BuiltPool, _LAST_POOL)), None)
    return Preparation(
        documents=count_documents(cursor),
        all_from_engines=is_held(cursor),
        logs=logs,
        log_rows=int(rows),
        runs=len(read_stored_runs(cursor)),
        queries=len(active),
        pooled_queries=pooled_queries,
        sample=read_current_sample(cursor),
        pairs=pairs,
        unassigned_pairs=unassigned_pairs,
        pool=pool,
        is_pool_stale=pool is not None and pool.snapshot_id != get_setting(cursor, "corpus"),
    )


def make_import_stage(facts: Preparation) -> Stage:
    """Make the import stage: documents, and logs or queries."""
    corpus = Action("Import a corpus", "import", "goldgrade import corpus PATH", {"kind": "corpus"})
    command = "goldgrade import traffic PATH"
    queries = Action("Import a log or queries", "import", command, {"kind": "traffic"})
    if not (facts.documents or facts.logs or facts.queries):
        line = "The project is empty. goldgrade needs documents, and a log of searches or a list of queries."
        return Stage("import", "not begun", line, corpus)
    counts = []
    if facts.documents:
        origin = " of engines" if facts.all_from_engines else ""
        counts.append(pluralize(facts.documents, "document") + origin)
    if facts.logs:
        counts.append(f"{pluralize(facts.log_rows, 'row')} of {pluralize(facts.logs, 'log')}")
    if facts.runs:
        counts.append(pluralize(facts.runs, "run"))
    line = " · ".join(counts)
    if not facts.documents:
        line = line or pluralize(facts.queries, "query", "queries")
        return Stage("import", "at work", f"{line}. The documents are missing.", corpus)
    if not (facts.logs or facts.queries):
        line += ". A log of searches or a list of queries is missing."
        return Stage("import", "at work", line, queries)
    import_more = Action("Import more", "import", "goldgrade import run PATH")
    return Stage("import", "done", f"{line}.", import_more)


def make_sample_stage(facts: Preparation) -> Stage:
    """Make the sample stage: the active queries."""
    draw = Action("Draw a sample", "queries", "goldgrade sample --size 200", {"part": "Sample"})
    see_sample = Action("See the sample", "queries", "goldgrade tags", {"part": "Sample"})
    if facts.sample is not None:
        sample, other_queries = facts.sample, facts.queries - facts.sample.size
        queries = pluralize(sample.size, "query", "queries")
        line = f"{queries} drawn from the traffic on {sample.drawn_at:%d %b %Y}"
        if other_queries > 0:
            line += f", and {pluralize(other_queries, 'other')}"
        return Stage("sample", "done", f"{line}.", see_sample)
    if facts.queries:
        line = f"{pluralize(facts.queries, 'query', 'queries')}, imported or written; no query is drawn "
        return Stage("sample", "done", f"{line}from traffic.", see_sample)
    if facts.logs:
        line = f"No query has been drawn from the {pluralize(facts.log_rows, 'row')} of traffic yet."
        return Stage("sample", "not begun", line, draw)
    return Stage("sample", "not begun", "Draw the queries that people will judge from the log.", draw)


def make_pool_stage(facts: Preparation) -> Stage:
    """Make the pool stage: the pairs of queries and documents to be judged."""
    build = Action("Build the pool", "queries", "goldgrade pool --systems bm25 --depth 10", {"part": "Pool"})
    unpooled_count = facts.queries - facts.pooled_queries
    without = f"{pluralize(unpooled_count, 'query has', 'queries have')} no document to judge"
    if not facts.pairs:
        line = "Find the documents that people will judge for each query."
        if unpooled_count:
            line = f"{without} yet."
        return Stage("pool", "not begun", line, build)
    queries = pluralize(facts.pooled_queries, "query", "queries")
    line = f"{pluralize(facts.pairs, 'pair')} of {queries}"
    if facts.pool is not None:
        line += f", from {join_names(facts.pool.systems)}"
    if unpooled_count and (facts.pool is None or facts.queries > facts.pool.queries):
        state: State = "at work" if facts.pool is None else "needs attention"
        since = "" if facts.pool is None else ", and they were added after the pool"
        return Stage("pool", state, f"{line}. {without}{since}.", build)
    newer = " The corpus is newer than the pool." if facts.is_pool_stale else ""
    see_pool = Action("See the pool", "queries", "goldgrade pool --contributions last", {"part": "Pool"})
    return Stage("pool", "done", f"{line}.{newer}", see_pool)
