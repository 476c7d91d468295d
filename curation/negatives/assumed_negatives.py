"""Assumed negatives: unjudged pairs that an evaluation counts as not relevant, as the population of an audit.

The population comes from the current corpus and the lists of the latest pool's systems, which search again.
It has three strata. The stratum 'top' has unjudged pairs within the pool's depth in some system's list: over
the budget, not drawn into the sample of the pool, from a later system or corpus, or waiting for their round.
The stratum 'below' has pairs below the pool's depth in every list, and within the audit's depth in at least
one list, which are often mined as hard negatives. The stratum 'random' has pairs drawn for a pool as easy
negatives, and outside the audit's depth in every list.

The population leaves out pairs that are judged or planned in an open round, also under the id of an identical
document; documents without text; and near-duplicates of a relevant document, as `find_hard_negatives` does.
All pairs that are left out are counted, and the near-duplicates of relevant documents are listed.
"""

from __future__ import annotations

import json
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from curation.core.errors import RefusedError
from curation.core.progress import Progress
from curation.core.similarity.identical_texts import Representatives
from curation.core.similarity.shingles import find_near_duplicate, word_shingles
from curation.ingest.filters import NO_FILTERS, Filters, read_filters
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.consensus.consensus import prepare_relevance
from curation.negatives.requests import AuditRequest
from curation.pooling import RANDOM
from curation.pooling.corpus_texts import CorpusTexts, read_texts
from curation.pooling.relevance import Pair, Relevance
from curation.pooling.systems import SystemLists, Systems, require_corpus, sort_systems
from curation.store import Cursor, Document, Query, Store
from curation.store.documents import Corpus, StoredDocuments, current_corpus

ReadDocuments = Callable[[Iterable[str]], Iterable[Document]]
TOP, BELOW = "top", "below"
STRATA = (TOP, BELOW, RANDOM)
# a pair stays in the population if only a pilot, practice or closed round showed it and nobody judged it
_JUDGED_OR_PLANNED = """
SELECT query_id, document_id FROM live_presentations JOIN round_states USING (round_id)
WHERE kind NOT IN ('pilot', 'practice') AND NOT closed
UNION SELECT query_id, document_id FROM counted_judgments
UNION SELECT query_id, document_id FROM current_adjudications
ORDER BY ALL
"""
_RANDOM_PAIRS = "SELECT DISTINCT query_id, document_id FROM candidate_sources WHERE system = ? ORDER BY ALL"


class NegativeDuplicate(NamedTuple):
    """An unjudged document left out of an audit's population because it nearly repeats a relevant
    document."""

    query_id: str
    document_id: str
    positive_id: str
    similarity: float


class Population(NamedTuple):
    """Assumed negatives by stratum, from which an audit draws.

    Attributes
    ----------
    strata: name of the stratum → assumed negatives.
    left_out: reason → number of pairs.
    """

    strata: Mapping[str, list[Pair]]
    near_duplicates: list[NegativeDuplicate]
    left_out: dict[str, int]


def find_assumed_negatives(
    inputs: AuditInputs,
    request: AuditRequest,
    lists: SystemLists,
    texts: CorpusTexts,
    documents: ReadDocuments,
    relevance: Relevance,
    filters: Filters = NO_FILTERS,
) -> Population:
    """Find the assumed negatives in each stratum of an audit. A text with several document ids counts once.

    Parameters
    ----------
    lists: each system's list for each query, at least to the request's depth.
    texts: identical and blank texts of the corpus.
    documents: a function that reads documents of the corpus by id.
    filters: pairs outside the filter of their query are known to be not relevant, and are left out.
    """
    identical = texts.identical
    judged = inputs.judged_or_planned
    judged_pairs = {(query_id, identical.first(document_id)) for query_id, document_id in judged}
    stand_ins = Representatives(identical, inputs.candidates, filters.explain_pair)
    best_ranks = _find_best_ranks(lists, inputs.queries, inputs.random_pairs, stand_ins, request.depth)
    corpus_ids = frozenset(inputs.corpus.part(document_id for _, document_id in best_ranks).ids)
    duplicates = _find_near_duplicates(best_ranks, documents, relevance, request.threshold)
    strata: dict[str, list[Pair]] = {name: [] for name in STRATA}
    near_duplicates: list[NegativeDuplicate] = []
    left_out: Counter[str] = Counter()
    for pair, rank in sorted(best_ranks.items()):
        if pair[1] not in corpus_ids:
            left_out["easy negatives are left out: their document is no longer in the corpus"] += 1
        elif filters.explain_pair(*pair):
            left_out["pairs are left out: their document does not match the query's filter"] += 1
        elif (pair[0], identical.first(pair[1])) in judged_pairs:
            left_out["pairs are left out: they are judged, or planned in an open round"] += 1
        elif pair[1] in texts.blank:
            left_out["pairs are left out: their document has no text"] += 1
        elif pair in duplicates:
            near_duplicates.append(duplicates[pair])
        else:
            strata[_choose_stratum(rank, inputs.pool_depth)].append(pair)
    left_out["pairs are left out: they are near-duplicates of a relevant document"] = len(near_duplicates)
    return Population(strata, near_duplicates, {reason: count for reason, count in left_out.items() if count})


def _choose_stratum(rank: int | None, pool_depth: int) -> str:
    if rank is None:
        return RANDOM
    return TOP if rank <= pool_depth else BELOW


