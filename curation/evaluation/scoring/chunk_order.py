"""The order of a run's chunks in its lists, for the measures of chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from curation.core.arrow import int_array, to_ints
from curation.core.statistics.arrays import Floats, Ints
from curation.evaluation.scoring.chunk_measures import RunChunks
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.rankings import RunRows, order_rows
from curation.evaluation.scoring.release import EvaluatedRelease


def add_whole_documents(rows: RunRows, release: EvaluatedRelease, measures: Sequence[Measure]) -> RunRows:
    """Add whole documents as chunks, where a run of documents is scored by a measure of chunks."""
    if rows.chunks or release.bodies is None or not any(measure.of_chunks for measure in measures):
        return rows
    documents = rows.documents
    ids = documents.dictionary.to_pylist()
    codes = to_ints(documents.indices)
    start = np.zeros(len(codes), np.int64)
    end = release.bodies.find_lengths(ids)[codes]
    words, first_word = release.bodies.count_words(ids, codes, start, end)
    columns = (start, end, words, first_word)
    chunks = order_chunks(rows.query, rows.scores, documents, columns, release.bodies.bounds)
    return rows._replace(chunks=chunks)


def order_chunks(
    query: Ints,
    scores: Floats,
    documents: pa.DictionaryArray,
    columns: tuple[Ints, Ints, Ints, Ints],
    bounds: Ints,
) -> RunChunks:
    """Order chunks by query and score.

    Chunks with equal scores are in the order of documents, and chunks of one document in the order of the
    file.

    Parameters
    ----------
    columns: start, end, words and first_word of each chunk.
    bounds: the boundaries between words, as in `RunChunks`.
    """
    order, _ = order_rows(query, scores, to_ints(documents.indices), documents.dictionary)
    query = query[order]
    rank = np.arange(1, len(order) + 1) - np.searchsorted(query, query)
    start, end, words, first_word = (column[order] for column in columns)
    return RunChunks(query, rank, documents.take(int_array(order)), start, end, words, first_word, bounds)
