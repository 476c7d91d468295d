"""Runs of engines: the stored lists of an engine for all current queries.

An interrupted call stores no run. Repeating an interrupted call sends only the missing queries. A query
without a complete answer is left out and counted. Documents that the project lacks are fetched from the
engine by id. A document that the engine deletes before the fetch leaves a gap in the ranks.

A pool uses the stored run, because engines may answer the same query differently later.
A trial with one query shows whether a template is right (`try_engine`), and stores nothing.

An incomplete answer, such as an answer with failed shards, is not used. The query of an incomplete answer is
left out with the reason. A later call sends a left-out query again, unless the first call stored a run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from time import monotonic
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.errors import CurationError, RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.stored_runs import Run, RunEntry, check_run_name, read_stored_runs, store_run
from curation.people.annotators import require_author
from curation.retrieval.engines import RATE
from curation.retrieval.engines.client import EngineClient, EngineList, RejectedQueryError
from curation.retrieval.engines.documents import bring, bring_missing
from curation.retrieval.engines.template import Engine, WebCall, find_engine
from curation.store import COMMAND_LINE, Cursor, Document, Query, Store, append_rows, fetch, utc_now

_STORED = """
SELECT run_id, any_value(left_out), count(DISTINCT query_id), count(*)
FROM runs JOIN run_entries USING (run_id) WHERE name = ? GROUP BY run_id
"""
# Seconds after which answers are stored, so that a killed process loses only newer answers
SAVE_SECONDS = 1.0
MAX_REJECTED_IN_A_ROW = 5  # number of consecutive rejected queries after which a run of an engine ends
REJECTED = "queries that the engine rejected"
_OF_IDS = "FROM engine_answers WHERE answer_id IN (SELECT unnest(?::TEXT[]))"


@dataclass(frozen=True)
class EngineRunRequest:
    """A request for a run of an engine.

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
        """Possible names of the run, of which the first unused name becomes its name."""
        if self.name:
            yield self.name
            return
        today = f"{self.engine}@{utc_now():%Y-%m-%d}"
        yield today
        yield from (f"{today}.{number}" for number in count(2))


@dataclass(frozen=True)
class EngineRunImport:
    """The result of a run of an engine.

    Attributes
    ----------
    queries, entries: number of queries with a list, and number of entries of the lists.
    asked: number of lists requested now; the other lists were stored before.
    brought: number of fetched documents that the project lacked.
    seconds: mean time of a query.
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
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Sentences about the result."""
        places = f"{pluralize(self.entries, 'place')} for {pluralize(self.queries, 'query', 'queries')}"
        sentences = [f"Nothing changed: the project has this run {self.name!r} with {places}."]
        if self.is_new:
            brought = pluralize(self.brought, "document was", "documents were")
            sentences = [f"Stored the run {self.name!r}: {places}. A pool uses the run as run:{self.name}."]
            sentences.append(f"{self.seconds:.3f} s a query. {brought} fetched by id.")
        return sentences + [f"Left out: {number:,} × {why}." for why, number in self.left_out.items()]


class EngineRunPlan(NamedTuple):
    """The plan of a run of an engine. `run` is the project's run of the same queries, or None."""

    request: EngineRunRequest
    engine: Engine
    name: str
    asked: AskedLists
    run: Run | None


class EngineTrial(NamedTuple):
    """The request of a trial, without address and key, and its answer.

    Attributes
    ----------
    documents: documents of the hits by id, as the project would store them.
    left_out: reason → number of documents.
    """

    host: str
    request: WebCall
    hits: EngineList
    documents: dict[str, Document]
    left_out: dict[str, int]


def try_engine(store: Store, name: str, query: str, depth: int) -> EngineTrial:
    """Ask an engine for the list of a query and for the documents of its hits (see `EngineClient.search`)."""
    with store.reading() as cursor:
        client = EngineClient(find_engine(cursor, name))
    match = client.search(query, depth)
    return EngineTrial(client.host, client.search_call(query, depth), match, *bring(client, match.ids))


