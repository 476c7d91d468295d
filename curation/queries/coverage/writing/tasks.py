"""Query-writing tasks: which documents of which regions people are asked to write queries for.

Tasks go to the gaps in the order of searches × documents, one each before any gets a second; those that are
open or written from earlier batches count. Or they fill regions of few queries, the largest first. Tasks for
unanswerable queries go to all regions as to the gaps: their queries ask for what is next to a region and
absent from the corpus. The documents of a region come in an order by seed, each once for either kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from curation.core.errors import InputError, NotFoundError, RefusedError, refuse_problems
from curation.core.text import amount, digest, seeded
from curation.ingest.importers.left.reading import bring_texts
from curation.people.annotators import JUDGING, require_annotators, require_author, require_role
from curation.queries.coverage.find_gaps import gaps_of
from curation.queries.coverage.measures import ENOUGH
from curation.queries.coverage.state import CoverageState, read_state
from curation.queries.coverage.stored_map import map_in_force
from curation.queries.coverage.writing.coverage_queries import GAP, PURPOSES
from curation.queries.coverage.writing.styles import draw_styles
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now
from curation.store.documents import snapshot_versions
from curation.store.retry import write_if_unchanged

BUSY = "Coverage kept changing meanwhile, and nobody was asked. Try again."
MOST_AT_ONCE = 1_000
"""Queries of one batch."""
NO_DOCUMENT = "queries for which no region has a document left that nobody was asked about"
FILLED = f"queries that no region of few queries lacks to {ENOUGH}, or has a document for"


class PlannedTask(NamedTuple):
    """A task before it has a writer."""

    cluster: int
    document_id: str


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


class _Batch(NamedTuple):
    batch_id: str
    inputs: _BatchInputs
    tasks: list[PlannedTask]


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

    def plan(inputs: _BatchInputs) -> _Batch:
        batch_id = digest("writing batch", inputs.batches, inputs.state.map.map_id, asked)
        tasks = _plan(inputs, queries, seed, kind, region, fill)
        bring_texts(store, (task.document_id for task in tasks))
        return _Batch(batch_id, inputs, tasks)

    def write(cursor: Cursor, batch: _Batch) -> None:
        map_id = batch.inputs.state.map.map_id
        row: list[Any] = [batch.batch_id, kind, map_id, queries, list(writers), seed, author, utc_now()]
        cursor.execute("INSERT INTO writing_batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        _append(cursor, batch, writers, draw_styles(len(batch.tasks), seed))
        detail = {"batch": batch.batch_id, "tasks": len(batch.tasks), **asked}
        record_event(cursor, "writing tasks", detail, author)

    opened = write_if_unchanged(store, fingerprint=_fingerprint, read=read, plan=plan, write=write, busy=BUSY)
    count = len(opened.tasks)
    return OpenedTasks(
        batch_id=opened.batch_id,
        kind=kind,
        tasks=count,
        regions=len({task.cluster for task in opened.tasks}),
        of_writers=dict(Counter(writers[place % len(writers)] for place in range(count))),
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
    if not 1 <= queries <= MOST_AT_ONCE:
        problems.append(
            f"{amount(queries, 'query was', 'queries were')} asked for; expected 1 to {MOST_AT_ONCE:,}."
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
    return map_in_force(cursor), counts


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
) -> list[PlannedTask]:
    state = inputs.state
    if state.unmatched and region is None:
        raise RefusedError(
            f"{amount(len(state.unmatched), 'query was', 'queries were')} added since coverage was measured. "
            "Measure it again first, so that no task is for a region that has a query by now."
        )
    if fill:
        planned = _fill(inputs, seed)[:queries]
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


def _fill(inputs: _BatchInputs, seed: int) -> list[PlannedTask]:
    """Tasks for the regions of few queries, region after region: what each lacks besides its open tasks."""
    gaps = gaps_of(inputs.state.map, inputs.state.clusters, fill=True)
    if not gaps:
        raise RefusedError(f"No region has 1 to {ENOUGH - 1} queries: there is none to fill.")
    planned: dict[str, PlannedTask] = {}
    for gap in gaps:
        left = documents_left(gap.documents, [*inputs.taken, *planned], gap.number, seed, GAP)
        missing = max(0, gap.missing - inputs.asked.get(gap.number, 0))
        planned |= {document: PlannedTask(gap.number, document) for document in left[:missing]}
    return list(planned.values())


def _regions(state: CoverageState, kind: str) -> list[int]:
    if kind == GAP:
        return [gap.number for gap in state.gaps]
    regions = [cluster for cluster in state.clusters if cluster.is_region]
    return [
        cluster.number
        for cluster in sorted(regions, key=lambda one: (-(one.searches or 0) * one.documents, -one.documents))
    ]


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


def share_out(free: Mapping[int, Sequence[str]], asked: Mapping[int, int], queries: int) -> list[PlannedTask]:
    """Tasks for the regions that have fewer than others, of equal ones in this order, while documents last.

    Parameters
    ----------
    free: number of a region → its documents in order, by rank.
    asked: number of a region → tasks that it has.
    """
    left = {number: list(documents) for number, documents in free.items()}
    waiting = [(asked.get(number, 0), rank, number) for rank, number in enumerate(left) if left[number]]
    heapify(waiting)
    planned: dict[str, PlannedTask] = {}  # by document: one can be in several regions
    while waiting and len(planned) < queries:
        count, rank, number = heappop(waiting)
        document_id = left[number].pop(0)
        count += document_id not in planned
        planned.setdefault(document_id, PlannedTask(number, document_id))
        if left[number]:
            heappush(waiting, (count, rank, number))
    return list(planned.values())


def _append(cursor: Cursor, batch: _Batch, writers: Sequence[str], styles: Sequence[str]) -> None:
    id_, documents = batch.batch_id, [task.document_id for task in batch.tasks]
    versions = snapshot_versions(cursor, batch.inputs.state.map.snapshot_id, documents)
    rows = [
        (
            task_id_of(id_, place),
            place,
            writers[place % len(writers)],
            *task,
            versions[task.document_id],
            style,
        )
        for place, (task, style) in enumerate(zip(batch.tasks, styles, strict=True))
    ]
    names = ("task_id", "position", "writer", *PlannedTask._fields, "content_hash", "style")
    append_rows(cursor, "writing_tasks", rows, names, batch_id=id_)
