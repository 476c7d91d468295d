"""Dawid and Skene's model of annotators' errors, estimated from all votes by EM.

Each pair has one true grade, and each annotator a confusion matrix: how often the annotator gives grade l
where k is true. EM estimates the true grades and the matrices together. EM starts from the shares of votes,
so no step is random.

A. P. Dawid and A. M. Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
algorithm, Applied Statistics 28.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.core.reports.page import Section
from curation.core.reports.tables import NumberCell, ShareCell, Table
from curation.core.statistics.arrays import Floats, Ints
from curation.core.text import pluralize
from curation.labeling.consensus.rule import ConsensusRule
from curation.labeling.consensus.votes import Votes, VotesByPair, group_votes, read_votes
from curation.store import Store

MAX_ITERATIONS = 500
TOLERANCE = 1e-8
"""EM stops when the mean log-likelihood of a judgment grows by less than this tolerance."""
MIN_CELL_COUNT = 1e-10
"""Smallest weighted count in a cell of a confusion matrix, so that no error has probability 0."""


class GradeArrays(NamedTuple):
    """Annotators' J grades as parallel arrays of shape (J,); items, annotators and grades are numbered from
    0.

    item: item numbers, ascending and without gaps.
    annotators, values: number of annotators, and number of distinct grades.
    """

    item: Ints
    annotator: Ints
    grade: Ints
    annotators: int
    values: int


class DawidSkeneFit(NamedTuple):
    """The estimates that expectation maximisation (EM) returns: true grades and annotators' confusion
    matrices.

    Attributes
    ----------
    posterior: shape (items, values), each item's probability of each grade.
    shares: shape (values,), the frequency of each grade.
    confusion: shape (annotators, values, values), true × given, each row adds up to 1.
    log_likelihood: log-likelihood of all judgments.
    iterations, converged: the number of steps, and whether EM converged within `MAX_ITERATIONS` steps.
    """

    posterior: Floats
    shares: Floats
    confusion: Floats
    log_likelihood: float
    iterations: int
    converged: bool


class AnnotatorConfusion(NamedTuple):
    """An annotator's grades against the true grades, as estimated by Dawid and Skene's model.

    Attributes
    ----------
    grades: the number of grades that the annotator gave.
    right: the probability that the annotator gives the true grade.
    bias: the mean of the given grade minus the true grade.
    matrix: confusion matrix with a row for each true grade and a column for each given grade; each row adds
        up to 1.
    """

    annotator: str
    grades: int
    right: float
    bias: float
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class AnnotatorErrors:
    """Each annotator's estimated confusion matrix, with what the estimate is based on.

    Attributes
    ----------
    values: all grades that annotators gave, ascending; rows and columns of the matrices.
    shares: the estimated frequency of each grade.
    converged: False if EM stopped after `MAX_ITERATIONS` steps without converging.
    """

    values: tuple[int, ...]
    shares: tuple[float, ...]
    iterations: int
    converged: bool
    annotators: tuple[AnnotatorConfusion, ...]


def collect_grades(pairs: VotesByPair) -> GradeArrays:
    """Return the grades of all votes; pairs with at least one grade are numbered from 0."""
    _, items = np.unique(pairs.item, return_inverse=True)
    items = items.astype(np.int64)
    return GradeArrays(items, pairs.annotator, pairs.value, len(pairs.names), len(pairs.values))


def fit_dawid_skene(grades: GradeArrays, smoothing: float = 0.0) -> DawidSkeneFit:
    """Estimate the true grades and the confusion matrices by maximum likelihood.

    Parameters
    ----------
    smoothing: cases added to each cell of each confusion matrix.
    """
    item_starts = np.flatnonzero(np.diff(grades.item, prepend=-1))
    cells = grades.annotator * grades.values + grades.grade
    posterior = _compute_vote_shares(grades, item_starts)
    last_likelihood, converged, step = -np.inf, False, 0
    while True:
        shares = posterior.mean(axis=0)
        confusion = _estimate_confusion(grades, cells, posterior, smoothing)
        posterior, likelihood = _estimate_posterior(grades, cells, item_starts, shares, confusion)
        step += 1
        converged = likelihood - last_likelihood < TOLERANCE * len(grades.item)
        if converged or step == MAX_ITERATIONS:
            return DawidSkeneFit(posterior, shares, confusion, likelihood, step, converged)
        last_likelihood = likelihood


def build_error_section(annotator_errors: AnnotatorErrors) -> Section:
    """Draw each annotator's estimated confusion matrix as a table: the shares of given grades for each true
    grade."""
    rows: list[tuple[object, ...]] = []
    for annotator in annotator_errors.annotators:
        annotator_cells: tuple[object, ...] = (
            annotator.annotator,
            annotator.grades,
            ShareCell(annotator.right),
            NumberCell(annotator.bias, 2),
        )
        for value, row_shares in zip(annotator_errors.values, annotator.matrix, strict=True):
            rows.append((*annotator_cells, value, *row_shares))
            annotator_cells = ("", "", "", "")
    scale = (f"Says {value}" for value in annotator_errors.values)
    columns = ("Annotator", "Grades", "Right", "Bias in grades", "If the true grade is", *scale)
    table = Table("Annotators' errors, as estimated by this rule", columns, tuple(rows))
    warning = (
        f"The estimate did not converge in {pluralize(annotator_errors.iterations, 'step')}; interpret "
        "the values with care."
    )
    return Section("", "", tables=(table,), remark="" if annotator_errors.converged else warning)


def estimate_errors(votes: Votes) -> AnnotatorErrors | None:
    """Estimate annotators' errors by Dawid and Skene's model; None if nobody gave a grade."""
    pairs = group_votes(votes.rows)
    if not len(pairs.item):
        return None
    fit = fit_dawid_skene(collect_grades(pairs), votes.rule.smoothing)
    grade_counts = np.bincount(pairs.annotator, minlength=len(pairs.names)).tolist()
    shares, differences = fit.shares, pairs.values[None, :] - pairs.values[:, None]
    accuracies = np.einsum("k,akk->a", shares, fit.confusion)
    biases = np.einsum("k,akl,kl->a", shares, fit.confusion, differences.astype(np.float64))
    columns = (pairs.names, grade_counts, accuracies, biases, fit.confusion)
    annotators = [
        AnnotatorConfusion(name, grade_count, _round(accuracy), _round(bias), tuple(map(_round_all, matrix)))
        for name, grade_count, accuracy, bias, matrix in zip(*columns, strict=True)
    ]
    values = tuple(pairs.values.tolist())
    return AnnotatorErrors(values, _round_all(shares), fit.iterations, fit.converged, tuple(annotators))


def estimate_errors_by_rule(store: Store, rule: ConsensusRule) -> AnnotatorErrors | None:
    """Estimate annotators' errors from all votes, with the settings of a rule."""
    with store.reading() as cursor:
        votes = read_votes(cursor)
    return estimate_errors(votes._replace(rule=rule))


