"""Random negatives for a held corpus, which contains only documents that engines returned.

Documents drawn from a held corpus would not be random. So negatives come from a random order: the engine
orders its documents by seed and query, or the seed orders a list of all ids of the engine. Documents on the
lists of the pool are left out, and the other drawn documents are added to the corpus. The draw is stored, so
that building the same pool again gives the same negatives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress
from curation.core.text import pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.stored_runs import find_run, read_run_entries
from curation.pooling.random_negatives import REACH, RandomOrder
from curation.pooling.request import PoolRequest
from curation.pooling.systems import ENGINE_PREFIX, list_engine_notices
from curation.retrieval import RUN_PREFIX
from curation.retrieval.engines import stored_lists
from curation.retrieval.engines.client import EngineClient, EngineList
from curation.retrieval.engines.documents import fetch_missing_documents
from curation.retrieval.engines.stored_engines import find_engine, find_run_engines
from curation.retrieval.engines.template import Engine
from curation.store import Cursor, Query, Store, get_setting
from curation.store.documents import is_held


def list_notices(cursor: Cursor, request: PoolRequest) -> list[str]:
    """Return a sentence for each request that a pool will send to an engine."""
    sentences = list_engine_notices(cursor, request)
    engines = [find_engine(cursor, name) for name in _select_names(request.systems, ENGINE_PREFIX)]
    engines += _find_engines_of_runs(cursor, request.systems)
    will_be_held = is_held(cursor) or get_setting(cursor, "corpus") is None
    if not (engines and will_be_held and request.random_negatives) or request.ids:
        return sentences
    missing = _read_orders(cursor, engines[0], request.random_negatives, request.seed).missing
    if missing:
        subject = f"random documents for {pluralize(len(missing), 'query', 'queries')}"
        sentences.append(EngineClient(engines[0], request.rate).describe_requests(subject))
    return sentences


def draw_by_engine(store: Store, request: PoolRequest, progress: Progress) -> Mapping[str, list[str]] | None:
    """Draw random documents of an engine for each query, and add the documents to a held corpus.

    Returns
    -------
    Query id → document ids; None if the corpus is not held.

    Raises
    ------
    InputError: the file of ids cannot be read, or is given for a corpus that is not held.
    RefusedError: no engine can give random documents.
    """
    systems, count, seed = request.systems, request.random_negatives, request.seed
    with store.reading() as cursor:
        if not (is_held(cursor) and count):
            if request.ids is None:
                return None
            raise InputError("A file of ids has no effect here: all random negatives come from the corpus.")
        engines = _find_engines_of_runs(cursor, systems)
        ranked = _read_ranked_documents(cursor, systems)
        queries = read_active_queries(cursor)
        if not engines:
            raise RefusedError(
                "Random negatives cannot be drawn: all documents of the corpus come from engines, and no "
                "engine is among the systems. Add an engine, or draw no random negatives.",
                command="`--random-negatives 0` draws no random negatives.",
            )
        stored_orders = _read_orders(cursor, engines[0], count, seed)
    client = EngineClient(engines[0], request.rate)
    if request.ids is None:
        lists = stored_lists.request_missing_lists(
            store, client, stored_orders, lambda query: _request_order(client, query, count, seed), progress
        )
        ids_of_query = {query_list.query_id: query_list.document_ids for query_list in lists}
    else:
        order = RandomOrder(sorted(_read_ids(Path(request.ids))), seed)
        query_ids = [query.query_id for query in queries]
        ids_of_query = {query_id: order.draw(count, query_id, ranked[query_id]) for query_id in query_ids}
    draws: dict[str, list[str]] = {}
    for query_id, document_ids in ids_of_query.items():
        unranked = [document_id for document_id in document_ids if document_id not in ranked[query_id]]
        draws[query_id] = unranked[:count]
    fetch_missing_documents(store, client, set(chain.from_iterable(draws.values())), progress)
    return draws


def _select_names(systems: Sequence[str], prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in systems if name.startswith(prefix)]


def _find_engines_of_runs(cursor: Cursor, systems: Sequence[str]) -> list[Engine]:
    engines = find_run_engines(cursor, _select_names(systems, RUN_PREFIX))
    return [find_engine(cursor, name) for name in engines.values()]


def _read_ranked_documents(cursor: Cursor, systems: Sequence[str]) -> Mapping[str, set[str]]:
    """Collect the documents on the lists of the runs, by query id."""
    ranked = defaultdict[str, set[str]](set)
    for name in _select_names(systems, RUN_PREFIX):
        for entry in read_run_entries(cursor, find_run(cursor, name)):
            ranked[entry.query_id].add(entry.document_id)
    return ranked


def _read_orders(cursor: Cursor, engine: Engine, count: int, seed: int) -> stored_lists.RequestedLists:
    """Read the engine's stored random order for each query, and the queries that have none."""
    template = engine.template.template_hash
    request_id = digest("engine draw", engine.name, template, count + REACH, seed)
    return stored_lists.read_requested_lists(cursor, request_id, read_active_queries(cursor))


def _request_order(client: EngineClient, query: Query, count: int, seed: int) -> EngineList:
    """Request the engine's documents in a random order determined by the seed and the query."""
    order_seed = int(digest("random order", seed, query.query_id)[:7], 16)
    return client.request_random_list(order_seed, count + REACH)


def _read_ids(path: Path) -> set[str]:
    """Read the document ids in a file with one id on each line."""
    try:
        ids = set(filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}; expected one id on each line", path=path) from None
    if not ids:
        raise InputError("has no id; expected one id on each line", path=path)
    return ids
