"""A pool: the union of several systems' top documents for each query, and random easy negatives.

Pooling (Spärck Jones and van Rijsbergen 1975; TREC) puts up for judgment what at least one system ranks
high. Every candidate keeps each system, rank and score that proposed it, so that it can be asked later what
a system alone contributed. A pool's id is the hash of all that goes in, the ids included under which
identical documents are judged already: building it twice adds nothing. `pool_sample` judges a random sample.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.operation import out_of_bounds
from curation.core.progress import Progress, silent
from curation.core.similarity.identical import Identical, StandIns
from curation.core.text import canonical_json, digest
from curation.core.words import CUT, is_cut_otherwise
from curation.ingest.filters.stored import read_filters
from curation.ingest.importers.left.reading import bring_texts
from curation.ingest.importers.queries import active_queries
from curation.people.annotators import require_author
from curation.pooling.budget import spend
from curation.pooling.candidates import CandidateSource, Union, system_reports, unite
from curation.pooling.corpus_texts import read_texts
from curation.pooling.from_engines import ask_engines, draw_negatives_outside
from curation.pooling.pool_report import PoolReport, _built_before, _report
from curation.pooling.pool_sample import (
    PooledPair,
    SampleDesign,
    append_pairs,
    draw_sample,
    read_design,
    sampled_bands,
)
from curation.pooling.random_negatives import (
    REACH,
    Draw,
    GivenOrder,
    RandomOrder,
    draw_negatives,
    negative_order,
)
from curation.pooling.relevance import Pair
from curation.pooling.request import PoolRequest
from curation.pooling.systems import ENGINE_PREFIX, SystemFound, Systems, known_systems, refuse_without_corpus
from curation.retrieval import DEFAULT_MODEL, RUN_PREFIX
from curation.retrieval.embeddings import Minutes, minutes_to_embed
from curation.retrieval.engines import RATE
from curation.retrieval.terms import choose_stemmer
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Document,
    Query,
    Store,
    append,
    get_setting,
    record_event,
    utc_now,
)
from curation.store.documents import Corpus, StoredDocuments, current_corpus, current_snapshot

BATCH = 1_000
"""Queries that are searched for at once."""
LEXICAL = frozenset({"bm25", "hybrid"})
OUTSIDE = "pooled pairs are outside the filter of their query: not relevant without a judgment"
NOT_DRAWN = "pooled pairs were not drawn into the sample that is judged; the project keeps them as pooled"
# A pool of random negatives alone has no rank at all: the types cannot be read off the values.
_SOURCES = pa.schema(
    {
        "pool_id": pa.string(),
        "query_id": pa.string(),
        "document_id": pa.string(),
        "system": pa.string(),
        "rank": pa.int32(),
        "score": pa.float64(),
        "passage_start": pa.int32(),
        "passage_end": pa.int32(),
    }
)
_CHARACTERS = """
SELECT sum(length(title) + length(body)) FROM documents JOIN snapshot_documents USING (content_hash)
WHERE snapshot_id = ? AND NOT EXISTS (
    FROM pools WHERE snapshot_id = ?
        AND (json_exists(parameters, '$.systems.dense') OR json_exists(parameters, '$.systems.hybrid')))
