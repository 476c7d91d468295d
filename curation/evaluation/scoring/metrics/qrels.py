"""The grades that runs are scored against, as columns.

A run as rankings, in the order of trec_eval 10: by score in double precision, equal scores by document id,
descending. trec_eval 9 and pytrec_eval compare scores in single precision.

A system that gives every document the same score gets the order of the ids and no better. How often ids
decided is counted, and the best and the worst order that the scores allow show how much it could matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.arrow import ints_of, texts
from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats, Ints
from curation.evaluation.scoring.metrics.evidence import (
    EvidenceRanges,
    RankedChunks,
    RunChunks,
    evidence_ranges,
)
from curation.evaluation.scoring.metrics.measures import CONTEXT, Measure
from curation.evaluation.scoring.metrics.subtopics import Subtopics

UNJUDGED = -1
"""The grade of a document without one."""


class RunRows(NamedTuple):
    """The places of one run in any order, N of them; a document is once in a query's list.

    Attributes
    ----------
    query: positions in `Qrels.query_ids`, shape (N,).
    documents: ids, N of them.
    scores: shape (N,), no NaN.
    chunks: what the run has of these documents; None where nobody asks for it.
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
    query, rank, grade: shape (N,); ranks are from 1, `UNJUDGED` is the grade of what nobody judged.
    judged: position in the columns of the qrels, `UNJUDGED` where there is none, shape (N,).
    returned: documents that each query got, shape (Q,).
    order: which of the run's rows is at each place, shape (N,).
    tied: number of the group of equal scores that a place belongs to, 0 without one, shape (N,).
    covering: position among the pairs of the qrels' subtopics, `UNJUDGED` where there is none, shape (N,);
        None without subtopics.
    chunks: of the run, where it has any.
    """

    query: Ints
    rank: Ints
    grade: Ints
    judged: Ints
    returned: Ints
    order: Ints
    tied: Ints
    covering: Ints | None = None
    chunks: RankedChunks | None = None

    @cached_property
    def starts(self) -> Ints:
        """Where each query's places begin, shape (Q,)."""
        return np.concatenate([[0], np.cumsum(self.returned)[:-1]])


class TieCounts(NamedTuple):
    """Equal scores that document ids put in an order.

    Attributes
    ----------
    groups: of two or more documents with one score for one query.
    documents, queries: how many these are.
    mattering: queries where documents of different grades are in one group: another order, other figures.
    """

    groups: int
    documents: int
    queries: int
    mattering: int


def run_rows(run: Mapping[str, Mapping[str, float]], qrels: Qrels) -> RunRows:
    """The rows of query → document → score, without queries that the qrels do not have.

    Raises
    ------
    InputError: a score is no number.
    """
    place = {query: number for number, query in enumerate(qrels.query_ids)}
    queries: list[int] = []
    documents: list[str] = []
    scores: list[float] = []
    for query, found in run.items():
        if query in place:
            queries += [place[query]] * len(found)
            documents += found
            scores += found.values()
    values = np.array(scores, np.float64)
    if np.isnan(values).any():
        first = int(np.flatnonzero(np.isnan(values))[0])
        query = qrels.query_ids[queries[first]]
        raise InputError(f"The score of {documents[first]!r} for the query {query!r} is no number.")
    return RunRows(np.array(queries, np.int64), texts(documents), values)


def rank(rows: RunRows, qrels: Qrels) -> Rankings:
    """Put a run in order and look its documents' grades up."""
    encoded = rows.documents.dictionary_encode()
    codes = ints_of(encoded.indices)
    order, tied = ordered(rows.query, rows.scores, codes, encoded.dictionary)
    query, number = rows.query[order], len(qrels.query_ids)
    returned = np.bincount(query, minlength=number)
    starts = np.concatenate([[0], np.cumsum(returned)[:-1]])
    ranks = np.arange(1, len(order) + 1) - starts[query]
    judged = _judged(query, codes[order], encoded.dictionary, qrels)
    grade = np.where(judged == UNJUDGED, UNJUDGED, qrels.grade[judged])
    subtopics = qrels.subtopics
    covering = None if subtopics is None else _judged(query, codes[order], encoded.dictionary, subtopics)
    return Rankings(
        query, ranks, grade, judged, returned, order, tied, covering, _ranked_chunks(rows.chunks, qrels)
    )


