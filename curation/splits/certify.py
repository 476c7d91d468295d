"""The exhaustive check for what crosses a split: query texts, paraphrases, documents and keys.

The check shares no code with the search for ties, so that a mistake there cannot hide here: it has its own
shingles and its own comparison of all with all, part against part, and imports nothing of `ties` or `groups`.
Tests check what it imports, and that the two definitions of a shingle agree on any text. Only the figures of
`request.Rules` are shared. What was cut by name may reach a threshold; nothing else may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Ints
from curation.splits.comparison import (
    Block,
    NumberedPair,
    PartPair,
    Sieve,
    character_shingles,
    cosine_blocks,
    jaccard_blocks,
    numbers_and_signs,
    pairs_compared,
    part_pairs,
    sorted_shingles,
    word_shingles,
)
from curation.splits.request import CONTAINED, DECIMALS, MIN_SHINGLES, SESSION, SESSIONS

if TYPE_CHECKING:
    from curation.splits.inputs import SplitInputs
    from curation.splits.request import Rules

EXCERPT = 280
"""Characters of a text that the certificate shows."""

QUERY_TEXT = "query text"
PARAPHRASE = "paraphrase"
SHARED_DOCUMENT = "shared document"
SAME_KEY = "same key"
NEAR_DUPLICATE = "near-duplicate document"
Holder = tuple[str, str]
"""A document id, and a part in which the document is relevant."""


@dataclass(frozen=True)
class SplitEvidence:
    """A split to be checked.

    Attributes
    ----------
    parts: query id → part, for every query of the inputs.
    cut: pairs of queries that were cut from each other by name.
    """

    inputs: SplitInputs
    parts: Mapping[str, str]
    rules: Rules
    cut: set[frozenset[str]]
    progress: Progress


@dataclass(frozen=True, order=True)
class Crossing:
    """Two queries (query_a < query_b) in different parts that give each other away, and the documents that
    make it so: the shared one; the two similar ones, query_a's document first; or none."""

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClosestPair:
    """The two most similar texts across the parts: ids (of queries or documents) and how the texts begin."""

    first: str
    second: str
    similarity: float
    first_text: str
    second_text: str


