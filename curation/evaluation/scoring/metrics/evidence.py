"""The measures of chunks: how much of the evidence that people marked is in the first chunks of a run.

A chunk is a part of a document, `start` to `end` in characters of its body; a run of documents is one of
chunks that are whole documents. With E the characters of evidence of a query's relevant documents, and R
those of its first k chunks,

    evidence_recall@k     |E ∩ R| / |E|
    evidence_precision@k  |E ∩ R| / |R|
    evidence_iou@k        |E ∩ R| / (|E| + |R| − |E ∩ R|)

where |R| counts a character as often as chunks hold it, and |E ∩ R| once (B. Smith and A. Troynikov (2024),
Evaluating Chunking Strategies for Retrieval, Chroma technical report; there of tokens). evidence_hit@k is
whether any of the chunks holds evidence, evidence_mrr@k is 1 / the rank of the first one that does.

    evidence_ndcg@k       Σ gain / log2(rank + 1), over that of the best list
    gain of a chunk       grade of its document × share of the pair's evidence that it holds and no chunk
                          above it

So what is found again gains nothing, and the chunks of a document gain its grade together. The best list has
all evidence of a pair in one chunk, the highest grade first; no list has more. Of whole documents it is nDCG
with the grade as gain (K. Järvelin and J. Kekäläinen (2002), Cumulated gain-based evaluation of IR
techniques, ACM TOIS 20) over the pairs with evidence; that overlapping parts gain once is the rule of XML
retrieval (G. Kazai and M. Lalmas (2006), eXtended cumulated gain measures, ACM TOIS 24).

evidence_within@w is the recall of the first w words, so that chunks of all sizes are compared at the same
cost. The chunk that passes w words is cut there. A chunk is here the words that begin in it, each up to where
the next word of its document begins. So the value depends on the words that a run brings and on their order
alone, not on where its chunks are cut.

A chunk whose text is not known, such as of a document that the corpus lacks, may be as long as one likes: it
ends the list of evidence_within@w, and precision and IoU of what holds it are 0. So it never helps a run.

context_words@k is how many words the first k chunks have together, as `words.word_starts` counts them: what
a language model is given to read. It is no quality, so systems are not compared by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.arrow import ints_of, numbers, texts
from curation.core.spans import Span, union
from curation.core.statistics.arrays import Floats, Ints, Mask, ratio
from curation.evaluation.scoring.metrics.measures import CONTEXT, WITHIN, Measure

Pair = tuple[str, str]
OPEN = 1 << 40
"""The end of a document whose length is not known."""
UNKNOWN = -1
"""The words of a chunk whose text is not known."""


@dataclass(frozen=True)
class EvidenceRanges:
    """Where documents hold evidence, P pairs of query and document with R ranges.

    Attributes
    ----------
    documents: their ids, each once, ordered as UTF-8 bytes.
    pair: one ascending number for each (query, document), shape (P,). query: positions, shape (P,).
    grade: of each pair; 0 where nobody gave one, shape (P,).
    first: where the ranges of each pair begin, and where the last end, shape (P + 1,).
    start, end: of the ranges by pair, in order and apart, shape (R,).
    """

    documents: pa.Array
    pair: Ints
    query: Ints
    grade: Ints
    first: Ints
    start: Ints
    end: Ints

    @cached_property
    def sizes(self) -> Ints:
        """Characters of evidence of each pair, shape (P,)."""
        return np.add.reduceat(self.end - self.start, self.first[:-1]) if len(self.pair) else self.pair

    def characters(self, queries: int, relevant: int) -> Ints:
        """Characters of evidence of each query's documents with a relevant grade, shape (Q,)."""
        counted = self.grade >= relevant
        return _sums(self.query[counted], self.sizes[counted], queries).astype(np.int64)

    def best_dcg(self, depth: int, queries: int) -> Floats:
        """The DCG of each query's best list to a depth, shape (Q,)."""
        order = np.lexsort((-self.grade, self.query))
        rank = np.arange(1, len(order) + 1) - np.searchsorted(self.query, self.query)  # pairs are by query
        gains = np.where(rank <= depth, self.grade[order] / np.log2(rank + 1), 0.0)
        return _sums(self.query, gains, queries)


