"""Grades by what annotators' errors look like: Dawid and Skene's model and an ordinal form of it.

Each pair has one true grade, each annotator a confusion matrix: how often they give grade l where k is true.
Both are estimated together by EM. It starts from the shares of votes, so there is no random step.

    dawid-skene          every row of every confusion matrix is free
    ordinal-dawid-skene  an annotator sees the true grade's place on the scale, shifted by their own bias
                         and blurred by their own normal error, and names the grade whose place is nearest;
                         now and then they name any (a lapse). Three numbers an annotator, for any
                         scale: for people who graded little, and for errors that are mostly by one grade.

A. P. Dawid and A. M. Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
algorithm, Applied Statistics 28. The ordinal form is a latent trait with cuts halfway between the grades,
after V. E. Johnson (1996), On Bayesian analysis of multirater ordinal data, JASA 91; its parameters are
chosen from a grid, so that each M-step is exact on it and the likelihood never falls.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from curation.statistics.arrays import Floats, Ints

ITERATIONS = 500
TOLERANCE = 1e-8
"""EM stops when the log-likelihood of a judgment grows by less than this."""

LEAST = 1e-10
"""No error is impossible: a cell of a confusion matrix counts as at least so many (weighted) cases."""

_BIASES = (0.0, -0.1, 0.1, -0.2, 0.2, -0.35, 0.35, -0.5, 0.5, -0.75, 0.75, -1.0, 1.0, -1.5, 1.5, -2.0, 2.0)
_SPREADS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 1.0, 1.25, 1.6, 2.0, 3.0)
_LAPSES = (0.001, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)


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


def estimate(said: GradeArrays, ordinal: bool = False, smoothing: float = 0.0) -> Estimate:
    """True grades and confusion matrices, most likely together.

    Parameters
    ----------
    ordinal: the ordinal form; the grades' order is all it takes from the scale.
    smoothing: added to each cell of each confusion matrix, in cases (not in the ordinal form).
    """
    starts = np.flatnonzero(np.diff(said.item, prepend=-1))
    cells = said.annotator * said.values + said.grade
    posterior = _vote_shares(said, starts)
    before, converged, step = -np.inf, False, 0
    while True:
        shares = posterior.mean(axis=0)
        confusion = _confusion(said, cells, posterior, ordinal, smoothing)
        posterior, likelihood = _expected(said, cells, starts, shares, confusion)
        step += 1
        converged = likelihood - before < TOLERANCE * len(said.item)
        if converged or step == ITERATIONS:
            return Estimate(posterior, shares, confusion, likelihood, step, converged)
        before = likelihood


def ordinal_confusion(values: int, bias: float, spread: float, lapse: float) -> Floats:
    """The confusion matrix, true × given, of an annotator of the ordinal form; bias and spread in grades."""
    places = np.arange(values)
    cuts = np.concatenate([[-np.inf], places[1:] - 0.5, [np.inf]])
    from scipy.special import ndtr  # a quarter of a second, which other rules need not wait for

    below = ndtr((cuts[None, :] - places[:, None] - bias) / spread)
    found: Floats = (1 - lapse) * np.diff(below, axis=1) + lapse / values
    return found


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


def _confusion(said: GradeArrays, cells: Ints, posterior: Floats, ordinal: bool, smoothing: float) -> Floats:
    """The M-step."""
    number, values = said.annotators * said.values, said.values
    columns = [np.bincount(cells, posterior[said.item, true], number) for true in range(values)]
    cases = np.stack(columns).reshape(values, said.annotators, values).transpose(1, 0, 2)
    if ordinal:
        grid, logs = _grid(values)
        # Rounded, so that what is equal but for the machine's last digits goes to the first of the grid.
        fit = np.round(cases.reshape(-1, values * values) @ logs.T, 7)
        fitting: Floats = grid[fit.argmax(axis=1)]
        return fitting
    cases = np.maximum(cases + smoothing, LEAST)
    found: Floats = cases / cases.sum(axis=2, keepdims=True)
    return found


@cache
def _grid(values: int) -> tuple[Floats, Floats]:
    """Confusion matrices of the ordinal form, shape (G, values, values), and their logarithms, flat."""
    grid = np.stack(
        [
            ordinal_confusion(values, bias, spread, lapse)
            for bias in _BIASES
            for lapse in _LAPSES
            for spread in _SPREADS
        ]
    )
    return grid, np.log(grid).reshape(len(grid), -1)
