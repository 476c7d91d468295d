"""Building of a pool: the union of several systems' top documents for each query, and random easy negatives.

Pooling (Spärck Jones and van Rijsbergen 1975; TREC) selects for judgment the documents that at least one
system ranks high. Every candidate keeps each system that proposed it, with rank and score, so that the
contribution of a system can be computed later. The id of a pool is the hash of all its inputs, including the
ids under which identical documents are judged already, so that building the same pool again adds nothing.
Building a pool reads the texts of the corpus once, and compares only texts that may be equal or blank.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.digests import digest
from curation.core.errors import RefusedError, refuse_problems
from curation.core.operation import Operation, out_of_bounds
from curation.core.progress import Progress, silent
from curation.core.similarity.identical import Identical, StandIns
from curation.core.words import CUT, is_cut_otherwise
from curation.ingest.filters import read_filters
from curation.ingest.importers.external_corpus import bring_texts
from curation.ingest.importers.queries import active_queries
from curation.ingest.stored_runs import find_run
from curation.people.annotators import require_author
from curation.pooling.budget import spend
from curation.pooling.random_negatives import (
    RANDOM,
    REACH,
    Order,
    ask_engines,
    draw_negatives,
    draw_negatives_outside,
    negative_order,
)
from curation.pooling.request import PoolRequest
from curation.pooling.stored_pool import PoolReport, built_before, keep_pool
from curation.pooling.systems import (
    ENGINE_PREFIX,
    CandidateSource,
    Systems,
    known_systems,
    refuse_without_corpus,
    system_reports,
    unite,
)
from curation.retrieval import DEFAULT_MODEL, RUN_PREFIX
from curation.retrieval.embeddings import minutes_to_embed, refuse_without_model
from curation.retrieval.engines.template import find_engine
from curation.retrieval.terms import choose_stemmer
from curation.store import COMMAND_LINE, Cursor, Document, Query, Store, get_setting
from curation.store.documents import (
    Corpus,
    StoredDocuments,
    batches_of_signs,
    current_corpus,
    current_snapshot,
)

QUERIES_AT_ONCE = 1_000
"""Number of queries that are searched at the same time."""
LEXICAL = frozenset({"bm25", "hybrid"})
NOT_IN_CORPUS = "results of imported runs name documents that the corpus does not have"
UNDER_OTHER_ID = "candidates are judged under the id of an identical document"
OUTSIDE = "pooled pairs are outside the filter of their query: not relevant without a judgment"
_CHARACTERS = """
SELECT sum(length(title) + length(body)) FROM documents JOIN snapshot_documents USING (content_hash)
WHERE snapshot_id = ? AND NOT EXISTS (
    FROM pools WHERE snapshot_id = ?
        AND (json_exists(parameters, '$.systems.dense') OR json_exists(parameters, '$.systems.hybrid')))
