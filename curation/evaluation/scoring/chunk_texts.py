"""The search for chunks' texts in a release's documents.

A text is searched in its document literally, then with different white space and case. A text that the
document lacks keeps its rank and length, and has no evidence. Where a document has a text several times, an
occurrence is chosen without regard to marked evidence. If marks decided, a short text would be placed on
marked evidence, and gain more than a run with offsets can.

In a list of a run, the first copy takes the first occurrence and the next copy the next occurrence; a copy
may have different white space or case. A surplus copy repeats a chunk. An index has its chunks in the order
of the documents, so a chunk begins behind the start of the chunk before it: at the occurrence that follows
that chunk without a gap, else at the first occurrence outside that chunk, else at the first occurrence. An
occurrence is sure if the order of all chunks leaves no other occurrence, and no chunk breaks the order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from curation.core.arrow import to_ints
from curation.core.similarity.quotes import find_quote
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.words import find_word_starts
from curation.evaluation.scoring.evidence import OPEN
from curation.evaluation.scoring.pinned_bodies import PinnedBodies

ChunkRanges = tuple[Ints, Ints, Ints]
"""Start and end of each line's chunk, and the number of ranges it may have (0 if not found); shape (C,)."""
ScoredLists = tuple[Ints, Floats]
"""Index of each line's query, and score of each line, shape (C,)."""
_Occurrence = tuple[int, int, int]
"""Start and end of a text, and the start of the white space before the text."""
_Occurrences = Sequence[Sequence[_Occurrence]]
_Copy = tuple[int, str]
"""Document of a text, and the text in lower case with single spaces."""


def find_texts(
    column: pa.Array,
    document_ids: Sequence[str],
    document: Ints,
    bodies: PinnedBodies,
    scored_lists: ScoredLists | None,
) -> ChunkRanges:
    """Find where the chunk text of each line of a file occurs in the document that the line names.

    A text that was not found has a range of its own length behind the end of its document.

    Parameters
    ----------
    column: the text of each line, shape (C,).
    document: the index of each line's document in `document_ids`, shape (C,).
    scored_lists: the lists of a run; None for an index, whose lines are in the order of the documents.
    """
    encoded = column.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    text = to_ints(encoded.indices)
    _, line, pair = np.unique(document * len(texts) + text, return_index=True, return_inverse=True)
    pair = pair.ravel()
    pair_texts = [texts[index] for index in text[line].tolist()]
    pair_documents = document[line].tolist()
    pair_ids = [document_ids[index] for index in pair_documents]
    occurrences = _find_occurrences(pair_ids, pair_texts, bodies)
    range_counts = np.array(list(map(len, occurrences)), np.int64)[pair]
    lengths = bodies.find_lengths(document_ids)[document[line]].tolist()
    for index in [index for index, spans in enumerate(occurrences) if not spans]:
        behind = lengths[index] + index  # ranges behind the end of the document differ by text
        occurrences[index] = [(behind, behind + len(pair_texts[index]), behind)]
    if scored_lists is None:
        chosen, is_sure = _choose_in_index(pair, document, occurrences, range_counts)
        range_counts = np.where(is_sure, 1, range_counts)
    else:
        plain_texts = [" ".join(text.lower().split()) for text in pair_texts]
        copies = list(zip(pair_documents, plain_texts, strict=True))
        chosen = _choose_in_lists(pair, copies, occurrences, *scored_lists)
    first = np.cumsum([0, *map(len, occurrences)])[:-1]
    ranges = np.array([span for spans in occurrences for span in spans], np.int64).reshape(-1, 3)
    start, end, _ = ranges[first[pair] + chosen].T
    return start, end, range_counts


def count_words(column: pa.Array) -> Ints:
    """Count the words in the chunk text of each of C lines, shape (C,)."""
    encoded = column.dictionary_encode()
    words = [len(find_word_starts(text)) for text in encoded.dictionary.to_pylist()]
    return np.array(words, np.int64)[to_ints(encoded.indices)]


