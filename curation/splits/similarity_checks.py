"""The exhaustive checks for similar texts in different parts: query texts, paraphrases and documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import numpy as np

from curation.core.statistics.arrays import Ints, Mask
from curation.splits import certificate_shingles, comparison
from curation.splits.certificate_shingles import character_shingles, numbers_and_signs, sorted_shingles
from curation.splits.comparison import Block, NumberedPair, PairSieve, PartPair, compute_jaccards, pair_parts
from curation.splits.findings import (
    NEAR_DUPLICATE,
    PARAPHRASE,
    QUERY_TEXT,
    AssignedSplit,
    ClosestPair,
    Crossing,
    Findings,
    TieCheck,
)
from curation.splits.rules import CONTAINED, DECIMALS, MIN_SHINGLES

EXCERPT = 280
"""Number of characters of a text that the certificate shows."""
PartDocument = tuple[str, str]
"""A document id, and a part of the split that has a query to which the document is relevant."""


def check_query_texts(split: AssignedSplit) -> Findings:
    """Check query texts by the Jaccard similarity of their character 3-grams.

    Two texts that reach the threshold once their words are sorted alphabetically are leaks, too. The reported
    highest similarity is that of the unsorted texts.
    """
    queries = split.inputs.queries
    texts = [queries[query_id] for query_id in sorted(queries)]
    pairs, progress = split.query_pairs, split.progress
    written = compute_jaccards(list(map(character_shingles, texts)), pairs, "query texts", progress)
    reworded = compute_jaccards(list(map(sorted_shingles, texts)), pairs, "reworded query texts", progress)
    classes = _number_classes([numbers_and_signs(text) for text in texts])
    comparable = (_filter_block(block, classes[block[0]] == classes[block[1]]) for block in reworded)
    threshold = split.rules.query
    return _sift_queries(split, QUERY_TEXT, threshold, pairs, written, comparable)


def check_paraphrases(split: AssignedSplit) -> Findings | None:
    """Check queries by the cosine of their embeddings; None without embeddings.

    A query in a language that the model cannot read has a vector of zeros, and is not compared.
    """
    if split.inputs.vectors is None:
        return None
    vectors = np.asarray(split.inputs.vectors, dtype=np.float64)
    is_read: Mask = np.any(vectors, axis=1)
    part_pairs = [(first[is_read[first]], second[is_read[second]]) for first, second in split.query_pairs]
    blocks = comparison.compute_cosines(vectors, part_pairs, split.progress)
    return _sift_queries(split, PARAPHRASE, split.rules.paraphrase, part_pairs, blocks)


def _sift_queries(
    split: AssignedSplit,
    kind: str,
    threshold: float | None,
    part_pairs: Sequence[PartPair],
    blocks: Iterable[Block],
    leak_blocks: Iterable[Block] = (),
) -> Findings:
    """Sift the pairs of queries in the blocks. Pairs in `leak_blocks` count only as leaks or cut pairs."""
    ids = sorted(split.inputs.queries)
    texts = [split.inputs.queries[query_id] for query_id in ids]
    grouped_queries = split.inputs.grouped_queries
    is_grouped = np.array([query_id in grouped_queries for query_id in ids], dtype=bool)
    cut = _number_cut_queries(ids, split.cut_pairs)
    sieve = PairSieve(threshold, len(ids), cut, is_grouped)
    for block in blocks:
        sieve.add(*block)
    leak_sieve = PairSieve(threshold, len(ids), cut, is_grouped)
    for block in leak_blocks if threshold is not None else ():
        leak_sieve.add(*block)
    leaks = _list_query_crossings(kind, ids, sieve.leaks, leak_sieve.leaks)
    residual = _list_query_crossings(kind, ids, sieve.residual, leak_sieve.residual)
    check = _summarize_sieve(kind, threshold, part_pairs, sieve, ids, texts, len(leaks), len(residual))
    return Findings((check,), tuple(leaks), tuple(residual))


def _number_cut_queries(ids: Sequence[str], cut: Iterable[frozenset[str]]) -> set[tuple[int, int]]:
    """Return the cut pairs of queries as pairs of positions in `ids`, the smaller position first."""
    index_of = {query_id: index for index, query_id in enumerate(ids)}
    index_pairs = (sorted(index_of[query_id] for query_id in pair if query_id in index_of) for pair in cut)
    return {(pair[0], pair[1]) for pair in index_pairs if len(pair) == 2}


def _list_query_crossings(
    kind: str, ids: Sequence[str], written: Sequence[NumberedPair], reordered: Sequence[NumberedPair]
) -> list[Crossing]:
    """List each pair of texts once, with the similarity of the unsorted texts for the pairs in `written`."""
    written_pairs = {pair[1:] for pair in written}
    pairs = [*written, *(pair for pair in reordered if pair[1:] not in written_pairs)]
    return [Crossing(ids[a], ids[b], kind, similarity) for similarity, a, b in pairs]


def _filter_block(block: Block, mask: Mask) -> Block:
    first, second, similarity = block
    return first[mask], second[mask], similarity[mask]


def _number_classes(texts: Sequence[str]) -> Ints:
    """Return a number for each text, so that equal texts have equal numbers."""
    return np.unique(np.array(texts, dtype=object), return_inverse=True)[1]


def _summarize_sieve(
    kind: str,
    threshold: float | None,
    part_pairs: Sequence[PartPair],
    sieve: PairSieve,
    ids: Sequence[str],
    texts: Sequence[str],
    crossing: int,
    cut: int,
) -> TieCheck:
    """Make a check's result from the pairs that a sieve kept, given as positions in `ids` and `texts`."""

    def show_pair(numbered_pair: NumberedPair | None) -> ClosestPair | None:
        if numbered_pair is None:
            return None
        similarity, a, b = numbered_pair
        return ClosestPair(ids[a], ids[b], similarity, texts[a][:EXCERPT], texts[b][:EXCERPT])

    return TieCheck(
        kind=kind,
        looked_for=threshold is not None,
        threshold=threshold,
        compared=comparison.count_compared_pairs(part_pairs),
        highest=show_pair(sieve.highest),
        told_apart=show_pair(sieve.told_apart),
        crossing=crossing,
        cut=cut,
    )


