"""Building of a pool: the union of the systems' top documents for each query, and random easy negatives.

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
from curation.core.operation import Operation
from curation.core.progress import Progress, silent
from curation.core.request import DEFAULT_MODEL, describe_out_of_bounds
from curation.core.similarity.identical_texts import IdenticalTexts, Representatives
from curation.core.words import TOKENIZATION, is_cut_differently
from curation.ingest.filters import Filters, read_filters
from curation.ingest.importers.external_corpus import store_linked_texts
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.stored_runs import find_run
from curation.people.annotators import require_author
from curation.pooling.candidates import CandidateSource, collect_candidates, select_within_budget
from curation.pooling.random_negatives import (
    RANDOM,
    REACH,
    DrawNegatives,
    draw_by_engine,
    draw_negatives,
    make_random_order,
)
from curation.pooling.request import PoolRequest
from curation.pooling.stored_pool import PoolReport, read_pool_report, report_systems, store_pool
from curation.pooling.systems import ENGINE_PREFIX, Systems, replace_engines, require_corpus, sort_systems
from curation.retrieval import RUN_PREFIX
from curation.retrieval.embeddings import minutes_to_embed, refuse_without_model
from curation.retrieval.engines.stored_engines import find_engine
from curation.retrieval.stemming import set_stemmer
from curation.store import COMMAND_LINE, Cursor, Document, Query, Store, get_setting
from curation.store.documents import Corpus, StoredDocuments, current_corpus, current_snapshot, read_facts

QUERIES_AT_ONCE = 1_000
"""Number of queries that are searched at the same time."""
LEXICAL = frozenset({"bm25", "hybrid"})
NOT_IN_CORPUS = "results of imported runs name documents that the corpus does not have"
UNDER_OTHER_ID = "candidates are judged under the id of an identical document"
OUTSIDE = "pooled pairs are outside the filter of their query: not relevant without a judgment"
_COUNT_CHARACTERS = """
SELECT sum(length(title) + length(body)) FROM documents JOIN snapshot_documents USING (content_hash)
WHERE snapshot_id = ? AND NOT EXISTS (
    FROM pools WHERE snapshot_id = ?
        AND (json_exists(parameters, '$.systems.dense') OR json_exists(parameters, '$.systems.hybrid')))
