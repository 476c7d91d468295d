"""All queries in force, asked of an engine at a stated rate, and their lists stored as a run.

Where the work breaks off there is no run, and the same call again asks for what is missing (`answers`). A
query without a whole answer is left out and counted. Documents that the project lacks are brought by id; a
place whose document is gone before it can be brought leaves a gap in the ranks.

Engines do not repeat, so a pool rests on the stored run. How far they do is said by asking again (`repeat`).
Whether a template is right, one query shows (`try_engine`), of which nothing is stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.text import amount, digest
from curation.ingest.importers.queries import active_queries
from curation.ingest.importers.run_import import check_name, identified, keep_run
from curation.ingest.importers.runs import Run, RunEntry, stored_runs
from curation.people.annotators import require_author
from curation.retrieval.engines import RATE
from curation.retrieval.engines.answers import AskedLists, StoredList, append_lists, ask_missing, read_asked
from curation.retrieval.engines.client import Engine, EngineClient, EngineList
from curation.retrieval.engines.documents import bring, bring_missing
from curation.retrieval.engines.stored import find_engine
from curation.retrieval.engines.template import WebCall
from curation.store import COMMAND_LINE, Cursor, Document, Store, utc_now

TOP = 10
_STORED = """
SELECT run_id, any_value(left_out), count(DISTINCT query_id), count(*)
FROM runs JOIN run_entries USING (run_id) WHERE name = ? GROUP BY run_id
"""


@dataclass(frozen=True)
class EngineRunRequest:
    """A run that an engine is asked for.

    Attributes
    ----------
    name: '' is the engine's of today: its name and the date, and a number where other questions have that.
    depth: places of a list.
    rate: requests a second.
    repeat: how often all is asked; the first answers are the run.
    """

    engine: str
    name: str = ""
    depth: int = 100
    rate: float = RATE
    repeat: int = 1

    @property
    def names(self) -> Iterator[str]:
        """The names that the run may have, the first one that is free or its own."""
        if self.name:
            yield self.name
            return
        today = f"{self.engine}@{utc_now():%Y-%m-%d}"
        yield today
        yield from (f"{today}.{number}" for number in count(2))


@dataclass(frozen=True)
class EngineRunImport:
    """What asking an engine did.

    Attributes
    ----------
    queries, entries: with a list, and places of the lists.
    asked: requests for lists that were sent now; others were stored before.
    brought: documents that the project did not have.
    seconds: a query, on average.
    changed: of the first ten places, those that were others in a later pass, on average; None without one.
    other_tops: queries whose first ten were not the same each time.
    left_out: reason → number.
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
    changed: float | None
    other_tops: int
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """What it did."""
        places = f"{amount(self.entries, 'place')} for {amount(self.queries, 'query', 'queries')}"
        found = [f"Nothing changed: the project has this run {self.name!r} with {places}."]
        if self.is_new:
            brought = amount(self.brought, "document was", "documents were")
            found = [f"Stored the run {self.name!r}: {places}. A pool names it as run:{self.name}."]
            found.append(f"{self.seconds:.3f} s a query. {brought} brought by id.")
        if self.changed is not None:
            found.append(
                f"Asked again: of the first {TOP} documents {self.changed:.2g} changed on average; "
                f"some did in {amount(self.other_tops, 'list')}."
            )
        return found + [f"Left out: {number:,} × {why}." for why, number in self.left_out.items()]


class EngineRunPlan(NamedTuple):
    """What is asked for a run; `run` is the one that the project has of the same questions."""

    request: EngineRunRequest
    engine: Engine
    name: str
    asked: AskedLists
    run: Run | None


class EngineTrial(NamedTuple):
    """What was asked, without address and key, and what came.

    Attributes
    ----------
    documents: of the hits, by id, as the project would have them.
    left_out: reason → documents.
    """

    host: str
    request: WebCall
    hits: EngineList
    documents: dict[str, Document]
    left_out: dict[str, int]


def try_engine(store: Store, name: str, query: str, depth: int) -> EngineTrial:
    """Ask an engine for a query, and for the documents of its hits; see `EngineClient.search`."""
    with store.reading() as cursor:
        client = EngineClient(find_engine(cursor, name))
    match = client.search(query, depth)
    return EngineTrial(client.host, client.search_call(query, depth), match, *bring(client, match.ids))


