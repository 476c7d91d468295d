"""The exhaustive check for ties across the parts of a split: query texts, paraphrases, documents and keys.

This check shares no code with the search for ties, so that the check finds mistakes of the search. The check
has separate code for shingles and for the comparison of all texts of each two parts, and imports nothing from
`ties` or `groups`. Tests check these imports, and that both definitions of a shingle agree on any text. The
check and the search for ties share only the thresholds in `request.Rules`. Only pairs of queries that people
cut from each other by name may reach a threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Ints
from curation.splits.certificate_shingles import (
    character_shingles,
    numbers_and_signs,
    sorted_shingles,
    word_shingles,
)
from curation.splits.comparison import (
    Block,
    NumberedPair,
    PairSieve,
    PartPair,
    compute_cosine_blocks,
    compute_jaccard_blocks,
    count_compared_pairs,
    pair_parts,
)
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
Holder = tuple[str, str]
"""A pair of a document id and a part of the split in which the document is relevant."""


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
        return pair_parts([self.parts[name] for name in sorted(self.inputs.queries)])


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


def _check_of_sieve(
    kind: str,
    threshold: float | None,
    pairs: Sequence[PartPair],
    sieve: PairSieve,
    ids: Sequence[str],
    texts: Sequence[str],
    crossing: int,
    cut: int,
) -> TieCheck:
    """Make a check's result from the pairs that a sieve kept, given as positions in `ids` and `texts`."""

    def closest_pair(numbered: NumberedPair | None) -> ClosestPair | None:
        if numbered is None:
            return None
        similarity, a, b = numbered
        return ClosestPair(ids[a], ids[b], similarity, texts[a][:EXCERPT], texts[b][:EXCERPT])

    return TieCheck(
        kind=kind,
        looked_for=threshold is not None,
        threshold=threshold,
        compared=count_compared_pairs(pairs),
        highest=closest_pair(sieve.highest),
        told_apart=closest_pair(sieve.told_apart),
        crossing=crossing,
        cut=cut,
    )


def check_query_texts(evidence: SplitEvidence) -> Findings:
    """Check query texts by the Jaccard similarity of their character 3-grams.

    Two texts that reach the threshold once their words are sorted alphabetically are leaks, too. The reported
    highest similarity is that of the unsorted texts.
    """
    queries = evidence.inputs.queries
    texts = [queries[name] for name in sorted(queries)]
    pairs = evidence.query_pairs
    blocks = compute_jaccard_blocks(
        [character_shingles(text) for text in texts], pairs, "query texts", evidence.progress
    )
    reworded = compute_jaccard_blocks(
        [sorted_shingles(text) for text in texts], pairs, "reworded query texts", evidence.progress
    )
    same = _number_alike([numbers_and_signs(text) for text in texts])
    comparable = (_pairs_where(block, same[block[0]] == same[block[1]]) for block in reworded)
    return _sift_queries(evidence, QUERY_TEXT, evidence.rules.query, pairs, blocks, comparable)


def check_paraphrases(evidence: SplitEvidence) -> Findings | None:
    """Check queries by the cosine of their embeddings; None without embeddings.

    A query in a language that the model cannot read has a vector of zeros, and is not compared.
    """
    if evidence.inputs.vectors is None:
        return None
    vectors = np.asarray(evidence.inputs.vectors, dtype=np.float64)
    read: NDArray[np.bool_] = np.any(vectors, axis=1)
    pairs = [(first[read[first]], second[read[second]]) for first, second in evidence.query_pairs]
    blocks = compute_cosine_blocks(vectors, pairs, evidence.progress)
    return _sift_queries(evidence, PARAPHRASE, evidence.rules.paraphrase, pairs, blocks)


def _sift_queries(
    evidence: SplitEvidence,
    kind: str,
    threshold: float | None,
    pairs: Sequence[PartPair],
    blocks: Iterable[Block],
    leaks_alone: Iterable[Block] = (),
) -> Findings:
    """Sift the pairs of queries in the blocks.

    With `leaks_alone`, keep only leaks and pairs that were cut.
    """
    ids = sorted(evidence.inputs.queries)
    texts = [evidence.inputs.queries[name] for name in ids]
    number = {name: index for index, name in enumerate(ids)}
    known = (sorted(number[name] for name in pair if name in number) for pair in evidence.cut)
    cut = {(pair[0], pair[1]) for pair in known if len(pair) == 2}
    inside = evidence.inputs.grouped_queries
    grouped = np.array([name in inside for name in ids], dtype=bool)
    sieve = PairSieve(threshold, len(ids), cut, grouped)
    for block in blocks:
        sieve.add(*block)
    further = PairSieve(threshold, len(ids), cut, grouped)
    for block in leaks_alone if threshold is not None else ():
        further.add(*block)
    leaks = _query_crossings(kind, ids, sieve.leaks, further.leaks)
    residual = _query_crossings(kind, ids, sieve.residual, further.residual)
    check = _check_of_sieve(kind, threshold, pairs, sieve, ids, texts, len(leaks), len(residual))
    return Findings((check,), tuple(leaks), tuple(residual))


