"""Random easy negatives: documents that no system comes near to, drawn by seed; and what engines give a pool.

Negatives come from outside every system's first 1,000 (`REACH`). Where a small corpus leaves too few there,
the reach is halved until there are enough, though never below the pool's depth.

A draw looks at nothing that the project holds already: what was judged or pooled before neither adds to it
nor takes from it, so steps in another order draw the same. A text that is a candidate under another id is
proposed under that id, and not judged twice.

Each document has a hash and each query another; the two mixed by SplitMix64 (Steele, Lea and Flood 2014)
give the pair's place in a random order, and a draw takes the first of that order. So it is the same on any
machine, and as a corpus grows or a pool deepens most of an earlier draw stays, judgments included.

An engine's list of today becomes a run of the pool. A held corpus has what engines ranked, so a random
document of it is no random document. The negatives are then the first of an order that the engine gives for
a seed and the query, or that the seed gives to a list of all its ids. Those on the lists of the pool are
left out, the others are brought into the corpus, and the draw is kept: the same pool again is the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress
from curation.core.similarity.identical import Identical, StandIns
from curation.core.text import pluralize
from curation.ingest.importers.queries import active_queries
from curation.ingest.stored_runs import find_run, run_entries
from curation.pooling.request import PoolRequest
from curation.pooling.systems import ENGINE_PREFIX, CandidateSource, SystemLists
from curation.retrieval import RUN_PREFIX
from curation.retrieval.engines.asking import (
    AskedLists,
    EngineRunRequest,
    ask_missing,
    import_engine_run,
    plan_run,
    read_asked,
)
from curation.retrieval.engines.client import EngineClient, EngineList
from curation.retrieval.engines.documents import bring_missing
from curation.retrieval.engines.template import Engine, engines_of_runs, find_engine
from curation.retrieval.retriever import ids_of
from curation.store import Cursor, Query, Store, get_setting
from curation.store.documents import is_held

REACH = 1000
RANDOM = "random"
Order = Callable[[int, str, Collection[str]], list[str]]
"""Draws documents: how many, the query's id, and the ids of documents that it may not have."""

MIN_DEPTH = 100


def draw_negatives(
    lists: SystemLists,
    queries: Sequence[Query],
    order: Order,
    number: int,
    depth: int,
    identical: Identical,
    stand_ins: StandIns,
) -> tuple[list[CandidateSource], Counter[str]]:
    """`number` documents for each query from outside the systems' reach.

    Returned are the proposals, and how many queries or negatives the corpus was too small for, by reason.
    """
    proposals, left_out = [], Counter[str]()
    for index, query in enumerate(queries):
        for reach in _reaches(depth):
            near = {document_id for hits in lists.values() for document_id in ids_of(hits[index][:reach])}
            drawn = order(number, query.query_id, identical.all_ids(near))
            if len(drawn) == number:
                break
        if reach < REACH:
            left_out[f"queries have random negatives from outside the first {reach} only, not {REACH:,}"] += 1
        left_out["random negatives are missing: no more documents lie outside the systems' reach"] += (
            number - len(drawn)
        )
        proposals += [
            CandidateSource(query.query_id, stand_ins.of(query.query_id, document_id), RANDOM, None, None)
            for document_id in drawn
        ]
    return proposals, +left_out


def negative_order(
    document_ids: Iterable[str],
    seed: int,
    identical: Identical,
    given: Mapping[str, Sequence[str]] | None = None,
) -> Order:
    """The order that negatives are drawn in.

    A text with several ids is one document.

    Parameters
    ----------
    document_ids: of those with a text, ordered.
    given: query id → documents that an engine drew (`draw_negatives_outside`), in their order.
    """
    drawable = [document_id for document_id in document_ids if identical.first(document_id) == document_id]
    if given is None:
        return RandomOrder(drawable, seed).draw
    known = set(drawable)

    def draw(number: int, query_id: str, excluded: Collection[str]) -> list[str]:
        drawn = given.get(query_id, ())
        return [name for name in drawn if name in known and name not in excluded][:number]

    return draw


def _reaches(depth: int) -> Iterator[int]:
    reach = REACH
    while reach > depth:
        yield reach
        reach //= 2
    yield depth


