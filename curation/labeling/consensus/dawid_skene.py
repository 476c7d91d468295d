"""Dawid and Skene's model: the true grades of pairs, and each annotator's errors, estimated from all votes.

Each pair has one true grade, each annotator a confusion matrix: how often they give grade l where k is true.
Both are estimated together by EM. It starts from the shares of votes, so there is no random step.

A. P. Dawid and A. M. Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
algorithm, Applied Statistics 28.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.core.reports.page import NumberCell, Section, ShareCell, Table
from curation.core.statistics.arrays import Floats, Ints
from curation.core.text import pluralize
from curation.labeling.consensus.votes import ConsensusRule, Votes, VotesByPair, read_votes, votes_by_pair
from curation.store import Store

ITERATIONS = 500
TOLERANCE = 1e-8
"""EM stops when the log-likelihood of a judgment grows by less than this."""
MIN_CASES = 1e-10
"""No error is impossible: a cell of a confusion matrix counts as at least so many (weighted) cases."""


class GradeArrays(NamedTuple):
    """Who gave which grade, as parallel arrays of shape (J,): items, annotators and grades numbered from 0.

    `items` ascend and none is missing; `annotators` and `values` are their numbers.
    """

    item: Ints
    annotator: Ints
    grade: Ints
    annotators: int
    values: int


class DawidSkeneFit(NamedTuple):
    """What EM found.

    Attributes
    ----------
    posterior: shape (items, values), each item's probability of each grade.
    shares: shape (values,), how frequent each grade is.
    confusion: shape (annotators, values, values), true × given, rows that add up to 1.
    log_likelihood: of all judgments.
    iterations, converged: steps taken, and whether they were enough.
    """

    posterior: Floats
    shares: Floats
    confusion: Floats
    log_likelihood: float
    iterations: int
    converged: bool


def given_grades(pairs: VotesByPair) -> GradeArrays:
    _, item = np.unique(pairs.item, return_inverse=True)
    return GradeArrays(
        item.astype(np.int64), pairs.annotator, pairs.value, len(pairs.names), len(pairs.values)
    )


def estimate(grades: GradeArrays, smoothing: float = 0.0) -> DawidSkeneFit:
    """True grades and confusion matrices, most likely together.

    Parameters
    ----------
    smoothing: added to each cell of each confusion matrix, in cases.
    """
    starts = np.flatnonzero(np.diff(grades.item, prepend=-1))
    cells = grades.annotator * grades.values + grades.grade
    posterior = _vote_shares(grades, starts)
    before, converged, step = -np.inf, False, 0
    while True:
        shares = posterior.mean(axis=0)
        confusion = _confusion(grades, cells, posterior, smoothing)
        posterior, likelihood = _expected(grades, cells, starts, shares, confusion)
        step += 1
        converged = likelihood - before < TOLERANCE * len(grades.item)
        if converged or step == ITERATIONS:
            return DawidSkeneFit(posterior, shares, confusion, likelihood, step, converged)
        before = likelihood


def _vote_shares(grades: GradeArrays, starts: Ints) -> Floats:
    votes = np.bincount(grades.item * grades.values + grades.grade, minlength=len(starts) * grades.values)
    counts = votes.reshape(-1, grades.values).astype(np.float64)
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _expected(
    grades: GradeArrays, cells: Ints, starts: Ints, shares: Floats, confusion: Floats
) -> tuple[Floats, float]:
    """The E-step, in logarithms: the items' probabilities of each grade, and the log-likelihood."""
    by_cell = np.log(confusion).transpose(0, 2, 1).reshape(-1, grades.values)
    logs = np.add.reduceat(by_cell[cells], starts, axis=0) + np.log(np.maximum(shares, MIN_CASES))
    top = logs.max(axis=1, keepdims=True)
    likely = np.exp(logs - top)
    total = likely.sum(axis=1, keepdims=True)
    return likely / total, float((np.log(total) + top).sum())