"""
_FEATURES = pa.schema({"content_hash": "string", "sum": "uint64", "blank": "bool", "ascii": "bool"})


class CorpusTexts(NamedTuple):
    """The identical, blank and non-ASCII texts of a corpus.

    Attributes
    ----------
    blank: ids of documents without text.
    beyond_ascii: content hashes of texts that are not ASCII.
    """

    identical: IdenticalTexts
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
    request = check_request(request)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    if request.stemmer is not None:
        with store.transaction() as cursor:
            set_stemmer(cursor, request.stemmer)
    request, unanswered = replace_engines(store, request, author, progress)
    with store.reading() as cursor:
        require_corpus(cursor, request.systems)
    engine_draws = draw_by_engine(store, request, progress)
    with store.reading() as cursor:
        queries = [query for query in read_queries(cursor) if query.query_id not in without]
        stored_pairs = cursor.execute("SELECT query_id, document_id FROM candidates").fetchall()
        snapshot_id = current_snapshot(cursor)
        corpus = current_corpus(cursor)
    texts = read_texts(store, corpus)
    systems = Systems(store, request.systems, corpus, request.model)
    filters = read_filters(store)
    beyond_ascii = StoredDocuments(store, texts.beyond_ascii)
    has_new_words = not LEXICAL.isdisjoint(request.systems) and _has_new_word_cuts(queries, beyond_ascii)
    parameters = _list_parameters(request, systems, engine_draws, filters, has_new_words)
    text_of = {query.query_id: query.text for query in queries}
    stored_candidates = [pair for pair in stored_pairs if pair[0] in text_of]
    stand_ins = Representatives(texts.identical, stored_candidates, filters.outside)
    pool_id = digest("pool", snapshot_id, [*text_of.items()], parameters, stand_ins.unusual)
    with store.reading() as cursor:
        stored_report = read_pool_report(cursor, pool_id)
    if stored_report is not None:
        return stored_report
    draw = None
    if request.random_negatives:
        ids_with_text = (document_id for document_id in corpus.ids if document_id not in texts.blank)
        draw = make_random_order(ids_with_text, request.seed, texts.identical, engine_draws)
    hit_counts, proposals, left_out = _search_systems(
        systems, queries, request, draw, texts.identical, stand_ins, progress
    )
    outside = filters.among(proposal[:2] for proposal in proposals)
    inside_proposals = [proposal for proposal in proposals if proposal[:2] not in outside]
    outside_proposals = [proposal for proposal in proposals if proposal[:2] in outside]
    empty = {name: systems.find_empty(name, queries, counts) for name, counts in hit_counts.items()}
    left_out[OUTSIDE] = len(outside)
    max_results = min(request.depth, len(corpus.ids))
    selected, report = _select_candidates(inside_proposals, request, hit_counts, empty, max_results, left_out)
    report["queries"] = len(queries)
    if systems.missing_documents:
        report["left_out"][NOT_IN_CORPUS] = systems.missing_documents
    report["left_out"] |= unanswered
    report["rank_bm25"] = systems.compare_bm25(queries, request.seed, progress)
    sources = sorted([*selected, *outside_proposals], key=lambda proposal: proposal[:3])
    store_linked_texts(store, (source.document_id for source in sources))
    return store_pool(store, pool_id, snapshot_id, parameters, report, sources, outside, author)


def forecast_embedding(cursor: Cursor) -> str | None:
    """Estimate the time to embed the corpus, or return None if a pool has embedded the corpus already."""
    snapshot = get_setting(cursor, "corpus")
    [(characters,)] = cursor.execute(_COUNT_CHARACTERS, [snapshot, snapshot]).fetchall()
    return minutes_to_embed(cursor, characters, DEFAULT_MODEL) if characters else None


def check_request(request: PoolRequest) -> PoolRequest:
    """Check a request, and remove repeated systems.

    Raises
    ------
    InputError: a system is unknown, or a number is out of its bounds.
    """
    request = replace(request, systems=sort_systems(request.systems, with_engines=True))
    refuse_problems(describe_out_of_bounds(PoolRequest, vars(request)))
    return request


def read_queries(cursor: Cursor, systems: Sequence[str] = ()) -> list[Query]:
    """Read the current queries of a project that has a corpus. Engines among the systems need no corpus.

    Raises
    ------
    RefusedError: there are no queries, or there is no corpus.
    """
    queries = read_active_queries(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to find documents for. Draw a sample, or import queries.",
            command="`goldgrade sample` draws queries, `goldgrade import queries` imports queries.",
        )
    if not any(name.startswith(ENGINE_PREFIX) for name in systems):
        current_snapshot(cursor)
    return queries


def read_texts(store: Store, corpus: Corpus) -> CorpusTexts:
    """Find identical, blank and non-ASCII texts. Only blank texts and texts with equal checksums are read."""
    features = pa.concat_tables([_FEATURES.empty_table(), *read_facts(store, corpus.hashes)])
    features = features.combine_chunks()
    _, group, sizes = np.unique(features["sum"].to_numpy(), return_inverse=True, return_counts=True)
    is_compared = pc.or_(features["blank"], pa.array(sizes[group] > 1))
    compared = StoredDocuments(store, features.filter(is_compared)["content_hash"])
    blank = frozenset(document.document_id for document in compared if not document.text)
    beyond_ascii = features.filter(pc.invert(features["ascii"]))["content_hash"]
    texts = ((document.document_id, document.title, document.body) for document in compared)
    return CorpusTexts(IdenticalTexts(texts), blank, beyond_ascii)


def _has_new_word_cuts(queries: Sequence[Query], documents: Iterable[Document]) -> bool:
    """Tell whether an older version of goldgrade cut these texts into different words, and so found other
    documents.
    """
    return any(is_cut_differently(query.text) for query in queries) or any(
        is_cut_differently(document.text, whole=True) for document in documents
    )


def _list_parameters(
    request: PoolRequest,
    systems: Systems,
    engine_draws: Mapping[str, Sequence[str]] | None,
    filters: Filters,
    has_new_words: bool,
) -> dict[str, Any]:
    """List the inputs that decide a pool's candidates, without corpus and queries, for the pool's id."""
    parameters: dict[str, Any] = {
        "budget": request.budget,
        "depth": request.depth,
        "random_negatives": request.random_negatives,
        "reach": REACH,
        "seed": request.seed,
        "systems": systems.settings,
    }
    if engine_draws is not None:
        parameters["random"] = digest("random of an engine", engine_draws)
    if has_new_words:
        parameters["words"] = TOKENIZATION
    if filters.queries:
        parameters["filters"] = digest("filters", filters.queries)
    return parameters


def _search_systems(
    systems: Systems,
    queries: Sequence[Query],
    request: PoolRequest,
    draw: DrawNegatives | None,
    identical: IdenticalTexts,
    stand_ins: Representatives,
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
    left_out, hit_counts = Counter[str](), defaultdict[str, list[int]](list)
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        batch = queries[start : start + QUERIES_AT_ONCE]
        lists = systems.search(batch, max(REACH, request.depth), silent if start else progress)
        found, under_other_ids = collect_candidates(lists, batch, request.depth, stand_ins)
        proposals += found
        left_out[UNDER_OTHER_ID] += under_other_ids
        if draw is not None:
            negatives, missing = draw_negatives(
                lists, batch, draw, request.random_negatives, request.depth, identical, stand_ins
            )
            proposals += negatives
            left_out += missing
        for name, hits in lists.items():
            hit_counts[name] += map(len, hits)
        progress("pool: search", start + len(batch), len(queries))
    return hit_counts, proposals, left_out


def _select_candidates(
    proposals: Sequence[CandidateSource],
    request: PoolRequest,
    hit_counts: Mapping[str, Sequence[int]],
    empty: Mapping[str, Mapping[str, Sequence[str]]],
    max_results: int,
    left_out: Mapping[str, int],
) -> tuple[list[CandidateSource], dict[str, Any]]:
    """Select the proposals that people judge, and make the pool's report.

    Parameters
    ----------
    hit_counts, empty, max_results: see `stored_pool.report_systems`.
    """
    random_proposals = [proposal for proposal in proposals if proposal.system == RANDOM]
    system_proposals = [proposal for proposal in proposals if proposal.system != RANDOM]
    within_budget, over_budget = select_within_budget(system_proposals, request.budget, request.seed)
    reports = report_systems(hit_counts, empty, within_budget, max_results)
    unscored = sum(report.unfilled for report in reports if not report.system.startswith(RUN_PREFIX))
    run_counts = [counts for name, counts in hit_counts.items() if name.startswith(RUN_PREFIX)]
    missing = sum(max(max_results - count, 0) for counts in run_counts for count in counts if count)
    reasons = {
        "results are missing, because no further document scored above zero": unscored,
        "results are missing, because an imported run has fewer for some queries": missing,
        "candidates are over the budget: other candidates of their queries rank higher": over_budget,
        **left_out,
    }
    selected = sorted([*within_budget, *random_proposals], key=lambda proposal: proposal[:3])
    report = {
        "candidates": sum(1 for _ in groupby(selected, key=attrgetter("query_id", "document_id"))),
        "random_negatives": len(random_proposals),
        "systems": [system._asdict() for system in reports],
        "left_out": {reason: count for reason, count in reasons.items() if count},
    }
    return selected, report


def _check_pool(cursor: Cursor, request: PoolRequest | None) -> None:
    read_queries(cursor, request.systems if request else ())
    if request is None:
        return
    request = check_request(request)
    require_corpus(cursor, request.systems)
    for system in request.systems:
        kind, _, name = system.partition(":")
        if name:
            (find_run if kind == "run" else find_engine)(cursor, name)
    if not {"dense", "hybrid"}.isdisjoint(request.systems):
        refuse_without_model(cursor, request.model)


OPERATIONS = {
    "pool": Operation(
        PoolRequest,
        build_pool,
        in_progress="a pool is being built",
        on_interrupt="No pool was stored. Build the pool again; embeddings and word counts are kept.",
        check=_check_pool,
        first_step="reading the corpus",
        stage="pool",
    )
}
