"""Query-writing tasks: which documents people write queries for, region by region.

Tasks go to the gaps in the order of searches × documents, one each before any gets a second; those that are
open or written from earlier batches count. Or they fill regions of few queries, the largest first. Tasks for
unanswerable queries go to all regions as to the gaps: their queries ask for what is next to a region and
absent from the corpus. The documents of a region come in an order by seed, each once for either kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from curation.core.digests import digest, seeded
from curation.core.errors import InputError, NotFoundError, RefusedError, refuse_problems
from curation.core.reports.page import Table
from curation.core.text import left_out_sentences, pluralize
from curation.ingest.importers.external_corpus import bring_texts
from curation.people.annotators import JUDGING, require_annotators, require_author, require_role
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.measures import MIN_FOR_SCC
from curation.queries.coverage.report import CoverageState, gaps_of, read_state
from curation.queries.coverage.stored_map import current_map_id
from curation.queries.coverage.writing.checks import draw_styles
from curation.queries.coverage.writing.coverage_queries import GAP, PURPOSES
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, fetch, record_event, utc_now
from curation.store.documents import snapshot_versions
from curation.store.planned_writes import write_if_unchanged

BUSY = "Coverage kept changing meanwhile, and nobody was asked. Try again."
MAX_AT_ONCE = 1_000
"""Queries of one batch."""
NO_DOCUMENT = "queries for which no region has a document left that nobody was asked about"
FILLED = f"queries that no region of few queries lacks to {MIN_FOR_SCC}, or has a document for"
_COUNTED = """count(*) FILTER (outcome IS NULL), count(*) FILTER (outcome = 'written'),
              count(*) FILTER (outcome = 'passed')"""
_FROM = (
    """writing_tasks t JOIN writing_batches b USING (batch_id) LEFT JOIN writing_endings USING (task_id)"""
)


class _BatchInputs(NamedTuple):
    """What decides a batch.

    Attributes
    ----------
    batches: how many there are.
    taken: documents that people were asked about.
    asked: number of a cluster → tasks that it has.
    """

    state: CoverageState
    batches: int
    taken: list[str]
    asked: dict[int, int]


@dataclass(frozen=True)
class OpenedTasks:
    """A batch of tasks that was opened.

    Attributes
    ----------
    regions: in how many regions the documents are.
    of_writers: name → number of tasks.
    left_out: reason → number of queries that were asked for and have no task.
    """

    batch_id: str
    kind: str
    tasks: int
    regions: int
    of_writers: dict[str, int]
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """What was opened for whom, and what was left out."""
        people = ", ".join(f"{name} {count:,}" for name, count in self.of_writers.items())
        tasks = f"{pluralize(self.tasks, 'query-writing task')} in {pluralize(self.regions, 'region')}"
        return [f"Opened {tasks}: {people}.", *left_out_sentences(self.left_out)]


def open_tasks(
    store: Store,
    queries: int,
    writers: Sequence[str],
    seed: int,
    kind: str = GAP,
    author: str = COMMAND_LINE,
    region: int | None = None,
    fill: bool = False,
) -> OpenedTasks:
    """Ask people to write queries, for gaps or for topics that the corpus lacks.

    Parameters
    ----------
    queries: how many in all; they are shared out evenly.
    kind: 'gap' or 'unanswerable'.
    region: only for this one, whether it has queries or not.
    fill: for regions of 1 to 4 queries instead, each to five before the next, the largest first.

    Raises
    ------
    InputError: the number or the kind is wrong, nobody or somebody twice is named, or `fill` comes with a
        region or another kind.
    NotFoundError: the project does not know a writer, or the map no such region.
    RefusedError: the author is no lead, or a writer no annotator, reviewer or lead; there is no map in force,
        queries were added since coverage was measured, or no region or document is left to write for.
    """
    _check(queries, writers, kind)
    if fill and (region is not None or kind != GAP):
        raise InputError(
            "Regions are filled to 5 in their own order: none is named, and no unanswerable query asked for.",
            command="Leave out --region and --unanswerable, or --fill.",
        )
    asked = {"queries": queries, "writers": list(writers), "seed": seed, "kind": kind, "region": region}
    asked |= {"fill": True} if fill else {}

    def read(cursor: Cursor) -> _BatchInputs:
        require_author(cursor, author, "lead")
        for person in require_annotators(cursor, writers):
            require_role(person, *JUDGING)
        return _read(cursor, kind, fill)

    def plan(inputs: _BatchInputs) -> tuple[str, CoverageMap, dict[str, int]]:
        covered = inputs.state.map
        tasks = _plan(inputs, queries, seed, kind, region, fill)
        bring_texts(store, tasks)
        return digest("writing batch", inputs.batches, covered.map_id, asked), covered, tasks

    def write(cursor: Cursor, planned: tuple[str, CoverageMap, dict[str, int]]) -> None:
        batch_id, covered, tasks = planned
        row: list[Any] = [batch_id, kind, covered.map_id, queries, list(writers), seed, author, utc_now()]
        cursor.execute("INSERT INTO writing_batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        versions = snapshot_versions(cursor, covered.snapshot_id, list(tasks))
        rows = [
            (task_id_of(batch_id, at), at, writers[at % len(writers)], cluster, name, versions[name], style)
            for at, ((name, cluster), style) in enumerate(
                zip(tasks.items(), draw_styles(len(tasks), seed), strict=True)
            )
        ]
        names = ("task_id", "position", "writer", "cluster", "document_id", "content_hash", "style")
        append_rows(cursor, "writing_tasks", rows, names, batch_id=batch_id)
        record_event(cursor, "writing tasks", {"batch": batch_id, "tasks": len(tasks), **asked}, author)

    batch_id, _, tasks = write_if_unchanged(
        store, fingerprint=_fingerprint, read=read, plan=plan, write=write, busy=BUSY
    )
    count = len(tasks)
    return OpenedTasks(
        batch_id=batch_id,
        kind=kind,
        tasks=count,
        regions=len(set(tasks.values())),
        of_writers=dict(Counter(writers[index % len(writers)] for index in range(count))),
        left_out={FILLED if fill else NO_DOCUMENT: queries - count} if count < queries else {},
    )


def task_id_of(batch_id: str, position: int) -> str:
    """The id of the task at a position of its batch."""
    return digest("writing task", batch_id, position)


def documents_left(
    documents: Iterable[str], taken: Iterable[str], cluster: int, seed: int, kind: str
) -> list[str]:
    """The documents of a region that nobody was asked about, in their order by seed."""
    known = set(taken)
    free = (document for document in documents if document not in known)
    return seeded(free, seed, lambda document: (kind, cluster, document))


def documents_taken(cursor: Cursor, kind: str) -> list[str]:
    """The documents of tasks of a kind so far, of whatever map."""
    sql = (
        "SELECT DISTINCT document_id FROM writing_tasks JOIN writing_batches USING (batch_id) WHERE kind = ?"
    )
    return [row[0] for row in cursor.execute(sql, [kind]).fetchall()]


def _check(queries: int, writers: Sequence[str], kind: str) -> None:
    problems = []
    if not 1 <= queries <= MAX_AT_ONCE:
        problems.append(
            f"{pluralize(queries, 'query was', 'queries were')} asked for; expected 1 to {MAX_AT_ONCE:,}."
        )
    if not writers:
        problems.append("Nobody is named to write; expected one person or more.")
    twice = sorted(name for name, count in Counter(writers).items() if count > 1)
    if twice:
        problems.append(f"Expected each person once; named twice: {', '.join(twice)}.")
    if kind not in PURPOSES:
        problems.append(f"There are no tasks of the kind {kind!r}; expected {' or '.join(PURPOSES)}.")
    refuse_problems(problems)


def _fingerprint(cursor: Cursor) -> object:
    """What a plan rests on: the map, the queries matched against it, and all tasks."""
    tables = ("writing_batches", "writing_tasks", "writing_endings", "queries", "coverage_texts")
    counts = [cursor.execute(f"SELECT count(*) FROM {table}").fetchall() for table in tables]  # noqa: S608
    return current_map_id(cursor), counts


def _read(cursor: Cursor, kind: str, fill: bool) -> _BatchInputs:
    state = read_state(cursor)
    [(batches,)] = cursor.execute("SELECT count(*) FROM writing_batches").fetchall()
    return _BatchInputs(
        state=state,
        batches=batches,
        taken=documents_taken(cursor, kind),
        asked=_asked_for(cursor, state.map.map_id, kind, fill),
    )


def _plan(
    inputs: _BatchInputs, queries: int, seed: int, kind: str, region: int | None, fill: bool
) -> dict[str, int]:
    """Document → the number of its region."""
    state = inputs.state
    if state.unmatched and region is None:
        raise RefusedError(
            f"{pluralize(len(state.unmatched), 'query was', 'queries were')} added since coverage was "
            "measured. Measure it again first, so that no task is for a region that has a query by now."
        )
    if fill:
        planned = dict(list(_fill(inputs, seed).items())[:queries])
    else:
        regions = _regions(state, kind) if region is None else [_require_region(state, region)]
        if not regions:
            raise RefusedError("Every region of the corpus has a query: there is no gap to write for.")
        free = {
            number: documents_left(state.map.clusters[number].documents, inputs.taken, number, seed, kind)
            for number in regions
        }
        planned = share_out(free, inputs.asked, queries)
    if not planned:
        raise RefusedError("People were asked about every document of these regions already.")
    return planned


def _fill(inputs: _BatchInputs, seed: int) -> dict[str, int]:
    """Tasks for the regions of few queries, region after region: what each lacks besides its open tasks."""
    gaps = gaps_of(inputs.state.map, inputs.state.clusters, fill=True)
    if not gaps:
        raise RefusedError(f"No region has 1 to {MIN_FOR_SCC - 1} queries, so nothing is to be filled.")
    planned: dict[str, int] = {}
    for gap in gaps:
        left = documents_left(gap.documents, [*inputs.taken, *planned], gap.number, seed, GAP)
        missing = max(0, gap.missing - inputs.asked.get(gap.number, 0))
        planned |= dict.fromkeys(left[:missing], gap.number)
    return planned


def _regions(state: CoverageState, kind: str) -> list[int]:
    """The regions without a query, or for unanswerable queries all, by searches × documents."""
    regions = [
        region for region in state.clusters if region.is_region and not (kind == GAP and region.queries)
    ]
    regions.sort(key=lambda region: (-(region.searches or 0) * region.documents, -region.documents))
    return [region.number for region in regions]


def _require_region(state: CoverageState, region: int) -> int:
    if region not in state.map.regions:
        raise NotFoundError(f"The coverage map has no region {region}.")
    return region


def _asked_for(cursor: Cursor, map_id: str, kind: str, open_only: bool) -> dict[int, int]:
    """Cluster → its tasks that are open, or written."""
    sql = """
        SELECT cluster, count(*) FROM writing_tasks JOIN writing_batches USING (batch_id)
        LEFT JOIN writing_endings USING (task_id)
        WHERE map_id = ? AND kind = ? AND (outcome IS NULL OR (outcome = 'written' AND NOT ?))
        GROUP BY cluster
    """
    return dict(cursor.execute(sql, [map_id, kind, open_only]).fetchall())


def share_out(free: Mapping[int, Sequence[str]], asked: Mapping[int, int], queries: int) -> dict[str, int]:
    """Tasks for the regions that have fewer than others, of equal ones in this order, while documents last.

    Parameters
    ----------
    free: number of a region → its documents in order, by rank.
    asked: number of a region → tasks that it has.
    """
    left = {number: list(documents) for number, documents in free.items()}
    waiting = [(asked.get(number, 0), rank, number) for rank, number in enumerate(left) if left[number]]
    heapify(waiting)
    planned: dict[str, int] = {}  # a document can be in several regions
    while waiting and len(planned) < queries:
        count, rank, number = heappop(waiting)
        document_id = left[number].pop(0)
        count += document_id not in planned
        planned.setdefault(document_id, number)
        if left[number]:
            heappush(waiting, (count, rank, number))
    return planned


class BatchProgress(NamedTuple):
    """A batch of query-writing tasks and one writer's part of it."""

    batch_id: str
    kind: str
    seed: int
    author: str
    opened_at: datetime
    writer: str
    open: int
    written: int
    passed: int


