"""Building a pool, which contains the systems' top documents and random easy negatives for each query.

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
from typing import Any, NamedTuple

from curation.core.digests import digest
from curation.core.errors import refuse_problems
from curation.core.progress import Progress, silent
from curation.core.request import describe_out_of_bounds
from curation.core.similarity.identical_texts import Representatives
from curation.core.words import TOKENIZATION, is_cut_differently
from curation.ingest.filters import Filters, read_filters
from curation.ingest.importers.external_corpus import store_linked_texts
from curation.people.annotators import require_author
from curation.pooling import RANDOM
from curation.pooling.candidates import CandidateSource, collect_candidates, select_within_budget
from curation.pooling.corpus_texts import CorpusTexts, read_texts
from curation.pooling.engine_negatives import draw_by_engine
from curation.pooling.pool_report import MAX_SHOWN, PoolReport, SystemReport, report_systems
from curation.pooling.pooled_queries import find_judged_elsewhere, read_queries
from curation.pooling.random_negatives import REACH, draw_negatives, make_random_order
from curation.pooling.relevance import Pair
from curation.pooling.request import SYSTEMS, PoolRequest
from curation.pooling.stored_pool import PoolRow, read_pool_report, store_pool
from curation.pooling.systems import Systems, replace_engines, require_corpus, sort_systems
from curation.retrieval import RUN_PREFIX
from curation.retrieval.analyzer import set_analyzer
from curation.retrieval.embedding_model import can_embed
from curation.store import COMMAND_LINE, Document, Query, Store
from curation.store.documents import Corpus, StoredDocuments, current_corpus, current_snapshot

QUERIES_AT_ONCE = 1_000
"""Number of queries that are searched at the same time."""
LEXICAL = frozenset({"bm25", "hybrid"})
NOT_IN_CORPUS = "results are left out: imported runs name documents that are not in the corpus"
UNDER_OTHER_ID = "candidates are judged under the id of an identical document"
OUTSIDE = (
    "pooled pairs are left out as not relevant without a judgment: their document does not match the "
    "query's filter"
)


class _PoolInputs(NamedTuple):
    """The inputs of a pool, read after the engines have given their lists.

    Attributes
    ----------
    engine_draws: query id → random documents of an engine; None if the corpus is not held.
    stand_ins: the ids under which identical documents are judged.
    """

    request: PoolRequest
    queries: list[Query]
    snapshot_id: str
    corpus: Corpus
    texts: CorpusTexts
    engine_draws: Mapping[str, Sequence[str]] | None
    filters: Filters
    stand_ins: Representatives

    @property
    def max_results(self) -> int:
        """Return the largest number of documents that a system can propose for a query."""
        return min(self.request.depth, len(self.corpus.ids))


class _SearchResults(NamedTuple):
    """The results of a pool's systems, and the random documents.

    Attributes
    ----------
    hit_counts: system → number of documents that the system found for each query.
    proposals: proposals of the systems, and random proposals.
    left_out: reason → number of pairs.
    """

    hit_counts: dict[str, list[int]]
    proposals: list[CandidateSource]
    left_out: Counter[str]


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
    InputError: a system, stemmer or stop word is unknown, or a number is out of its bounds.
    NotFoundError: the model or a run does not exist.
    RefusedError: there is no corpus or no query to judge, the model cannot be used, or the author is not a
        lead.
    """
    request = check_request(request)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    if request.stemmer is not None or request.keep_words is not None:
        with store.transaction() as cursor:
            set_analyzer(cursor, request.stemmer, request.keep_words)
    request, unanswered = replace_engines(store, request, author, progress)
    inputs = _read_inputs(store, request, without, progress)
    systems = Systems(store, request.systems, inputs.corpus, request.model)
    parameters = _list_parameters(store, inputs, systems)
    query_texts = [(query.query_id, query.text) for query in inputs.queries]
    pool_id = digest("pool", inputs.snapshot_id, query_texts, parameters, inputs.stand_ins.unusual)
    with store.reading() as cursor:
        stored_report = read_pool_report(cursor, pool_id)
    if stored_report is not None:
        return stored_report
    results = _search_systems(systems, inputs, progress)
    outside = inputs.filters.find_excluded_pairs(proposal[:2] for proposal in results.proposals)
    results.left_out[OUTSIDE] = len(outside)
    selected, report = _select_candidates(systems, inputs, results, outside)
    if systems.missing_documents:
        report["left_out"][NOT_IN_CORPUS] = systems.missing_documents
    report["left_out"] |= unanswered
    if systems.bm25 is not None and (lost := systems.bm25.list_lost_words(inputs.queries)):
        report["lost_words"] = {"queries": len(lost), "shortest": lost[:MAX_SHOWN]}
    report["rank_bm25"] = systems.compare_bm25(inputs.queries, request.seed, progress)
    outside_proposals = [proposal for proposal in results.proposals if proposal[:2] in outside]
    sources = sorted([*selected, *outside_proposals], key=lambda proposal: proposal[:3])
    store_linked_texts(store, (source.document_id for source in sources))
    row = PoolRow(pool_id, inputs.snapshot_id, parameters, report)
    return store_pool(store, row, sources, outside, author)


