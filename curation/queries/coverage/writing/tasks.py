"""Query-writing tasks, which leads open in batches for people to write queries.

Query-writing tasks go to gaps in the order of searches × documents, and each gap gets a task before any gap
gets a second task. Open and written tasks of earlier batches count. With `fill`, tasks go to regions with few
queries, the largest region first. Tasks for unanswerable queries go to all regions in the same way. An
unanswerable query asks for a topic that is related to the region and absent from the corpus. The seed decides
the order of a region's documents, and each document is used once for each kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import cycle
from typing import Any, NamedTuple

from curation.core.digests import digest, sort_by_seed
from curation.core.errors import InputError, NotFoundError, RefusedError, refuse_problems
from curation.core.text import describe_left_out, pluralize
from curation.ingest.importers.external_corpus import store_linked_texts
from curation.people.annotators import JUDGING_ROLES, require_annotators, require_author, require_role
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.gaps import list_gaps
from curation.queries.coverage.measures import MIN_FOR_SCC
from curation.queries.coverage.state import CoverageState, read_state
from curation.queries.coverage.stored_map import read_current_map_id
from curation.queries.coverage.writing.coverage_queries import GAP, PURPOSES
from curation.queries.coverage.writing.styles import draw_styles
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now, write_if_unchanged
from curation.store.documents import snapshot_versions

BUSY = "No task was opened, because the coverage map kept changing. Try again."
MAX_AT_ONCE = 1_000
"""Largest number of queries in a batch."""
NO_DOCUMENT = "queries are missing: every document of the regions already has a task"
FILLED = f"queries are not needed: no region with documents needs them to reach {MIN_FOR_SCC} queries"


class _BatchInputs(NamedTuple):
    """The inputs for a new batch of query-writing tasks.

    Attributes
    ----------
    batches: number of batches so far.
    taken: documents of earlier tasks.
    asked: number of a cluster → number of its tasks.
    """

    state: CoverageState
    batches: int
    taken: list[str]
    asked: dict[int, int]


@dataclass(frozen=True)
class OpenedTasks:
    """A newly opened batch of query-writing tasks.

    Attributes
    ----------
    regions: number of regions with a task.
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
        """Say how many tasks each writer got, and how many requested queries got no task."""
        people = ", ".join(f"{name} {count:,}" for name, count in self.of_writers.items())
        tasks = f"{pluralize(self.tasks, 'query-writing task')} in {pluralize(self.regions, 'region')}"
        return [f"Opened {tasks}: {people}.", *describe_left_out(self.left_out)]


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
    """Open tasks for people to write queries for gaps, or for topics that the corpus lacks.

    Parameters
    ----------
    queries: number of all queries, which are shared out evenly over the writers.
    kind: 'gap' or 'unanswerable'.
    region: write for this region only, whether it has queries or not.
    fill: write for regions with 1 to 4 queries until each has five, the largest region first.

    Raises
    ------
    InputError: the number or the kind is wrong, no writer is named, a writer is named twice, or `fill` is
        given with a region or with unanswerable queries.
    NotFoundError: the project does not know a writer, or the map has no such region.
    RefusedError: the author is not a lead, or a writer is an evaluator; there is no current map, queries were
        added since coverage was measured, or no region or document is left to write for.
    """
    _check_request(queries, writers, kind)
    if fill and (region is not None or kind != GAP):
        raise InputError(
            "Tasks with the purpose few cannot name a region, and cannot ask for unanswerable queries.",
            command="With `--purpose few` leave out --region; otherwise use `--purpose gaps`.",
        )
    options = {"queries": queries, "writers": list(writers), "seed": seed, "kind": kind, "region": region}
    options |= {"fill": True} if fill else {}

    def read(cursor: Cursor) -> _BatchInputs:
        require_author(cursor, author, "lead")
        for person in require_annotators(cursor, writers):
            require_role(person, *JUDGING_ROLES)
        state = read_state(cursor)
        [(batches,)] = cursor.execute("SELECT count(*) FROM writing_batches").fetchall()
        counts = _count_tasks(cursor, state.map.map_id, kind, fill)
        return _BatchInputs(state, batches, read_used(cursor, kind), counts)

    def plan(inputs: _BatchInputs) -> tuple[str, CoverageMap, dict[str, int]]:
        the_map = inputs.state.map
        tasks = _choose_documents(inputs, queries, seed, kind, region, fill)
        store_linked_texts(store, tasks)
        return digest("writing batch", inputs.batches, the_map.map_id, options), the_map, tasks

    def write(cursor: Cursor, planned: tuple[str, CoverageMap, dict[str, int]]) -> None:
        batch_id, the_map, tasks = planned
        row: list[Any] = [batch_id, kind, the_map.map_id, queries, list(writers), seed, author, utc_now()]
        cursor.execute("INSERT INTO writing_batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        versions = snapshot_versions(cursor, the_map.snapshot_id, list(tasks))
        styled_tasks = zip(tasks.items(), draw_styles(len(tasks), seed), cycle(writers), strict=False)
        rows = [
            (compute_task_id(batch_id, at), at, writer, cluster, name, versions[name], style)
            for at, ((name, cluster), style, writer) in enumerate(styled_tasks)
        ]
        names = ("task_id", "position", "writer", "cluster", "document_id", "content_hash", "style")
        append_rows(cursor, "writing_tasks", rows, names, batch_id=batch_id)
        record_event(cursor, "writing tasks", {"batch": batch_id, "tasks": len(tasks), **options}, author)

    batch_id, _, tasks = write_if_unchanged(
        store, fingerprint=_read_fingerprint, read=read, plan=plan, write=write, busy=BUSY
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


def compute_task_id(batch_id: str, position: int) -> str:
    """Compute the id of the task at a position in its batch."""
    return digest("writing task", batch_id, position)


def list_unused(documents: Iterable[str], used: list[str], cluster: int, seed: int, kind: str) -> list[str]:
    """List the documents of a region for which no query-writing task was made, in random order by seed."""
    used_documents = set(used)
    unused = (document for document in documents if document not in used_documents)
    return sort_by_seed(unused, seed, lambda document: (kind, cluster, document))


def read_used(cursor: Cursor, kind: str) -> list[str]:
    """List the documents for which query-writing tasks of a kind were made, across all coverage maps."""
    sql = "SELECT DISTINCT document_id FROM writing_tasks JOIN writing_batches USING (batch_id)"
    sql += " WHERE kind = ?"
    return [row[0] for row in cursor.execute(sql, [kind]).fetchall()]


def _check_request(queries: int, writers: Sequence[str], kind: str) -> None:
    problems = []
    if not 1 <= queries <= MAX_AT_ONCE:
        asked = pluralize(queries, "query was", "queries were")
        problems.append(f"{asked} requested; expected 1 to {MAX_AT_ONCE:,}.")
    if not writers:
        problems.append("No writer is named; expected at least one person.")
    twice = sorted(name for name, count in Counter(writers).items() if count > 1)
    if twice:
        problems.append(f"Name each writer only once. These writers are named twice: {', '.join(twice)}.")
    if kind not in PURPOSES:
        problems.append(f"There are no tasks of the kind {kind!r}; expected {' or '.join(PURPOSES)}.")
    refuse_problems(problems)


def _read_fingerprint(cursor: Cursor) -> object:
    """Read the inputs of a plan of tasks: the map, the queries matched against the map, and all tasks."""
    tables = ("writing_batches", "writing_tasks", "writing_endings", "queries", "coverage_texts")
    counts = [cursor.execute(f"SELECT count(*) FROM {table}").fetchall() for table in tables]  # noqa: S608
    return read_current_map_id(cursor), counts


def _choose_documents(
    inputs: _BatchInputs, queries: int, seed: int, kind: str, region: int | None, fill: bool
) -> dict[str, int]:
    """Choose the documents of query-writing tasks, each with the number of its region."""
    state = inputs.state
    if region is not None and region not in state.map.regions:
        raise NotFoundError(f"The coverage map has no region {region}.")
    if state.unmatched and region is None:
        raise RefusedError(
            f"{pluralize(len(state.unmatched), 'query was', 'queries were')} added since coverage was "
            "measured. First measure coverage again, because these queries may already fill a region."
        )
    if fill:
        planned = dict(list(_fill_regions(inputs, seed).items())[:queries])
    else:
        regions = _order_regions(state, kind) if region is None else [region]
        if not regions:
            raise RefusedError("Every region already has a query, so there is no gap to write for.")
        unused = {
            number: list_unused(state.map.clusters[number].documents, inputs.taken, number, seed, kind)
            for number in regions
        }
        planned = distribute_tasks(unused, inputs.asked, queries)
    if not planned:
        raise RefusedError("Every document of these regions already has a task.")
    return planned


def _fill_regions(inputs: _BatchInputs, seed: int) -> dict[str, int]:
    """Choose documents for regions with few queries: as many as each region needs queries beyond its open
    tasks."""
    gaps = list_gaps(inputs.state.map, inputs.state.clusters, fill=True)
    if not gaps:
        raise RefusedError(
            f"No region has 1 to {MIN_FOR_SCC - 1} queries, so no region needs further queries."
        )
    region_of: dict[str, int] = {}
    for gap in gaps:
        unused = list_unused(gap.documents, [*inputs.taken, *region_of], gap.number, seed, GAP)
        missing = max(0, gap.missing - inputs.asked.get(gap.number, 0))
        region_of |= dict.fromkeys(unused[:missing], gap.number)
    return region_of


def _order_regions(state: CoverageState, kind: str) -> list[int]:
    """List the regions without a query, or all regions for unanswerable queries, by searches × documents."""
    regions = [row for row in state.clusters if row.is_region and not (kind == GAP and row.queries)]
    regions.sort(key=lambda region: (-(region.searches or 0) * region.documents, -region.documents))
    return [region.number for region in regions]


def _count_tasks(cursor: Cursor, map_id: str, kind: str, open_only: bool) -> dict[int, int]:
    """Count each cluster's open and written tasks, or with `open_only` only the open tasks."""
    sql = """
        SELECT cluster, count(*) FROM writing_tasks JOIN writing_batches USING (batch_id)
        LEFT JOIN writing_endings USING (task_id)
        WHERE map_id = ? AND kind = ? AND (outcome IS NULL OR (outcome = 'written' AND NOT ?))
        GROUP BY cluster
    """
    return dict(cursor.execute(sql, [map_id, kind, open_only]).fetchall())


def distribute_tasks(
    documents_of: Mapping[int, Sequence[str]], counts: Mapping[int, int], queries: int
) -> dict[str, int]:
    """Assign each task to the region with the fewest tasks that has a document left.

    Parameters
    ----------
    documents_of: number of a region → its unused documents in order; the order of regions decides between
        equal numbers.
    counts: number of a region → number of its tasks.
    """
    unused = {number: list(documents) for number, documents in documents_of.items()}
    queue = [(counts.get(number, 0), rank, number) for rank, number in enumerate(unused) if unused[number]]
    heapify(queue)
    region_of: dict[str, int] = {}  # a document can be in several regions
    while queue and len(region_of) < queries:
        count, rank, number = heappop(queue)
        document_id = unused[number].pop(0)
        count += document_id not in region_of
        region_of.setdefault(document_id, number)
        if unused[number]:
            heappush(queue, (count, rank, number))
    return region_of
