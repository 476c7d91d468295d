"""The grades of queries as columns (qrels): what runs are scored against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.core.arrow import texts
from curation.core.errors import InputError
from curation.core.statistics.arrays import Ints
from curation.evaluation.scoring.evidence import EvidenceRanges
from curation.evaluation.scoring.measure_names import CONTEXT, Measure


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
    evidence: where the documents hold it; None if nobody marked any.
    """

    query_ids: tuple[str, ...]
    documents: pa.Array
    query: Ints
    document: Ints
    grade: Ints
    scale: tuple[int, ...]
    relevant: int
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
    def grade_counts(self) -> tuple[Ints, Ints]:
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


def with_evidence(qrels: Qrels, measure: Measure) -> EvidenceRanges:
    """The evidence that a measure needs.

    Raises
    ------
    InputError: the release has no evidence for these queries.
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
    index = {value: number for number, value in enumerate(ordered)}
    return np.array([index[value] for value in values], np.int64)


def _threshold(scale: list[int], relevant: int | None) -> int:
    """The least relevant grade."""
    least = scale[min(1, len(scale) - 1)] if relevant is None else relevant
    if not scale[0] < least <= scale[-1] and len(scale) > 1:
        raise InputError(
            f"Relevant from grade {least} on: expected a grade of the scale above the lowest, "
            f"{', '.join(map(str, scale[1:]))}."
        )
    return max(least, 1)
