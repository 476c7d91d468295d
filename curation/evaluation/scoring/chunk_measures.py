"""Chunk measures, which score the evidence in each list's first chunks.

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
    context_words@k       words of the first k chunks, as `words.find_word_starts` counts them

|R| counts a character as often as chunks hold it, and |E ∩ R| once (Smith & Troynikov 2024, Evaluating
Chunking Strategies for Retrieval, Chroma technical report; there of tokens). In nDCG, evidence that is found
again has no gain, and the chunks of a document together have the document's grade as gain. The best list has
all evidence of a pair in one chunk, the highest grade first; no list has a higher DCG. On whole documents the
measure is nDCG with the grade as gain (Järvelin & Kekäläinen 2002, Cumulated gain-based evaluation of IR
techniques, ACM TOIS 20) over the pairs with evidence. Overlapping parts gain once, as in XML retrieval (Kazai
& Lalmas 2006, eXtended cumulated gain measures, ACM TOIS 24).

evidence_within compares chunks of all sizes at the same cost: the list is cut after w words, and a chunk is
the words that begin in it, each up to the beginning of the document's next word. So the value depends only on
the words of a run and their order, not on the boundaries between chunks. context_words, the number of words
that a language model has to read, is not a quality, so systems are not compared by it.

A chunk with an unknown text, such as a chunk of a document that the corpus lacks, may have any length. So it
ends the list of evidence_within@w, and makes precision and IoU of its list 0: it never helps a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.arrow import int_array, to_ints
from curation.core.statistics.arrays import Floats, Ints, Mask, ratio
from curation.evaluation.scoring.evidence import OPEN, EvidenceRanges, sum_by_query
from curation.evaluation.scoring.measure_names import CONTEXT, WITHIN, Measure

UNKNOWN = -1
"""Stands for the number of words of a chunk with an unknown text."""
NewEvidence = tuple[Ints, Ints, Ints]
"""Indexes of the chunks with new evidence, indexes of their pairs, and numbers of new characters."""


class RunChunks(NamedTuple):
    """The C chunks of one run, sorted by query, then by rank.

    Attributes
    ----------
    query: the index of each chunk's query in the qrels, shape (C,).
    rank: the rank of each chunk, from 1, shape (C,).
    documents: the ids of the chunks' documents, shape (C,).
    start, end: characters of the body; the end of a whole document of unknown length is `OPEN`.
    words: the number of words that begin in each chunk; `UNKNOWN` for an unknown text.
    first_word: the index of the chunk's first word in `bounds`; `UNKNOWN` for an unknown range.
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
    """A run's chunks with the evidence in them.

    Attributes
    ----------
    judged: whether the chunk's document has a grade for the query, shape (C,).
    """

    chunks: RunChunks
    judged: Mask
    evidence: EvidenceRanges

    @cached_property
    def new_evidence(self) -> NewEvidence:
        """Find the evidence that each chunk contains and no chunk above it does."""
        return _find_new_evidence(self.chunks, self.evidence)

    @property
    def longest_words(self) -> int:
        """Return the number of words in the longest chunk."""
        return int(self.chunks.words.max(initial=0))

    def cut_after(self, budget: int) -> RunChunks:
        """Cut each result list after a number of words, and leave out chunks with an unknown range."""
        chunks, read_words = self.chunks, count_read_words(self.chunks, budget)
        rows = np.flatnonzero((read_words > 0) & (chunks.first_word != UNKNOWN))
        first_word = chunks.first_word[rows]
        words, bounds = read_words[rows], chunks.bounds
        start, end = bounds[first_word], bounds[first_word + words]
        columns = (chunks.query[rows], chunks.rank[rows], chunks.documents.take(int_array(rows)))
        return RunChunks(*columns, start, end, words, first_word, bounds)

    def select(self, measure: Measure) -> Mask:
        """Select the chunks to which a measure applies, shape (C,)."""
        depth = measure.depth or 1
        if measure.kind != WITHIN:
            return self.chunks.rank <= depth
        return count_read_words(self.chunks, depth) > 0

    def compute_judged_share(self, measure: Measure, queries: int) -> Floats:
        """Compute the share of judged chunks among the chunks that a measure counts, shape (Q,); NaN if the
        measure counts no chunk."""
        is_selected = self.select(measure)
        query = self.chunks.query[is_selected]
        judged = sum_by_query(query, self.judged[is_selected], queries)
        return ratio(judged, sum_by_query(query, None, queries))


def count_read_words(chunks: RunChunks, budget: int) -> Ints:
    """Count each chunk's words that lie within the word budget of the chunk's result list, shape (C,)."""
    is_known = chunks.words != UNKNOWN
    words = np.where(is_known, chunks.words, budget)  # a chunk of unknown length ends the list
    before = np.concatenate([[0], np.cumsum(words)])[:-1]
    remaining = budget - (before - before[np.searchsorted(chunks.query, chunks.query)])
    return np.where(is_known, np.clip(remaining, 0, words), 0)


