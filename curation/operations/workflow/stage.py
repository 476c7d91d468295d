"""A stage of the workflow, and the stages before people judge: import, sample and pool."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, NamedTuple

from curation.agreement.gate import GateCheck
from curation.core.text import pluralize
from curation.ingest.filters import outside_pairs
from curation.ingest.importers.queries import active_queries
from curation.ingest.stored_runs import stored_runs
from curation.queries.sampling.stored_sample import SampleReport, read_current
from curation.store import Cursor, get_setting
from curation.store.documents import count_documents, is_held

State = Literal["not begun", "at work", "done", "needs attention"]

WORDS: Mapping[State, str] = {"not begun": "to do", "at work": "in progress"}
"""States that people read in other words."""
NAMES = (
    *("import", "sample", "pool", "people", "round", "adjudicate"),
    *("split", "freeze", "evaluate", "re-label"),
)
"""The stages in order."""


@dataclass(frozen=True)
class Action:
    """Where a stage is done.

    Attributes
    ----------
    label: what the link says.
    page: the address of the page.
    parameters: the query string that opens its part.
    command: what does it on the command line.
    """

    label: str
    page: str
    command: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes
    ----------
    line: its state in one line: counts, who is at it, what is due.
    answers: day → answers of the round at work, of the last days.
    alpha: ordinal alpha against what the gate demands of it; None if nothing was judged or it is not read.
    """

    name: str
    state: State
    line: str
    action: Action
    answers: Mapping[date, int] | None = None
    alpha: GateCheck | None = None


def next_stage(stages: Sequence[Stage]) -> Stage | None:
    """The stage that comes next: the first that needs attention, else the first that is not done."""
    for states in (["needs attention"], ["not begun", "at work"]):
        for stage in stages:
            if stage.state in states:
                return stage
    return None


