"""The check of relevant documents: whether those of different parts are nearly the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from curation.splits.certificate.comparison import (
    NumberedPair,
    Sieve,
    jaccard_blocks,
    pairs_compared,
    part_pairs,
)
from curation.splits.certificate.findings import CheckResult, Crossing, SplitEvidence, TieCheck, closest_pair
from curation.splits.certificate.shingles import word_shingles
from curation.splits.rules import CONTAINED, DECIMALS, LEAST_SHINGLES

NEAR_DUPLICATE = "near-duplicate document"

Holder = tuple[str, str]
"""A document id, and a part in which the document is relevant."""


def check_documents(evidence: SplitEvidence) -> CheckResult:
    """Relevant documents, in each part where one is relevant; a document is not compared with itself.

    Leaks are also documents of which one holds the other nearly whole; the highest similarity is Jaccard's.
    """
    inputs, threshold = evidence.inputs, evidence.rules.document
    queries = _relevant_queries(evidence)
    holders = sorted(queries)
    ids = [document_id for document_id, _ in holders]
    texts = [inputs.documents[document_id] for document_id in ids]
    pairs = part_pairs([part for _, part in holders])
    grouped = np.array([name in inputs.grouped for name in ids], dtype=bool)
    cut_pairs = _cut_documents(holders, queries, evidence.cut)
    sieve = Sieve(threshold, len(ids), cut_pairs, grouped=grouped)
    same = np.unique(ids, return_inverse=True)[1] if ids else np.zeros(0, dtype=np.int64)
    shingles = [word_shingles(text) for text in texts]
    held = Sieve(CONTAINED, len(ids), cut_pairs, grouped=grouped)
    sizes = np.array([len(shingle) for shingle in shingles], dtype=np.int64)
    for first, second, similarity in jaccard_blocks(shingles, pairs, "documents", evidence.progress):
        other = same[first] != same[second]
        sieve.take(first[other], second[other], similarity[other])
        if threshold is not None:
            smaller = np.minimum(sizes[first], sizes[second])
            share = similarity * (sizes[first] + sizes[second]) / (1 + similarity) / smaller
            part = other & (similarity < threshold) & (smaller >= LEAST_SHINGLES)
            held.take(first[part], second[part], np.round(share[part], DECIMALS))
    crossing, cut = [*sieve.leaks, *held.leaks], [*sieve.residual, *held.residual]
    leaks = [leak for found in crossing for leak in _crossings(found, holders, queries, evidence.cut)]
    residual = [tie for found in cut for tie in _crossings(found, holders, queries, evidence.cut)]
    check = TieCheck(
        kind=NEAR_DUPLICATE,
        looked_for=threshold is not None,
        threshold=threshold,
        compared=pairs_compared(pairs),
        highest=closest_pair(sieve.highest, ids, texts),
        told_apart=closest_pair(sieve.told_apart, ids, texts),
        crossing=len(crossing),
        cut=len(residual),
    )
    return CheckResult(check, leaks, residual)


def _relevant_queries(evidence: SplitEvidence) -> dict[Holder, list[str]]:
    """Document and part → the queries of that part to which the document is relevant."""
    queries: dict[Holder, list[str]] = {}
    for query_id in sorted(evidence.inputs.relevant):
        for document_id in evidence.inputs.relevant[query_id]:
            queries.setdefault((document_id, evidence.parts[query_id]), []).append(query_id)
    return queries


def _crossings(
    numbered_pair: NumberedPair,
    holders: Sequence[Holder],
    queries: Mapping[Holder, list[str]],
    cut: set[frozenset[str]],
) -> Iterator[Crossing]:
    """Of the pairs of queries that two similar documents tie the first that is not cut; all where all are."""
    similarity, one, other = numbered_pair
    first, second = holders[one][0], holders[other][0]
    pairs = [(a, b) for a in queries[holders[one]] for b in queries[holders[other]]]
    free = [pair for pair in pairs if frozenset(pair) not in cut]
    for a, b in free[:1] or pairs:
        (query_a, document_a), (query_b, document_b) = sorted([(a, first), (b, second)])
        yield Crossing(query_a, query_b, NEAR_DUPLICATE, similarity, (document_a, document_b))


def _cut_documents(
    holders: Sequence[Holder],
    queries: Mapping[Holder, list[str]],
    cut: set[frozenset[str]],
) -> set[tuple[int, int]]:
    """Pairs of documents whose queries are all cut from each other, by their numbers."""
    part_numbers: dict[str, list[int]] = {}
    for number, (_, part) in enumerate(holders):
        part_numbers.setdefault(part, []).append(number)
    of_query: dict[str, list[int]] = {}
    for number, holder in enumerate(holders):
        for query_id in queries[holder]:
            of_query.setdefault(query_id, []).append(number)
    found = set()
    for one, other in (sorted(pair) for pair in cut if len(pair) == 2):
        for first in of_query.get(one, ()):
            for second in of_query.get(other, ()):
                across = ((a, b) for a in queries[holders[first]] for b in queries[holders[second]])
                if all(frozenset(pair) in cut for pair in across):
                    found.add((min(first, second), max(first, second)))
    return found