def batch_table(progresses: Sequence[BatchProgress]) -> Table:
    """The batches of tasks, and how far each writer is."""
    columns = ("Opened (UTC)", "For", "Writer", "To write", "Written", "Passed on")
    rows = (
        (progress.opened_at, progress.kind, progress.writer, progress.open, progress.written, progress.passed)
        for progress in progresses
    )
    return Table("Query-writing tasks", columns, tuple(rows))


def batches(cursor: Cursor) -> list[BatchProgress]:
    """Each writer's part of each batch, the newest batch first."""
    sql = f"""
        SELECT b.batch_id, b.kind, b.seed, b.author, b.opened_at, t.writer, {_COUNTED} FROM {_FROM}
        GROUP BY b.rowid, b.batch_id, b.kind, b.seed, b.author, b.opened_at, t.writer
        ORDER BY b.rowid DESC, t.writer
    """  # noqa: S608  texts from above
    return fetch(cursor, BatchProgress, sql)


def tasks_of_clusters(cursor: Cursor, map_id: str) -> dict[int, tuple[int, ...]]:
    """Number of a cluster of a map → its tasks that are open, written and passed on, of both kinds."""
    sql = f"SELECT t.cluster, {_COUNTED} FROM {_FROM} WHERE b.map_id = ? GROUP BY t.cluster"  # noqa: S608
    return {number: tuple(counts) for number, *counts in cursor.execute(sql, [map_id]).fetchall()}