def _ranked_chunks(chunks: RunChunks | None, qrels: Qrels) -> RankedChunks | None:
    if chunks is None:
        return None
    judged = _judged(chunks.query, ints_of(chunks.documents.indices), chunks.documents.dictionary, qrels)
    return RankedChunks(chunks, judged != UNJUDGED, qrels.evidence or evidence_ranges({}, {}, ()))


def ties_of(ranking: Rankings) -> TieCounts:
    """How many equal scores were put in order by ids."""
    inside = np.flatnonzero(ranking.tied)
    groups, first = np.unique(ranking.tied[inside], return_index=True)
    return TieCounts(
        groups=len(groups),
        documents=len(inside),
        queries=len(np.unique(ranking.query[inside[first]])),
        mattering=len(queries_with_choice(ranking)),
    )


def queries_with_choice(ranking: Rankings) -> Ints:
    """The queries where equal scores could have another order that matters, by position."""
    inside = np.flatnonzero(ranking.tied)
    same_group = ranking.tied[inside][1:] == ranking.tied[inside][:-1]
    differs = ranking.grade[inside][1:] != ranking.grade[inside][:-1]
    return np.unique(ranking.query[inside[1:][same_group & differs]])


def reordered(ranking: Rankings, best: bool, lowest: int) -> Rankings:
    """The ranking with equal scores in the best or the worst order.

    Higher grades come first, then what nobody judged, then the lowest grade (for the worst: the reverse).
    """
    value = np.where(ranking.grade == UNJUDGED, 2 * lowest + 1, 2 * ranking.grade)
    inside = np.flatnonzero(ranking.tied)
    key = -value[inside] if best else value[inside]
    moved = np.arange(len(ranking.query))
    moved[inside] = inside[np.lexsort((key, ranking.tied[inside]))]
    return replace(
        ranking,
        grade=ranking.grade[moved],
        judged=ranking.judged[moved],
        order=ranking.order[moved],
        covering=None if ranking.covering is None else ranking.covering[moved],
    )


def ordered(of_query: Ints, scores_of: Floats, codes: Ints, names: pa.Array) -> tuple[Ints, Ints]:
    """The rows by query, descending score and descending id, and the groups of equal scores."""
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


def _judged(query: Ints, codes: Ints, names: pa.Array, qrels: Qrels | Subtopics) -> Ints:
    """The position of each place's pair in the columns of the qrels, or of their subtopics."""
    documents = ints_of(pc.index_in(names, value_set=qrels.documents))[codes]
    pairs = query * len(qrels.documents) + documents
    place = np.minimum(np.searchsorted(qrels.pair, pairs), len(qrels.pair) - 1)
    found: Ints = np.where((documents >= 0) & (qrels.pair[place] == pairs), place, UNJUDGED)
    return found


@dataclass(frozen=True)
class Qrels:
    """The grades of some queries, of shape (J,), ordered by query and document.

    Attributes
    ----------
    query_ids: ordered, Q of them; also those without a grade.
    documents: every judged document's id once, ordered as UTF-8 bytes.
    query, document: positions in these.
    scale: all grades that could be given, ascending.
    relevant: least grade of a relevant document, for binary measures.
    subtopics: which documents are relevant to which of a query's subtopics; None where nobody says so.
    evidence: where the documents hold it; None where nobody marked any.
    """

    query_ids: tuple[str, ...]
    documents: pa.Array
    query: Ints
    document: Ints
    grade: Ints
    scale: tuple[int, ...]
    relevant: int
    subtopics: Subtopics | None = None
    evidence: EvidenceRanges | None = None

    @cached_property
    def pair(self) -> Ints:
        """One ascending number for each (query, document)."""
        return self.query * len(self.documents) + self.document

    @cached_property
    def relevant_documents(self) -> Ints:
        """How many relevant documents each query has, shape (Q,)."""
        return np.bincount(self.query[self.grade >= self.relevant], minlength=len(self.query_ids))

    @cached_property
    def gaining_documents(self) -> Ints:
        """How many documents of each query have a grade above 0, shape (Q,)."""
        return np.bincount(self.query[self.grade > 0], minlength=len(self.query_ids))

    @cached_property
    def held(self) -> tuple[Ints, Ints]:
        """The G grades that there are, ascending up to the highest of the scale, shape (G,), and how many
        documents of each a query has, shape (Q, G)."""
        grades = np.unique(np.append(self.grade, self.scale[-1]))
        shape = len(self.query_ids), len(grades)
        cell = self.query * len(grades) + np.searchsorted(grades, self.grade)
        return grades, np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)

    def lacking(self, measure: Measure) -> NDArray[np.bool_]:
        """Which queries have no value of a measure, whatever a run returns, shape (Q,)."""
        if measure.kind in ("judged", CONTEXT) or measure.summary == "total":
            return np.zeros(len(self.query_ids), bool)
        if measure.of_chunks:
            least = self.relevant if measure.binary else 1
            having = with_evidence(self, measure).characters(len(self.query_ids), least)
        elif measure.alpha is not None:
            having = np.bincount(with_subtopics(self, measure).query, minlength=len(self.query_ids))
        else:
            having = self.relevant_documents if measure.binary else self.gaining_documents
        none: NDArray[np.bool_] = having == 0
        return none