"""
_SIGNS = pa.schema(
    {"content_hash": pa.string(), "sum": pa.uint64(), "blank": pa.bool_(), "ascii": pa.bool_()}
)


class CorpusTexts(NamedTuple):
    """The identical, blank and non-ASCII texts of a corpus.

    Attributes
    ----------
    blank: ids of documents without text.
    beyond_ascii: content hashes of texts that are not ASCII.
    """

    identical: Identical
    blank: frozenset[str]
    beyond_ascii: pa.StringArray


def build_pool(
    store: Store,
    request: PoolRequest,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    without: Collection[str] = (),
) -> PoolReport:
    """Pool the top documents of each system and random documents for each query.

    Parameters
    ----------
    author: name for the audit trail: a lead or the command line.
    without: ids of queries that get no candidates.

    Raises
    ------
    InputError: a system or stemmer is unknown, or a number is out of its bounds.
    NotFoundError: the model or a run does not exist.
    RefusedError: there is no corpus or no query to judge, the model cannot be used, or the author is no lead.
    """
    request = checked_request(request)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    if request.stemmer is not None:
        with store.transaction() as cursor:
            choose_stemmer(cursor, request.stemmer)
    request, unanswered = ask_engines(store, request, author, progress)
    with store.reading() as cursor:
        refuse_without_corpus(cursor, request.systems)
    drawn = draw_negatives_outside(store, request, progress)
    with store.reading() as cursor:
        queries = [query for query in queries_to_pool(cursor) if query.query_id not in without]
        known = cursor.execute("SELECT query_id, document_id FROM candidates").fetchall()
        snapshot_id = current_snapshot(cursor)
        corpus = current_corpus(cursor)
    texts = read_texts(store, corpus)
    engines = Systems(store, request.systems, corpus, request.model)
    parameters: dict[str, Any] = {
        "budget": request.budget,
        "depth": request.depth,
        "random_negatives": request.random_negatives,
        "reach": REACH,
        "seed": request.seed,
        "systems": engines.settings,
    }
    if drawn is not None:
        parameters["random"] = digest("random of an engine", drawn)
    beyond_ascii = StoredDocuments(store, texts.beyond_ascii)
    if not LEXICAL.isdisjoint(request.systems) and _has_new_word_cuts(queries, beyond_ascii):
        parameters["words"] = CUT
    filters = read_filters(store)
    if filters.queries:
        parameters["filters"] = digest("filters", filters.queries)
    asked = {query.query_id: query.text for query in queries}
    candidates = [pair for pair in known if pair[0] in asked]
    stand_ins = StandIns(texts.identical, candidates, filters.outside)
    pool_id = digest("pool", snapshot_id, [*asked.items()], parameters, stand_ins.unusual)
    with store.reading() as cursor:
        before = built_before(cursor, pool_id)
    if before is not None:
        return before
    order = None
    if request.random_negatives:
        with_text = (document_id for document_id in corpus.ids if document_id not in texts.blank)
        order = negative_order(with_text, request.seed, texts.identical, drawn)
    searched = (engines, queries, request, order, texts.identical, stand_ins, progress)
    filled, proposed, left_out = _search_systems(*searched)
    outside = filters.among(proposal[:2] for proposal in proposed)
    empty = {name: engines.why_empty(name, queries, counts) for name, counts in filled.items()}
    kept, report = _within_budget(
        [proposal for proposal in proposed if proposal[:2] not in outside],
        *(request, filled, empty, min(request.depth, len(corpus.ids)), left_out | {OUTSIDE: len(outside)}),
    )
    proposals = sorted(
        [*kept, *(proposal for proposal in proposed if proposal[:2] in outside)],
        key=lambda proposal: proposal[:3],
    )
    report["queries"] = len(queries)
    report["left_out"] |= {NOT_IN_CORPUS: engines.outside} if engines.outside else {}
    report["left_out"] |= unanswered
    report["rank_bm25"] = engines.compare_bm25(queries, request.seed, progress)
    bring_texts(store, (proposal.document_id for proposal in proposals))
    return keep_pool(store, (pool_id, snapshot_id, parameters, report), proposals, outside, author)


def embedding_forecast(cursor: Cursor) -> str | None:
    """Estimate the time to embed the corpus, or return None if a pool has embedded the corpus already."""
    snapshot = get_setting(cursor, "corpus")
    [(characters,)] = cursor.execute(_CHARACTERS, [snapshot, snapshot]).fetchall()
    return minutes_to_embed(cursor, characters, DEFAULT_MODEL) if characters else None


def checked_request(request: PoolRequest) -> PoolRequest:
    """Check a request, and remove repeated systems.

    Raises
    ------
    InputError: a system is unknown, or a number is out of its bounds.
    """
    request = replace(request, systems=known_systems(request.systems, engines=True))
    refuse_problems(out_of_bounds(PoolRequest, vars(request)))
    return request


def queries_to_pool(cursor: Cursor, systems: Sequence[str] = ()) -> list[Query]:
    """Read the current queries of a project that has a corpus. Engines among the systems need no corpus.

    Raises
    ------
    RefusedError: there are no queries, or there is no corpus.
    """
    queries = active_queries(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to find documents for. Draw a sample, or import queries.",
            command="`goldgrade sample` draws queries, `goldgrade import queries` imports queries.",
        )
    if not any(name.startswith(ENGINE_PREFIX) for name in systems):
        current_snapshot(cursor)
    return queries


def _has_new_word_cuts(queries: Sequence[Query], documents: Iterable[Document]) -> bool:
    """Tell whether an older version of goldgrade cut these texts into different words, and so found other
    documents.
    """
    asked = any(is_cut_otherwise(query.text) for query in queries)
    return asked or any(is_cut_otherwise(document.text, whole=True) for document in documents)


def _search_systems(
    engines: Systems,
    queries: Sequence[Query],
    request: PoolRequest,
    order: Order | None,
    identical: Identical,
    stand_ins: StandIns,
    progress: Progress,
) -> tuple[dict[str, list[int]], list[CandidateSource], Counter[str]]:
    """Search for the queries of a pool, `QUERIES_AT_ONCE` at a time, so that only pooled results stay in
    memory.

    Returns
    -------
    The number of documents that each system found for each query, the proposals of systems and the random
    proposals, and reason → number of pairs.
    """
    proposals: list[CandidateSource] = []
    left_out, filled = Counter[str](), defaultdict[str, list[int]](list)
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        asked = queries[start : start + QUERIES_AT_ONCE]
        lists = engines.search(asked, max(REACH, request.depth), silent if start else progress)
        united, under_other_ids = unite(lists, asked, request.depth, stand_ins)
        proposals += united
        left_out[UNDER_OTHER_ID] += under_other_ids
        if order is not None:
            drawn, missing = draw_negatives(
                lists, asked, order, request.random_negatives, request.depth, identical, stand_ins
            )
            proposals += drawn
            left_out += missing
        for name, hits in lists.items():
            filled[name] += map(len, hits)
        progress("pool: search", start + len(asked), len(queries))
    return filled, proposals, left_out


def _within_budget(
    proposals: Sequence[CandidateSource],
    request: PoolRequest,
    filled: Mapping[str, Sequence[int]],
    empty: Mapping[str, Mapping[str, Sequence[str]]],
    places: int,
    left_out: Mapping[str, int],
) -> tuple[list[CandidateSource], dict[str, Any]]:
    """Choose the proposals that people judge, and make the pool's report."""
    random = [proposal for proposal in proposals if proposal.system == RANDOM]
    of_systems = [proposal for proposal in proposals if proposal.system != RANDOM]
    within, over = spend(of_systems, request.budget, request.seed)
    reports = system_reports(filled, empty, within, places)
    runs = [counts for name, counts in filled.items() if name.startswith(RUN_PREFIX)]
    reasons = {
        "results are missing, because no further document scored above zero": sum(
            report.unfilled for report in reports if not report.system.startswith(RUN_PREFIX)
        ),
        "results are missing, because an imported run has fewer for some queries": sum(
            max(places - count, 0) for counts in runs for count in counts if count
        ),
        "candidates are over the budget: other candidates of their queries rank higher": over,
        **left_out,
    }
    kept = sorted([*within, *random], key=lambda proposal: proposal[:3])
    report = {
        "candidates": sum(1 for _ in groupby(kept, key=attrgetter("query_id", "document_id"))),
        "random_negatives": len(random),
        "systems": [system._asdict() for system in reports],
        "left_out": {reason: count for reason, count in reasons.items() if count},
    }
    return kept, report


