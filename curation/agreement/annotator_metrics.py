"""Metrics of each annotator's work, compared with the other annotators' work.

The tests of `signals` read the metrics, and their findings are a part of the metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from curation.agreement.agreement_with_others import OthersAgreement, compute_agreement_with_others
from curation.agreement.bias import AnnotatorBias, Decisions, compute_biases
from curation.agreement.fast_answers import AnswerTimes, FastAnswers, count_fast_answers
from curation.agreement.grades import Grades
from curation.agreement.intra_annotator import IntraAgreement
from curation.agreement.modal_grade import ModalGrade, find_modal_grades
from curation.agreement.outliers import find_outliers
from curation.core.statistics.estimate import Estimate


class Finding(NamedTuple):
    """A point to discuss with an annotator: a sentence, and the numbers behind the sentence, such as its p
    value."""

    about: str
    sentence: str
    evidence: dict[str, Any]


class AnnotatorMetrics(NamedTuple):
    """Metrics of one annotator's work; None if a metric was not computed.

    Attributes
    ----------
    agreement: agreement with the others on the same pairs.
    bias: difference between the annotator's grades and the others' grades.
    fast, modal: speed and most frequent grade compared with the others; a sentence if there are too few data.
    left_out: the reason why others are not compared with this annotator; see `outliers.find_outliers`.
    feedback: points to discuss with the annotator.
    """

    annotator: str
    agreement: OthersAgreement | None = None
    bias: AnnotatorBias | None = None
    fast: FastAnswers | str | None = None
    modal: ModalGrade | str | None = None
    consistency: IntraAgreement | None = None
    control_items: Estimate | None = None
    left_out: str | None = None
    feedback: tuple[Finding, ...] = ()


def compute_metrics(
    annotators: Sequence[str],
    grades: Grades,
    times: AnswerTimes,
    decisions: Decisions | None = None,
    seed: int = 0,
) -> list[AnnotatorMetrics]:
    """Compute metrics of annotators, each compared with the other annotators who are not outliers.

    Consistency, control items and feedback are not computed.

    Parameters
    ----------
    decisions: decisions of reviewers (see `read_decisions`); without this argument no bias is computed.
    """
    outliers = find_outliers(grades)
    agreements = compute_agreement_with_others(grades, outliers, seed)
    biases = {} if decisions is None else compute_biases(grades, decisions, outliers, seed)
    fast_answers = count_fast_answers(annotators, times, outliers)
    modal_grades = find_modal_grades(grades, outliers)
    return [
        AnnotatorMetrics(
            name,
            agreement=agreements.get(name),
            bias=biases.get(name),
            fast=fast_answers[name],
            modal=modal_grades.get(name),
            left_out=outliers.get(name),
        )
        for name in annotators
    ]
