"""Rankings: a run's documents or chunks in trec_eval's order, with their grades.

Rankings have the order of trec_eval 10: by score in double precision, equal scores by document id,
descending. trec_eval 9 and pytrec_eval compare scores in single precision. goldgrade counts how often ids
decide the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.arrow import int_array, string_array, to_ints
from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats, Ints
from curation.evaluation.scoring.chunk_measures import RankedChunks, RunChunks
from curation.evaluation.scoring.evidence import make_evidence_ranges
from curation.evaluation.scoring.qrels import Qrels

UNJUDGED = -1
"""Stands for the grade of a document that nobody judged."""
ChunkColumns = tuple[Ints, Ints, Ints, Ints]
"""Start, end, number of words and first word of each chunk, as in `RunChunks`."""


class RunRows(NamedTuple):
    """The N documents of one run in any order; each document occurs once in a query's list.

    Attributes
    ----------
    query: the index of each query in `Qrels.query_ids`, shape (N,).
    documents: the ids of N documents.
    scores: shape (N,), without NaN.
    chunks: the run's chunks of these documents; None if no measure needs chunks.
    """

    query: Ints
    documents: pa.Array
    scores: Floats
    chunks: RunChunks | None = None


@dataclass(frozen=True)
class Rankings:
    """The N documents of one run, sorted by query and rank.

    Attributes
    ----------
    query, rank, grade: shape (N,); ranks begin at 1, and the grade of an unjudged document is `UNJUDGED`.
    grade_index: the index of the document's grade in the columns of the qrels, or `UNJUDGED`, shape (N,).
    returned: the number of documents that each query got, shape (Q,).
    order: the index of the run's row at each rank, shape (N,).
    tie: the number of the document's group of equal scores, 0 where no other score is equal, shape (N,).
    chunks: the chunks of the run; None for a run of documents.
    """

    query: Ints
    rank: Ints
    grade: Ints
    grade_index: Ints
    returned: Ints
    order: Ints
    tie: Ints
    chunks: RankedChunks | None = None


class TieCounts(NamedTuple):
    """Counts of equal scores in a run, whose order is decided by document ids.

    Attributes
    ----------
    documents: the documents whose score another document of the query has, too.
    mattering: the queries with documents of one score and different grades: a different order would change
        the figures.
    """

    documents: int
    mattering: int


def make_run_rows(run: Mapping[str, Mapping[str, float]], qrels: Qrels) -> RunRows:
    """Build rows from a run (query → document → score), leaving out queries that are not in the qrels.

    Raises
    ------
    InputError: a score is not a number.
    """
    indexes = {query: index for index, query in enumerate(qrels.query_ids)}
    queries: list[int] = []
    documents: list[str] = []
    scores: list[float] = []
    for query, document_scores in run.items():
        if query in indexes:
            queries += [indexes[query]] * len(document_scores)
            documents += document_scores
            scores += document_scores.values()
    values = np.array(scores, np.float64)
    if np.isnan(values).any():
        first = int(np.flatnonzero(np.isnan(values))[0])
        query = qrels.query_ids[queries[first]]
        raise InputError(f"The score of {documents[first]!r} for the query {query!r} is not a number.")
    return RunRows(np.array(queries, np.int64), string_array(documents), values)


def rank(rows: RunRows, qrels: Qrels) -> Rankings:
    """Rank a run's documents, and look up their grades."""
    encoded = rows.documents.dictionary_encode()
    codes = to_ints(encoded.indices)
    order, tie = order_rows(rows.query, rows.scores, codes, encoded.dictionary)
    query = rows.query[order]
    ranks = np.arange(1, len(order) + 1) - np.searchsorted(query, query)
    returned = np.bincount(query, minlength=len(qrels.query_ids))
    grade_index = _find_grades(query, codes[order], encoded.dictionary, qrels)
    grade = np.where(grade_index == UNJUDGED, UNJUDGED, qrels.grade[grade_index])
    chunks = _rank_chunks(rows.chunks, qrels)
    return Rankings(query, ranks, grade, grade_index, returned, order, tie, chunks)


def _rank_chunks(chunks: RunChunks | None, qrels: Qrels) -> RankedChunks | None:
    if chunks is None:
        return None
    documents = chunks.documents
    grade_index = _find_grades(chunks.query, to_ints(documents.indices), documents.dictionary, qrels)
    return RankedChunks(chunks, grade_index != UNJUDGED, qrels.evidence or make_evidence_ranges({}, {}, ()))


def count_ties(ranking: Rankings) -> TieCounts:
    """Count the equal scores in a ranking, whose order is decided by document ids."""
    tied = np.flatnonzero(ranking.tie)
    is_same_tie = np.diff(ranking.tie[tied]) == 0
    differs = np.diff(ranking.grade[tied]) != 0
    return TieCounts(len(tied), len(np.unique(ranking.query[tied[1:][is_same_tie & differs]])))


def order_rows(queries: Ints, scores: Floats, codes: Ints, names: pa.Array) -> tuple[Ints, Ints]:
    """Sort a run's rows by query, descending score and descending document id; return the order and the
    groups of equal scores.

    Parameters
    ----------
    codes: the index of each row's document in `names`.
    """
    scores = np.asarray(scores, np.float64) + 0.0  # makes -0 equal to 0
    step = np.diff(queries)
    if ((step > 0) | ((step == 0) & (scores[1:] <= scores[:-1]))).all():
        order = np.arange(len(scores))
    else:
        order = np.lexsort((-scores, queries))
    query, score = queries[order], scores[order]
    equals_next = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    equals_previous = np.concatenate([[False], equals_next])
    is_tied = np.concatenate([equals_next, [False]]) | equals_previous
    tie = np.where(is_tied, np.cumsum(is_tied & ~equals_previous), 0)
    indexes = np.flatnonzero(is_tied)
    if len(indexes):
        id_order = np.empty(len(names), np.int64)
        id_order[to_ints(pc.sort_indices(names))] = np.arange(len(names))
        tied_rows = order[indexes]
        order[indexes] = tied_rows[np.lexsort((-id_order[codes[tied_rows]], tie[indexes]))]
    return order.astype(np.int64), tie.astype(np.int64)


def order_chunks(
    query: Ints, scores: Floats, documents: pa.DictionaryArray, columns: ChunkColumns, bounds: Ints
) -> RunChunks:
    """Sort a run's chunks by query and score.

    Chunks with equal scores are in the order of documents, and chunks of one document in the order of the
    file.

    Parameters
    ----------
    bounds: the boundaries between words, as in `RunChunks`.
    """
    order, _ = order_rows(query, scores, to_ints(documents.indices), documents.dictionary)
    query = query[order]
    rank = np.arange(1, len(order) + 1) - np.searchsorted(query, query)
    start, end, words, first_word = (column[order] for column in columns)
    return RunChunks(query, rank, documents.take(int_array(order)), start, end, words, first_word, bounds)


def _find_grades(query: Ints, codes: Ints, names: pa.Array, qrels: Qrels) -> Ints:
    """Find the index of each pair's grade in the qrels' columns, or `UNJUDGED`."""
    documents = to_ints(pc.index_in(names, value_set=qrels.documents))[codes]
    pairs = query * len(qrels.documents) + documents
    index = np.minimum(np.searchsorted(qrels.pair, pairs), len(qrels.pair) - 1)
    is_judged = (documents >= 0) & (qrels.pair[index] == pairs)
    return np.asarray(np.where(is_judged, index, UNJUDGED))