def _confusion(grades: GradeArrays, cells: Ints, posterior: Floats, smoothing: float) -> Floats:
    """The M-step."""
    number, values = grades.annotators * grades.values, grades.values
    columns = [np.bincount(cells, posterior[grades.item, true], number) for true in range(values)]
    cases = np.stack(columns).reshape(values, grades.annotators, values).transpose(1, 0, 2)
    cases = np.maximum(cases + smoothing, MIN_CASES)
    confusion: Floats = cases / cases.sum(axis=2, keepdims=True)
    return confusion


class AnnotatorConfusion(NamedTuple):
    """What one annotator's grades look like against the true ones, as Dawid and Skene's model estimates them.

    Attributes
    ----------
    grades: how many they gave.
    right: how probable it is that they give the true grade.
    bias: the mean of the given less the true grade, in grades.
    matrix: rows are the true, columns the given grade; each row adds up to 1.
    """

    annotator: str
    grades: int
    right: float
    bias: float
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class AnnotatorErrors:
    """Annotators' estimated errors.

    Attributes
    ----------
    values: the grades that were given, ascending: the rows and columns of the matrices.
    shares: how frequent each of them is estimated to be.
    converged: False where EM was stopped after its last step: read the figures with care.
    """

    values: tuple[int, ...]
    shares: tuple[float, ...]
    iterations: int
    converged: bool
    annotators: tuple[AnnotatorConfusion, ...]


def error_section(annotator_errors: AnnotatorErrors) -> Section:
    """What each annotator is estimated to say where a grade is true."""
    rows: list[tuple[object, ...]] = []
    for annotator in annotator_errors.annotators:
        first: tuple[object, ...] = (
            annotator.annotator,
            annotator.grades,
            ShareCell(annotator.right),
            NumberCell(annotator.bias, 2),
        )
        for value, given in zip(annotator_errors.values, annotator.matrix, strict=True):
            rows.append((*first, value, *given))
            first = ("", "", "", "")
    scale = (f"Says {value}" for value in annotator_errors.values)
    columns = ("Annotator", "Grades", "Right", "Bias in grades", "Where true is", *scale)
    table = Table("Annotators' errors, estimated by this rule", columns, tuple(rows))
    late = (
        f"The estimate did not converge in {pluralize(annotator_errors.iterations, 'step')}: read it "
        "with care."
    )
    return Section("", "", tables=(table,), remark="" if annotator_errors.converged else late)


def errors(votes: Votes) -> AnnotatorErrors | None:
    """Annotators' errors as Dawid and Skene's model estimates them, by name; None without a grade."""
    pairs = votes_by_pair(votes.rows)
    if not len(pairs.item):
        return None
    fit = estimate(given_grades(pairs), votes.rule.smoothing)
    given = np.bincount(pairs.annotator, minlength=len(pairs.names)).tolist()
    shares, steps = fit.shares, pairs.values[None, :] - pairs.values[:, None]
    right = np.einsum("k,akk->a", shares, fit.confusion)
    bias = np.einsum("k,akl,kl->a", shares, fit.confusion, steps.astype(np.float64))
    people = [
        AnnotatorConfusion(name, given[index], _six(right[index]), _six(bias[index]), _matrix(fit, index))
        for index, name in enumerate(pairs.names)
    ]
    return AnnotatorErrors(
        tuple(pairs.values.tolist()), tuple(map(_six, shares)), fit.iterations, fit.converged, tuple(people)
    )


def _six(value: np.float64) -> float:
    return round(float(value), 6) + 0.0  # never -0.0


def _matrix(fit: DawidSkeneFit, index: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(_six, row)) for row in fit.confusion[index])


def errors_by_rule(store: Store, rule: ConsensusRule) -> AnnotatorErrors | None:
    """Annotators' errors as a rule estimates them from all votes."""
    with store.reading() as cursor:
        votes = read_votes(cursor)
    return errors(votes._replace(rule=rule))
