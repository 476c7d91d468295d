"""The exhaustive check for ties across the parts of a split.

The check shares no code with the search for ties, so that the check finds mistakes of the search. The check
has separate code for shingles and for the comparison of all texts of each two parts, and imports nothing from
`ties` or `groups`. Tests check these imports, and that both definitions of a shingle agree on any text. The
check and the search for ties share only the thresholds in `request.Rules`. Only pairs of queries that people
cut from each other by name may reach a threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Ints, Mask
from curation.splits import certificate_shingles, comparison
from curation.splits.certificate_shingles import character_shingles, numbers_and_signs, sorted_shingles
from curation.splits.comparison import Block, NumberedPair, PairSieve, PartPair, compute_jaccards, pair_parts
from curation.splits.request import CONTAINED, DECIMALS, MIN_SHINGLES, SESSION, SESSIONS

if TYPE_CHECKING:
    from curation.splits.inputs import SplitInputs
    from curation.splits.request import Rules

EXCERPT = 280
"""Number of characters of a text that the certificate shows."""

QUERY_TEXT = "query text"
PARAPHRASE = "paraphrase"
SHARED_DOCUMENT = "shared document"
SAME_KEY = "same key"
NEAR_DUPLICATE = "near-duplicate document"
Holders = dict[tuple[str, ...], list[str]]
"""A document id, or the kind and value of a key → the queries that have it."""
PartDocument = tuple[str, str]
"""A document id, and a part of the split that has a query to which the document is relevant."""


@dataclass(frozen=True)
class SplitEvidence:
    """A split to be checked; `parts` is query id → part, for every query of the inputs."""

    inputs: SplitInputs
    parts: Mapping[str, str]
    rules: Rules
    progress: Progress

    @cached_property
    def cut(self) -> set[frozenset[str]]:
        """The pairs of queries that were cut from each other by name."""
        return {frozenset(pair) for pair in self.rules.cut}

    @property
    def query_pairs(self) -> list[PartPair]:
        """The positions of the queries in each two parts of the split. Queries are ordered by id."""
        return pair_parts([self.parts[query_id] for query_id in sorted(self.inputs.queries)])


@dataclass(frozen=True, order=True)
class Crossing:
    """A tie between two queries (query_a < query_b) in different parts of the split: a leak.

    documents: the shared document, or the two similar documents (the document of query_a first), or empty.
    """

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClosestPair:
    """The two most similar texts of different parts: their ids and beginnings."""

    first: str
    second: str
    similarity: float
    first_text: str
    second_text: str


@dataclass(frozen=True)
class TieCheck:
    """The result of the check for one kind of tie.

    Attributes
    ----------
    threshold: the least similarity of a leak; None where a tie has no degrees, or where the kind is not
        looked for, so that the similarities are for information only.
    looked_for: whether a pair of this kind is a leak.
    compared: number of compared pairs of texts, or of documents and keys that several parts have. None where
        a release seals the number of relevant documents.
    highest: the most similar pair that is not cut by name; None if no two texts have anything in common.
    told_apart: the most similar pair of queries or documents that both have a group, where groups are a tie.
    crossing, cut: numbers of pairs that are leaks (for each text the closest), and that were cut by name.
    """

    kind: str
    looked_for: bool
    threshold: float | None
    compared: int | None
    highest: ClosestPair | None
    told_apart: ClosestPair | None
    crossing: int
    cut: int


@dataclass(frozen=True)
class Findings:
    """The ties across the parts that checks found.

    Attributes
    ----------
    leaks: ties that must not cross the parts. The split is sound if there are no leaks.
    residual: ties that cross the parts because they were cut by name.
    """

    checks: tuple[TieCheck, ...]
    leaks: tuple[Crossing, ...]
    residual: tuple[Crossing, ...]


def certify(
    inputs: SplitInputs, parts: Mapping[str, str], rules: Rules, progress: Progress = silent
) -> Findings:
    """Compare all queries and documents of each part with all queries and documents of the other parts.

    Parameters
    ----------
    parts: query id → part, for every query of the inputs.
    """
    evidence = SplitEvidence(inputs, parts, rules, progress)
    results = [findings for check in CHECKS if (findings := check(evidence)) is not None]
    return Findings(
        tuple(check for findings in results for check in findings.checks),
        tuple(sorted(leak for findings in results for leak in findings.leaks)),
        tuple(sorted(tie for findings in results for tie in findings.residual)),
    )


def check_query_texts(evidence: SplitEvidence) -> Findings:
    """Check query texts by the Jaccard similarity of their character 3-grams.

    Two texts that reach the threshold once their words are sorted alphabetically are leaks, too. The reported
    highest similarity is that of the unsorted texts.
    """
    queries = evidence.inputs.queries
    texts = [queries[query_id] for query_id in sorted(queries)]
    pairs, progress = evidence.query_pairs, evidence.progress
    written = compute_jaccards(list(map(character_shingles, texts)), pairs, "query texts", progress)
    reworded = compute_jaccards(list(map(sorted_shingles, texts)), pairs, "reworded query texts", progress)
    classes = _number_classes([numbers_and_signs(text) for text in texts])
    comparable = (_filter_block(block, classes[block[0]] == classes[block[1]]) for block in reworded)
    threshold = evidence.rules.query
    return _sift_queries(evidence, QUERY_TEXT, threshold, pairs, written, comparable)


def check_paraphrases(evidence: SplitEvidence) -> Findings | None:
    """Check queries by the cosine of their embeddings; None without embeddings.

    A query in a language that the model cannot read has a vector of zeros, and is not compared.
    """
    if evidence.inputs.vectors is None:
        return None
    vectors = np.asarray(evidence.inputs.vectors, dtype=np.float64)
    is_read: Mask = np.any(vectors, axis=1)
    part_pairs = [(first[is_read[first]], second[is_read[second]]) for first, second in evidence.query_pairs]
    blocks = comparison.compute_cosines(vectors, part_pairs, evidence.progress)
    return _sift_queries(evidence, PARAPHRASE, evidence.rules.paraphrase, part_pairs, blocks)


def _sift_queries(
    evidence: SplitEvidence,
    kind: str,
    threshold: float | None,
    part_pairs: Sequence[PartPair],
    blocks: Iterable[Block],
    leak_blocks: Iterable[Block] = (),
) -> Findings:
    """Sift the pairs of queries in the blocks. Pairs in `leak_blocks` count only as leaks or cut pairs."""
    ids = sorted(evidence.inputs.queries)
    texts = [evidence.inputs.queries[query_id] for query_id in ids]
    grouped_queries = evidence.inputs.grouped_queries
    is_grouped = np.array([query_id in grouped_queries for query_id in ids], dtype=bool)
    cut = _number_cut_queries(ids, evidence.cut)
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


def check_shared_documents(evidence: SplitEvidence) -> Findings:
    """Check for documents that are relevant to queries of different parts of the split."""
    holders: Holders = {}
    for query_id in sorted(evidence.inputs.relevant):
        for document_id in evidence.inputs.relevant[query_id]:
            holders.setdefault((document_id,), []).append(query_id)
    return find_crossings(evidence, SHARED_DOCUMENT, holders, evidence.rules.shared)


def check_keys(evidence: SplitEvidence) -> Findings | None:
    """Check for keys, such as sessions, that queries of different parts share.

    The result is None if the rules name no kind of key.
    """
    key_kinds = set(evidence.rules.keys)
    if not key_kinds:
        return None
    holders: Holders = {}
    for query_id in sorted(evidence.inputs.keys):
        keys = sorted(evidence.inputs.keys[query_id])
        popular = sum(kind == SESSION for kind, _ in keys) > SESSIONS
        for kind, value in keys:
            if kind in key_kinds and not (kind == SESSION and popular):
                holders.setdefault((kind, value), []).append(query_id)
    return find_crossings(evidence, SAME_KEY, holders)


def find_crossings(evidence: SplitEvidence, kind: str, holders: Holders, looked_for: bool = True) -> Findings:
    """Find queries of different parts that share a relevant document or a key.

    For each two parts, the findings hold one pair of queries that is not cut, and all pairs that are cut.
    """
    leaks: list[Crossing] = []
    residual: list[Crossing] = []
    compared = crossing = 0
    for holder in sorted(holders):
        queries_by_part: dict[str, list[str]] = {}
        for query_id in holders[holder]:
            queries_by_part.setdefault(evidence.parts[query_id], []).append(query_id)
        compared += len(queries_by_part) > 1
        documents = holder if kind == SHARED_DOCUMENT else ()
        for left, right in combinations([queries_by_part[part] for part in sorted(queries_by_part)], 2):
            pairs = ((min(a, b), max(a, b)) for a in left for b in right)
            uncut_pair = next((pair for pair in pairs if frozenset(pair) not in evidence.cut), None)
            crossing += uncut_pair is not None
            if not looked_for:
                continue
            if uncut_pair is not None:
                leaks.append(Crossing(*uncut_pair, kind, 1.0, documents))
            cut_pairs = _find_cut_pairs(set(left), set(right), evidence.cut)
            residual += [Crossing(*pair, kind, 1.0, documents) for pair in cut_pairs]
    check = TieCheck(kind, looked_for, None, compared, None, None, crossing, len(residual))
    return Findings((check,), tuple(leaks), tuple(residual))


def _find_cut_pairs(left: set[str], right: set[str], cut: Iterable[frozenset[str]]) -> list[tuple[str, str]]:
    """List the cut pairs of a left and a right query. The cuts are few, and all pairs would be many."""
    crossing = (pair for pair in cut if len(pair & left) == len(pair & right) == 1)
    return sorted((min(pair), max(pair)) for pair in crossing)


def check_documents(evidence: SplitEvidence) -> Findings:
    """Check for similar relevant documents of different parts. No document is compared with itself.

    Two documents are also a leak if one contains nearly all of the other document's text. The reported
    highest similarity is the Jaccard similarity.
    """
    inputs, threshold = evidence.inputs, evidence.rules.document
    queries = _map_relevant_queries(evidence)
    part_documents = sorted(queries)
    ids = [document_id for document_id, _ in part_documents]
    texts = [inputs.documents[document_id] for document_id in ids]
    part_pairs = pair_parts([part for _, part in part_documents])
    is_grouped = np.array([document_id in inputs.grouped for document_id in ids], dtype=bool)
    cut = _number_cut_documents(part_documents, queries, evidence.cut)
    similar = PairSieve(threshold, len(ids), cut, is_grouped)
    contained = PairSieve(CONTAINED, len(ids), cut, is_grouped)
    document_class = _number_classes(ids)
    shingles = [certificate_shingles.word_shingles(text) for text in texts]
    sizes = np.array([len(shingle) for shingle in shingles], dtype=np.int64)
    for block in compute_jaccards(shingles, part_pairs, "documents", evidence.progress):
        first, second, similarity = _filter_block(block, document_class[block[0]] != document_class[block[1]])
        similar.add(first, second, similarity)
        if threshold is not None:
            smaller = np.minimum(sizes[first], sizes[second])
            shared = similarity * (sizes[first] + sizes[second]) / (1 + similarity)
            mask = (similarity < threshold) & (smaller >= MIN_SHINGLES)
            contained.add(first[mask], second[mask], np.round((shared / smaller)[mask], DECIMALS))
    leak_pairs, cut_pairs = [*similar.leaks, *contained.leaks], [*similar.residual, *contained.residual]
    leaks = _list_document_crossings(leak_pairs, part_documents, queries, evidence.cut)
    residual = _list_document_crossings(cut_pairs, part_documents, queries, evidence.cut)
    counts = (len(leak_pairs), len(residual))
    check = _summarize_sieve(NEAR_DUPLICATE, threshold, part_pairs, similar, ids, texts, *counts)
    return Findings((check,), tuple(leaks), tuple(residual))


CHECKS: tuple[Callable[[SplitEvidence], Findings | None], ...] = (
    check_query_texts,
    check_paraphrases,
    check_shared_documents,
    check_documents,
    check_keys,
)
"""Checks by kind of tie, in the order of the certificate. None means that a check was not made."""


def _map_relevant_queries(evidence: SplitEvidence) -> dict[PartDocument, list[str]]:
    """Map each document and part to the queries of the part to which the document is relevant."""
    queries: dict[PartDocument, list[str]] = {}
    for query_id in sorted(evidence.inputs.relevant):
        for document_id in evidence.inputs.relevant[query_id]:
            queries.setdefault((document_id, evidence.parts[query_id]), []).append(query_id)
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