def named(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence: `ada, ben and 4 more`."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


class BuiltPool(NamedTuple):
    """The pool that was built last; `queries` is how many it searched for."""

    snapshot_id: str
    systems: tuple[str, ...]
    queries: int
    built_at: datetime


class Prepared(NamedTuple):
    """What there is to be judged.

    Attributes
    ----------
    held: engines brought all documents.
    log_rows: rows of all `logs`.
    queries: in force. asked: queries in force that have a candidate.
    pairs: candidates of these queries. unshown: pairs that no round has shown, practice and pilots aside.
    stale_pool: whether the corpus is another one than the pool's.
    """

    documents: int
    held: bool
    logs: int
    log_rows: int
    runs: int
    queries: int
    asked: int
    sample: SampleReport | None
    pairs: int
    unshown: int
    pool: BuiltPool | None
    stale_pool: bool


_PAIRS = """
WITH active AS (SELECT unnest(?::TEXT[]) AS query_id),
shown AS (
    SELECT DISTINCT p.query_id, p.document_id FROM live_presentations p JOIN rounds r USING (round_id)
    WHERE r.kind NOT IN ('pilot', 'practice'))
SELECT count(DISTINCT c.query_id), count(*), count(*) FILTER (s.query_id IS NULL)
FROM candidates c SEMI JOIN active USING (query_id) LEFT JOIN shown s USING (query_id, document_id)
WHERE (c.query_id, c.document_id) NOT IN (SELECT (unnest(?::TEXT[]), unnest(?::TEXT[])))
"""


def read_prepared(cursor: Cursor) -> Prepared:
    """Read what there is."""
    logs, rows = cursor.execute("SELECT count(*), coalesce(sum(rows), 0) FROM traffic_imports").fetchall()[0]
    active = [query.query_id for query in active_queries(cursor)]
    outside = [list(ids) for ids in zip(*outside_pairs(cursor), strict=True)] or [[], []]
    asked, pairs, unshown = cursor.execute(_PAIRS, [active, *outside]).fetchall()[0]
    pool = _last_pool(cursor)
    return Prepared(
        documents=count_documents(cursor),
        held=is_held(cursor),
        logs=logs,
        log_rows=int(rows),
        runs=len(stored_runs(cursor)),
        queries=len(active),
        asked=asked,
        sample=read_current(cursor),
        pairs=pairs,
        unshown=unshown,
        pool=pool,
        stale_pool=pool is not None and pool.snapshot_id != get_setting(cursor, "corpus"),
    )


def import_stage(prepared: Prepared) -> Stage:
    """Documents, and what people search for."""
    corpus = Action("Import a corpus", "import", "goldgrade import corpus PATH", {"kind": "corpus"})
    queries = Action(
        "Import a log or queries", "import", "goldgrade import traffic PATH", {"kind": "traffic"}
    )
    if not (prepared.documents or prepared.logs or prepared.queries):
        needs = "Nothing is here yet. goldgrade needs documents, and a log of searches or a list of queries."
        return Stage("import", "not begun", needs, corpus)
    have = [
        f"{pluralize(prepared.documents, 'document')}{' of engines' * prepared.held}"
        if prepared.documents
        else "",
        f"{pluralize(prepared.log_rows, 'row')} of {pluralize(prepared.logs, 'log')}"
        if prepared.logs
        else "",
        pluralize(prepared.runs, "run") if prepared.runs else "",
    ]
    line = " · ".join(filter(None, have))
    if not prepared.documents:
        line = line or pluralize(prepared.queries, "query", "queries")
        return Stage("import", "at work", f"{line}. The documents are missing.", corpus)
    if not (prepared.logs or prepared.queries):
        missing = f"{line}. What people search for is missing: a log, or a list of queries."
        return Stage("import", "at work", missing, queries)
    more = Action("Import more", "import", "goldgrade import run PATH")
    return Stage("import", "done", f"{line}.", more)


def sample_stage(prepared: Prepared) -> Stage:
    """The queries in force."""
    draw = Action("Draw a sample", "queries", "goldgrade sample --size 200", {"part": "Sample"})
    look = Action("See the sample", "queries", "goldgrade tags", {"part": "Sample"})
    if prepared.sample is not None:
        drawn, others = prepared.sample, prepared.queries - prepared.sample.size
        line = (
            f"{pluralize(drawn.size, 'query', 'queries')} drawn from the traffic on {drawn.drawn_at:%d %b %Y}"
        )
        more = f", and {pluralize(others, 'other')}" if others > 0 else ""
        return Stage("sample", "done", f"{line}{more}.", look)
    if prepared.queries:
        have = pluralize(prepared.queries, "query", "queries")
        return Stage("sample", "done", f"{have}, imported or written; none is drawn from traffic.", look)
    if prepared.logs:
        waits = f"Nothing is drawn from the {pluralize(prepared.log_rows, 'row')} of traffic yet."
        return Stage("sample", "not begun", waits, draw)
    return Stage("sample", "not begun", "Samples queries from the log for judging.", draw)


def pool_stage(prepared: Prepared) -> Stage:
    """The documents to be judged."""
    build = Action("Build the pool", "queries", "goldgrade pool --systems bm25 --depth 10", {"part": "Pool"})
    lonely = prepared.queries - prepared.asked
    without = f"{pluralize(lonely, 'query has', 'queries have')} no document to judge"
    if not prepared.pairs:
        line = f"{without} yet." if lonely else "Finds the documents that people judge for each query."
        return Stage("pool", "not begun", line, build)
    line = f"{pluralize(prepared.pairs, 'pair')} of {pluralize(prepared.asked, 'query', 'queries')}"
    if prepared.pool is not None:
        line += f", from {named(prepared.pool.systems)}"
    if lonely and (prepared.pool is None or prepared.queries > prepared.pool.queries):
        state: State = "at work" if prepared.pool is None else "needs attention"
        since = "" if prepared.pool is None else ", and came after the pool"
        return Stage("pool", state, f"{line}. {without}{since}.", build)
    newer = " The corpus is newer than the pool." if prepared.stale_pool else ""
    look = Action("See the pool", "queries", "goldgrade pool --contributions last", {"part": "Pool"})
    return Stage("pool", "done", f"{line}.{newer}", look)


def _last_pool(cursor: Cursor) -> BuiltPool | None:
    rows = cursor.execute(
        "SELECT snapshot_id, report, built_at FROM pools ORDER BY rowid DESC LIMIT 1"
    ).fetchall()
    if not rows:
        return None
    snapshot_id, stored, built_at = rows[0]
    report = json.loads(stored)
    systems = tuple(row["system"] for row in report["systems"])
    return BuiltPool(snapshot_id, systems, report["queries"], built_at)