def _find_occurrences(
    document_ids: Sequence[str], texts: Sequence[str], bodies: PinnedBodies
) -> list[list[_Occurrence]]:
    """Find all occurrences of each chunk text in its document; the list is empty if the document does not
    contain the text."""
    occurrences: list[list[_Occurrence]] = [[] for _ in texts]
    indexes: dict[str, list[int]] = {}
    for index, document_id in enumerate(document_ids):
        indexes.setdefault(document_id, []).append(index)
    for document_id, body in bodies.walk(indexes):
        for index in indexes[document_id]:
            spans = find_quote(texts[index], body or "", re.IGNORECASE)
            occurrences[index] = [(*span, _end_of_text_before(body or "", span[0])) for span in spans]
    return occurrences


def _end_of_text_before(body: str, start: int) -> int:
    """Find where the text before a character ends: before any white space that precedes the character."""
    while start and body[start - 1].isspace():
        start -= 1
    return start


def _choose_in_lists(
    pair: Ints, copies: Sequence[_Copy], occurrences: _Occurrences, query: Ints, scores: Floats
) -> Ints:
    """Choose the occurrence for each line: the first that no equal text ranked higher in the query's list has
    taken.

    Texts with fewer occurrences choose first.
    """
    used_keys: set[tuple[int, _Copy, int]] = set()
    chosen = np.zeros(len(pair), np.int64)
    counts = np.array(list(map(len, occurrences)))
    for line in np.lexsort((-scores, counts[pair])).tolist():
        spans, copy = occurrences[pair[line]], copies[pair[line]]
        keys = [(int(query[line]), copy, text_before) for _, _, text_before in spans]
        chosen[line] = next((index for index, key in enumerate(keys) if key not in used_keys), len(keys) - 1)
        used_keys.add(keys[chosen[line]])
    return chosen


def _choose_in_index(
    pair: Ints, document: Ints, occurrences: _Occurrences, counts: Ints
) -> tuple[Ints, Mask]:
    """Choose the occurrence for each line of a search index, and find the lines with only one possible
    occurrence.

    Parameters
    ----------
    counts: the number of occurrences of each line's text, shape (C,).
    """
    earliest, in_order = _choose_in_order(pair, document, occurrences, counts)
    mirrored = [[(-start, -end, 0) for start, end, _ in reversed(spans)] for spans in occurrences]
    from_end, _ = _choose_in_order(pair[::-1], document[::-1], mirrored, counts[::-1])
    latest = counts - 1 - from_end[::-1]
    chosen, _ = _choose_in_order(pair, document, occurrences, counts, latest)
    return chosen, in_order & (earliest == latest)


def _choose_in_order(
    pair: Ints, document: Ints, occurrences: _Occurrences, counts: Ints, latest: Ints | None = None
) -> tuple[Ints, bool]:
    """Choose for each line the first free occurrence after the occurrence of the document's preceding line.

    Also return whether every line has a free occurrence.

    Parameters
    ----------
    latest: the last occurrence that leaves an occurrence for each line below; up to there, an occurrence that
        follows the line before is preferred, and after that an occurrence outside the line before.
    """
    previous_chunks: dict[int, _Occurrence] = {}
    free_indexes: dict[int, list[int]] = {}
    chosen = np.zeros(len(pair), np.int64)
    in_order = True
    for line in np.flatnonzero(counts).tolist():
        text = int(pair[line])
        document_index = int(document[line])
        spans = occurrences[text]
        free_occurrences = free_indexes.setdefault(text, list(range(len(spans))))
        start, end, _ = previous_chunks.get(document_index, (-OPEN, -OPEN, 0))
        index = next((candidate for candidate in free_occurrences if spans[candidate][0] > start), -1)
        if index < 0:
            index = free_occurrences[0]
            in_order = False
        elif latest is not None:
            outside = next((candidate for candidate in free_occurrences if spans[candidate][1] > end), index)
            behind = next((candidate for candidate in free_occurrences if spans[candidate][0] >= end), index)
            following = behind if spans[behind][2] <= end else outside
            limit = max(index, latest[line])
            index = max(candidate for candidate in (index, outside, following) if candidate <= limit)
        if len(free_occurrences) > 1:
            free_occurrences.remove(index)
        previous_chunks[document_index] = spans[index]
        chosen[line] = index
    return chosen, in_order