def plan_run(cursor: Cursor, request: EngineRunRequest) -> EngineRunPlan:
    """Plan a run of an engine: its queries, and the answers that are stored already.

    Raises
    ------
    InputError, NotFoundError, RefusedError: see `import_engine_run`.
    """
    problems = [] if request.depth >= 1 else [f"Depth {request.depth}: expected at least 1 document."]
    refuse_problems(problems)
    engine, queries = find_engine(cursor, request.engine), read_active_queries(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to ask an engine. Draw a sample, or import queries.",
            command="`goldgrade sample` draws queries, `goldgrade import queries` imports queries.",
        )
    runs = {run.name: run for run in read_stored_runs(cursor)}
    for name in request.names:
        check_run_name(name)
        request_id = digest("engine run", name, engine.name, engine.template.template_hash, request.depth)
        asked, run = read_asked(cursor, request_id, queries), runs.get(name)
        if run is None or not asked.missing:
            return EngineRunPlan(request, engine, name, asked, run)
    raise RefusedError(
        f"The project has the run {name!r} (from {runs[name].source}) with other queries, depth "
        "or template, and pools may use that run. Give this run a different name."
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
    RefusedError: there is no query, another run has the name, the author is no lead, or the engine does not
        answer. After an error no run is stored, and earlier answers are kept.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        plan = plan_run(cursor, request)
    client, missing, brought = EngineClient(plan.engine, request.rate), len(plan.asked.missing), 0
    if missing:
        say(client.notice_of_lists(missing))
    lists = ask_missing(
        store, client, plan.asked, lambda query: client.search(query.text, request.depth), progress
    )
    if plan.run is None:
        brought = _store_run(store, client, plan, lists, author, progress)
    with store.reading() as cursor:
        [(run_id, left_out, queries, entries)] = cursor.execute(_STORED, [plan.name]).fetchall()
    return EngineRunImport(
        *(plan.name, request.engine, run_id, plan.run is None, queries, entries, missing, brought),
        seconds=sum(answer.seconds for answer in lists) / len(lists),
        left_out=json.loads(left_out),
    )


class StoredList(NamedTuple):
    """A row of the table `engine_answers`, an engine's stored answer to a query."""

    answer_id: str
    request_id: str
    attempt: int
    query_id: str
    document_ids: list[str]
    scores: list[float] | None
    seconds: float
    left_out: str
    asked_at: datetime


class AskedLists(NamedTuple):
    """The queries of a request, by the ids of their answers, with the answers that are stored."""

    request_id: str
    queries: dict[str, Query]
    stored: dict[str, StoredList]

    @property
    def missing(self) -> dict[str, Query]:
        """The queries without a stored answer."""
        return {answer_id: query for answer_id, query in self.queries.items() if answer_id not in self.stored}


def read_asked(cursor: Cursor, request_id: str, queries: Sequence[Query]) -> AskedLists:
    """Read the stored answers of a request for these queries."""
    by_answer = {digest("engine answer", request_id, 1, query[:2]): query for query in queries}
    return AskedLists(request_id, by_answer, _read_lists(cursor, [*by_answer]))


def ask_missing(
    store: Store,
    client: EngineClient,
    asked: AskedLists,
    ask: Callable[[Query], EngineList],
    progress: Progress,
) -> list[StoredList]:
    """Send the missing queries, store the answers as they arrive, and return all lists in the order of the
    queries.

    Raises
    ------
    RefusedError: see `EngineClient.search`. Earlier answers are kept.
    """
    answers, missing = list[StoredList](), asked.missing
    kept, rejected, saved = 0, 0, monotonic()
    try:
        for number, (answer_id, query) in enumerate(missing.items()):
            progress(f"asking {client.host}, texts redacted", number, len(missing))
            try:
                answer, rejected = ask(query), 0
            except RejectedQueryError:
                answer, rejected = EngineList([], None, 0.0, REJECTED), rejected + 1
                if rejected >= min(MAX_REJECTED_IN_A_ROW, len(asked.queries)):
                    raise
            ids = (answer_id, asked.request_id, 1, query.query_id)
            answers.append(StoredList(*ids, *answer, utc_now()))
            if monotonic() - saved > SAVE_SECONDS:
                _save(store, answers[kept:])
                kept, saved = len(answers), monotonic()
    except CurationError as error:
        whole = pluralize(sum(not answer.left_out for answer in answers), "answer is", "answers are")
        raise RefusedError(
            f"{error.found} No run was stored: {whole} kept, of {len(missing):,}. The same call asks for "
            "the missing answers."
        ) from error
    finally:
        _save(store, answers[kept:])
    lists = asked.stored | {answer.answer_id: answer for answer in answers}
    return [lists[answer_id] for answer_id in asked.queries]


def append_lists(cursor: Cursor, lists: Sequence[StoredList]) -> None:
    """Store answers, without answers that another process has stored meanwhile."""
    known = _read_lists(cursor, [answer.answer_id for answer in lists])
    append_rows(cursor, "engine_answers", [answer for answer in lists if answer.answer_id not in known])


def delete_answers(store: Store, asked: AskedLists) -> None:
    """Delete the answers of a request, so that the next request asks for all queries again."""
    with store.transaction() as cursor:
        cursor.execute(f"DELETE {_OF_IDS}", [[*asked.queries]])


def _store_run(
    store: Store,
    client: EngineClient,
    plan: EngineRunPlan,
    lists: Sequence[StoredList],
    author: str,
    progress: Progress,
) -> int:
    """Fetch the missing documents and store the run; return the number of fetched documents."""
    name, engine, depth = plan.name, plan.engine, plan.request.depth
    wanted = {document_id for answer in lists for document_id in answer.document_ids}
    brought, known, missed = bring_missing(store, client, wanted, progress)
    entries = list(_entries(lists, known))
    if not entries:
        raise RefusedError(f"The engine {engine.name!r} has no list for any query; no run is stored.")
    left_out = {**Counter(answer.left_out for answer in lists if answer.left_out), **missed}
    with store.transaction(appends=True) as cursor:
        append_lists(cursor, lists)
        run, is_new = store_run(cursor, name, f"engine {engine.name}", entries, left_out, author)
        if is_new:
            template, depth = engine.template.written, plan.request.depth
            row = [run.run_id, engine.name, plan.asked.request_id, template, depth]
            cursor.execute("INSERT INTO engine_runs VALUES (?, ?, ?, ?, ?)", row)
    return brought


def _entries(lists: Sequence[StoredList], known: Collection[str]) -> Iterator[RunEntry]:
    """Yield the entries of lists, by query id and rank. Missing documents leave gaps in the ranks."""
    for answer in sorted(lists, key=lambda answer: answer.query_id):
        for rank, document_id in enumerate(answer.document_ids, 1):
            if document_id in known:
                score = None if answer.scores is None else answer.scores[rank - 1]
                yield RunEntry(answer.query_id, document_id, rank, score)


def _save(store: Store, answers: Sequence[StoredList]) -> None:
    """Store the complete answers."""
    if whole := [answer for answer in answers if not answer.left_out]:
        with store.transaction(appends=True) as cursor:
            append_lists(cursor, whole)


def _read_lists(cursor: Cursor, answer_ids: Sequence[str]) -> dict[str, StoredList]:
    sql = f"SELECT {', '.join(StoredList._fields)} {_OF_IDS}"
    return {answer.answer_id: answer for answer in fetch(cursor, StoredList, sql, [list(answer_ids)])}