def _query_crossings(
    kind: str, ids: Sequence[str], written: Sequence[NumberedPair], further: Sequence[NumberedPair]
) -> list[Crossing]:
    """List each pair of texts once, with the similarity of the unsorted texts for the pairs in `written`."""
    known = {pair[1:] for pair in written}
    pairs = [*written, *(pair for pair in further if pair[1:] not in known)]
    return [Crossing(ids[a], ids[b], kind, similarity) for similarity, a, b in pairs]


def _pairs_where(block: Block, keep: NDArray[np.bool_]) -> Block:
    first, second, similarity = block
    return first[keep], second[keep], similarity[keep]


def _number_alike(texts: Sequence[str]) -> Ints:
    """Return a number for each text, so that equal texts have equal numbers."""
    return np.unique(np.array(texts, dtype=object), return_inverse=True)[1]


def certify(
    inputs: SplitInputs, parts: Mapping[str, str], rules: Rules, progress: Progress = silent
) -> Findings:
    """Compare all queries and documents of each part with all queries and documents of the other parts.

    Parameters
    ----------
    parts: query id → part, for every query of the inputs.
    """
    evidence = SplitEvidence(inputs, parts, rules, progress)
    made = [result for check in CHECKS if (result := check(evidence)) is not None]
    return Findings(
        tuple(check for result in made for check in result.checks),
        tuple(sorted(leak for result in made for leak in result.leaks)),
        tuple(sorted(tie for result in made for tie in result.residual)),
    )


def check_shared_documents(evidence: SplitEvidence) -> Findings:
    """Check for documents that are relevant to queries of different parts of the split."""
    holders: dict[str, list[str]] = {}
    for query_id in sorted(evidence.inputs.relevant):
        for document_id in evidence.inputs.relevant[query_id]:
            holders.setdefault(document_id, []).append(query_id)
    return find_shared_across_parts(evidence, SHARED_DOCUMENT, holders, evidence.rules.shared)


def check_keys(evidence: SplitEvidence) -> Findings | None:
    """Check for keys, such as sessions, that queries of different parts share.

    The result is None if the rules name no kind of key.
    """
    wanted = set(evidence.rules.keys)
    if not wanted:
        return None
    holders: dict[str, list[str]] = {}
    for query_id in sorted(evidence.inputs.keys):
        keys = sorted(evidence.inputs.keys[query_id])
        popular = sum(kind == SESSION for kind, _ in keys) > SESSIONS
        for kind, value in keys:
            if kind in wanted and not (kind == SESSION and popular):
                holders.setdefault(f"{kind}: {value}", []).append(query_id)
    return find_shared_across_parts(evidence, SAME_KEY, holders)


def find_shared_across_parts(
    evidence: SplitEvidence, kind: str, holders: Mapping[str, Sequence[str]], looked_for: bool = True
) -> Findings:
    """Find queries of different parts that share a relevant document or a key.

    For each two parts, the findings hold one pair of queries that is not cut, and all pairs that are cut.

    Parameters
    ----------
    holders: document id or key → query ids.
    """
    leaks: list[Crossing] = []
    residual: list[Crossing] = []
    compared = crossing = 0
    for name in sorted(holders):
        by_part: dict[str, list[str]] = {}
        for query_id in holders[name]:
            by_part.setdefault(evidence.parts[query_id], []).append(query_id)
        compared += len(by_part) > 1
        documents = (name,) if kind == SHARED_DOCUMENT else ()
        for part, other in combinations(sorted(by_part), 2):
            pairs = ((min(a, b), max(a, b)) for a in by_part[part] for b in by_part[other])
            free = next((pair for pair in pairs if frozenset(pair) not in evidence.cut), None)
            crossing += free is not None
            if not looked_for:
                continue
            if free is not None:
                leaks.append(Crossing(*free, kind, 1.0, documents))
            left, right = frozenset(by_part[part]), frozenset(by_part[other])
            # the cuts are few, and the pairs would grow with the square of the queries
            across = (pair for pair in evidence.cut if len(pair & left) == len(pair & right) == 1)
            cut_pairs = sorted((min(pair), max(pair)) for pair in across)
            residual += [Crossing(*pair, kind, 1.0, documents) for pair in cut_pairs]
    check = TieCheck(kind, looked_for, None, compared, None, None, crossing, len(residual))
    return Findings((check,), tuple(leaks), tuple(residual))


