"""A run as a ranking: each query's documents in trec_eval's order, with their grades.

Rankings have the order of trec_eval 10: by score in double precision, equal scores by document id,
descending. trec_eval 9 and pytrec_eval compare scores in single precision. goldgrade counts how often ids
decide the order. The best and the worst order of equal scores show how much the choice could matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.arrow import ints_of, texts
from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats, Ints
from curation.evaluation.scoring.chunk_measures import RankedChunks, RunChunks
from curation.evaluation.scoring.evidence import evidence_ranges
from curation.evaluation.scoring.qrels import Qrels

UNJUDGED = -1
"""The grade of a place whose document nobody judged."""


class RunRows(NamedTuple):
    """The N places of one run in any order; a query's list has each document once.

    Attributes
    ----------
    query: positions in `Qrels.query_ids`, shape (N,).
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
    """The N places of one run by query, then rank.

    Attributes
    ----------
    query, rank, grade: shape (N,); ranks begin at 1, and the grade of an unjudged document is `UNJUDGED`.
    judged: the position of the place's grade in the columns of the qrels, or `UNJUDGED`, shape (N,).
    returned: the number of documents that each query got, shape (Q,).
    order: the position of the run's row that is at each place, shape (N,).
    tied: the number of the place's group of equal scores, 0 where no other score is equal, shape (N,).
    chunks: the chunks of the run; None for a run of documents.
    """

    query: Ints
    rank: Ints
    grade: Ints
    judged: Ints
    returned: Ints
    order: Ints
    tied: Ints
    chunks: RankedChunks | None = None


class TieCounts(NamedTuple):
    """Counts of equal scores, which document ids put in an order.

    Attributes
    ----------
    groups: the groups of two or more documents with one score for one query.
    documents, queries: the documents in these groups, and the queries that have a group.
    mattering: queries with documents of different grades in one group: a different order would change the
    figures.
    """

    groups: int
    documents: int
    queries: int
    mattering: int


def run_rows(run: Mapping[str, Mapping[str, float]], qrels: Qrels) -> RunRows:
    """Turn a run of query → document → score into rows, without queries that the qrels do not have.

    Raises
    ------
    InputError: a score is not a number.
    """
    index = {query: number for number, query in enumerate(qrels.query_ids)}
    queries: list[int] = []
    documents: list[str] = []
    scores: list[float] = []
    for query, scores_of in run.items():
        if query in index:
            queries += [index[query]] * len(scores_of)
            documents += scores_of
            scores += scores_of.values()
    values = np.array(scores, np.float64)
    if np.isnan(values).any():
        first = int(np.flatnonzero(np.isnan(values))[0])
        query = qrels.query_ids[queries[first]]
        raise InputError(f"The score of {documents[first]!r} for the query {query!r} is not a number.")
    return RunRows(np.array(queries, np.int64), texts(documents), values)


def rank(rows: RunRows, qrels: Qrels) -> Rankings:
    """Put a run in order and look up the grades of its documents."""
    encoded = rows.documents.dictionary_encode()
    codes = ints_of(encoded.indices)
    order, tied = ordered(rows.query, rows.scores, codes, encoded.dictionary)
    query = rows.query[order]
    ranks = np.arange(1, len(order) + 1) - np.searchsorted(query, query)
    returned = np.bincount(query, minlength=len(qrels.query_ids))
    judged = _qrels_positions(query, codes[order], encoded.dictionary, qrels)
    grade = np.where(judged == UNJUDGED, UNJUDGED, qrels.grade[judged])
    return Rankings(query, ranks, grade, judged, returned, order, tied, _ranked_chunks(rows.chunks, qrels))


def _ranked_chunks(chunks: RunChunks | None, qrels: Qrels) -> RankedChunks | None:
    if chunks is None:
        return None
    documents = chunks.documents
    judged = _qrels_positions(chunks.query, ints_of(documents.indices), documents.dictionary, qrels)
    return RankedChunks(chunks, judged != UNJUDGED, qrels.evidence or evidence_ranges({}, {}, ()))


def ties_of(ranking: Rankings) -> TieCounts:
    """Count the equal scores that document ids put in an order."""
    inside = np.flatnonzero(ranking.tied)
    groups, first = np.unique(ranking.tied[inside], return_index=True)
    return TieCounts(
        groups=len(groups),
        documents=len(inside),
        queries=len(np.unique(ranking.query[inside[first]])),
        mattering=len(queries_with_choice(ranking)),
    )


def queries_with_choice(ranking: Rankings) -> Ints:
    """Find the positions of queries where another order of equal scores would change figures."""
    inside = np.flatnonzero(ranking.tied)
    same_group = ranking.tied[inside][1:] == ranking.tied[inside][:-1]
    differs = ranking.grade[inside][1:] != ranking.grade[inside][:-1]
    return np.unique(ranking.query[inside[1:][same_group & differs]])


def reordered(ranking: Rankings, best: bool, lowest: int) -> Rankings:
    """Put equal scores in the best or the worst order.

    In the best order, higher grades come first, then unjudged documents, then the lowest grade. The worst
    order is the reverse.
    """
    value = np.where(ranking.grade == UNJUDGED, 2 * lowest + 1, 2 * ranking.grade)
    inside = np.flatnonzero(ranking.tied)
    key = -value[inside] if best else value[inside]
    moved = np.arange(len(ranking.query))
    moved[inside] = inside[np.lexsort((key, ranking.tied[inside]))]
    return replace(
        ranking, grade=ranking.grade[moved], judged=ranking.judged[moved], order=ranking.order[moved]
    )


def ordered(of_query: Ints, scores_of: Floats, codes: Ints, names: pa.Array) -> tuple[Ints, Ints]:
    """Order rows by query, descending score and descending id; return the order and the groups of equal
    scores."""
    scores = np.asarray(scores_of, np.float64) + 0.0  # -0 is 0
    step = np.diff(of_query)
    if ((step > 0) | ((step == 0) & (scores[1:] <= scores[:-1]))).all():
        order = np.arange(len(scores))
    else:
        order = np.lexsort((-scores, of_query))
    query, score = of_query[order], scores[order]
    same = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    inside = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    starts = inside & ~np.concatenate([[False], same])
    tied = np.where(inside, np.cumsum(starts), 0)
    places = np.flatnonzero(inside)
    if len(places):
        by_id = np.empty(len(names), np.int64)
        by_id[ints_of(pc.sort_indices(names))] = np.arange(len(names))
        chosen = order[places]
        order[places] = chosen[np.lexsort((-by_id[codes[chosen]], tied[places]))]
    return order.astype(np.int64), tied.astype(np.int64)


def _qrels_positions(query: Ints, codes: Ints, names: pa.Array, qrels: Qrels) -> Ints:
    """Find the position of each place's pair in the columns of the qrels."""
    documents = ints_of(pc.index_in(names, value_set=qrels.documents))[codes]
    pairs = query * len(qrels.documents) + documents
    index = np.minimum(np.searchsorted(qrels.pair, pairs), len(qrels.pair) - 1)
    judged: Ints = np.where((documents >= 0) & (qrels.pair[index] == pairs), index, UNJUDGED)
    return judged
