"""Grades by what annotators' errors look like: Dawid and Skene's model.

Each pair has one true grade, each annotator a confusion matrix: how often they give grade l where k is true.
Both are estimated together by EM. It starts from the shares of votes, so there is no random step.

A. P. Dawid and A. M. Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
algorithm, Applied Statistics 28.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints

ITERATIONS = 500
TOLERANCE = 1e-8
"""EM stops when the log-likelihood of a judgment grows by less than this."""

LEAST = 1e-10
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


class Estimate(NamedTuple):
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


def estimate(said: GradeArrays, smoothing: float = 0.0) -> Estimate:
    """True grades and confusion matrices, most likely together.

    Parameters
    ----------
    smoothing: added to each cell of each confusion matrix, in cases.
    """
    starts = np.flatnonzero(np.diff(said.item, prepend=-1))
    cells = said.annotator * said.values + said.grade
    posterior = _vote_shares(said, starts)
    before, converged, step = -np.inf, False, 0
    while True:
        shares = posterior.mean(axis=0)
        confusion = _confusion(said, cells, posterior, smoothing)
        posterior, likelihood = _expected(said, cells, starts, shares, confusion)
        step += 1
        converged = likelihood - before < TOLERANCE * len(said.item)
        if converged or step == ITERATIONS:
            return Estimate(posterior, shares, confusion, likelihood, step, converged)
        before = likelihood


def _vote_shares(said: GradeArrays, starts: Ints) -> Floats:
    votes = np.bincount(said.item * said.values + said.grade, minlength=len(starts) * said.values)
    counts = votes.reshape(-1, said.values).astype(np.float64)
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _expected(
    said: GradeArrays, cells: Ints, starts: Ints, shares: Floats, confusion: Floats
) -> tuple[Floats, float]:
    """The E-step, in logarithms: the items' probabilities of each grade, and the log-likelihood."""
    by_cell = np.log(confusion).transpose(0, 2, 1).reshape(-1, said.values)
    logs = np.add.reduceat(by_cell[cells], starts, axis=0) + np.log(np.maximum(shares, LEAST))
    top = logs.max(axis=1, keepdims=True)
    likely = np.exp(logs - top)
    total = likely.sum(axis=1, keepdims=True)
    return likely / total, float((np.log(total) + top).sum())


def _confusion(said: GradeArrays, cells: Ints, posterior: Floats, smoothing: float) -> Floats:
    """The M-step."""
    number, values = said.annotators * said.values, said.values
    columns = [np.bincount(cells, posterior[said.item, true], number) for true in range(values)]
    cases = np.stack(columns).reshape(values, said.annotators, values).transpose(1, 0, 2)
    cases = np.maximum(cases + smoothing, LEAST)
    found: Floats = cases / cases.sum(axis=2, keepdims=True)
    return found