def _find_near_duplicates(
    pairs: Iterable[Pair], documents: ReadDocuments, relevance: Relevance, threshold: float
) -> dict[Pair, NegativeDuplicate]:
    """Map each near-duplicate pair to the relevant document that the pair's document nearly repeats."""
    positives_of = defaultdict[str, list[str]](list)
    for query_id, document_id in sorted(filter(relevance.is_relevant, relevance.grades)):
        positives_of[query_id].append(document_id)
    queries_of = defaultdict[str, list[str]](list)
    for query_id, document_id in pairs:
        if query_id in positives_of:
            queries_of[document_id].append(query_id)
    positives = documents({positive_id for ids in positives_of.values() for positive_id in ids})
    shingles = {positive.document_id: word_shingles(positive.text) for positive in positives}
    duplicates = {}
    for document in documents(queries_of):
        document_id = document.document_id
        compared = ChainMap({document_id: word_shingles(document.text)}, shingles)
        for query_id in queries_of[document_id]:
            duplicate = find_near_duplicate(document_id, positives_of[query_id], compared, threshold)
            if duplicate is not None:
                duplicates[query_id, document_id] = NegativeDuplicate(query_id, *duplicate)
    return duplicates


def _find_best_ranks(
    lists: SystemLists, queries: list[Query], random_pairs: list[Pair], stand_ins: Representatives, depth: int
) -> dict[Pair, int | None]:
    """Find each pair's best rank in any system's list, down to the depth; None if the pair was only drawn at
    random."""
    ranks: dict[Pair, int | None] = {}
    query_ids = {query.query_id for query in queries}
    for hits_by_query in lists.values():
        for query, hits in zip(queries, hits_by_query, strict=True):
            for rank, hit in enumerate(hits[:depth], 1):
                pair = (query.query_id, stand_ins.of(query.query_id, hit.document_id))
                ranks[pair] = min(rank, ranks.get(pair) or rank)
    for query_id, document_id in random_pairs:
        if query_id in query_ids:
            ranks.setdefault((query_id, stand_ins.of(query_id, document_id)), None)
    return ranks


class AuditInputs(NamedTuple):
    """The inputs of an audit: the latest pool, the corpus, the queries and the judgments.

    Attributes
    ----------
    systems: name → settings of the pool's systems.
    judged_or_planned: pairs that are judged, decided by a reviewer, or planned in an open round.
    candidates: pairs of all pools, which decide the id under which a text with several ids is judged.
    relevance: a function that computes the grades of all pairs.
    random_pairs: pairs that were drawn at random as easy negatives.
    """

    pool_id: str
    pool_depth: int
    systems: Mapping[str, Any]
    corpus: Corpus
    queries: list[Query]
    judged_or_planned: list[Pair]
    candidates: list[Pair]
    random_pairs: list[Pair]
    relevance: Callable[[], Relevance]


def read_audit_inputs(cursor: Cursor) -> AuditInputs:
    rows = cursor.execute("SELECT pool_id, parameters FROM pools ORDER BY rowid DESC LIMIT 1").fetchall()
    if not rows:
        raise RefusedError(
            "No system has proposed documents yet. Build a pool.", command="`goldgrade pool` builds a pool."
        )
    parameters = json.loads(rows[0][1])
    return AuditInputs(
        pool_id=rows[0][0],
        pool_depth=parameters["depth"],
        systems=parameters["systems"],
        corpus=current_corpus(cursor),
        queries=read_active_queries(cursor),
        judged_or_planned=cursor.execute(_JUDGED_OR_PLANNED).fetchall(),
        candidates=cursor.execute("SELECT query_id, document_id FROM candidates ORDER BY ALL").fetchall(),
        random_pairs=cursor.execute(_RANDOM_PAIRS, [RANDOM]).fetchall(),
        relevance=prepare_relevance(cursor),
    )


def find_population(
    store: Store, inputs: AuditInputs, request: AuditRequest, progress: Progress
) -> tuple[Population, list[str]]:
    systems = sort_systems(list(inputs.systems) if request.systems is None else request.systems)
    store.read(require_corpus, systems)
    searches = Systems(store, systems, inputs.corpus, request.model)
    if request.systems is None:
        _refuse_changed(inputs, searches.settings)
    population = find_assumed_negatives(
        inputs,
        request,
        searches.search(inputs.queries, request.depth, progress),
        read_texts(store, inputs.corpus),
        lambda ids: StoredDocuments(store, inputs.corpus.part(ids).hashes),
        inputs.relevance(),
        read_filters(store),
    )
    n_unsearched = len(set(inputs.systems) - set(systems))
    if n_unsearched:
        reason = (
            "systems of the pool were not searched, so documents that only these systems rank are not audited"
        )
        population = population._replace(left_out={reason: n_unsearched, **population.left_out})
    return population, systems


def _refuse_changed(inputs: AuditInputs, settings: Mapping[str, Any]) -> None:
    current = json.loads(json.dumps(settings))
    changed = [name for name, stored in inputs.systems.items() if current[name] != stored]
    if changed:
        raise RefusedError(
            f"{', '.join(changed)}: the settings differ from the latest pool ({inputs.pool_id[:8]}). Name "
            "the pool's model with --model, choose other systems with --systems, or build the pool again "
            "with `goldgrade pool`."
        )
