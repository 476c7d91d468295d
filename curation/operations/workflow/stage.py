"""A stage of the workflow, and the stages before people judge: import, sample and pool."""

from __future__ import annotations

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
from curation.store import Cursor, fetch, get_setting
from curation.store.documents import count_documents, is_held

State = Literal["not begun", "at work", "done", "needs attention"]

WORDS: Mapping[State, str] = {"not begun": "to do", "at work": "in progress"}
"""The words of the app for two of the states."""
NAMES = (
    *("import", "sample", "pool", "people", "round", "adjudicate"),
    *("split", "freeze", "evaluate", "re-label"),
)
"""The names of the stages in their order."""


@dataclass(frozen=True)
class Action:
    """The page and the command with which people do the work of a stage.

    Attributes
    ----------
    label: text of the link to the page.
    page: address of the page. parameters: query string that opens a part of the page.
    command: the command that does the same work.
    """

    label: str
    page: str
    command: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """One stage of the workflow.

    Attributes
    ----------
    line: the state in one line, with counts, people at work and dates.
    answers: number of answers of the open round for each of the last days.
    alpha: ordinal alpha and the alpha that the gate demands; None if nothing was judged or alpha was not
        read.
    """

    name: str
    state: State
    line: str
    action: Action
    answers: Mapping[date, int] | None = None
    alpha: GateCheck | None = None


def next_stage(stages: Sequence[Stage]) -> Stage | None:
    """Find the next stage: the first stage that needs attention, else the first stage that is not done."""
    attention = (stage for stage in stages if stage.state == "needs attention")
    undone = (stage for stage in stages if stage.state != "done")
    return next(attention, None) or next(undone, None)


def named(names: Sequence[str], most: int = 3) -> str:
    """Join names for a sentence, such as `ada, ben and 4 more`."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


class BuiltPool(NamedTuple):
    """The pool that was built last; `queries` is the number of queries for which it searched."""

    snapshot_id: str
    systems: list[str]
    queries: int
    built_at: datetime


class Prepared(NamedTuple):
    """The documents, logs, queries and pairs of a project before people judge.

    Attributes
    ----------
    held: whether engines brought all documents.
    logs, log_rows: number of logs, and number of their rows.
    queries, asked: number of active queries, and of active queries with a candidate.
    pairs: number of candidates of these queries.
    unshown: number of pairs that no round has shown; practice rounds and pilots do not count.
    stale_pool: whether the corpus has changed since the pool was built.
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


def read_prepared(cursor: Cursor) -> Prepared:
    """Read the facts of a project before people judge."""
    [(logs, rows)] = cursor.execute("SELECT count(*), coalesce(sum(rows), 0) FROM traffic_imports").fetchall()
    active = [query.query_id for query in active_queries(cursor)]
    outside = [list(ids) for ids in zip(*outside_pairs(cursor), strict=True)] or [[], []]
    [(asked, pairs, unshown)] = cursor.execute(_PAIRS, [active, *outside]).fetchall()
    pool = next(iter(fetch(cursor, BuiltPool, _LAST_POOL)), None)
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
    """Make the stage of imports: documents, and logs or queries."""
    corpus = Action("Import a corpus", "import", "goldgrade import corpus PATH", {"kind": "corpus"})
    queries = Action(
        "Import a log or queries", "import", "goldgrade import traffic PATH", {"kind": "traffic"}
    )
    if not (prepared.documents or prepared.logs or prepared.queries):
        needs = "The project is empty. goldgrade needs documents, and a log of searches or a list of queries."
        return Stage("import", "not begun", needs, corpus)
    have = []
    if prepared.documents:
        have.append(pluralize(prepared.documents, "document") + (" of engines" if prepared.held else ""))
    if prepared.logs:
        have.append(f"{pluralize(prepared.log_rows, 'row')} of {pluralize(prepared.logs, 'log')}")
    if prepared.runs:
        have.append(pluralize(prepared.runs, "run"))
    line = " · ".join(have)
    if not prepared.documents:
        line = line or pluralize(prepared.queries, "query", "queries")
        return Stage("import", "at work", f"{line}. The documents are missing.", corpus)
    if not (prepared.logs or prepared.queries):
        missing = f"{line}. A log of searches or a list of queries is missing."
        return Stage("import", "at work", missing, queries)
    more = Action("Import more", "import", "goldgrade import run PATH")
    return Stage("import", "done", f"{line}.", more)


def sample_stage(prepared: Prepared) -> Stage:
    """Make the stage of the sample: the active queries."""
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
        return Stage("sample", "done", f"{have}, imported or written; no query is drawn from traffic.", look)
    if prepared.logs:
        waits = f"Nothing is drawn from the {pluralize(prepared.log_rows, 'row')} of traffic yet."
        return Stage("sample", "not begun", waits, draw)
    return Stage("sample", "not begun", "A sample draws queries from the log for judging.", draw)


def pool_stage(prepared: Prepared) -> Stage:
    """Make the stage of the pool: the documents to be judged."""
    build = Action("Build the pool", "queries", "goldgrade pool --systems bm25 --depth 10", {"part": "Pool"})
    lonely = prepared.queries - prepared.asked
    without = f"{pluralize(lonely, 'query has', 'queries have')} no document to judge"
    if not prepared.pairs:
        line = f"{without} yet." if lonely else "A pool finds the documents that people judge for each query."
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
