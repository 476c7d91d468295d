"""The scores of a system's answers, by query.

An answer is scored by reference answers (exact match and F1), by people's grades as shares of the highest
grade, by the nuggets that it supports, and by the evidence that it cites. Ungraded answers have no value by
people's grades, because an unknown grade is not a zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.errors import InputError, RefusedError
from curation.core.statistics.arrays import Floats, Mask
from curation.evaluation.answers.answer_files import SystemAnswers
from curation.evaluation.answers.citations import MarkedEvidence, score_citations
from curation.evaluation.answers.graded_answers import SUPPORT, AnswerGrades
from curation.evaluation.answers.nugget_scores import NUGGET_SCORES, score_answers
from curation.evaluation.scoring.release import EvaluatedRelease
from curation.ingest.importers.nuggets import Nugget, group_nugget_rows
from curation.labeling.answer_matching import exact_match, token_f1
from curation.releases.frozen_release import load_release
from curation.store import Store

UNANSWERABLE = "unanswerable"
EXACT = "exact_match"
F1 = "f1"


class AnswerKey(NamedTuple):
    """A release's reference data, against which answers to its Q queries are scored.

    Attributes
    ----------
    references: query id → reference answers.
    nuggets: query id → nuggets; empty unless people graded support.
    evidence: the evidence for citations; empty unless a file cites.
    has_reference: whether each query has references, nuggets or evidence, shape (Q,).
    unanswerable: whether each query is unanswerable, shape (Q,).
    """

    release: EvaluatedRelease
    references: Mapping[str, Sequence[str]]
    nuggets: Mapping[str, Sequence[Nugget]]
    evidence: MarkedEvidence
    has_reference: Mask
    unanswerable: Mask

    def find_gradable(self, system: SystemAnswers, graded_property: str) -> Mask:
        """Find the answers that people can grade: answers with text, and for support, only answers to queries
        with nuggets.
        """
        ids = system.map_answer_ids(self.release.qrels.query_ids)
        query_ids = self.nuggets if graded_property == SUPPORT else ids
        return np.array([answer is not None and query_id in query_ids for query_id, answer in ids.items()])


def make_answer_key(
    store: Store, release: EvaluatedRelease, support: bool = False, marked: MarkedEvidence | None = None
) -> AnswerKey:
    """Read a release's reference data, against which answers are scored.

    Parameters
    ----------
    support: whether people graded support of nuggets.
    marked: the evidence for citations.

    Raises
    ------
    RefusedError: no query of the parts has reference data.
    """
    frozen = load_release(store, release.frozen or release.name)
    query_ids = release.qrels.query_ids
    evaluated = set(query_ids)
    rows = (row for row in frozen.rows("answers") if row["query_id"] in evaluated)
    references = {row["query_id"]: row["answers"] for row in rows}
    nuggets = group_nugget_rows(list(frozen.rows("nuggets"))) if support else {}
    evidence = marked or {}
    tables = (references, nuggets, evidence)
    has_reference = np.array([any(query_id in table for table in tables) for query_id in query_ids])
    if not has_reference.any() and not release.sealed:  # values of a sealed part reveal it
        raise RefusedError(
            f"No query of {', '.join(release.parts)} in the release {release.name!r} has reference answers. "
            "Import reference answers, and freeze a new release.",
            command="`goldgrade import answers FILE` imports reference answers.",
        )
    tagged = release.facets["tag"].values.get(UNANSWERABLE, np.zeros(len(query_ids), bool))
    return AnswerKey(release, references, nuggets, evidence, has_reference, tagged & ~has_reference)


def score_queries(
    system_answers: SystemAnswers, key: AnswerKey, grades: Mapping[str, AnswerGrades]
) -> dict[str, Floats]:
    """Score each query by each measure, shape (Q,); NaN where a query has no value.

    Raises
    ------
    InputError: people graded none of the system's answers.
    """
    query_ids = key.release.qrels.query_ids
    answers = [system_answers.answers.get(query_id) for query_id in query_ids]
    values = {name: np.full(len(query_ids), np.nan) for name in (EXACT, F1)}
    for index, (query_id, answer) in enumerate(zip(query_ids, answers, strict=True)):
        references = key.references.get(query_id)
        if references is not None:
            values[EXACT][index] = exact_match(answer.answer, references) if answer else 0.0
            values[F1][index] = token_f1(answer.answer, references) if answer else 0.0
    for name, people in grades.items():
        if name != SUPPORT:
            shares = [people.shares.get((row.query_id, row.answer_id)) if row else None for row in answers]
            values[name] = np.array(shares, np.float64)
    if key.evidence:
        values |= score_citations(query_ids, system_answers.cited, key.evidence)
    if SUPPORT in grades:
        answer_ids = system_answers.map_answer_ids(query_ids)
        scores = score_answers(answer_ids, key.nuggets, grades[SUPPORT].shares)
        values |= dict(zip(NUGGET_SCORES, scores.T, strict=True))
    for name, people in grades.items():
        column = find_graded_values(values, name)
        is_gradable = key.find_gradable(system_answers, name)
        if np.isnan(column[is_gradable] if is_gradable.any() else column).all():
            raise InputError(
                f"--{name}: none of the answers of {system_answers.name!r} is graded in the release "
                f"{people.release!r} of {people.project}. `goldgrade answers to-grade` writes the answers "
                "for people to grade."
            )
    return values


def find_graded_values(values: Mapping[str, Floats], graded_property: str) -> Floats:
    """Choose the measure whose values show which answers have been graded for a property such as
    correctness."""
    return values[NUGGET_SCORES[0] if graded_property == SUPPORT else graded_property]
