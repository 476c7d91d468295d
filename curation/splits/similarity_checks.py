"""Exhaustive checks for similar texts in different parts of a split: queries, paraphrases and documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Ints, Mask
from curation.splits import certificate_shingles, comparison, findings
from curation.splits.comparison import NumberedPair, PairSieve, PartPair, compute_jaccards, pair_parts
from curation.splits.findings import AssignedSplit, ClosestPair, Crossing, Findings, TieCheck
from curation.splits.rules import DECIMALS, MIN_CONTAINMENT, MIN_SHINGLES

EXCERPT = 280
"""Number of characters of a text that the certificate shows."""


class ComparedTexts(NamedTuple):
    """Texts that a check compares: the query texts, or the relevant documents of each part of the split.

    Attributes
    ----------
    ids, texts: id and text of each compared text. A document is listed once for each part.
    queries: for each text the query itself, or the queries of the part to which the document is relevant.
    is_grouped: shape (texts,), whether the query or document has a group, where groups are a tie.
    part_pairs: positions of the texts in each two parts of the split.
    """

    ids: list[str]
    texts: list[str]
    queries: list[list[str]]
    is_grouped: Mask
    part_pairs: list[PartPair]


def check_query_texts(split: AssignedSplit) -> Findings:
    """Check the texts of queries in different parts by the Jaccard similarity of their character 3-grams.

    Two texts that reach the threshold once their words are sorted alphabetically are leaks, too. The reported
    highest similarity is the similarity of the unsorted texts.
    """
    threshold, progress = split.rules.query, split.progress
    compared = _list_query_texts(split)
    sieve = _make_sieve(split, compared, threshold)
    shingles = [certificate_shingles.character_shingles(text) for text in compared.texts]
    for block in compute_jaccards(shingles, compared.part_pairs, "query texts", progress):
        sieve.add(*block)
    sorted_sieve = _make_sieve(split, compared, threshold)
    if threshold is not None:
        shingles = [certificate_shingles.sorted_shingles(text) for text in compared.texts]
        class_of = _number_classes([certificate_shingles.numbers_and_signs(text) for text in compared.texts])
        blocks = compute_jaccards(shingles, compared.part_pairs, "reworded query texts", progress)
        for first, second, similarity in blocks:
            is_comparable = class_of[first] == class_of[second]
            sorted_sieve.add(first[is_comparable], second[is_comparable], similarity[is_comparable])
    return _make_findings(split, findings.QUERY_TEXT, threshold, compared, sieve, sorted_sieve)


def check_paraphrases(split: AssignedSplit) -> Findings | None:
    """Check queries in different parts by the cosine of their embeddings; None without embeddings.

    A query in a language that the model cannot read has a vector of zeros, and is not compared.
    """
    if split.inputs.vectors is None:
        return None
    threshold = split.rules.paraphrase
    vectors = np.asarray(split.inputs.vectors, dtype=np.float64)
    is_readable: Mask = np.any(vectors, axis=1)
    compared = _list_query_texts(split)
    part_pairs = [(a[is_readable[a]], b[is_readable[b]]) for a, b in compared.part_pairs]
    sieve = _make_sieve(split, compared, threshold)
    for block in comparison.compute_cosines(vectors, part_pairs, split.progress):
        sieve.add(*block)
    compared = compared._replace(part_pairs=part_pairs)
    return _make_findings(split, findings.PARAPHRASE, threshold, compared, sieve)


def check_documents(split: AssignedSplit) -> Findings:
    """Check for similar relevant documents in different parts. No document is compared with itself.

    Two documents are also a leak if one contains nearly all of the other document's text. The reported
    highest similarity is the Jaccard similarity.
    """
    threshold = split.rules.document
    compared = _list_documents(split)
    sieve = _make_sieve(split, compared, threshold)
    containment_sieve = _make_sieve(split, compared, MIN_CONTAINMENT)
    document_number = _number_classes(compared.ids)
    shingles = [certificate_shingles.word_shingles(text) for text in compared.texts]
    sizes = np.array([len(text_shingles) for text_shingles in shingles], dtype=np.int64)
    blocks = compute_jaccards(shingles, compared.part_pairs, "documents", split.progress)
    for first, second, similarity in blocks:
        is_other = document_number[first] != document_number[second]
        first, second, similarity = first[is_other], second[is_other], similarity[is_other]
        sieve.add(first, second, similarity)
        if threshold is not None:
            smaller = np.minimum(sizes[first], sizes[second])
            shared = similarity * (sizes[first] + sizes[second]) / (1 + similarity)
            mask = (similarity < threshold) & (smaller >= MIN_SHINGLES)
            containment = np.round((shared / smaller)[mask], DECIMALS)
            containment_sieve.add(first[mask], second[mask], containment)
    return _make_findings(split, findings.NEAR_DUPLICATE, threshold, compared, sieve, containment_sieve)


def _list_query_texts(split: AssignedSplit) -> ComparedTexts:
    queries, grouped_queries = split.inputs.queries, split.inputs.grouped_queries
    ids = sorted(queries)
    return ComparedTexts(
        ids=ids,
        texts=[queries[query_id] for query_id in ids],
        queries=[[query_id] for query_id in ids],
        is_grouped=np.array([query_id in grouped_queries for query_id in ids], dtype=bool),
        part_pairs=pair_parts([split.parts[query_id] for query_id in ids]),
    )


def _list_documents(split: AssignedSplit) -> ComparedTexts:
    inputs = split.inputs
    queries: dict[tuple[str, str], list[str]] = {}
    for query_id in sorted(inputs.relevant):
        for document_id in inputs.relevant[query_id]:
            queries.setdefault((document_id, split.parts[query_id]), []).append(query_id)
    part_documents = sorted(queries)
    ids = [document_id for document_id, _ in part_documents]
    return ComparedTexts(
        ids=ids,
        texts=[inputs.documents[document_id] for document_id in ids],
        queries=[queries[part_document] for part_document in part_documents],
        is_grouped=np.array([document_id in inputs.grouped for document_id in ids], dtype=bool),
        part_pairs=pair_parts([part for _, part in part_documents]),
    )


def _make_sieve(split: AssignedSplit, compared: ComparedTexts, threshold: float | None) -> PairSieve:
    cut = _number_cut_pairs(compared.queries, split.cut_pairs)
    return PairSieve(threshold, len(compared.ids), cut, compared.is_grouped)


def _number_cut_pairs(queries: list[list[str]], cut_pairs: set[frozenset[str]]) -> set[tuple[int, int]]:
    """Find the pairs of texts, as indexes, for which people cut every pair of the two texts' queries.

    The smaller position comes first.
    """
    indices_of_query: dict[str, list[int]] = {}
    for index, query_ids in enumerate(queries):
        for query_id in query_ids:
            indices_of_query.setdefault(query_id, []).append(index)
    index_pairs = set()
    for query_a, query_b in (sorted(pair) for pair in cut_pairs if len(pair) == 2):
        for first, second in product(indices_of_query.get(query_a, ()), indices_of_query.get(query_b, ())):
            if all(frozenset(pair) in cut_pairs for pair in product(queries[first], queries[second])):
                index_pairs.add((min(first, second), max(first, second)))
    return index_pairs


def _number_classes(texts: Sequence[str]) -> Ints:
    """Number the texts so that equal texts have equal numbers."""
    return np.unique(np.array(texts, dtype=object), return_inverse=True)[1]


def _make_findings(
    split: AssignedSplit,
    kind: str,
    threshold: float | None,
    compared: ComparedTexts,
    sieve: PairSieve,
    leak_sieve: PairSieve | None = None,
) -> Findings:
    """Make a check's findings from the pairs of texts that the check's sieve kept.

    Parameters
    ----------
    leak_sieve: pairs that are only leaks or cut pairs, and do not count as the most similar pair.
    """

    def show_pair(pair: NumberedPair | None) -> ClosestPair | None:
        if pair is None:
            return None
        similarity, first, second = pair
        first_text, second_text = (compared.texts[index][:EXCERPT] for index in (first, second))
        return ClosestPair(compared.ids[first], compared.ids[second], similarity, first_text, second_text)

    leak_pairs, cut_pairs = sieve.leaks, sieve.residual
    if leak_sieve is not None:
        leak_pairs = _add_new_pairs(leak_pairs, leak_sieve.leaks)
        cut_pairs = _add_new_pairs(cut_pairs, leak_sieve.residual)
    leaks = _list_crossings(kind, leak_pairs, compared, split.cut_pairs)
    residual = _list_crossings(kind, cut_pairs, compared, split.cut_pairs)
    check = TieCheck(
        kind=kind,
        looked_for=threshold is not None,
        threshold=threshold,
        compared=comparison.count_compared_pairs(compared.part_pairs),
        highest=show_pair(sieve.highest),
        told_apart=show_pair(sieve.told_apart),
        crossing=len(leaks),
        cut=len(residual),
    )
    return Findings((check,), tuple(leaks), tuple(residual))


def _add_new_pairs(pairs: list[NumberedPair], more_pairs: Iterable[NumberedPair]) -> list[NumberedPair]:
    """Join two lists of pairs of texts; a pair in both lists keeps its first similarity."""
    index_pairs = {pair[1:] for pair in pairs}
    return [*pairs, *(pair for pair in more_pairs if pair[1:] not in index_pairs)]


def _list_crossings(
    kind: str, pairs: Iterable[NumberedPair], compared: ComparedTexts, cut_pairs: set[frozenset[str]]
) -> list[Crossing]:
    """List, for any two similar texts, the first pair of queries that people did not cut, or all pairs if
    every pair is cut."""
    crossings = []
    for similarity, first, second in pairs:
        query_pairs = list(product(compared.queries[first], compared.queries[second]))
        uncut_pairs = [pair for pair in query_pairs if frozenset(pair) not in cut_pairs]
        for a, b in uncut_pairs[:1] or query_pairs:
            (query_a, id_a), (query_b, id_b) = sorted([(a, compared.ids[first]), (b, compared.ids[second])])
            documents = (id_a, id_b) if kind == findings.NEAR_DUPLICATE else ()
            crossings.append(Crossing(query_a, query_b, kind, similarity, documents))
    return crossings