def read_texts(store: Store, corpus: Corpus) -> CorpusTexts:
    """Find identical, blank and non-ASCII texts. Only blank texts and texts with equal checksums are read."""
    signs = pa.concat_tables([_SIGNS.empty_table(), *batches_of_signs(store, corpus.hashes)]).combine_chunks()
    _, group, sizes = np.unique(signs["sum"].to_numpy(), return_inverse=True, return_counts=True)
    compared = signs.filter(pc.or_(signs["blank"], pa.array(sizes[group] > 1)))
    looked_at = StoredDocuments(store, compared["content_hash"])
    without = frozenset(document.document_id for document in looked_at if not document.text)
    beyond_ascii = signs.filter(pc.invert(signs["ascii"]))["content_hash"]
    texts = ((document.document_id, document.title, document.body) for document in looked_at)
    return CorpusTexts(Identical(texts), without, beyond_ascii)


def _check_pool(cursor: Cursor, request: PoolRequest | None) -> None:
    queries_to_pool(cursor, request.systems if request else ())
    if request is None:
        return
    request = checked_request(request)
    refuse_without_corpus(cursor, request.systems)
    for name in request.systems:
        kind, _, of = name.partition(":")
        if of:
            (find_run if kind == "run" else find_engine)(cursor, of)
    if not {"dense", "hybrid"}.isdisjoint(request.systems):
        refuse_without_model(cursor, request.model)


OPERATIONS = {
    "pool": Operation(
        PoolRequest,
        build_pool,
        doing="a pool is being built",
        kept="No pool was stored. Build the pool again; embeddings and word counts are kept.",
        check=_check_pool,
        first="reading the corpus",
        stage="pool",
    )
}