def evidence_ranges(
    marked: Mapping[Pair, Iterable[Span]], grades: Mapping[Pair, int], query_ids: Sequence[str]
) -> EvidenceRanges:
    """Columns of the ranges of characters that hold evidence.

    Parameters
    ----------
    marked: (query id, document id) → ranges, of these queries alone.
    query_ids: ordered as those of the qrels.
    """
    place = {query: number for number, query in enumerate(query_ids)}
    pairs = sorted(marked)
    names = sorted({document for _, document in pairs})
    number = {name: at for at, name in enumerate(names)}
    apart = [union(marked[pair]) for pair in pairs]
    ranges = np.array([span for own in apart for span in own], np.int64).reshape(-1, 2)
    query = np.array([place[name] for name, _ in pairs], np.int64)
    return EvidenceRanges(
        documents=texts(names),
        pair=query * len(names) + np.array([number[name] for _, name in pairs], np.int64),
        query=query,
        grade=np.array([grades.get(pair, 0) for pair in pairs], np.int64),
        first=np.cumsum([0, *map(len, apart)]),
        start=ranges[:, 0],
        end=ranges[:, 1],
    )


class RunChunks(NamedTuple):
    """The C chunks of one run, by query, then rank.

    Attributes
    ----------
    query: positions in the queries of the qrels; rank: from 1; both of shape (C,).
    documents: their ids, C of them.
    start, end: in characters of the body; the end of a whole document of unknown length is `OPEN`.
    words: how many begin in each; `UNKNOWN` where its text is not known.
    first_word: position of its first word in `bounds`; `UNKNOWN` where its place is not known.
    bounds: where each word of the documents begins and the one before it ends; the first word of a document
        from 0, its last one to the end. Shared by the runs of a release.
    several: whether the document has its text elsewhere, too, so that its place is not sure.
    """

    query: Ints
    rank: Ints
    documents: pa.DictionaryArray
    start: Ints
    end: Ints
    words: Ints
    first_word: Ints
    bounds: Ints
    several: Mask


@dataclass(frozen=True)
class RankedChunks:
    """Chunks and the evidence in them.

    Attributes
    ----------
    judged: whether their documents have a grade for the query, shape (C,).
    """

    chunks: RunChunks
    judged: Mask
    evidence: EvidenceRanges

    @cached_property
    def found(self) -> FoundEvidence:
        """The evidence that each chunk holds and no chunk above it."""
        return _found(self.chunks, self.evidence)

    @property
    def most_words(self) -> int:
        """Of the longest chunk."""
        return int(self.chunks.words.max(initial=0))

    def cut(self, budget: int) -> RunChunks:
        """The chunks with a known place, as the words of each that the budget has room for."""
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
            chunks.several[rows],
        )

    def looked_at(self, measure: Measure) -> Mask:
        """Which chunks a measure looks at, shape (C,)."""
        depth = measure.depth or 1
        if measure.kind != WITHIN:
            return self.chunks.rank <= depth
        return words_read(self.chunks, depth) > 0

    def share_judged(self, measure: Measure, queries: int) -> Floats:
        """Of the chunks of each query that a measure looks at, shape (Q,); NaN where there is none."""
        inside = self.looked_at(measure)
        query = self.chunks.query[inside]
        return ratio(_sums(query, self.judged[inside], queries), _sums(query, None, queries))


class FoundEvidence(NamedTuple):
    """Evidence that is met for the first time, of each chunk that has any.

    Attributes
    ----------
    place: of the chunk. pair: position in the pairs of the evidence. characters: how many are new.
    """

    place: Ints
    pair: Ints
    characters: Ints


def words_read(chunks: RunChunks, budget: int) -> Ints:
    """How many words of each chunk are among the first ones of its query, up to a budget, shape (C,)."""
    known = chunks.words != UNKNOWN
    words = np.where(known, chunks.words, budget)  # a chunk that may be longer ends the list
    before = np.concatenate([[0], np.cumsum(words)])[:-1]
    left = budget - (before - before[np.searchsorted(chunks.query, chunks.query)])
    return np.where(known, np.clip(left, 0, words), 0)


