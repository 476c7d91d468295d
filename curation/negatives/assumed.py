"""Assumed negatives: the pairs that count as not relevant although nobody judged them.

Evaluation and training take a document that nobody judged for not relevant. The pairs for which that
assumption matters fall into three strata:

'top'     within the pool's depth in some system's list, and not judged: over the budget, not drawn into the
          sample of the pool, of a system or a corpus that came later, or waiting for its round
'below'   below the pool's depth in every list, and within a greater depth in at least one: what usual
          practice mines as hard negatives
'random'  drawn for a pool as an easy negative, and within that depth of no list

Excluded are pairs that are judged or planned in an open round, also under the id of an identical document;
documents without text, which nobody could judge; and near-duplicates of a relevant document, which
`hard_negatives` excludes as well. All of them are counted, and the near-duplicates are listed.
"""

from __future__ import annotations

from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from curation.core.similarity.identical import StandIns
from curation.core.similarity.near_duplicates import near_duplicate
from curation.core.similarity.shingles import word_shingles
from curation.ingest.filters.stored import NO_FILTERS, Filters
from curation.pooling.corpus_texts import CorpusTexts
from curation.pooling.random_negatives import RANDOM
from curation.pooling.relevance import Pair, Relevance
from curation.pooling.systems import SystemHits
from curation.store import Document, Query
from curation.store.documents import Corpus

ReadDocuments = Callable[[Iterable[str]], Iterable[Document]]
TOP, BELOW = "top", "below"
STRATA = (TOP, BELOW, RANDOM)


class AlikePair(NamedTuple):
    """An unjudged document that is nearly the text of a relevant one, and was kept out of the population."""

    query_id: str
    document_id: str
    positive_id: str
    similarity: float


class Population(NamedTuple):
    """The assumed negatives by stratum, ordered, and what is none: listed and counted by reason."""

    strata: Mapping[str, list[Pair]]
    near_duplicates: list[AlikePair]
    left_out: dict[str, int]


def assumed_negatives(
    hitses: Sequence[SystemHits],
    queries: Sequence[Query],
    corpus: Corpus,
    texts: CorpusTexts,
    documents: ReadDocuments,
    random: Iterable[Pair],
    taken: Iterable[Pair],
    candidates: Iterable[Pair],
    relevance: Relevance,
    *,
    pool_depth: int,
    depth: int,
    threshold: float,
    filters: Filters = NO_FILTERS,
) -> Population:
    """The assumed negatives by stratum; a text with several ids counts once.

    Parameters
    ----------
    texts, documents: what is known of all texts of the corpus, and its documents by id.
    found: what each system finds for `queries`, to `depth` or deeper.
    random: pairs that were drawn as easy negatives.
    taken: pairs that are judged or will be.
    candidates: decide the id under which a text with several ids is judged.
    filters: pairs outside that of their query are known as not relevant, and none of the population.
    """
    identical = texts.identical
    done = {(query_id, identical.first(document_id)) for query_id, document_id in taken}
    ranks = _best_ranks(hitses, queries, random, StandIns(identical, candidates, filters.outside), depth)
    known = frozenset(corpus.part(document_id for _, document_id in ranks).ids)
    alike_to_relevant = _near_duplicates(ranks, documents, relevance, threshold)
    strata: dict[str, list[Pair]] = {name: [] for name in STRATA}
    near: list[AlikePair] = []
    left_out: Counter[str] = Counter()
    for pair, rank in sorted(ranks.items()):
        if pair[1] not in known:
            left_out["easy negatives name a document that the corpus no longer has"] += 1
        elif filters.outside(*pair):
            left_out["pairs are outside the filter of their query"] += 1
        elif (pair[0], identical.first(pair[1])) in done:
            left_out["pairs are judged, or planned in an open round"] += 1
        elif pair[1] in texts.blank:
            left_out["pairs have a document without text"] += 1
        elif pair in alike_to_relevant:
            near.append(alike_to_relevant[pair])
        else:
            strata[RANDOM if rank is None else TOP if rank <= pool_depth else BELOW].append(pair)
    left_out["pairs are near-duplicates of a relevant document, and no negatives"] = len(near)
    return Population(strata, near, {reason: count for reason, count in left_out.items() if count})


def _near_duplicates(
    pairs: Iterable[Pair], documents: ReadDocuments, relevance: Relevance, threshold: float
) -> dict[Pair, AlikePair]:
    """Pair → the relevant document of its query that it nearly repeats, of those that do."""
    positives = defaultdict[str, list[str]](list)
    for pair in sorted(relevance.grades):
        if relevance.is_relevant(pair):
            positives[pair[0]].append(pair[1])
    asked = defaultdict[str, list[str]](list)
    for query_id, document_id in pairs:
        if query_id in positives:
            asked[document_id].append(query_id)
    relevant = documents(name for names in positives.values() for name in names)
    shingles = {one.document_id: word_shingles(one.text) for one in relevant}
    alike = {}
    for document in documents(asked):
        name = document.document_id
        known = ChainMap({name: word_shingles(document.text)}, shingles)
        for query_id in asked[name]:
            found = near_duplicate(name, positives[query_id], known, threshold)
            if found is not None:
                alike[query_id, name] = AlikePair(query_id, *found)
    return alike


def _best_ranks(
    hitses: Sequence[SystemHits],
    queries: Sequence[Query],
    random: Iterable[Pair],
    stand_ins: StandIns,
    depth: int,
) -> dict[Pair, int | None]:
    """Pair → the best rank that a system gives it within the depth; None for what chance alone drew."""
    ranks: dict[Pair, int | None] = {}
    asked = {query.query_id for query in queries}
    for system in hitses:
        for query, hits in zip(queries, system.hits, strict=True):
            for rank, hit in enumerate(hits[:depth], 1):
                pair = (query.query_id, stand_ins.of(query.query_id, hit.document_id))
                ranks[pair] = min(rank, ranks.get(pair) or rank)
    for query_id, document_id in random:
        if query_id in asked:
            ranks.setdefault((query_id, stand_ins.of(query_id, document_id)), None)
    return ranks
