"""Random easy negatives of a pool, drawn by seed from outside the systems' reach.

Random negatives are drawn from documents outside every system's first 1,000 documents (`REACH`). If a small
corpus has too few documents outside the reach, the reach is halved until enough documents are outside, but
never below the pool's depth.

A draw of negatives does not depend on earlier judgments or pools, so the same steps in a different order draw
the same documents. If the text of a drawn document is a candidate under a different document id, that id is
proposed, so that no text is judged twice.

SplitMix64 (Steele, Lea and Flood 2014) mixes a hash of the document and a hash of the query. The mixed number
is the pair's key in a random order, and a draw takes the first documents of the order. So a draw is the
same on any machine, and a larger corpus or a deeper pool keeps most of an earlier draw and its judgments.

A held corpus has only documents that engines ranked, so documents drawn from it would not be random. In a
held corpus, negatives come from a random order: the
engine orders its documents by seed and query, or the seed orders a list of all ids of the engine. Documents
on the lists of the pool are left out, and the other drawn documents are added to the corpus. The draw is
stored, so that building the same pool again gives the same negatives.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress
from curation.core.similarity.identical_texts import IdenticalTexts, Representatives
from curation.core.text import pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.stored_runs import find_run, read_run_entries
from curation.pooling.candidates import CandidateSource
from curation.pooling.request import PoolRequest
from curation.pooling.systems import ENGINE_PREFIX, SystemLists, list_engine_notices
from curation.retrieval import RUN_PREFIX
from curation.retrieval.engines.client import EngineClient, EngineList
from curation.retrieval.engines.documents import fetch_missing_documents
from curation.retrieval.engines.stored_engines import find_engine, find_run_engines
from curation.retrieval.engines.stored_lists import (
    RequestedLists,
    read_requested_lists,
    request_missing_lists,
)
from curation.retrieval.engines.template import Engine
from curation.retrieval.retriever import list_document_ids
from curation.store import Cursor, Query, Store, get_setting
from curation.store.documents import is_held

REACH = 1000
RANDOM = "random"
DrawNegatives = Callable[[int, str, Collection[str]], list[str]]
"""Function that draws documents: count, query id, and document ids to leave out → document ids."""


def draw_negatives(
    lists: SystemLists,
    queries: Sequence[Query],
    draw: DrawNegatives,
    count: int,
    depth: int,
    identical: IdenticalTexts,
    stand_ins: Representatives,
) -> tuple[list[CandidateSource], Counter[str]]:
    """Draw `count` documents for each query from outside the systems' reach.

    Returns
    -------
    The proposals, and reason → number of queries or negatives for which the corpus was too small.
    """
    proposals, left_out = [], Counter[str]()
    for index, query in enumerate(queries):
        for reach in _halve_reach(depth):
            ranked = {
                document_id
                for hits in lists.values()
                for document_id in list_document_ids(hits[index][:reach])
            }
            drawn = draw(count, query.query_id, identical.all_ids(ranked))
            if len(drawn) == count:
                break
        if reach < REACH:
            left_out[f"queries have random negatives from outside the first {reach} only, not {REACH:,}"] += 1
        reason = "random negatives are missing: no more documents lie outside the systems' reach"
        left_out[reason] += count - len(drawn)
        ids = (stand_ins.of(query.query_id, document_id) for document_id in drawn)
        proposals += [CandidateSource(query.query_id, name, RANDOM, None, None) for name in ids]
    return proposals, +left_out


def make_random_order(
    document_ids: Iterable[str],
    seed: int,
    identical: IdenticalTexts,
    engine_draws: Mapping[str, Sequence[str]] | None = None,
) -> DrawNegatives:
    """Make the function that draws negatives in random order; a text with several ids is one document.

    Parameters
    ----------
    document_ids: ids of documents with a text, ordered.
    engine_draws: query id → documents that an engine drew (`draw_by_engine`), in the engine's
        order. None draws from all documents by the seed.
    """
    drawable = [document_id for document_id in document_ids if identical.first(document_id) == document_id]
    if engine_draws is None:
        return RandomOrder(drawable, seed).draw
    drawable_ids = set(drawable)

    def draw(count: int, query_id: str, excluded: Collection[str]) -> list[str]:
        ids = [name for name in engine_draws.get(query_id, ()) if name in drawable_ids]
        return [document_id for document_id in ids if document_id not in excluded][:count]

    return draw


def _halve_reach(depth: int) -> Iterator[int]:
    reach = REACH
    while reach > depth:
        yield reach
        reach //= 2
    yield depth


class RandomOrder:
    """A random order of documents for each query, over document ids that are sorted."""

    def __init__(self, document_ids: Sequence[str], seed: int) -> None:
        self._ids = document_ids
        self._hashes = np.array([_hash_number(document_id) for document_id in document_ids], np.uint64)
        self._seed = seed

    def draw(self, count: int, query_id: str, excluded: Collection[str]) -> list[str]:
        """Draw the first `count` documents of the query's random order that are not excluded, or all if
        fewer.
        """
        keys = _mix_numbers(self._hashes ^ np.uint64(_hash_number(self._seed, query_id)))
        sorted_count = count + 16  # about so many documents are sorted, and four times as many if too few
        while True:
            largest_key = (2**64 - 1) * min(sorted_count, len(keys)) // max(len(keys), 1)
            rows = np.flatnonzero(keys <= np.uint64(largest_key))
            ids = (self._ids[row] for row in rows[np.argsort(keys[rows])].tolist())
            drawn = list(islice((document_id for document_id in ids if document_id not in excluded), count))
            if len(drawn) == count or sorted_count >= len(keys):
                return drawn
            sorted_count *= 4


def _hash_number(*parts: str | int) -> int:
    return int(digest("random negative", *parts)[:16], 16)


def _mix_numbers(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix numbers by SplitMix64's output function, a bijection of 64 bits."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def list_notices(cursor: Cursor, request: PoolRequest) -> list[str]:
    """Write a notice for each request for lists or random documents that a pool is going to send to an
    engine.
    """
    sentences = list_engine_notices(cursor, request)
    engines = [find_engine(cursor, name) for name in _select_names(request.systems, ENGINE_PREFIX)]
    engines += _find_engines_of_runs(cursor, request.systems)
    is_part = is_held(cursor) or get_setting(cursor, "corpus") is None
    if not (engines and is_part and request.random_negatives) or request.ids:
        return sentences
    if missing := _read_draws(cursor, engines[0], request.random_negatives, request.seed).missing:
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
            raise InputError("A file of ids would change nothing: all random negatives come from the corpus.")
        engines = _find_engines_of_runs(cursor, systems)
        ranked = _read_ranked_documents(cursor, systems)
        queries = read_active_queries(cursor)
        if not engines:
            raise RefusedError(
                "Random negatives cannot be drawn: the corpus has only documents that engines ranked, and "
                "none of the systems is an engine's run. Name an engine, or draw no random negatives.",
                command="`--random-negatives 0` draws no random negatives.",
            )
        stored_draws = _read_draws(cursor, engines[0], count, seed)
    client = EngineClient(engines[0], request.rate)
    if request.ids is None:
        lists = request_missing_lists(
            store, client, stored_draws, lambda query: _ask_for_order(client, query, count, seed), progress
        )
        ids_of_query = {query_list.query_id: query_list.document_ids for query_list in lists}
    else:
        order = RandomOrder(sorted(_read_ids(Path(request.ids))), seed)
        query_ids = [query.query_id for query in queries]
        ids_of_query = {query_id: order.draw(count, query_id, ranked[query_id]) for query_id in query_ids}
    draws = {
        query_id: [document_id for document_id in document_ids if document_id not in ranked[query_id]][:count]
        for query_id, document_ids in ids_of_query.items()
    }
    fetch_missing_documents(store, client, set(chain.from_iterable(draws.values())), progress)
    return draws


def _select_names(systems: Sequence[str], prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in systems if name.startswith(prefix)]


def _find_engines_of_runs(cursor: Cursor, systems: Sequence[str]) -> list[Engine]:
    return [
        find_engine(cursor, name) for name in find_run_engines(cursor, _select_names(systems, RUN_PREFIX))
    ]


def _read_ranked_documents(cursor: Cursor, systems: Sequence[str]) -> Mapping[str, set[str]]:
    """Collect for each query id the documents on the lists of the runs."""
    ranked = defaultdict[str, set[str]](set)
    for name in _select_names(systems, RUN_PREFIX):
        for entry in read_run_entries(cursor, find_run(cursor, name)):
            ranked[entry.query_id].add(entry.document_id)
    return ranked


def _read_draws(cursor: Cursor, engine: Engine, count: int, seed: int) -> RequestedLists:
    """Read the engine's stored random order for each query, and the queries without a stored order."""
    template = engine.template.template_hash
    request_id = digest("engine draw", engine.name, template, count + REACH, seed)
    return read_requested_lists(cursor, request_id, read_active_queries(cursor))


def _ask_for_order(client: EngineClient, query: Query, count: int, seed: int) -> EngineList:
    order = int(digest("random order", seed, query.query_id)[:7], 16)
    return client.request_random_list(order, count + REACH)


def _read_ids(path: Path) -> set[str]:
    try:
        ids = set(filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}; expected one id on each line", path=path) from None
    if not ids:
        raise InputError("has no id; expected one id on each line", path=path)
    return ids