def qrels_of(
    rows: Iterable[tuple[str, str, int]],
    query_ids: Iterable[str] = (),
    scale: Iterable[int] = (),
    relevant: int | None = None,
) -> Qrels:
    """Columns of (query, document, grade); negative grades are TREC's way to say that nobody judged.

    Parameters
    ----------
    query_ids: further queries, which have no grade.
    scale: all grades that could be given; else those that were.
    relevant: by default every grade above the lowest of the scale is relevant.

    Raises
    ------
    InputError: a pair has two grades, there is no grade, or none could be relevant.
    """
    table = sorted(row for row in rows if row[2] >= 0)
    if not table:
        raise InputError("There are no grades to score against.")
    queries, documents, grades = zip(*table, strict=True)
    ids = sorted({*queries, *query_ids})
    values = sorted({*grades, *scale})
    names = sorted(set(documents))
    qrels = Qrels(
        query_ids=tuple(ids),
        documents=texts(names),
        query=_positions(queries, ids),
        document=_positions(documents, names),
        grade=np.array(grades, np.int64),
        scale=tuple(values),
        relevant=_threshold(values, relevant),
    )
    again = np.flatnonzero(qrels.pair[1:] == qrels.pair[:-1])
    if len(again):
        query, document, _ = table[int(again[0])]
        raise InputError(f"The document {document!r} has two grades for the query {query!r}.")
    return qrels


def with_subtopics(qrels: Qrels, measure: Measure) -> Subtopics:
    """The subtopics that a measure needs.

    Raises
    ------
    InputError: there are none.
    """
    if qrels.subtopics is None:
        raise InputError(
            f"{measure.name} needs to know which documents are relevant to which subtopic of a query.",
            command="Name a file with lines of topic, subtopic, document and grade: --subtopics FILE.",
        )
    return qrels.subtopics


def with_evidence(qrels: Qrels, measure: Measure) -> EvidenceRanges:
    """The evidence that a measure needs.

    Raises
    ------
    InputError: there is none.
    """
    if qrels.evidence is None:
        raise InputError(
            f"{measure.name} needs evidence, the places in documents that people marked, and the release has "
            "none for these queries.",
            command="Let the guide ask for evidence and freeze again, or choose measures of documents, such "
            "as recall@10.",
        )
    return qrels.evidence


def qrels_from(grades: Mapping[str, Mapping[str, int]], relevant: int | None = None) -> Qrels:
    """The same from query → document → grade, with all grades from 0 to the highest as the scale.

    Raises
    ------
    InputError: as `qrels_of`.
    """
    rows = [(query, document, grade) for query, row in grades.items() for document, grade in row.items()]
    highest = max((grade for _, _, grade in rows), default=0)
    return qrels_of(rows, grades, range(highest + 1), relevant)


def _positions(values: Iterable[str], ordered: list[str]) -> Ints:
    place = {value: number for number, value in enumerate(ordered)}
    return np.array([place[value] for value in values], np.int64)


def _threshold(scale: list[int], relevant: int | None) -> int:
    """The least relevant grade."""
    least = scale[min(1, len(scale) - 1)] if relevant is None else relevant
    if not scale[0] < least <= scale[-1] and len(scale) > 1:
        raise InputError(
            f"Relevant from grade {least} on: expected a grade of the scale above the lowest, "
            f"{', '.join(map(str, scale[1:]))}."
        )
    return max(least, 1)