def _compute_vote_shares(grades: GradeArrays, starts: Ints) -> Floats:
    votes = np.bincount(grades.item * grades.values + grades.grade, minlength=len(starts) * grades.values)
    counts = votes.reshape(-1, grades.values).astype(np.float64)
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _estimate_posterior(
    grades: GradeArrays, cells: Ints, starts: Ints, shares: Floats, confusion: Floats
) -> tuple[Floats, float]:
    """Compute the E-step in logarithms: each item's probability of each grade, and the log-likelihood."""
    by_cell = np.log(confusion).transpose(0, 2, 1).reshape(-1, grades.values)
    log_joint = np.add.reduceat(by_cell[cells], starts, axis=0) + np.log(np.maximum(shares, MIN_CELL_COUNT))
    max_log = log_joint.max(axis=1, keepdims=True)
    scaled = np.exp(log_joint - max_log)
    total = scaled.sum(axis=1, keepdims=True)
    return scaled / total, float((np.log(total) + max_log).sum())


def _estimate_confusion(grades: GradeArrays, cells: Ints, posterior: Floats, smoothing: float) -> Floats:
    """Compute the M-step: the confusion matrices from the items' grade probabilities."""
    cell_count, values = grades.annotators * grades.values, grades.values
    counts_by_true_grade = [
        np.bincount(cells, posterior[grades.item, true_grade], cell_count) for true_grade in range(values)
    ]
    counts = np.stack(counts_by_true_grade).reshape(values, grades.annotators, values).transpose(1, 0, 2)
    counts = np.maximum(counts + smoothing, MIN_CELL_COUNT)
    confusion: Floats = counts / counts.sum(axis=2, keepdims=True)
    return confusion


def _round(figure: np.float64) -> float:
    """Round a number to six decimals, turning -0.0 into 0.0."""
    return round(float(figure), 6) + 0.0


def _round_all(figures: Iterable[np.float64]) -> tuple[float, ...]:
    return tuple(map(_round, figures))