def check_request(request: PoolRequest) -> PoolRequest:
    """Check a request, name the systems of a request without systems, and remove repeated systems.

    Raises
    ------
    InputError: a system is unknown, or a number is out of its bounds.
    """
    systems = request.systems or (SYSTEMS if can_embed() else ("bm25",))
    request = replace(request, systems=sort_systems(systems, with_engines=True))
    refuse_problems(describe_out_of_bounds(PoolRequest, vars(request)))
    return request


def _read_inputs(
    store: Store, request: PoolRequest, without: Collection[str], progress: Progress
) -> _PoolInputs:
    """Read the inputs of a pool; the engine of a held corpus first draws random documents."""
    with store.reading() as cursor:
        require_corpus(cursor, request.systems)
    engine_draws = draw_by_engine(store, request, progress)
    with store.reading() as cursor:
        left_out = {*without} if request.judged_queries else {*without, *find_judged_elsewhere(cursor)}
        queries = [query for query in read_queries(cursor) if query.query_id not in left_out]
        candidates = cursor.execute("SELECT query_id, document_id FROM candidates").fetchall()
        snapshot_id = current_snapshot(cursor)
        corpus = current_corpus(cursor)
    texts = read_texts(store, corpus)
    filters = read_filters(store)
    query_ids = {query.query_id for query in queries}
    pairs = [pair for pair in candidates if pair[0] in query_ids]
    stand_ins = Representatives(texts.identical, pairs, filters.explain_pair)
    return _PoolInputs(request, queries, snapshot_id, corpus, texts, engine_draws, filters, stand_ins)


def _list_parameters(store: Store, inputs: _PoolInputs, systems: Systems) -> dict[str, Any]:
    """List the inputs that decide a pool's candidates, apart from the corpus and queries, for the pool's
    id."""
    request = inputs.request
    parameters: dict[str, Any] = {
        "budget": request.budget,
        "depth": request.depth,
        "random_negatives": request.random_negatives,
        "reach": REACH,
        "seed": request.seed,
        "systems": systems.settings,
    }
    if inputs.engine_draws is not None:
        parameters["random"] = digest("random of an engine", inputs.engine_draws)
    documents = StoredDocuments(store, inputs.texts.beyond_ascii)
    if not LEXICAL.isdisjoint(request.systems) and _has_new_word_cuts(inputs.queries, documents):
        parameters["words"] = TOKENIZATION
    if inputs.filters.queries:
        parameters["filters"] = digest("filters", inputs.filters.queries)
    return parameters