def _found(chunks: RunChunks, evidence: EvidenceRanges) -> FoundEvidence:
    """Evidence and chunks of a pair are cut where either begins or ends; a piece is the first chunk's."""
    ids = chunks.documents.dictionary
    document = ints_of(pc.index_in(ids, value_set=evidence.documents))[ints_of(chunks.documents.indices)]
    wanted = chunks.query * len(evidence.documents) + document
    place = np.flatnonzero((document >= 0) & np.isin(wanted, evidence.pair))
    pair = np.searchsorted(evidence.pair, wanted[place])
    held, ranges = _repeated(evidence.first[pair], evidence.first[pair + 1])
    start = np.maximum(chunks.start[place[held]], evidence.start[ranges])
    end = np.minimum(chunks.end[place[held]], evidence.end[ranges])
    some = start < end
    held, start, end = held[some], start[some], end[some]
    shift = pair[held] * (2 * OPEN)  # the pieces of a pair are apart from those of all others
    cuts = np.unique(np.concatenate([start + shift, end + shift]))
    at, pieces = _repeated(np.searchsorted(cuts, start + shift), np.searchsorted(cuts, end + shift))
    first = np.full(len(cuts), len(chunks.rank))
    np.minimum.at(first, pieces, place[held[at]])  # chunks are by rank: the first place is the first rank
    taken = np.flatnonzero(first < len(chunks.rank))
    found, inverse = np.unique(first[taken], return_inverse=True)
    characters = np.bincount(inverse.ravel(), cuts[taken + 1] - cuts[taken], len(found)).astype(np.int64)
    return FoundEvidence(found, pair[np.searchsorted(place, found)], characters)


def _repeated(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Each number of the ranges, with the position of its range: (0, 0, 1), (3, 4, 7) of (3, 5), (7, 8)."""
    size = last - first
    owner = np.repeat(np.arange(len(first)), size)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size) + first[owner]


def chunk_values(measure: Measure, ranked: RankedChunks, queries: int, relevant: int) -> Floats:
    """The value of each query, shape (Q,); words in total are NaN where one of the chunks is not known.

    A query without evidence of relevant documents has no value that means anything.

    Parameters
    ----------
    relevant: least grade of a relevant document.
    """
    chunks, inside = ranked.chunks, ranked.looked_at(measure)
    if measure.kind == CONTEXT:
        return _returned(chunks, inside, chunks.words, np.nan, queries)
    if measure.kind == WITHIN:
        return _recall_within(ranked, measure.depth or 1, queries, relevant)
    found, evidence = ranked.found, ranked.evidence
    query, rank, grade = chunks.query[found.place], chunks.rank[found.place], evidence.grade[found.pair]
    if measure.kind == "evidence_ndcg":
        gains = grade * found.characters / evidence.sizes[found.pair] / np.log2(rank + 1)
        reached = _sums(query, np.where(inside[found.place], gains, 0.0), queries)
        best = evidence.best_dcg(measure.depth or 1, queries)
        return np.minimum(ratio(reached, best, 0.0), 1.0)  # it may be a rounding error off
    counted = inside[found.place] & (grade >= relevant)
    if measure.kind in ("evidence_hit", "evidence_mrr"):
        best = np.zeros(queries)
        np.maximum.at(best, query[counted], 1 / rank[counted])
        return best if measure.kind == "evidence_mrr" else np.ceil(best)
    new = _sums(query[counted], found.characters[counted], queries)
    every = evidence.characters(queries, relevant)
    if measure.kind == "evidence_recall":
        return ratio(new, every, 0.0)
    returned = _returned(chunks, inside, chunks.end - chunks.start, np.inf, queries)
    return ratio(new, returned if measure.kind == "evidence_precision" else every + returned - new, 0.0)


def _recall_within(ranked: RankedChunks, budget: int, queries: int, relevant: int) -> Floats:
    """Recall of the evidence in the first words of each query, shape (Q,)."""
    chunks, evidence = ranked.cut(budget), ranked.evidence
    found = _found(chunks, evidence)
    counted = evidence.grade[found.pair] >= relevant
    new = _sums(chunks.query[found.place[counted]], found.characters[counted], queries)
    return ratio(new, evidence.characters(queries, relevant), 0.0)


def _returned(chunks: RunChunks, inside: Mask, amounts: Ints, unknown: float, queries: int) -> Floats:
    """The sum of the amounts of each query's chunks, shape (Q,); `unknown` where one has unknown words."""
    found = _sums(chunks.query[inside], amounts[inside], queries)
    found[chunks.query[inside & (chunks.words == UNKNOWN)]] = unknown
    return found


def _sums(query: Ints, of: Floats | Ints | Mask | None, queries: int) -> Floats:
    return np.bincount(query, of, queries).astype(np.float64)