@dataclass(frozen=True)
class TieCheck:
    """What the check for one kind of tie found.

    Attributes
    ----------
    threshold: the least similarity of a leak; None if the kind is not looked for, and the figure is for
        information only, or where a tie has no degrees.
    looked_for: whether a pair of this kind is a leak.
    compared: pairs across the parts: of texts; or of queries, documents and keys that could be shared.
        None if a release seals how many documents are relevant.
    highest: the most similar pair that is not cut by name; None if no two have anything in common.
    told_apart: the most similar pair of queries or documents that both have a group, where groups are a tie.
    crossing, cut: pairs found that are leaks (of each text the closest), and that were cut by name.
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
    """What was found across the split.

    Attributes
    ----------
    leaks: what crosses and must not. Empty exactly when nothing crosses that was not cut by name.
    residual: what crosses because it was cut by name.
    """

    checks: tuple[TieCheck, ...]
    leaks: tuple[Crossing, ...]
    residual: tuple[Crossing, ...]

    def check(self, kind: str) -> TieCheck | None:
        """The check of one kind; None if it was not made."""
        return next((check for check in self.checks if check.kind == kind), None)


def closest_pair(
    numbered: NumberedPair | None, ids: Sequence[str], texts: Sequence[str]
) -> ClosestPair | None:
    """The pair with its ids and excerpts; `numbered` has positions in `ids`."""
    if numbered is None:
        return None
    similarity, first, second = numbered
    return ClosestPair(ids[first], ids[second], similarity, texts[first][:EXCERPT], texts[second][:EXCERPT])


def check_query_texts(evidence: SplitEvidence) -> Findings:
    """Query texts by the Jaccard similarity of their character 3-grams.

    Texts that reach the threshold with their words in the order of the alphabet are leaks, too; the highest
    similarity compares the texts as they are written.
    """
    queries = evidence.inputs.queries
    texts = [queries[name] for name in sorted(queries)]
    pairs = _part_pairs(evidence)
    blocks = jaccard_blocks(
        [character_shingles(text) for text in texts], pairs, "query texts", evidence.progress
    )
    reworded = jaccard_blocks(
        [sorted_shingles(text) for text in texts], pairs, "reworded query texts", evidence.progress
    )
    same = _codes([numbers_and_signs(text) for text in texts])
    comparable = (_where(block, same[block[0]] == same[block[1]]) for block in reworded)
    return _checked(evidence, QUERY_TEXT, evidence.rules.query, pairs, blocks, comparable)


def check_paraphrases(evidence: SplitEvidence) -> Findings | None:
    """Queries by the cosine of their embeddings; not made without embeddings.

    A query that the model cannot read has a vector of zeros, and is not compared.
    """
    if evidence.inputs.vectors is None:
        return None
    vectors = np.asarray(evidence.inputs.vectors, dtype=np.float64)
    read: NDArray[np.bool_] = np.any(vectors, axis=1)
    pairs = [(first[read[first]], second[read[second]]) for first, second in _part_pairs(evidence)]
    blocks = cosine_blocks(vectors, pairs, evidence.progress)
    return _checked(evidence, PARAPHRASE, evidence.rules.paraphrase, pairs, blocks)


def _part_pairs(evidence: SplitEvidence) -> list[PartPair]:
    return part_pairs([evidence.parts[name] for name in sorted(evidence.inputs.queries)])


def _checked(
    evidence: SplitEvidence,
    kind: str,
    threshold: float | None,
    pairs: Sequence[PartPair],
    blocks: Iterable[Block],
    leaks_alone: Iterable[Block] = (),
) -> Findings:
    """The pairs of queries in the blocks, sifted; of `leaks_alone` nothing but leaks and what was cut."""
    ids = sorted(evidence.inputs.queries)
    texts = [evidence.inputs.queries[name] for name in ids]
    number = {name: index for index, name in enumerate(ids)}
    known = (sorted(number[name] for name in pair if name in number) for pair in evidence.cut)
    cut = {(pair[0], pair[1]) for pair in known if len(pair) == 2}
    inside = evidence.inputs.grouped_queries
    grouped = np.array([name in inside for name in ids], dtype=bool)
    sieve = Sieve(threshold, len(ids), cut, grouped)
    for block in blocks:
        sieve.take(*block)
    further = Sieve(threshold, len(ids), cut, grouped)
    for block in leaks_alone if threshold is not None else ():
        further.take(*block)
    leaks = _crossings(kind, ids, sieve.leaks, further.leaks)
    residual = _crossings(kind, ids, sieve.residual, further.residual)
    check = TieCheck(
        kind=kind,
        looked_for=threshold is not None,
        threshold=threshold,
        compared=pairs_compared(pairs),
        highest=closest_pair(sieve.highest, ids, texts),
        told_apart=closest_pair(sieve.told_apart, ids, texts),
        crossing=len(leaks),
        cut=len(residual),
    )
    return Findings((check,), tuple(leaks), tuple(residual))


def _crossings(
    kind: str, ids: Sequence[str], written: Sequence[NumberedPair], further: Sequence[NumberedPair]
) -> list[Crossing]:
    """Each pair once, as it is written where it was found so."""
    known = {pair[1:] for pair in written}
    pairs = [*written, *(pair for pair in further if pair[1:] not in known)]
    return [Crossing(ids[a], ids[b], kind, similarity) for similarity, a, b in pairs]


def _where(block: Block, keep: NDArray[np.bool_]) -> Block:
    first, second, similarity = block
    return first[keep], second[keep], similarity[keep]


def _codes(labels: Sequence[object]) -> Ints:
    """A number for each label, equal where the labels are."""
    codes: dict[object, int] = {}
    return np.array([codes.setdefault(label, len(codes)) for label in labels], dtype=np.int64)


def certify(
    inputs: SplitInputs, parts: Mapping[str, str], rules: Rules, progress: Progress = silent
) -> Findings:
    """Compare everything in one part with everything in the others.

    Parameters
    ----------
    parts: query id → part, for every query of the inputs.
    """
    cut = {frozenset(pair) for pair in rules.cut}
    evidence = SplitEvidence(inputs, parts, rules, cut, progress)
    results = [check(evidence) for check in CHECKS]
    made = [result for result in results if result is not None]
    return Findings(
        tuple(check for result in made for check in result.checks),
        tuple(sorted(leak for result in made for leak in result.leaks)),
        tuple(sorted(tie for result in made for tie in result.residual)),
    )


def check_shared_documents(evidence: SplitEvidence) -> Findings:
    """Documents that are relevant to queries of different parts."""
    holders: dict[str, list[str]] = {}
    for query_id in sorted(evidence.inputs.relevant):
        for document_id in evidence.inputs.relevant[query_id]:
            holders.setdefault(document_id, []).append(query_id)
    return common_to_parts(evidence, SHARED_DOCUMENT, holders, evidence.rules.shared)


def check_keys(evidence: SplitEvidence) -> Findings | None:
    """Keys that queries of different parts have; not made where the rules name no kind of key."""
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
    return common_to_parts(evidence, SAME_KEY, holders)


def common_to_parts(
    evidence: SplitEvidence, kind: str, holders: Mapping[str, Sequence[str]], looked_for: bool = True
) -> Findings:
    """Queries that have the same document or key; for each two parts one pair that is not cut, and all
    that are.

    Parameters
    ----------
    holders: name of what they have → query ids.
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
            across = _cut_across(evidence.cut, frozenset(by_part[part]), frozenset(by_part[other]))
            residual += [Crossing(*pair, kind, 1.0, documents) for pair in across]
    check = TieCheck(
        kind=kind,
        looked_for=looked_for,
        threshold=None,
        compared=compared,
        highest=None,
        told_apart=None,
        crossing=crossing,
        cut=len(residual),
    )
    return Findings((check,), tuple(leaks), tuple(residual))