class RandomOrder:
    """A random order of documents for each query; `document_ids` are ordered."""

    def __init__(self, document_ids: Sequence[str], seed: int) -> None:
        self._ids = document_ids
        self._hashes = np.array([_number(document_id) for document_id in document_ids], np.uint64)
        self._seed = seed

    def draw(self, number: int, query_id: str, excluded: Collection[str]) -> list[str]:
        """The first `number` documents of the query's order that are not excluded, or all there are."""
        keys = _mixed(self._hashes ^ np.uint64(_number(self._seed, query_id)))
        part = number + 16  # of the order, about: so many are looked at, and four times as many at a time
        while True:
            rows = np.flatnonzero(keys <= np.uint64((2**64 - 1) * min(part, len(keys)) // max(len(keys), 1)))
            ids = (self._ids[row] for row in rows[np.argsort(keys[rows])].tolist())
            drawn = list(islice((document_id for document_id in ids if document_id not in excluded), number))
            if len(drawn) == number or part >= len(keys):
                return drawn
            part *= 4


def _number(*parts: str | int) -> int:
    return int(digest("random negative", *parts)[:16], 16)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function: 64 bits in, 64 well-mixed bits out, one to one."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _run_of_today(system: str, depth: int, rate: float) -> EngineRunRequest:
    return EngineRunRequest(system.removeprefix(ENGINE_PREFIX), depth=max(depth, MIN_DEPTH), rate=rate)


def notices(cursor: Cursor, request: PoolRequest) -> list[str]:
    """What is going to be asked where for a pool."""
    systems = [name for name in request.systems if name.startswith(ENGINE_PREFIX)]
    plans = [plan_run(cursor, _run_of_today(name, request.depth, request.rate)) for name in systems]
    missing = [(plan.engine, len(plan.asked.missing)) for plan in plans if plan.asked.missing]
    sentences = [EngineClient(engine, request.rate).notice_of_lists(number) for engine, number in missing]
    engines = [plan.engine for plan in plans] + _engines(cursor, request.systems)
    is_part = is_held(cursor) or get_setting(cursor, "corpus") is None
    if not (engines and is_part and request.random_negatives) or request.ids:
        return sentences
    if draws := _draws(cursor, engines[0], request.random_negatives, request.seed).missing:
        what = f"random documents for {pluralize(len(draws), 'query', 'queries')}"
        sentences.append(EngineClient(engines[0], request.rate).notice(what))
    return sentences


def ask_engines(
    store: Store, request: PoolRequest, author: str, progress: Progress
) -> tuple[PoolRequest, dict[str, int]]:
    """The request with today's run of an engine in the place of its name, and reason → what a run lacks.

    An engine is asked for what today's run lacks.
    """
    names, left_out = [], dict[str, int]()
    for system in request.systems:
        if system.startswith(ENGINE_PREFIX):
            of_today = _run_of_today(system, request.depth, request.rate)
            run = import_engine_run(store, of_today, progress, author)
            left_out |= {f"{why} ({system})": count for why, count in run.left_out.items()}
            system = f"{RUN_PREFIX}{run.name}"
        names.append(system)
    return replace(request, systems=list(dict.fromkeys(names))), left_out


def draw_negatives_outside(
    store: Store, request: PoolRequest, progress: Progress
) -> Mapping[str, list[str]] | None:
    """On a held corpus, random documents for each query, brought; None if the corpus is whole.

    Raises
    ------
    InputError: the file of ids cannot be read, or the corpus is whole.
    RefusedError: no engine can give them.
    """
    systems, number, seed = request.systems, request.random_negatives, request.seed
    with store.reading() as cursor:
        if not (is_held(cursor) and number):
            if request.ids is None:
                return None
            raise InputError(
                "A file of ids would change nothing: no random negatives are drawn from outside the corpus."
            )
        engines, near, queries = _engines(cursor, systems), _ranked(cursor, systems), active_queries(cursor)
        if not engines:
            raise RefusedError(
                "Random negatives cannot be drawn: the corpus has only documents that engines ranked, and "
                "none of the systems is an engine's run. Name one, or draw none.",
                command="`--random-negatives 0` draws none.",
            )
        asked = _draws(cursor, engines[0], number, seed)
    client = EngineClient(engines[0], request.rate)
    if request.ids is None:
        lists = ask_missing(
            store, client, asked, lambda question: _drawn(client, question, number, seed), progress
        )
        drawn = {query_list.query_id: query_list.document_ids for query_list in lists}
    else:
        order = RandomOrder(sorted(_lines(Path(request.ids))), seed)
        drawn = {
            query.query_id: order.draw(number, query.query_id, near[query.query_id]) for query in queries
        }
    drawn = {
        query_list: [i for i in document_ids if i not in near[query_list]][:number]
        for query_list, document_ids in drawn.items()
    }
    bring_missing(
        store, client, {document_id for of_query in drawn.values() for document_id in of_query}, progress
    )
    return drawn


def _runs(systems: Sequence[str]) -> list[str]:
    return [name.removeprefix(RUN_PREFIX) for name in systems if name.startswith(RUN_PREFIX)]


def _engines(cursor: Cursor, systems: Sequence[str]) -> list[Engine]:
    return [find_engine(cursor, name) for name in engines_of_runs(cursor, _runs(systems))]


def _ranked(cursor: Cursor, systems: Sequence[str]) -> Mapping[str, set[str]]:
    """Query id → the documents on the lists of the runs."""
    near = defaultdict[str, set[str]](set)
    for name in _runs(systems):
        for entry in run_entries(cursor, find_run(cursor, name)):
            near[entry.query_id].add(entry.document_id)
    return near


def _draws(cursor: Cursor, engine: Engine, number: int, seed: int) -> AskedLists:
    """An engine's random order for each query; what was drawn is stored, so it is the same the next time."""
    template = engine.template.template_hash
    request_id = digest("engine draw", engine.name, template, number + REACH, seed)
    return read_asked(cursor, request_id, active_queries(cursor))


def _drawn(client: EngineClient, query: Query, number: int, seed: int) -> EngineList:
    order = int(digest("random order", seed, query.query_id)[:7], 16)
    return client.random_list(order, number + REACH)


def _lines(path: Path) -> set[str]:
    try:
        ids = set(filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}; expected an id a line", path=path) from None
    if not ids:
        raise InputError("has no id; expected one a line", path=path)
    return ids
