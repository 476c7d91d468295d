"""What a pool has from engines: their lists as runs of today, and random negatives on a held corpus.

A held corpus has what engines ranked, so a random document of it is no random document. The negatives are
the first of an order that the engine gives for a seed and the query, or that the seed gives to a list of all
its ids. Those on the lists of the pool are left out, the others are brought into the corpus, and the draw is
kept: the same pool again is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from curation.engines.asking import EngineRunRequest, draw_ids, import_engine_run
from curation.engines.client import EngineClient
from curation.engines.documents import bring_missing
from curation.engines.stored import engines_of_runs, find_engine
from curation.errors import InputError, RefusedError
from curation.pooling.candidates import REACH, RandomOrder
from curation.pooling.systems import ENGINE_PREFIX
from curation.progress import Progress
from curation.retrieval import RUN_PREFIX
from curation.sources.queries import active_queries
from curation.sources.runs import find_run, run_entries
from curation.store import Store, utc_now
from curation.store.documents import is_held

LEAST_DEPTH = 100


def notices(store: Store, systems: Sequence[str]) -> list[str]:
    """What is going to be sent where, for each engine among the systems."""
    with store.reading() as cursor:
        names = [name.removeprefix(ENGINE_PREFIX) for name in systems if name.startswith(ENGINE_PREFIX)]
        engines = [find_engine(cursor, name) for name in names]
        number = len(active_queries(cursor)) if names else 0
    return [EngineClient(engine).notice(number) for engine in engines]


def ask_engines(
    store: Store, systems: Sequence[str], depth: int, author: str, progress: Progress
) -> list[str]:
    """The systems, with today's run of an engine in the place of its name; it is asked if there is none."""
    names = []
    for system in systems:
        if system.startswith(ENGINE_PREFIX):
            engine = system.removeprefix(ENGINE_PREFIX)
            request = EngineRunRequest(engine, f"{engine}@{utc_now():%Y-%m-%d}", max(depth, LEAST_DEPTH))
            import_engine_run(store, request, progress, author)
            system = f"{RUN_PREFIX}{request.name}"
        names.append(system)
    return list(dict.fromkeys(names))


def draw_negatives_outside(
    store: Store, systems: Sequence[str], number: int, seed: int, ids: Path | None, progress: Progress
) -> Mapping[str, list[str]] | None:
    """On a held corpus, random documents for each query, brought; None where the corpus is whole.

    Raises
    ------
    InputError: `ids` cannot be read, or the corpus is whole.
    RefusedError: no engine can give them.
    """
    with store.reading() as cursor:
        held, queries = is_held(cursor), active_queries(cursor)
        runs = [name.removeprefix(RUN_PREFIX) for name in systems if name.startswith(RUN_PREFIX)]
        near: dict[str, set[str]] = {query.query_id: set() for query in queries}
        for name in runs if held else ():
            for entry in run_entries(cursor, find_run(cursor, name)):
                near.setdefault(entry.query_id, set()).add(entry.document_id)
        asked = engines_of_runs(cursor, runs)
        engine = find_engine(cursor, asked[0]) if asked else None
    if not held or not number:
        if ids is not None:
            raise InputError(
                "A file of ids would change nothing: no random negatives are drawn from outside the corpus."
            )
        return None
    if engine is None:
        raise RefusedError(
            "Random negatives cannot be drawn: the corpus has only documents that engines ranked, and none "
            "of the systems is an engine's run. Name one, or draw none.",
            command="`--random-negatives 0` draws none.",
        )
    client = EngineClient(engine)
    if ids is None:
        found = draw_ids(store, client, queries, number + REACH, seed, progress)
        drawn = {one: [i for i in found[one] if i not in near[one]][:number] for one in found}
    else:
        order = RandomOrder(sorted(_lines(ids)), seed)
        drawn = {
            query.query_id: order.draw(number, query.query_id, near[query.query_id]) for query in queries
        }
    bring_missing(store, client, {one for of_query in drawn.values() for one in of_query}, progress)
    return drawn


def _lines(path: Path) -> set[str]:
    try:
        found = set(filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}; expected an id a line", path=path) from None
    if not found:
        raise InputError("has no id; expected one a line", path=path)
    return found
