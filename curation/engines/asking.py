"""All queries in force, asked of an engine at a stated rate, and their lists stored as a run.

Each answer is stored as it comes. Where the work breaks off there is no run, and the same call again asks for
what is missing. Of an answer that is not whole, as with failed shards, there is no list: the query is left
out and counted. Documents that the project lacks are brought by id; a place whose document is gone before it
can be brought leaves a gap in the ranks.

Engines do not repeat, so a pool rests on the stored run. How far they do is said by asking again (`repeat`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import NamedTuple

from curation.engines import RATE
from curation.engines.client import Engine, EngineClient, EngineList, RejectedQueryError
from curation.engines.documents import add_brought, bring
from curation.engines.stored import find_engine
from curation.errors import CurationError, RefusedError, refuse_problems
from curation.people.annotators import require_author
from curation.progress import Progress, silent
from curation.sources.corpus import KnownVersions, known_versions
from curation.sources.queries import active_queries
from curation.sources.redaction.personal_data import redact
from curation.sources.run_import import check_name, identified, keep_run
from curation.sources.runs import Run, RunEntry, stored_runs
from curation.store import COMMAND_LINE, Cursor, Query, Store, append_rows, fetch, utc_now
from curation.text import amount, digest

TOP = 10
EVERY = 1.0
"""Seconds after which answers are stored: a killed process loses those of so long at most."""
IN_A_ROW = 5
"""Queries that are rejected one after the other, which end the work."""
REJECTED = "queries that the engine rejected"


@dataclass(frozen=True)
class EngineRunRequest:
    """A run that an engine is asked for.

    Attributes
    ----------
    depth: places of a list.
    rate: requests a second.
    repeat: how often all is asked; the first answers are the run.
    """

    engine: str
    name: str
    depth: int = 100
    rate: float = RATE
    repeat: int = 1

    def request_id(self, engine: Engine) -> str:
        """What the stored answers are found by."""
        return digest("engine run", self.name, engine.name, engine.template.template_hash, self.depth)


class StoredList(NamedTuple):
    """A row of `engine_answers`; see the schema."""

    answer_id: str
    request_id: str
    attempt: int
    query_id: str
    document_ids: list[str]
    scores: list[float] | None
    seconds: float
    left_out: str
    asked_at: datetime


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
        return found + [f"Left out: {count:,} × {why}." for why, count in self.left_out.items()]


class _Question(NamedTuple):
    answer_id: str
    attempt: int
    query_id: str
    text: str


class _RunInputs(NamedTuple):
    engine: Engine
    queries: list[Query]
    known: KnownVersions
    stored: dict[str, StoredList]
    run: Run | None


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
    _check(request)
    given = _read(store, request, author)
    request_id = request.request_id(given.engine)
    client = EngineClient(given.engine, request.rate)
    questions = _questions(request_id, given.queries, request.repeat)
    missing = [one for one in questions if one.answer_id not in given.stored]
    _refuse_taken(given.run, missing, request)
    if missing:
        say(client.notice(len(missing)))

    def ask(question: _Question) -> EngineList:
        return client.search(redact(question.text).text, request.depth)

    stored = given.stored | _ask_all(store, client, request_id, missing, ask, progress)
    lists = [stored[one.answer_id] for one in questions]
    first = {one.query_id: one for one in lists if one.attempt == 1}
    wanted = {document_id for one in first.values() for document_id in one.document_ids}
    unknown = sorted(wanted - given.known.versions.keys())
    brought = bring(client, unknown, progress)
    entries = list(_entries(first.values(), given.known.versions.keys() | brought.documents.keys()))
    if not entries:
        raise RefusedError(f"The engine {request.engine!r} has no list for any query; no run is stored.")
    run_id, rows = identified(request.name, entries)
    left_out = {**Counter(one.left_out for one in first.values() if one.left_out), **brought.left_out}
    with store.transaction(appends=True) as cursor:
        if brought.documents:
            add_brought(cursor, request.engine, given.known, list(brought.documents.values()))
        run = Run(run_id, request.name, f"engine {request.engine}")
        is_new = keep_run(cursor, run, rows, left_out, author)
        _append(cursor, lists)
        if is_new:
            row = [run_id, request.engine, request_id, given.engine.template.written, request.depth]
            cursor.execute("INSERT INTO engine_runs VALUES (?, ?, ?, ?, ?)", row)
    changes = list(_changes(lists, first))
    return EngineRunImport(
        *(request.name, request.engine, run_id, is_new, len({entry.query_id for entry in entries})),
        *(len(entries), len(missing), len(brought.documents)),
        seconds=sum(one.seconds for one in first.values()) / len(first),
        changed=sum(changes) / len(changes) if changes else None,
        other_tops=sum(map(bool, changes)),
        left_out=left_out,
    )


def _ask_all(
    store: Store,
    client: EngineClient,
    request_id: str,
    questions: Sequence[_Question],
    ask: Callable[[_Question], EngineList],
    progress: Progress,
) -> dict[str, StoredList]:
    """Ask, and store the answers as they come: answer id → list.

    Raises
    ------
    RefusedError: see `EngineClient.search`; what was answered before is kept.
    """
    found: dict[str, StoredList] = {}
    unsaved: list[StoredList] = []
    rejected, saved, label = 0, monotonic(), f"asking {client.host}, texts redacted"
    try:
        for number, one in enumerate(questions):
            progress(label, number, len(questions))
            try:
                answer, rejected = ask(one), 0
            except RejectedQueryError:
                answer, rejected = EngineList([], None, 0.0, REJECTED), rejected + 1
                if rejected >= min(IN_A_ROW, len(questions)):
                    raise
            ids = (one.answer_id, request_id, one.attempt, one.query_id)
            unsaved.append(StoredList(*ids, *answer, utc_now()))
            if monotonic() - saved > EVERY:
                found |= _save(store, unsaved)
                saved = monotonic()
    except CurationError as error:
        kept = amount(len(found) + len(unsaved), "answer is", "answers are")
        raise RefusedError(
            f"{error.found} Nothing came of it: {kept} kept, of {len(questions):,}. The same call asks for "
            "the rest."
        ) from error
    finally:
        found |= _save(store, unsaved)
    return found


def draw_ids(
    store: Store, client: EngineClient, queries: Sequence[Query], number: int, seed: int, progress: Progress
) -> dict[str, list[str]]:
    """Query id → ids of documents in an order that the engine draws for the seed and the query.

    A draw is stored, and is the same the next time. See `EngineClient.random_ids` for the errors.
    """
    request_id = digest("engine draw", client.engine.name, client.engine.template.template_hash, number, seed)
    questions = _questions(request_id, queries, 1)
    with store.reading() as cursor:
        found = read_lists(cursor, [one.answer_id for one in questions])

    def draw(question: _Question) -> EngineList:
        order = int(digest("random order", seed, question.query_id)[:7], 16)
        return EngineList(client.random_ids(order, number), None, client.seconds)

    missing = [one for one in questions if one.answer_id not in found]
    found |= _ask_all(store, client, request_id, missing, draw, progress)
    return {one.query_id: one.document_ids for one in found.values()}


def _save(store: Store, unsaved: list[StoredList]) -> dict[str, StoredList]:
    """Store answers; a query that was left out is asked again unless a run comes of this call."""
    rows = {one.answer_id: one for one in unsaved}
    if rows:
        with store.transaction(appends=True) as cursor:
            _append(cursor, [one for one in rows.values() if not one.left_out])
    unsaved.clear()
    return rows


def _append(cursor: Cursor, rows: Sequence[StoredList]) -> None:
    """Write answers that are not there: another process may have asked the same."""
    known = read_lists(cursor, [one.answer_id for one in rows])
    append_rows(cursor, "engine_answers", [one for one in rows if one.answer_id not in known])


def read_lists(cursor: Cursor, answer_ids: Sequence[str]) -> dict[str, StoredList]:
    """The stored answers of these ids."""
    sql = f"SELECT {_COLUMNS} FROM engine_answers WHERE answer_id IN (SELECT unnest(?::TEXT[]))"  # noqa: S608
    return {one.answer_id: one for one in fetch(cursor, StoredList, sql, [list(answer_ids)])}


def _check(request: EngineRunRequest) -> None:
    check_name(request.name)
    problems = [] if request.depth >= 1 else [f"Depth {request.depth}: expected at least 1 document."]
    problems += [] if request.rate > 0 else [f"Rate {request.rate:g}: expected more than 0."]
    problems += [] if request.repeat >= 1 else [f"Repeat {request.repeat}: expected at least 1."]
    refuse_problems(problems)


def _read(store: Store, request: EngineRunRequest, author: str) -> _RunInputs:
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        engine, queries = find_engine(cursor, request.engine), active_queries(cursor)
        ids = [one.answer_id for one in _questions(request.request_id(engine), queries, request.repeat)]
        stored = read_lists(cursor, ids)
        run = next((one for one in stored_runs(cursor) if one.name == request.name), None)
        known = known_versions(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to ask an engine. Draw a sample, or import queries.",
            command="`goldset sample` draws, `goldset import queries` imports.",
        )
    return _RunInputs(engine, queries, known, stored, run)


def _questions(request_id: str, queries: Sequence[Query], repeat: int) -> list[_Question]:
    """What is asked, attempt by attempt."""
    return [
        _Question(digest("engine answer", request_id, attempt, query[:2]), attempt, *query[:2])
        for attempt in range(1, repeat + 1)
        for query in queries
    ]


def _refuse_taken(run: Run | None, missing: Sequence[_Question], request: EngineRunRequest) -> None:
    if run is not None and any(one.attempt == 1 for one in missing):
        raise RefusedError(
            f"The project has the run {request.name!r} (from {run.source}) of other queries, another depth "
            "or another template, and pools may rest on it. Give this one a name of its own."
        )


def _entries(lists: Iterable[StoredList], known: Collection[str]) -> Iterator[RunEntry]:
    """The places of lists, by query id and rank; those whose document is gone leave gaps."""
    for one in sorted(lists, key=lambda one: one.query_id):
        for rank, document_id in enumerate(one.document_ids, 1):
            if document_id in known:
                score = None if one.scores is None else one.scores[rank - 1]
                yield RunEntry("", one.query_id, document_id, rank, score)


def _changes(lists: Sequence[StoredList], first: Mapping[str, StoredList]) -> Iterator[int]:
    """Of each list of a later attempt: how many of the first ten are not the first attempt's."""
    for one in lists:
        before = first[one.query_id]
        if one.attempt > 1 and not one.left_out and not before.left_out:
            yield len(set(before.document_ids[:TOP]) - set(one.document_ids[:TOP]))


_COLUMNS = ", ".join(StoredList._fields)