def check_documents(evidence: SplitEvidence) -> Findings:
    """Check for similar relevant documents of different parts. No document is compared with itself.

    Two documents are also a leak if one contains nearly all of the other document's text. The reported
    highest similarity is the Jaccard similarity.
    """
    inputs, threshold = evidence.inputs, evidence.rules.document
    queries = _relevant_queries(evidence)
    holders = sorted(queries)
    ids = [document_id for document_id, _ in holders]
    texts = [inputs.documents[document_id] for document_id in ids]
    pairs = pair_parts([part for _, part in holders])
    grouped = np.array([name in inputs.grouped for name in ids], dtype=bool)
    cut_pairs = _cut_documents(holders, queries, evidence.cut)
    sieve = PairSieve(threshold, len(ids), cut_pairs, grouped)
    same = _number_alike(ids)
    shingles = [word_shingles(text) for text in texts]
    contained = PairSieve(CONTAINED, len(ids), cut_pairs, grouped)
    sizes = np.array([len(shingle) for shingle in shingles], dtype=np.int64)
    for block in compute_jaccard_blocks(shingles, pairs, "documents", evidence.progress):
        first, second, similarity = _pairs_where(block, same[block[0]] != same[block[1]])
        sieve.add(first, second, similarity)
        if threshold is not None:
            smaller = np.minimum(sizes[first], sizes[second])
            share = similarity * (sizes[first] + sizes[second]) / (1 + similarity) / smaller
            part = (similarity < threshold) & (smaller >= MIN_SHINGLES)
            contained.add(first[part], second[part], np.round(share[part], DECIMALS))
    crossing, cut = [*sieve.leaks, *contained.leaks], [*sieve.residual, *contained.residual]
    leaks = [leak for pair in crossing for leak in _document_crossings(pair, holders, queries, evidence.cut)]
    residual = [tie for pair in cut for tie in _document_crossings(pair, holders, queries, evidence.cut)]
    check = _check_of_sieve(NEAR_DUPLICATE, threshold, pairs, sieve, ids, texts, len(crossing), len(residual))
    return Findings((check,), tuple(leaks), tuple(residual))


CHECKS: tuple[Callable[[SplitEvidence], Findings | None], ...] = (
    check_query_texts,
    check_paraphrases,
    check_shared_documents,
    check_documents,
    check_keys,
)
"""Checks by kind of tie, in the order of the certificate. None means that a check was not made."""


def _relevant_queries(evidence: SplitEvidence) -> dict[Holder, list[str]]:
    """Map each document and part to the queries of the part to which the document is relevant."""
    queries: dict[Holder, list[str]] = {}
    for query_id in sorted(evidence.inputs.relevant):
        for document_id in evidence.inputs.relevant[query_id]:
            queries.setdefault((document_id, evidence.parts[query_id]), []).append(query_id)
    return queries


def _document_crossings(
    numbered_pair: NumberedPair,
    holders: Sequence[Holder],
    queries: Mapping[Holder, list[str]],
    cut: set[frozenset[str]],
) -> Iterator[Crossing]:
    """Return the first uncut pair of queries that two similar documents tie, or all pairs if all are cut."""
    similarity, former, other = numbered_pair
    first, second = holders[former][0], holders[other][0]
    pairs = [(a, b) for a in queries[holders[former]] for b in queries[holders[other]]]
    free = [pair for pair in pairs if frozenset(pair) not in cut]
    for a, b in free[:1] or pairs:
        (query_a, document_a), (query_b, document_b) = sorted([(a, first), (b, second)])
        yield Crossing(query_a, query_b, NEAR_DUPLICATE, similarity, (document_a, document_b))


def _cut_documents(
    holders: Sequence[Holder], queries: Mapping[Holder, list[str]], cut: set[frozenset[str]]
) -> set[tuple[int, int]]:
    """Find the pairs of document numbers whose queries are all cut from each other."""
    of_query: dict[str, list[int]] = {}
    for number, holder in enumerate(holders):
        for query_id in queries[holder]:
            of_query.setdefault(query_id, []).append(number)
    pairs = set()
    for query, other in (sorted(pair) for pair in cut if len(pair) == 2):
        for first in of_query.get(query, ()):
            for second in of_query.get(other, ()):
                across = ((a, b) for a in queries[holders[first]] for b in queries[holders[second]])
                if all(frozenset(pair) in cut for pair in across):
                    pairs.add((min(first, second), max(first, second)))
    return pairs
