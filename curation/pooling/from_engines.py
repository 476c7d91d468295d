"""What a pool has from engines: their lists as runs of today, and random negatives on a held corpus.

A held corpus has what engines ranked, so a random document of it is no random document. The negatives are
the first of an order that the engine gives for a seed and the query, or that the seed gives to a list of all
its ids. Those on the lists of the pool are left out, the others are brought into the corpus, and the draw is
kept: the same pool again is the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress
from curation.core.text import amount, digest
from curation.ingest.importers.queries import active_queries
from curation.ingest.importers.runs import find_run, run_entries
from curation.pooling.random_negatives import REACH, RandomOrder
from curation.pooling.request import PoolRequest
from curation.pooling.systems import ENGINE_PREFIX
from curation.retrieval import RUN_PREFIX
from curation.retrieval.engines.answers import AskedLists, EngineQuestion, ask_missing, read_asked
from curation.retrieval.engines.asking import EngineRunRequest, import_engine_run, plan_run
from curation.retrieval.engines.client import Engine, EngineClient, EngineList
from curation.retrieval.engines.documents import bring_missing
from curation.retrieval.engines.stored import engines_of_runs, find_engine
from curation.store import Cursor, Store, get_setting
from curation.store.documents import is_held

LEAST_DEPTH = 100


def _run_of_today(system: str, depth: int, rate: float) -> EngineRunRequest:
    return EngineRunRequest(system.removeprefix(ENGINE_PREFIX), depth=max(depth, LEAST_DEPTH), rate=rate)


def notices(cursor: Cursor, request: PoolRequest) -> list[str]:
    """What is going to be asked where for a pool."""
    systems = [name for name in request.systems if name.startswith(ENGINE_PREFIX)]
    plans = [plan_run(cursor, _run_of_today(name, request.depth, request.rate)) for name in systems]
    missing = [(plan.engine, len(plan.asked.missing)) for plan in plans if plan.asked.missing]
    said = [EngineClient(engine, request.rate).notice_of_lists(number) for engine, number in missing]
    engines = [plan.engine for plan in plans] + _engines(cursor, request.systems)
    is_part = is_held(cursor) or get_setting(cursor, "corpus") is None
    if not (engines and is_part and request.random_negatives) or request.ids:
        return said
    if draws := _draws(cursor, engines[0], request.random_negatives, request.seed).missing:
        what = f"random documents for {amount(len(draws), 'query', 'queries')}"
        said.append(EngineClient(engines[0], request.rate).notice(what))
    return said


def ask_engines(
    store: Store, systems: Sequence[str], depth: int, rate: float, author: str, progress: Progress
) -> tuple[list[str], dict[str, int]]:
    """The systems, with today's run of an engine in the place of its name, and reason → what a run lacks.

    An engine is asked for what today's run lacks.
    """
    names, left_out = [], dict[str, int]()
    for system in systems:
        if system.startswith(ENGINE_PREFIX):
            found = import_engine_run(store, _run_of_today(system, depth, rate), progress, author)
            left_out |= {f"{why} ({system})": count for why, count in found.left_out.items()}
            system = f"{RUN_PREFIX}{found.name}"
        names.append(system)
    return list(dict.fromkeys(names)), left_out


def draw_negatives_outside(
    store: Store,
    systems: Sequence[str],
    number: int,
    seed: int,
    ids: Path | None,
    rate: float,
    progress: Progress,
) -> Mapping[str, list[str]] | None:
    """On a held corpus, random documents for each query, brought; None where the corpus is whole.

    Raises
    ------
    InputError: `ids` cannot be read, or the corpus is whole.
    RefusedError: no engine can give them.
    """
    with store.reading() as cursor:
        if not (is_held(cursor) and number):
            if ids is None:
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
    client = EngineClient(engines[0], rate)
    if ids is None:
        lists = ask_missing(store, client, asked, lambda one: _drawn(client, one, number, seed), progress)
        drawn = {one.query_id: one.document_ids for one in lists}
    else:
        order = RandomOrder(sorted(_lines(ids)), seed)
        drawn = {
            query.query_id: order.draw(number, query.query_id, near[query.query_id]) for query in queries
        }
    drawn = {one: [i for i in found if i not in near[one]][:number] for one, found in drawn.items()}
    bring_missing(store, client, {one for of_query in drawn.values() for one in of_query}, progress)
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
    """A random order for each query, of which a draw is kept: it is the same the next time."""
    template = engine.template.template_hash
    request_id = digest("engine draw", engine.name, template, number + REACH, seed)
    return read_asked(cursor, request_id, active_queries(cursor))


def _drawn(client: EngineClient, question: EngineQuestion, number: int, seed: int) -> EngineList:
    order = int(digest("random order", seed, question.query_id)[:7], 16)
    return client.random_list(order, number + REACH)


def _lines(path: Path) -> set[str]:
    try:
        found = set(filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}; expected an id a line", path=path) from None
    if not found:
        raise InputError("has no id; expected one a line", path=path)
    return found
