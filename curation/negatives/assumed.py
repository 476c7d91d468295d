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

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from curation.pooling.candidates import RANDOM
from curation.pooling.relevance import Pair, Relevance
from curation.pooling.systems import SystemHits
from curation.similarity.identical import Identical, StandIns
from curation.similarity.near_duplicates import near_duplicate
from curation.similarity.shingles import Shingles, word_shingles
from curation.store import Document, Query

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
    found: Sequence[SystemHits],
    queries: Sequence[Query],
    documents: Sequence[Document],
    random: Iterable[Pair],
    taken: Iterable[Pair],
    candidates: Iterable[Pair],
    relevance: Relevance,
    *,
    pool_depth: int,
    depth: int,
    threshold: float,
) -> Population:
    """The assumed negatives by stratum; a text with several ids counts once.

    Parameters
    ----------
    found: what each system finds for `queries`, to `depth` or deeper.
    random: pairs that were drawn as easy negatives.
    taken: pairs that are judged or will be.
    candidates: decide the id under which a text with several ids is judged.
    """
    identical = Identical(documents)
    by_id = {document.document_id: document for document in documents}
    done = {(query_id, identical.first(document_id)) for query_id, document_id in taken}
    ranks = _best_ranks(found, queries, random, StandIns(identical, candidates), depth)
    alike_to_relevant = _near_duplicates(by_id, relevance, threshold)
    strata: dict[str, list[Pair]] = {name: [] for name in STRATA}
    near: list[AlikePair] = []
    left_out: Counter[str] = Counter()
    for pair, rank in sorted(ranks.items()):
        if pair[1] not in by_id:
            left_out["easy negatives name a document that the corpus no longer has"] += 1
        elif (pair[0], identical.first(pair[1])) in done:
            left_out["pairs are judged, or planned in an open round"] += 1
        elif not by_id[pair[1]].text:
            left_out["pairs have a document without text"] += 1
        elif (alike := alike_to_relevant(pair)) is not None:
            near.append(alike)
        else:
            strata[RANDOM if rank is None else TOP if rank <= pool_depth else BELOW].append(pair)
    left_out["pairs are near-duplicates of a relevant document, and no negatives"] = len(near)
    return Population(strata, near, {reason: count for reason, count in left_out.items() if count})


def _near_duplicates(
    by_id: Mapping[str, Document], relevance: Relevance, threshold: float
) -> Callable[[Pair], AlikePair | None]:
    """A function from a pair to the relevant document of its query that it nearly repeats, or None."""
    positives: dict[str, list[str]] = {}
    for query_id, document_id in sorted(relevance.grades):
        if relevance.is_relevant((query_id, document_id)) and document_id in by_id:
            positives.setdefault(query_id, []).append(document_id)

    @cache
    def shingles_of(document_id: str) -> Shingles:
        return word_shingles(by_id[document_id].text)

    def alike(pair: Pair) -> AlikePair | None:
        query_id, document_id = pair
        own = positives.get(query_id, [])
        known = {other: shingles_of(other) for other in [document_id, *own]} if own else {}
        found = near_duplicate(document_id, own, known, threshold) if own else None
        return None if found is None else AlikePair(query_id, *found)

    return alike


def _best_ranks(
    found: Sequence[SystemHits],
    queries: Sequence[Query],
    random: Iterable[Pair],
    stand_ins: StandIns,
    depth: int,
) -> dict[Pair, int | None]:
    """Pair → the best rank that a system gives it within the depth; None for what chance alone drew."""
    ranks: dict[Pair, int | None] = {}
    asked = {query.query_id for query in queries}
    for system in found:
        for query, hits in zip(queries, system.hits, strict=True):
            for rank, hit in enumerate(hits[:depth], 1):
                pair = (query.query_id, stand_ins.of(query.query_id, hit.document_id))
                ranks[pair] = min(rank, ranks.get(pair) or rank)
    for query_id, document_id in random:
        if query_id in asked:
            ranks.setdefault((query_id, stand_ins.of(query_id, document_id)), None)
    return ranks