"""


class _PoolInputs(NamedTuple):
    snapshot_id: str
    corpus: Corpus
    queries: list[Query]
    held: list[tuple[str, str]]


class _Searched(NamedTuple):
    systems: list[SystemFound]
    union: Union
    draw: Draw


class _BuiltPool(NamedTuple):
    pool_id: str
    snapshot_id: str
    parameters: Mapping[str, Any]
    proposals: list[CandidateSource]
    report: dict[str, Any]
    sample: list[PooledPair]
    outside: Mapping[Pair, str]


def build_pool(
    store: Store,
    systems: Sequence[str],
    depth: int,
    random_negatives: int,
    seed: int,
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
    budget: int | None = None,
    author: str = COMMAND_LINE,
    stemmer: str | None = None,
    without: Collection[str] = (),
    sample_bands: str | None = None,
    sample_budget: int | None = None,
    ids: str | None = None,
    rate: float = RATE,
) -> PoolReport:
    """Pool the first `depth` documents of each system and `random_negatives` random ones for each query.

    Parameters
    ----------
    systems: names out of `pooling.request.SYSTEMS`, `run:NAME` for imported runs, `engine:NAME` for engines,
        whose lists of today are stored as a run.
    model: what dense and hybrid embed with; see `retrieval.embeddings.find_model`.
    budget: at most so many pairs that systems propose, evenly over the queries (`spend`). Random
        negatives come on top.
    author: who asked, for the audit trail: a lead or the command line.
    stemmer: the project's stemmer for BM25 from now on, by its language, or 'none'; None: as it was.
    without: ids of queries that get no candidates.
    sample_bands, sample_budget: only a random sample of the pairs is judged; see `pool_sample.read_design`.
    ids: a file with all ids of the engine, which random negatives are drawn from on a held corpus.
    rate: requests a second to engines.

    Raises
    ------
    InputError: unknown systems or stemmer, a depth or number that is none, bands that cannot be sampled, or
        two budgets.
    NotFoundError: the model or a run is not there.
    RefusedError: there is no corpus, no query to judge, the model cannot be used, the sample's budget is too
        small, or the author is no lead.
    """
    names, design = checked_request(systems, depth, random_negatives, budget, sample_bands, sample_budget)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    if stemmer is not None:
        with store.transaction() as cursor:
            choose_stemmer(cursor, stemmer)
    names, unanswered = ask_engines(store, names, depth, rate, author, progress)
    with store.reading() as cursor:
        refuse_without_corpus(cursor, names)
    path = None if ids is None else Path(ids)
    drawn = draw_negatives_outside(store, names, random_negatives, seed, path, rate, progress)
    given = _read(store, without)
    texts = read_texts(store, given.corpus)
    engines = Systems(store, names, given.corpus, model)
    parameters: dict[str, Any] = {
        "budget": budget,
        "depth": depth,
        "random_negatives": random_negatives,
        "reach": REACH,
        "seed": seed,
        "systems": engines.settings,
    }
    if design is not None:
        parameters["sample"] = design.parameters
    if drawn is not None:
        parameters["random"] = digest("random of an engine", drawn)
    beyond_ascii = StoredDocuments(store, texts.beyond_ascii)
    if not LEXICAL.isdisjoint(names) and _are_cut_otherwise(given.queries, beyond_ascii):
        parameters["words"] = CUT
    filters = read_filters(store)
    if filters.queries:
        parameters["filters"] = digest("filters", filters.queries)
    asked = [(query.query_id, query.text) for query in given.queries]
    stand_ins = StandIns(texts.identical, _asked(given), filters.outside)
    pool_id = digest("pool", given.snapshot_id, asked, parameters, stand_ins.unusual)
    with store.reading() as cursor:
        before = _built_before(cursor, pool_id)
    if before is not None:
        return before
    with_text = (one for one in given.corpus.ids if one not in texts.blank)
    order = negative_order(with_text, seed, texts.identical, drawn) if random_negatives else None
    searched = _search(engines, given.queries, parameters, order, texts.identical, stand_ins, progress)
    outside = filters.among(pair[:2] for pair in (*searched.union.proposals, *searched.draw.proposals))
    proposals, report, sample = _unite(given, searched, parameters, engines.outside, design, outside)
    report["left_out"] |= unanswered
    compared = engines.compare_bm25(given.queries, seed, progress)
    if compared is not None:
        report["rank_bm25"] = compared._asdict()
    bring_texts(store, (proposal.document_id for proposal in proposals))
    pool = _BuiltPool(pool_id, given.snapshot_id, parameters, proposals, report, sample, outside)
    return _keep(store, pool, author)


def embedding_forecast(cursor: Cursor) -> Minutes | None:
    """How long a pool with dense or hybrid, or a map, embeds the corpus; None where a pool has done so."""
    snapshot = get_setting(cursor, "corpus")
    [(characters,)] = cursor.execute(_CHARACTERS, [snapshot, snapshot]).fetchall()
    return minutes_to_embed(cursor, characters, DEFAULT_MODEL) if characters else None


def checked_request(
    systems: Sequence[str],
    depth: int,
    random_negatives: int,
    budget: int | None = None,
    sample_bands: str | None = None,
    sample_budget: int | None = None,
) -> tuple[list[str], SampleDesign | None]:
    """The systems, each once, and the sample of the pool, if one was asked for; see `build_pool`.

    Raises
    ------
    InputError: as `build_pool`.
    """
    names = known_systems(systems, engines=True)
    numbers = {"depth": depth, "random_negatives": random_negatives, "budget": budget}
    refuse_problems(out_of_bounds(PoolRequest, numbers))
    return names, _design(sample_bands, sample_budget, depth, budget)


def queries_to_pool(cursor: Cursor, systems: Sequence[str] = ()) -> list[Query]:
    """The queries in force, where there is a corpus to search, or engines among the systems bring one.

    Raises
    ------
    RefusedError: there are no queries, or there is no corpus.
    """
    queries = active_queries(cursor)
    if not queries:
        raise RefusedError(
            "There are no queries to find documents for. Draw a sample, or import queries.",
            command="`goldgrade sample` draws, `goldgrade import queries` imports.",
        )
    if not any(name.startswith(ENGINE_PREFIX) for name in systems):
        current_snapshot(cursor)
    return queries


def _design(bands: str | None, budget: int | None, depth: int, best: int | None) -> SampleDesign | None:
    design = read_design(bands, budget, depth)
    if design is not None and best is not None:
        raise InputError(
            "A budget takes the best ranked pairs, which is no random sample: give either a budget or a "
            "sample of the pool."
        )
    return design


def _read(store: Store, without: Collection[str]) -> _PoolInputs:
    with store.reading() as cursor:
        queries = [query for query in queries_to_pool(cursor) if query.query_id not in without]
        held = cursor.execute("SELECT query_id, document_id FROM candidates").fetchall()
        return _PoolInputs(current_snapshot(cursor), current_corpus(cursor), queries, held)


def _are_cut_otherwise(queries: Sequence[Query], documents: Iterable[Document]) -> bool:
    """Whether an older goldgrade could have found other documents, because it cut texts into other words."""
    asked = any(is_cut_otherwise(query.text) for query in queries)
    return asked or any(is_cut_otherwise(document.text, whole=True) for document in documents)


def _asked(given: _PoolInputs) -> list[tuple[str, str]]:
    """The candidates of the queries in force."""
    queries = {query.query_id for query in given.queries}
    return [pair for pair in given.held if pair[0] in queries]


def _search(
    engines: Systems,
    queries: Sequence[Query],
    parameters: Mapping[str, Any],
    order: RandomOrder | GivenOrder | None,
    identical: Identical,
    stand_ins: StandIns,
    progress: Progress,
) -> _Searched:
    """Search for `BATCH` queries at a time: of their lists only what the pool takes stays in memory."""
    depth, number = parameters["depth"], parameters["random_negatives"]
    proposals, drawn, merged, left_out = [], [], 0, Counter[str]()
    filled = defaultdict[str, list[int]](list)
    for start in range(0, len(queries), BATCH):
        asked = queries[start : start + BATCH]
        match = engines.search(asked, max(REACH, depth), silent if start else progress)
        union = unite(match, asked, depth, stand_ins)
        proposals += union.proposals
        merged += union.merged
        if order is not None:
            draw = draw_negatives(match, asked, order, number, depth, identical, stand_ins)
            drawn += draw.proposals
            left_out.update(draw.left_out)
        for system in match:
            filled[system.name] += map(len, system.hits)
        progress("pool: search", start + len(asked), len(queries))
    systems = [engines.found_by(name, queries, places) for name, places in filled.items()]
    return _Searched(systems, Union(proposals, merged), Draw(drawn, left_out))


def _unite(
    given: _PoolInputs,
    searched: _Searched,
    parameters: Mapping[str, Any],
    outside_corpus: int,
    design: SampleDesign | None,
    outside: Collection[Pair],
) -> tuple[list[CandidateSource], dict[str, Any], list[PooledPair]]:
    found, union, draw = searched
    seed = parameters["seed"]
    proposed = [proposal for proposal in union.proposals if proposal[:2] not in outside]
    within, over = spend(proposed, parameters["budget"], seed)
    pooled: list[PooledPair] = []
    if design is not None:
        drawn, pooled = draw_sample(proposed, design, seed)
        within, over = drawn, 0
    places = min(parameters["depth"], len(given.corpus.ids))
    reports = system_reports(found, within, places)
    runs = [system for system in found if system.name.startswith(RUN_PREFIX)]
    left_out = {
        "places stayed empty, because no further document scored above zero": sum(
            report.unfilled for report in reports if not report.system.startswith(RUN_PREFIX)
        ),
        "places stayed empty, because an imported run ends above them": sum(
            max(places - filled, 0) for system in runs for filled in system.filled if filled
        ),
        "places of imported runs name documents that the corpus does not have": outside_corpus,
        "candidates are judged under the id of an identical document": union.merged,
        "candidates are over the budget: in their queries, others stand higher": over,
        NOT_DRAWN: sum(not pair.sampled for pair in pooled),
        OUTSIDE: len(outside),
        **draw.left_out,
    }
    random = [proposal for proposal in draw.proposals if proposal[:2] not in outside]
    proposals = sorted([*within, *random], key=lambda proposal: proposal[:3])
    report = {
        "queries": len(given.queries),
        "candidates": sum(1 for _ in groupby(proposals, key=attrgetter("query_id", "document_id"))),
        "random_negatives": len(random),
        "systems": [system._asdict() for system in reports],
        "left_out": {reason: count for reason, count in left_out.items() if count},
    }
    if design is not None:
        report["sample"] = [band._asdict() for band in sampled_bands(design, pooled)]
    left = [one for one in (*union.proposals, *draw.proposals) if one[:2] in outside]
    return sorted([*proposals, *left], key=lambda proposal: proposal[:3]), report, pooled


def _keep(store: Store, pool: _BuiltPool, author: str) -> PoolReport:
    columns = {
        name: [getattr(proposal, name) for proposal in pool.proposals] for name in CandidateSource._fields
    }
    sources = pa.table({"pool_id": [pool.pool_id] * len(pool.proposals), **columns}, schema=_SOURCES)
    row = [pool.pool_id, pool.snapshot_id, canonical_json(pool.parameters), canonical_json(pool.report)]
    with store.transaction(appends=True) as cursor:
        before = _built_before(cursor, pool.pool_id)
        if before is not None:
            return before
        added = _append(cursor, row, sources, pool.outside)
        append_pairs(cursor, pool.pool_id, pool.sample)
        detail = {"pool": pool.pool_id, **pool.parameters, "candidates added": added}
        record_event(cursor, "pool", detail, author)
        return _report(cursor, pool.pool_id, pool.snapshot_id, pool.report, added, built_before=False)


def _append(cursor: Cursor, row: Sequence[str], sources: pa.Table, outside: Collection[Pair]) -> int:
    """Append the pool and its candidates' sources, and those new candidates that people judge: how many."""
    left = [[pair[place] for pair in outside] for place in (0, 1)]
    cursor.execute("INSERT INTO pools VALUES (?, ?, ?, ?, ?)", [*row, utc_now()])
    append(cursor, "candidate_sources", dict(zip(sources.column_names, sources.columns, strict=True)))
    added = cursor.execute(
        """
        INSERT INTO candidates
        SELECT DISTINCT query_id, document_id FROM candidate_sources s
        WHERE pool_id = ? AND NOT EXISTS (
            FROM candidates c WHERE c.query_id = s.query_id AND c.document_id = s.document_id)
        AND (query_id, document_id) NOT IN (SELECT (unnest(?::TEXT[]), unnest(?::TEXT[])))
        ORDER BY query_id, document_id
        """,
        [row[0], *left],
    ).fetchall()
    return int(added[0][0])