def compute_chunk_values(measure: Measure, ranked: RankedChunks, queries: int, relevant: int) -> Floats:
    """Compute a chunk measure, shape (Q,); context_words is NaN if a chunk has an unknown number of words.

    The value of a query without evidence in relevant documents has no meaning.

    Parameters
    ----------
    queries: the number Q of queries.
    relevant: the lowest grade of a relevant document.
    """
    chunks, is_selected = ranked.chunks, ranked.select(measure)
    if measure.kind == CONTEXT:
        return _sum_amounts(chunks, is_selected, chunks.words, np.nan, queries)
    if measure.kind == WITHIN:
        return _recall_within(ranked, measure.depth or 1, queries, relevant)
    (chunk, pair, characters), evidence = ranked.new_evidence, ranked.evidence
    query, rank, grade = chunks.query[chunk], chunks.rank[chunk], evidence.grade[pair]
    if measure.kind == "evidence_ndcg":
        gains = grade * characters / evidence.sizes[pair] / np.log2(rank + 1)
        dcg = sum_by_query(query, np.where(is_selected[chunk], gains, 0.0), queries)
        best_dcg = evidence.compute_best_dcg(measure.depth or 1, queries)
        return np.minimum(ratio(dcg, best_dcg, 0.0), 1.0)  # rounding can exceed 1
    counts = is_selected[chunk] & (grade >= relevant)
    if measure.kind in ("evidence_hit", "evidence_mrr"):
        reciprocal_rank = np.zeros(queries)
        np.maximum.at(reciprocal_rank, query[counts], 1 / rank[counts])
        return reciprocal_rank if measure.kind == "evidence_mrr" else np.ceil(reciprocal_rank)
    evidence_read = sum_by_query(query[counts], characters[counts], queries)
    all_evidence = evidence.count_characters(queries, relevant)
    if measure.kind == "evidence_recall":
        return ratio(evidence_read, all_evidence, 0.0)
    read = _sum_amounts(chunks, is_selected, chunks.end - chunks.start, np.inf, queries)
    union = read if measure.kind == "evidence_precision" else all_evidence + read - evidence_read
    return ratio(evidence_read, union, 0.0)


def _recall_within(ranked: RankedChunks, budget: int, queries: int, relevant: int) -> Floats:
    """Compute the recall of evidence within the first `budget` words of each result list, shape (Q,)."""
    chunks, evidence = ranked.cut_after(budget), ranked.evidence
    chunk, pair, characters = _find_new_evidence(chunks, evidence)
    is_relevant = evidence.grade[pair] >= relevant
    read = sum_by_query(chunks.query[chunk[is_relevant]], characters[is_relevant], queries)
    return ratio(read, evidence.count_characters(queries, relevant), 0.0)


def _sum_amounts(chunks: RunChunks, is_selected: Mask, amounts: Ints, unknown: float, queries: int) -> Floats:
    """Sum an amount, such as words, over each query's chunks, shape (Q,); `unknown` if a chunk's number of
    words is unknown."""
    totals = sum_by_query(chunks.query[is_selected], amounts[is_selected], queries)
    totals[chunks.query[is_selected & (chunks.words == UNKNOWN)]] = unknown
    return totals


def _find_new_evidence(chunks: RunChunks, evidence: EvidenceRanges) -> NewEvidence:
    """Find the evidence that each chunk contains and no chunk above it does.

    A pair's evidence and chunks are cut into pieces where either begins or ends. A piece belongs to the first
    chunk that holds the piece.
    """
    ids = chunks.documents.dictionary
    document = to_ints(pc.index_in(ids, value_set=evidence.documents))[to_ints(chunks.documents.indices)]
    chunk_pair = chunks.query * len(evidence.documents) + document
    marked_chunks = np.flatnonzero((document >= 0) & np.isin(chunk_pair, evidence.pair))
    pair = np.searchsorted(evidence.pair, chunk_pair[marked_chunks])
    overlap, marked_range = _expand_ranges(evidence.first[pair], evidence.first[pair + 1])
    start = np.maximum(chunks.start[marked_chunks[overlap]], evidence.start[marked_range])
    end = np.minimum(chunks.end[marked_chunks[overlap]], evidence.end[marked_range])
    is_overlap = start < end
    overlap, start, end = overlap[is_overlap], start[is_overlap], end[is_overlap]
    offset = pair[overlap] * (2 * OPEN)  # keeps the pieces of different pairs apart
    cuts = np.unique(np.concatenate([start + offset, end + offset]))
    index, piece = _expand_ranges(np.searchsorted(cuts, start + offset), np.searchsorted(cuts, end + offset))
    first_chunk = np.full(len(cuts), len(chunks.rank))
    np.minimum.at(first_chunk, piece, marked_chunks[overlap[index]])  # chunks are by rank
    held_pieces = np.flatnonzero(first_chunk < len(chunks.rank))
    holders, holder = np.unique(first_chunk[held_pieces], return_inverse=True)
    lengths = cuts[held_pieces + 1] - cuts[held_pieces]
    characters = np.bincount(holder.ravel(), lengths, len(holders)).astype(np.int64)
    return (holders, pair[np.searchsorted(marked_chunks, holders)], characters)


def _expand_ranges(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """List every integer in each of several ranges, with the index of its range.

    The ranges 3 to 5 and 7 to 8 give the indexes (0, 0, 1) and the integers (3, 4, 7).
    """
    size = last - first
    index = np.repeat(np.arange(len(first)), size)
    return index, np.arange(len(index)) - np.repeat(np.cumsum(size) - size, size) + first[index]
