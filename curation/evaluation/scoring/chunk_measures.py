"""Measures of chunks: the evidence in the first chunks of each list, and the number of words of these chunks.

A chunk is a part of a document, `start` to `end` in characters of its body; a run of documents is a run of
chunks that are whole documents. With E the characters of evidence of a query's relevant documents, and R the
characters of its first k chunks,

    evidence_recall@k     |E ∩ R| / |E|
    evidence_precision@k  |E ∩ R| / |R|
    evidence_iou@k        |E ∩ R| / (|E| + |R| − |E ∩ R|)
    evidence_hit@k        whether a chunk holds evidence
    evidence_mrr@k        1 / rank of the first chunk that holds evidence
    evidence_ndcg@k       Σ gain / log2(rank + 1), over the sum of the best list
    gain of a chunk       grade of its document × share of the pair's evidence that it holds and no chunk
                          above it
    evidence_within@w     recall of the first w words
    context_words@k       words of the first k chunks, as `words.word_starts` counts them

|R| counts a character as often as chunks hold it, and |E ∩ R| once (Smith & Troynikov 2024, Evaluating
Chunking Strategies for Retrieval, Chroma technical report; there of tokens). In nDCG, evidence that is found
again has no gain, and the chunks of a document together have the document's grade as gain. The best list has
all evidence of a pair in one chunk, the highest grade first; no list has a higher DCG. On whole documents the
measure is nDCG with the grade as gain (Järvelin & Kekäläinen 2002, Cumulated gain-based evaluation of IR
techniques, ACM TOIS 20) over the pairs with evidence. Overlapping parts gain once, as in XML retrieval (Kazai
& Lalmas 2006, eXtended cumulated gain measures, ACM TOIS 24).

evidence_within compares chunks of all sizes at the same cost. The list is cut after w words. For this
measure, a chunk is the words that begin in the chunk, each up to the beginning of the document's next word.
The value therefore depends only on the words of a run and on their order, not on the places where chunks are
cut. context_words is the number of words that a language model has to read. The number of words is not a
quality, so systems are not compared by context_words.

A chunk with an unknown text, such as a chunk of a document that the corpus lacks, may have any length. An
unknown chunk therefore ends the list of evidence_within@w, and precision and IoU of a list with an unknown
chunk are 0. An unknown chunk never helps a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.arrow import ints_of, numbers
from curation.core.statistics.arrays import Floats, Ints, Mask, ratio
from curation.evaluation.scoring.evidence import OPEN, EvidenceRanges, query_sums
from curation.evaluation.scoring.measure_names import CONTEXT, WITHIN, Measure

UNKNOWN = -1
"""The number of words of a chunk with an unknown text."""
FoundEvidence = tuple[Ints, Ints, Ints]
"""Chunks with new evidence: their places, the positions of their pairs, and their numbers of new
characters."""


class RunChunks(NamedTuple):
    """The C chunks of one run, by query, then rank.

    Attributes
    ----------
    query: positions in the queries of the qrels, shape (C,).
    rank: the rank of each chunk, from 1, shape (C,).
    documents: the ids of the chunks' documents, shape (C,).
    start, end: characters of the body; the end of a whole document of unknown length is `OPEN`.
    words: the number of words that begin in each chunk; `UNKNOWN` for an unknown text.
    first_word: the position of the chunk's first word in `bounds`; `UNKNOWN` for an unknown place.
    bounds: the boundaries between words of documents, shared by the runs of a release. The first word of a
        document begins at 0, and the last word reaches to the end.
    """

    query: Ints
    rank: Ints
    documents: pa.DictionaryArray
    start: Ints
    end: Ints
    words: Ints
    first_word: Ints
    bounds: Ints


@dataclass(frozen=True)
class RankedChunks:
    """Chunks and the evidence in them.

    Attributes
    ----------
    judged: whether the chunk's document has a grade for the query, shape (C,).
    """

    chunks: RunChunks
    judged: Mask
    evidence: EvidenceRanges

    @cached_property
    def found(self) -> FoundEvidence:
        """The evidence that each chunk holds and that no chunk above it holds."""
        return _new_evidence(self.chunks, self.evidence)

    @property
    def most_words(self) -> int:
        """The number of words of the longest chunk."""
        return int(self.chunks.words.max(initial=0))

    def cut(self, budget: int) -> RunChunks:
        """Cut the lists after a number of words; chunks without a known place are left out."""
        chunks, read = self.chunks, words_read(self.chunks, budget)
        rows = np.flatnonzero((read > 0) & (chunks.first_word != UNKNOWN))
        first = chunks.first_word[rows]
        return RunChunks(
            chunks.query[rows],
            chunks.rank[rows],
            chunks.documents.take(numbers(rows)),
            chunks.bounds[first],
            chunks.bounds[first + read[rows]],
            read[rows],
            first,
            chunks.bounds,
        )

    def looked_at(self, measure: Measure) -> Mask:
        """Find the chunks that a measure looks at, shape (C,)."""
        depth = measure.depth or 1
        if measure.kind != WITHIN:
            return self.chunks.rank <= depth
        return words_read(self.chunks, depth) > 0

    def share_judged(self, measure: Measure, queries: int) -> Floats:
        """Compute the share of judged chunks that a measure looks at, shape (Q,); NaN where it looks at
        none."""
        inside = self.looked_at(measure)
        query = self.chunks.query[inside]
        return ratio(query_sums(query, self.judged[inside], queries), query_sums(query, None, queries))


def words_read(chunks: RunChunks, budget: int) -> Ints:
    """Count the words of each chunk that are among the first words of its list, up to a budget, shape
    (C,)."""
    known = chunks.words != UNKNOWN
    words = np.where(known, chunks.words, budget)  # a chunk that may be longer ends the list
    before = np.concatenate([[0], np.cumsum(words)])[:-1]
    left = budget - (before - before[np.searchsorted(chunks.query, chunks.query)])
    return np.where(known, np.clip(left, 0, words), 0)


def _new_evidence(chunks: RunChunks, evidence: EvidenceRanges) -> FoundEvidence:
    """Find the evidence that each chunk holds and that no chunk above it holds.

    A pair's evidence and chunks are cut into pieces where either begins or ends. A piece belongs to the first
    chunk that holds the piece.
    """
    ids = chunks.documents.dictionary
    document = ints_of(pc.index_in(ids, value_set=evidence.documents))[ints_of(chunks.documents.indices)]
    wanted = chunks.query * len(evidence.documents) + document
    place = np.flatnonzero((document >= 0) & np.isin(wanted, evidence.pair))
    pair = np.searchsorted(evidence.pair, wanted[place])
    owner, ranges = _repeated(evidence.first[pair], evidence.first[pair + 1])
    start = np.maximum(chunks.start[place[owner]], evidence.start[ranges])
    end = np.minimum(chunks.end[place[owner]], evidence.end[ranges])
    some = start < end
    owner, start, end = owner[some], start[some], end[some]
    shift = pair[owner] * (2 * OPEN)  # keeps the pieces of each pair apart
    cuts = np.unique(np.concatenate([start + shift, end + shift]))
    at, pieces = _repeated(np.searchsorted(cuts, start + shift), np.searchsorted(cuts, end + shift))
    first = np.full(len(cuts), len(chunks.rank))
    np.minimum.at(first, pieces, place[owner[at]])  # chunks are by rank: the first place is the first rank
    taken = np.flatnonzero(first < len(chunks.rank))
    places, inverse = np.unique(first[taken], return_inverse=True)
    characters = np.bincount(inverse.ravel(), cuts[taken + 1] - cuts[taken], len(places)).astype(np.int64)
    return (places, pair[np.searchsorted(place, places)], characters)


def _repeated(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """List every integer of each range, with the position of the range.

    The ranges 3 to 5 and 7 to 8 give the positions (0, 0, 1) and the numbers (3, 4, 7).
    """
    size = last - first
    owner = np.repeat(np.arange(len(first)), size)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size) + first[owner]


def chunk_values(measure: Measure, ranked: RankedChunks, queries: int, relevant: int) -> Floats:
    """Compute a measure of chunks, shape (Q,); context_words is NaN where a chunk has unknown words.

    The value of a query without evidence in relevant documents has no meaning.

    Parameters
    ----------
    relevant: the lowest grade of a relevant document.
    """
    chunks, inside = ranked.chunks, ranked.looked_at(measure)
    if measure.kind == CONTEXT:
        return _amounts_of_lists(chunks, inside, chunks.words, np.nan, queries)
    if measure.kind == WITHIN:
        return _recall_within(ranked, measure.depth or 1, queries, relevant)
    (place, pair, characters), evidence = ranked.found, ranked.evidence
    query, rank, grade = chunks.query[place], chunks.rank[place], evidence.grade[pair]
    if measure.kind == "evidence_ndcg":
        gains = grade * characters / evidence.sizes[pair] / np.log2(rank + 1)
        reached = query_sums(query, np.where(inside[place], gains, 0.0), queries)
        best = evidence.best_dcg(measure.depth or 1, queries)
        return np.minimum(ratio(reached, best, 0.0), 1.0)  # it may be a rounding error off
    counted = inside[place] & (grade >= relevant)
    if measure.kind in ("evidence_hit", "evidence_mrr"):
        best = np.zeros(queries)
        np.maximum.at(best, query[counted], 1 / rank[counted])
        return best if measure.kind == "evidence_mrr" else np.ceil(best)
    new = query_sums(query[counted], characters[counted], queries)
    every = evidence.characters(queries, relevant)
    if measure.kind == "evidence_recall":
        return ratio(new, every, 0.0)
    returned = _amounts_of_lists(chunks, inside, chunks.end - chunks.start, np.inf, queries)
    return ratio(new, returned if measure.kind == "evidence_precision" else every + returned - new, 0.0)


def _recall_within(ranked: RankedChunks, budget: int, queries: int, relevant: int) -> Floats:
    """Compute the recall of evidence in the first words of each list, shape (Q,)."""
    chunks, evidence = ranked.cut(budget), ranked.evidence
    place, pair, characters = _new_evidence(chunks, evidence)
    counted = evidence.grade[pair] >= relevant
    new = query_sums(chunks.query[place[counted]], characters[counted], queries)
    return ratio(new, evidence.characters(queries, relevant), 0.0)


def _amounts_of_lists(chunks: RunChunks, inside: Mask, amounts: Ints, unknown: float, queries: int) -> Floats:
    """Add up the amounts of each query's chunks, shape (Q,); `unknown` where a chunk has unknown words."""
    sums = query_sums(chunks.query[inside], amounts[inside], queries)
    sums[chunks.query[inside & (chunks.words == UNKNOWN)]] = unknown
    return sums