def check_documents(split: AssignedSplit) -> Findings:
    """Check for similar relevant documents of different parts. No document is compared with itself.

    Two documents are also a leak if one contains nearly all of the other document's text. The reported
    highest similarity is the Jaccard similarity.
    """
    inputs, threshold = split.inputs, split.rules.document
    queries = _map_relevant_queries(split)
    part_documents = sorted(queries)
    ids = [document_id for document_id, _ in part_documents]
    texts = [inputs.documents[document_id] for document_id in ids]
    part_pairs = pair_parts([part for _, part in part_documents])
    is_grouped = np.array([document_id in inputs.grouped for document_id in ids], dtype=bool)
    cut = _number_cut_documents(part_documents, queries, split.cut_pairs)
    similar = PairSieve(threshold, len(ids), cut, is_grouped)
    contained = PairSieve(CONTAINED, len(ids), cut, is_grouped)
    document_class = _number_classes(ids)
    shingles = [certificate_shingles.word_shingles(text) for text in texts]
    sizes = np.array([len(shingle) for shingle in shingles], dtype=np.int64)
    for block in compute_jaccards(shingles, part_pairs, "documents", split.progress):
        first, second, similarity = _filter_block(block, document_class[block[0]] != document_class[block[1]])
        similar.add(first, second, similarity)
        if threshold is not None:
            smaller = np.minimum(sizes[first], sizes[second])
            shared = similarity * (sizes[first] + sizes[second]) / (1 + similarity)
            mask = (similarity < threshold) & (smaller >= MIN_SHINGLES)
            contained.add(first[mask], second[mask], np.round((shared / smaller)[mask], DECIMALS))
    leak_pairs, cut_pairs = [*similar.leaks, *contained.leaks], [*similar.residual, *contained.residual]
    leaks = _list_document_crossings(leak_pairs, part_documents, queries, split.cut_pairs)
    residual = _list_document_crossings(cut_pairs, part_documents, queries, split.cut_pairs)
    counts = (len(leak_pairs), len(residual))
    check = _summarize_sieve(NEAR_DUPLICATE, threshold, part_pairs, similar, ids, texts, *counts)
    return Findings((check,), tuple(leaks), tuple(residual))


def _map_relevant_queries(split: AssignedSplit) -> dict[PartDocument, list[str]]:
    """Map each document and part to the queries of the part to which the document is relevant."""
    queries: dict[PartDocument, list[str]] = {}
    for query_id in sorted(split.inputs.relevant):
        for document_id in split.inputs.relevant[query_id]:
            queries.setdefault((document_id, split.parts[query_id]), []).append(query_id)
    return queries


def _list_document_crossings(
    numbered_pairs: Iterable[NumberedPair],
    part_documents: Sequence[PartDocument],
    queries: Mapping[PartDocument, list[str]],
    cut: set[frozenset[str]],
) -> list[Crossing]:
    """List for each two similar documents the first uncut pair of queries, or all pairs if all are cut."""
    crossings = []
    for similarity, first, second in numbered_pairs:
        first_document, second_document = part_documents[first], part_documents[second]
        query_pairs = [(a, b) for a in queries[first_document] for b in queries[second_document]]
        uncut_pairs = [pair for pair in query_pairs if frozenset(pair) not in cut]
        for a, b in uncut_pairs[:1] or query_pairs:
            ends = sorted([(a, first_document[0]), (b, second_document[0])])
            (query_a, document_a), (query_b, document_b) = ends
            crossings.append(Crossing(query_a, query_b, NEAR_DUPLICATE, similarity, (document_a, document_b)))
    return crossings


def _number_cut_documents(
    part_documents: Sequence[PartDocument], queries: dict[PartDocument, list[str]], cut: set[frozenset[str]]
) -> set[tuple[int, int]]:
    """Find the pairs of positions in `part_documents` whose queries are all cut from each other."""
    indices_of_query: dict[str, list[int]] = {}
    for index, part_document in enumerate(part_documents):
        for query_id in queries[part_document]:
            indices_of_query.setdefault(query_id, []).append(index)
    index_pairs = set()
    for query_a, query_b in (sorted(pair) for pair in cut if len(pair) == 2):
        for first, second in product(indices_of_query.get(query_a, ()), indices_of_query.get(query_b, ())):
            query_pairs = product(queries[part_documents[first]], queries[part_documents[second]])
            if all(frozenset(pair) in cut for pair in query_pairs):
                index_pairs.add((min(first, second), max(first, second)))
    return index_pairs
