"""The exhaustive check for what crosses a split, after the fact.

It shares no code with the search for ties, so that a mistake there cannot hide here: it has its own shingles
and its own comparison of all with all, part against part, and imports nothing of `ties` or `groups`. Tests
check what it imports, and that the two definitions of a shingle agree on any text. Only what a number or
model name is (`numbers`) and the figures of `rules` are shared; pairs that names tell apart are shown.

What was cut by name may reach a threshold; nothing else may.

Checks of the queries' texts: whether they are nearly the same, or mean nearly the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Ints
from curation.splits.certificate.comparison import (
    Block,
    NumberedPair,
    PartPair,
    Sieve,
    cosine_blocks,
    jaccard_blocks,
    pairs_compared,
    part_pairs,
)
from curation.splits.certificate.documents import check_documents
from curation.splits.certificate.findings import (
    CheckResult,
    Crossing,
    Findings,
    SplitEvidence,
    TieCheck,
    closest_pair,
)
from curation.splits.certificate.shared import check_keys, check_shared_documents
from curation.splits.certificate.shingles import character_shingles, numbers_and_signs, sorted_shingles
from curation.splits.numbers import compared_text, names

if TYPE_CHECKING:
    from curation.splits.inputs import SplitInputs
    from curation.splits.rules import Rules

QUERY_TEXT = "query text"
PARAPHRASE = "paraphrase"


def check_query_texts(evidence: SplitEvidence) -> CheckResult:
    """Query texts by the Jaccard similarity of their character 3-grams.

    Leaks are also those that reach the threshold with their words in the order of the alphabet; the highest
    similarity is that of the texts as they are written.
    """
    rules, queries = evidence.rules, evidence.inputs.queries
    compared = [compared_text(queries[name], rules.numbers) for name in sorted(queries)]
    pairs = _part_pairs(evidence)
    blocks = jaccard_blocks(
        [character_shingles(text) for text in compared], pairs, "query texts", evidence.progress
    )
    reworded = jaccard_blocks(
        [sorted_shingles(text) for text in compared], pairs, "reworded query texts", evidence.progress
    )
    same = _codes([numbers_and_signs(text) for text in compared])
    comparable = (_where(block, same[block[0]] == same[block[1]]) for block in reworded)
    return _checked(evidence, QUERY_TEXT, rules.query, pairs, blocks, comparable)


def check_paraphrases(evidence: SplitEvidence) -> CheckResult | None:
    """Queries by the cosine of their embeddings; not made where there are none.

    A query that the model cannot read has a vector of zeros, and is compared with none.
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
) -> CheckResult:
    """The pairs of queries in the blocks, sifted; of `leaks_alone` nothing but leaks and what was cut."""
    ids = sorted(evidence.inputs.queries)
    texts = [evidence.inputs.queries[name] for name in ids]
    number = {name: place for place, name in enumerate(ids)}
    known = (sorted(number[name] for name in pair if name in number) for pair in evidence.cut)
    cut = {(pair[0], pair[1]) for pair in known if len(pair) == 2}
    inside = evidence.inputs.grouped_queries
    grouped = np.array([name in inside for name in ids], dtype=bool)
    sieve = Sieve(threshold, len(ids), cut, _name_codes(evidence, texts), grouped)
    for block in blocks:
        sieve.take(*block)
    further = Sieve(threshold, len(ids), cut, _name_codes(evidence, texts), grouped)
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
    return CheckResult(check, leaks, residual)


def _crossings(
    kind: str, ids: Sequence[str], written: Sequence[NumberedPair], further: Sequence[NumberedPair]
) -> list[Crossing]:
    """Each pair once, as it is written where it was found so."""
    known = {pair[1:] for pair in written}
    found = [*written, *(pair for pair in further if pair[1:] not in known)]
    return [Crossing(ids[a], ids[b], kind, similarity) for similarity, a, b in found]


def _where(block: Block, keep: NDArray[np.bool_]) -> Block:
    first, second, similarity = block
    return first[keep], second[keep], similarity[keep]


def _codes(labels: Sequence[object]) -> Ints:
    """A number for each label, equal where the labels are."""
    codes: dict[object, int] = {}
    return np.array([codes.setdefault(label, len(codes)) for label in labels], dtype=np.int64)


def _name_codes(evidence: SplitEvidence, texts: Sequence[str]) -> Ints | None:
    """A number for each text, equal where the texts name the same numbers and models; None where names do not
    tell texts apart."""
    if evidence.rules.numbers != "apart":
        return None
    return _codes([names(text) for text in texts])


CHECKS: tuple[Callable[[SplitEvidence], CheckResult | None], ...] = (
    check_query_texts,
    check_paraphrases,
    check_shared_documents,
    check_documents,
    check_keys,
)
"""One for each kind of tie, in the order of the certificate; a check returns None where it was not made."""


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
        tuple(result.check for result in made),
        tuple(sorted(leak for result in made for leak in result.leaks)),
        tuple(sorted(tie for result in made for tie in result.residual)),
    )