def plan_run(cursor: Cursor, request: EngineRunRequest) -> EngineRunPlan:
    """What a request asks, and what of it is answered.

    Raises
    ------
    InputError, NotFoundError, RefusedError: see `import_engine_run`.
    """
    problems = [] if request.depth >= 1 else [f"Depth {request.depth}: expected at least 1 document."]
    problems += [] if request.repeat >= 1 else [f"Repeat {request.repeat}: expected at least 1."]
    refuse_problems(problems)
    engine, queries = find_engine(cursor, request.engine), active_queries(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to ask an engine. Draw a sample, or import queries.",
            command="`goldgrade sample` draws, `goldgrade import queries` imports.",
        )
    runs = {run.name: run for run in stored_runs(cursor)}
    for name in request.names:
        check_name(name)
        request_id = digest("engine run", name, engine.name, engine.template.template_hash, request.depth)
        asked, run = read_asked(cursor, request_id, queries, request.repeat), runs.get(name)
        if run is None or all(one.attempt > 1 for one in asked.missing):
            return EngineRunPlan(request, engine, name, asked, run)
    raise RefusedError(
        f"The project has the run {name!r} (from {runs[name].source}) of other queries, another depth "
        "or another template, and pools may rest on it. Give this one a name of its own."
    )


def import_engine_run(
    store: Store,
    request: EngineRunRequest,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    say: Callable[[str], object] = lambda _: None,
) -> EngineRunImport:
    """Ask an engine for all queries in force, and store the lists as a run.

    Parameters
    ----------
    say: called with what is going to be sent where, before the first request.

    Raises
    ------
    InputError: numbers or the name cannot be used, or an answer has not what the template says.
    NotFoundError: there is no such engine.
    RefusedError: there is no query, or no answer: no run is stored, and what was answered is kept; another
        run has the name; the author is no lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        plan = plan_run(cursor, request)
    client, missing, brought = EngineClient(plan.engine, request.rate), len(plan.asked.missing), 0
    if missing:
        say(client.notice_of_lists(missing))
    lists = ask_missing(
        store, client, plan.asked, lambda one: client.search(one.text, request.depth), progress
    )
    if plan.run is None:
        brought = _store_run(store, client, plan, lists, author, progress)
    elif missing:
        with store.transaction(appends=True) as cursor:
            append_lists(cursor, lists)
    with store.reading() as cursor:
        [(run_id, left_out, queries, entries)] = cursor.execute(_STORED, [plan.name]).fetchall()
    first, changes = _first(lists), list(_changes(lists))
    return EngineRunImport(
        *(plan.name, request.engine, run_id, plan.run is None, queries, entries, missing, brought),
        seconds=sum(one.seconds for one in first) / len(first),
        changed=sum(changes) / len(changes) if changes else None,
        other_tops=sum(map(bool, changes)),
        left_out=json.loads(left_out),
    )


def _store_run(
    store: Store,
    client: EngineClient,
    plan: EngineRunPlan,
    lists: Sequence[StoredList],
    author: str,
    progress: Progress,
) -> int:
    """Bring the documents and store the run: how many were brought."""
    first, name, engine = _first(lists), plan.name, plan.engine
    wanted = {one for ids in first for one in ids.document_ids}
    brought, known, missed = bring_missing(store, client, wanted, progress)
    entries = list(_entries(first, known))
    if not entries:
        raise RefusedError(f"The engine {engine.name!r} has no list for any query; no run is stored.")
    run_id, rows = identified(name, entries)
    left_out = {**Counter(one.left_out for one in first if one.left_out), **missed}
    with store.transaction(appends=True) as cursor:
        append_lists(cursor, lists)
        if keep_run(cursor, Run(run_id, name, f"engine {engine.name}"), rows, left_out, author):
            row = [run_id, engine.name, plan.asked.request_id, engine.template.written, plan.request.depth]
            cursor.execute("INSERT INTO engine_runs VALUES (?, ?, ?, ?, ?)", row)
    return brought


def _first(lists: Sequence[StoredList]) -> list[StoredList]:
    return [one for one in lists if one.attempt == 1]


def _entries(lists: Sequence[StoredList], known: Collection[str]) -> Iterator[RunEntry]:
    """The places of lists, by query id and rank; those whose document is gone leave gaps."""
    for one in sorted(lists, key=lambda one: one.query_id):
        for rank, document_id in enumerate(one.document_ids, 1):
            if document_id in known:
                score = None if one.scores is None else one.scores[rank - 1]
                yield RunEntry("", one.query_id, document_id, rank, score)


def _changes(lists: Sequence[StoredList]) -> Iterator[int]:
    """Of each list of a later attempt: how many of the first ten are not the first attempt's."""
    first = {one.query_id: one for one in _first(lists)}
    for one in lists:
        before = first[one.query_id]
        if one.attempt > 1 and not one.left_out and not before.left_out:
            yield len(set(before.document_ids[:TOP]) - set(one.document_ids[:TOP]))
