"""Qrels: relevance grades of query-document pairs, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.core.arrow import string_array
from curation.core.errors import InputError
from curation.core.statistics.arrays import Ints
from curation.evaluation.scoring.evidence import EvidenceRanges
from curation.evaluation.scoring.measure_names import CONTEXT, Measure


@dataclass(frozen=True)
class Qrels:
    """The J grades for some queries, ordered by query and document.

    Attributes
    ----------
    query_ids: the Q queries, ordered, with the queries that have no grade.
    documents: the id of every judged document once, ordered as UTF-8 bytes.
    query, document: the indexes of each grade's query and document in these, shape (J,).
    scale: all grades that annotators could give, ascending.
    relevant: the lowest grade of a relevant document, for binary measures.
    evidence: the evidence in documents; None if nobody marked evidence.
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
        """Compute one number for each (query, document) pair; the numbers are in ascending order."""
        return self.query * len(self.documents) + self.document

    @property
    def pair_ids(self) -> list[tuple[str, str]]:
        """Return the query id and document id of each grade."""
        documents = self.documents.to_pylist()
        pairs = zip(self.query.tolist(), self.document.tolist(), strict=True)
        return [(self.query_ids[query], documents[document]) for query, document in pairs]

    @cached_property
    def relevant_documents(self) -> Ints:
        """Count each query's relevant documents, shape (Q,)."""
        return np.bincount(self.query[self.grade >= self.relevant], minlength=len(self.query_ids))

    @cached_property
    def grade_counts(self) -> tuple[Ints, Ints]:
        """Return the G grades of the scale in ascending order, shape (G,), and each query's number of
        documents with each grade, shape (Q, G).
        """
        grades = np.unique(np.append(self.grade, self.scale[-1]))
        shape = len(self.query_ids), len(grades)
        cell = self.query * len(grades) + np.searchsorted(grades, self.grade)
        return grades, np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)

    def find_undefined(self, measure: Measure) -> NDArray[np.bool_]:
        """Find the queries for which a measure is undefined whatever a run returns, shape (Q,)."""
        queries = len(self.query_ids)
        lowest = self.relevant if measure.binary else 1
        if measure.kind in ("judged", CONTEXT):
            return np.zeros(queries, bool)
        if measure.of_chunks:
            counts = require_evidence(measure, self).count_characters(queries, lowest)
        else:
            counts = np.bincount(self.query[self.grade >= lowest], minlength=queries)
        return np.asarray(counts == 0)


def make_qrels(
    rows: Iterable[tuple[str, str, int]],
    query_ids: Iterable[str] = (),
    scale: Iterable[int] = (),
    relevant: int | None = None,
) -> Qrels:
    """Build qrels from rows of (query, document, grade); a negative grade marks an unjudged pair, as in TREC.

    Parameters
    ----------
    query_ids: further queries, which have no grade.
    scale: all grades that annotators could give; by default the grades of the rows.
    relevant: the lowest grade of a relevant document; by default every grade above the scale's lowest.

    Raises
    ------
    InputError: a pair has two grades, there is no grade, or no grade could be relevant.
    """
    graded_rows = sorted(row for row in rows if row[2] >= 0)
    if not graded_rows:
        raise InputError("There are no grades to score runs with.")
    queries, documents, grades = zip(*graded_rows, strict=True)
    ids = sorted({*queries, *query_ids})
    full_scale = sorted({*grades, *scale})
    document_ids = sorted(set(documents))
    qrels = Qrels(
        query_ids=tuple(ids),
        documents=string_array(document_ids),
        query=_find_indexes(queries, ids),
        document=_find_indexes(documents, document_ids),
        grade=np.array(grades, np.int64),
        scale=tuple(full_scale),
        relevant=_lowest_relevant(full_scale, relevant),
    )
    repeated = np.flatnonzero(qrels.pair[1:] == qrels.pair[:-1])
    if len(repeated):
        query, document, _ = graded_rows[int(repeated[0])]
        raise InputError(f"The document {document!r} has two grades for the query {query!r}.")
    return qrels


def require_evidence(measure: Measure, qrels: Qrels) -> EvidenceRanges:
    """Return the evidence in the qrels, for a measure that needs it.

    Raises
    ------
    InputError: the release has no evidence for these queries.
    """
    if qrels.evidence is None:
        raise InputError(
            f"{measure.name} needs evidence (passages that people marked in documents), and the release has "
            "none for these queries.",
            command="Ask for evidence in the guide and freeze a new release, or choose measures of "
            "documents, such as recall@10.",
        )
    return qrels.evidence


def qrels_from(grades: Mapping[str, Mapping[str, int]], relevant: int | None = None) -> Qrels:
    """Build qrels from a mapping query → document → grade; the scale runs from 0 to the highest of these
    grades.

    Raises
    ------
    InputError: as for `make_qrels`.
    """
    rows = [(query, document, grade) for query, row in grades.items() for document, grade in row.items()]
    highest = max((grade for _, _, grade in rows), default=0)
    return make_qrels(rows, grades, range(highest + 1), relevant)


def _find_indexes(values: Iterable[str], ordered: list[str]) -> Ints:
    indexes = {value: index for index, value in enumerate(ordered)}
    return np.array([indexes[value] for value in values], np.int64)


def _lowest_relevant(scale: list[int], relevant: int | None) -> int:
    lowest = scale[min(1, len(scale) - 1)] if relevant is None else relevant
    if not scale[0] < lowest <= scale[-1] and len(scale) > 1:
        raise InputError(
            f"The lowest relevant grade is {lowest}; expected a grade above the lowest grade of the scale: "
            f"{', '.join(map(str, scale[1:]))}."
        )
    return max(lowest, 1)