def _cut_across(
    cut: Iterable[frozenset[str]], left: frozenset[str], right: frozenset[str]
) -> list[tuple[str, str]]:
    """The pairs that are cut and have one query on each side. The cuts are few; the pairs would grow with the
    square of the queries."""
    across = (pair for pair in cut if len(pair & left) == len(pair & right) == 1)
    return sorted((min(pair), max(pair)) for pair in across)


def check_documents(evidence: SplitEvidence) -> Findings:
    """Relevant documents, in each part where one is relevant; a document is not compared with itself.

    Two documents leak, too, when one holds the other nearly whole; the highest similarity is Jaccard's.
    """
    inputs, threshold = evidence.inputs, evidence.rules.document
    queries = _relevant_queries(evidence)
    holders = sorted(queries)
    ids = [document_id for document_id, _ in holders]
    texts = [inputs.documents[document_id] for document_id in ids]
    pairs = part_pairs([part for _, part in holders])
    grouped = np.array([name in inputs.grouped for name in ids], dtype=bool)
    cut_pairs = _cut_documents(holders, queries, evidence.cut)
    sieve = Sieve(threshold, len(ids), cut_pairs, grouped)
    same = np.unique(ids, return_inverse=True)[1] if ids else np.zeros(0, dtype=np.int64)
    shingles = [word_shingles(text) for text in texts]
    contained = Sieve(CONTAINED, len(ids), cut_pairs, grouped)
    sizes = np.array([len(shingle) for shingle in shingles], dtype=np.int64)
    for first, second, similarity in jaccard_blocks(shingles, pairs, "documents", evidence.progress):
        other = same[first] != same[second]
        sieve.take(first[other], second[other], similarity[other])
        if threshold is not None:
            smaller = np.minimum(sizes[first], sizes[second])
            share = similarity * (sizes[first] + sizes[second]) / (1 + similarity) / smaller
            part = other & (similarity < threshold) & (smaller >= MIN_SHINGLES)
            contained.take(first[part], second[part], np.round(share[part], DECIMALS))
    crossing, cut = [*sieve.leaks, *contained.leaks], [*sieve.residual, *contained.residual]
    leaks = [leak for pair in crossing for leak in _document_crossings(pair, holders, queries, evidence.cut)]
    residual = [tie for pair in cut for tie in _document_crossings(pair, holders, queries, evidence.cut)]
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
    return Findings((check,), tuple(leaks), tuple(residual))


CHECKS: tuple[Callable[[SplitEvidence], Findings | None], ...] = (
    check_query_texts,
    check_paraphrases,
    check_shared_documents,
    check_documents,
    check_keys,
)
"""One for each kind of tie, in the order of the certificate; a check returns None if it was not made."""


def _relevant_queries(evidence: SplitEvidence) -> dict[Holder, list[str]]:
    """Document and part → the queries of that part to which the document is relevant."""
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
    """The first pair of queries that two similar documents tie without a cut; all pairs if all are cut."""
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
    """Pairs of documents whose queries are all cut from each other, by their numbers."""
    part_numbers: dict[str, list[int]] = {}
    for number, (_, part) in enumerate(holders):
        part_numbers.setdefault(part, []).append(number)
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
