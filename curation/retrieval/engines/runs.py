"""Engine runs: an engine's lists for all current queries, stored as a run.

An interrupted call stores no run, and the next call sends only the missing queries (`stored_lists`). A query
without a complete answer is left out and counted. Documents that the project lacks are fetched from the
engine by id. A document that the engine deletes before the fetch leaves a gap in the ranks. A pool uses the
stored run, because engines may answer the same query differently later.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.stored_runs import Run, RunEntry, check_run_name, read_stored_runs, store_run
from curation.people.annotators import require_author
from curation.retrieval.engines import RATE, stored_lists
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.documents import fetch_missing_documents
from curation.retrieval.engines.stored_engines import find_engine
from curation.retrieval.engines.template import Engine
from curation.store import COMMAND_LINE, Cursor, Store, utc_now

_RUN_COUNTS = """
SELECT run_id, any_value(left_out), count(DISTINCT query_id), count(*)
FROM runs JOIN run_entries USING (run_id) WHERE name = ? GROUP BY run_id
"""


@dataclass(frozen=True)
class EngineRunRequest:
    """A request to send all current queries to an engine and store the lists as a run.

    Attributes
    ----------
    name: name of the run. '' stands for the engine's name and today's date, with a number if a run of other
        queries has this name.
    depth: number of documents of a list.
    rate: largest number of requests a second.
    """

    engine: str
    name: str = ""
    depth: int = 100
    rate: float = RATE

    @property
    def names(self) -> Iterator[str]:
        """Return possible names of the run; the run gets the first unused one."""
        if self.name:
            yield self.name
            return
        today = f"{self.engine}@{utc_now():%Y-%m-%d}"
        yield today
        yield from (f"{today}.{number}" for number in count(2))


@dataclass(frozen=True)
class EngineRunImport:
    """The result of storing an engine's lists as a run.

    Attributes
    ----------
    queries, entries: number of queries with a list, and number of entries of the lists.
    asked: number of lists requested by this call; earlier calls stored the other lists.
    brought: number of documents that the project lacked and that this call fetched.
    seconds: mean time of a query.
    left_out: reason → number of queries or documents.
    """

    name: str
    engine: str
    run_id: str
    is_new: bool
    queries: int
    entries: int
    asked: int
    brought: int
    seconds: float
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Return sentences that count the run's entries, the fetched documents and the queries left out."""
        places = f"{pluralize(self.entries, 'place')} for {pluralize(self.queries, 'query', 'queries')}"
        sentences = [f"Nothing changed: the project already has this run {self.name!r} with {places}."]
        if self.is_new:
            brought = pluralize(self.brought, "document was", "documents were")
            sentences = [f"Stored the run {self.name!r}: {places}. A pool uses the run as run:{self.name}."]
            sentences.append(f"{self.seconds:.3f} s a query. {brought} fetched by id.")
        return sentences + [f"Left out: {number:,} × {why}." for why, number in self.left_out.items()]


class EngineRunPlan(NamedTuple):
    """The plan for an engine's run: the queries to send, and the answers that are already stored.

    Attributes
    ----------
    lists: the lists to request, with the lists that are stored already.
    run: the project's run of the same queries, or None.
    """

    request: EngineRunRequest
    engine: Engine
    name: str
    lists: stored_lists.RequestedLists
    run: Run | None


def plan_run(cursor: Cursor, request: EngineRunRequest) -> EngineRunPlan:
    """Plan an engine's run: its queries, and the answers that are already stored.

    Raises
    ------
    InputError, NotFoundError, RefusedError: see `import_engine_run`.
    """
    if request.depth < 1:
        raise InputError(f"Depth {request.depth}: expected at least 1 document.")
    engine = find_engine(cursor, request.engine)
    queries = read_active_queries(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to send to an engine. Draw a sample, or import queries.",
            command="`goldgrade sample` draws queries, `goldgrade import queries` imports queries.",
        )
    runs = {run.name: run for run in read_stored_runs(cursor)}
    for name in request.names:
        check_run_name(name)
        request_id = digest("engine run", name, engine.name, engine.template.template_hash, request.depth)
        lists = stored_lists.read_requested_lists(cursor, request_id, queries)
        run = runs.get(name)
        if run is None or not lists.missing:
            return EngineRunPlan(request, engine, name, lists, run)
    raise RefusedError(
        f"The project has the run {name!r} (from {runs[name].source}) with different queries, depth or "
        "template, and pools may use that run. Give this run a different name."
    )


def import_engine_run(
    store: Store,
    request: EngineRunRequest,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    say: Callable[[str], object] = lambda _: None,
) -> EngineRunImport:
    """Send all current queries to an engine, and store the lists as a run.

    Parameters
    ----------
    say: function that is called before the first request, with the notice of what is sent to which host.

    Raises
    ------
    InputError: a number or the name cannot be used, or an answer lacks a value that the template names.
    NotFoundError: the project has no engine of this name.
    RefusedError: there is no query, another run has the name, the author is not a lead, or the engine does
        not answer. After an error no run is stored, and earlier answers are kept.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        plan = plan_run(cursor, request)
    client = EngineClient(plan.engine, request.rate)
    n_requested = len(plan.lists.missing)
    if n_requested:
        say(client.describe_list_requests(n_requested))
    lists = stored_lists.request_missing_lists(
        store, client, plan.lists, lambda query: client.search(query.text, request.depth), progress
    )
    is_new = plan.run is None
    n_fetched = _store_run(store, client, plan, lists, author, progress) if is_new else 0
    with store.reading() as cursor:
        [(run_id, left_out, queries, entries)] = cursor.execute(_RUN_COUNTS, [plan.name]).fetchall()
    return EngineRunImport(
        *(plan.name, request.engine, run_id, is_new, queries, entries, n_requested, n_fetched),
        seconds=sum(row.seconds for row in lists) / len(lists),
        left_out=json.loads(left_out),
    )


def _store_run(
    store: Store,
    client: EngineClient,
    plan: EngineRunPlan,
    lists: Sequence[stored_lists.StoredList],
    author: str,
    progress: Progress,
) -> int:
    """Fetch the missing documents and store the run; return the number of fetched documents."""
    engine = plan.engine
    document_ids = {document_id for row in lists for document_id in row.document_ids}
    fetched = fetch_missing_documents(store, client, document_ids, progress)
    entries = list(_make_entries(lists, fetched.corpus_ids))
    if not entries:
        raise RefusedError(f"The engine {engine.name!r} has no list for any query; no run is stored.")
    left_out = {**Counter(row.left_out for row in lists if row.left_out), **fetched.left_out}
    with store.transaction(appends=True) as cursor:
        stored_lists.append_lists(cursor, lists)
        run, is_new = store_run(cursor, plan.name, f"engine {engine.name}", entries, left_out, author)
        if is_new:
            template = engine.template.as_json
            values = [run.run_id, engine.name, plan.lists.request_id, template, plan.request.depth]
            cursor.execute("INSERT INTO engine_runs VALUES (?, ?, ?, ?, ?)", values)
    return fetched.documents


def _make_entries(lists: Sequence[stored_lists.StoredList], known_ids: Collection[str]) -> Iterator[RunEntry]:
    """Yield the entries of lists, by query id and rank. Missing documents leave gaps in the ranks."""
    for row in sorted(lists, key=lambda row: row.query_id):
        for rank, document_id in enumerate(row.document_ids, 1):
            if document_id in known_ids:
                score = None if row.scores is None else row.scores[rank - 1]
                yield RunEntry(row.query_id, document_id, rank, score)