def _has_new_word_cuts(queries: Sequence[Query], documents: Iterable[Document]) -> bool:
    """Return whether older versions of goldgrade cut these texts into words differently."""
    return any(is_cut_differently(query.text) for query in queries) or any(
        is_cut_differently(document.text, whole=True) for document in documents
    )


def _search_systems(systems: Systems, inputs: _PoolInputs, progress: Progress) -> _SearchResults:
    """Search for `QUERIES_AT_ONCE` queries at a time, so that only pooled results stay in memory."""
    request, queries, identical = inputs.request, inputs.queries, inputs.texts.identical
    draw = None
    if request.random_negatives:
        ids = (document_id for document_id in inputs.corpus.ids if document_id not in inputs.texts.blank)
        draw = make_random_order(ids, request.seed, identical, inputs.engine_draws)
    proposals: list[CandidateSource] = []
    left_out = Counter[str]()
    hit_counts = defaultdict[str, list[int]](list)
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        batch = queries[start : start + QUERIES_AT_ONCE]
        lists = systems.search(batch, max(REACH, request.depth), silent if start else progress)
        system_proposals, n_merged = collect_candidates(lists, batch, request.depth, inputs.stand_ins)
        proposals += system_proposals
        left_out[UNDER_OTHER_ID] += n_merged
        if draw is not None:
            negatives, missing = draw_negatives(
                lists, batch, draw, request.random_negatives, request.depth, identical, inputs.stand_ins
            )
            proposals += negatives
            left_out += missing
        for name, hits in lists.items():
            hit_counts[name] += map(len, hits)
        progress("searching queries", start + len(batch), len(queries))
    return _SearchResults(hit_counts, proposals, left_out)


def _select_candidates(
    systems: Systems, inputs: _PoolInputs, results: _SearchResults, outside: Collection[Pair]
) -> tuple[list[CandidateSource], dict[str, Any]]:
    """Select the proposals to be judged, and make the pool's report in its stored form.

    Parameters
    ----------
    outside: pairs outside the filter of their query, which people do not judge.
    """
    request = inputs.request
    inside_proposals = [proposal for proposal in results.proposals if proposal[:2] not in outside]
    random_proposals = [proposal for proposal in inside_proposals if proposal.system == RANDOM]
    system_proposals = [proposal for proposal in inside_proposals if proposal.system != RANDOM]
    within_budget, over_budget = select_within_budget(system_proposals, request.budget, request.seed)
    no_hit_ids = {
        name: systems.list_queries_without_hits(name, inputs.queries, counts)
        for name, counts in results.hit_counts.items()
    }
    reports = report_systems(results.hit_counts, no_hit_ids, within_budget, inputs.max_results)
    reasons = {
        **_count_missing_results(reports, results.hit_counts, inputs.max_results),
        "candidates are left out, because they are over the budget": over_budget,
        **results.left_out,
    }
    selected = sorted([*within_budget, *random_proposals], key=lambda proposal: proposal[:3])
    report = {
        "queries": len(inputs.queries),
        "candidates": len({proposal[:2] for proposal in selected}),
        "random_negatives": len(random_proposals),
        "systems": [system._asdict() for system in reports],
        "left_out": {reason: count for reason, count in reasons.items() if count},
    }
    return selected, report


def _count_missing_results(
    reports: Sequence[SystemReport], hit_counts: Mapping[str, Sequence[int]], max_results: int
) -> dict[str, int]:
    """Count the results that the systems lack within the depth, by reason."""
    unscored = sum(report.unfilled for report in reports if not report.system.startswith(RUN_PREFIX))
    run_counts = [counts for name, counts in hit_counts.items() if name.startswith(RUN_PREFIX)]
    missing = sum(max(max_results - count, 0) for counts in run_counts for count in counts if count)
    return {
        "results are missing: no further document scored above zero": unscored,
        "results are missing: an imported run is shorter than the depth for some queries": missing,
    }
