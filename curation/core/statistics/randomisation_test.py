"""Fisher's randomisation test of paired differences: only the signs of the differences are random.

If both systems are equally good, each query's difference is as likely positive as negative. The p value is
the share of all assignments of signs whose sum is at least as far from 0 (R. A. Fisher (1935), The Design of
Experiments, section 21; for search M. D. Smucker, J. Allan and B. Carterette (2007), A comparison of
statistical significance tests for information retrieval evaluation, CIKM).

Differences are rounded to multiples of a step that is too small to matter, so that their sums are exact. Two
sums count as equal if rounding can explain their difference. So the same assignments count as extreme on
every machine.
"""

from __future__ import annotations

from math import ceil, log, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.core.statistics.arrays import Floats, Ints

MAX_COUNTED = 24  # maximum number of differing queries for which all assignments of signs are counted
# Number of drawn assignments if there are too many to count: see `choose_assignments`
MIN_ASSIGNMENTS, MAX_ASSIGNMENTS = 9_999, 99_999
# Number of steps in the largest difference; sums of a million queries remain exact in double precision
STEPS_OF_LARGEST = 2.0**32
MAX_CELLS = 4_000_000  # maximum number of signs or values in memory at a time
_REACH = 20_000  # of a sum in steps, up to which its whole distribution is worked out


def choose_assignments(tests: int) -> int:
    """Compute the number of assignments to draw, so that the smallest p value passes the correction of
    `tests` tests.
    """
    return min(max(MIN_ASSIGNMENTS, 40 * tests - 1), MAX_ASSIGNMENTS)


def randomisation_ps(differences: Floats, seed: int, assignments: int = MIN_ASSIGNMENTS) -> Floats:
    """Compute two-sided p values of P pairs of systems, shape (P,); 1 if no query differs.

    The p value is exact with up to `MAX_COUNTED` queries that differ, and if all differences are small
    multiples of one number, as with binary measures. Else the p value is (1 + k) / (1 + B), for k of B drawn
    assignments as extreme as the observed sum (B. Phipson and G. K. Smyth (2010), Permutation p-values should
    never be zero). All pairs share the drawn signs.

    Parameters
    ----------
    differences: shape (Q, P); NaN counts as no difference.
    """
    ps, drawn, steps = np.ones(differences.shape[1]), [], np.zeros(differences.shape, np.int64)
    for pair, column in enumerate(differences.T):
        steps[:, pair] = round_to_steps(column)
        nonzero = steps[steps[:, pair] != 0, pair]
        multiples = _multiples(nonzero)
        if multiples is not None:
            ps[pair] = exact_sign_p(multiples)
        elif len(nonzero) <= MAX_COUNTED:
            ps[pair] = enumerated_p(nonzero)
        else:
            drawn.append(pair)
    if drawn:
        ps[drawn] = _drawn_ps(steps[:, drawn], seed, assignments)
    return ps


def round_to_steps(differences: Floats) -> Ints:
    """Round the differences to whole numbers of a tiny step; NaN becomes 0."""
    values = np.nan_to_num(differences)
    most = float(np.abs(values).max(initial=0.0))
    step = 2.0 ** ceil(log2(most)) / STEPS_OF_LARGEST if most else 1.0
    return np.rint(values / step).astype(np.int64)


def enumerated_p(steps: Ints) -> float:
    """Compute the share of sign assignments to at most `MAX_COUNTED` numbers with a sum as extreme as
    observed.

    The count combines the sums of two halves of the numbers (Horowitz and Sahni 1974). The rounding error of
    each number is at most one half.
    """
    reach_of_sum = abs(int(steps.sum())) - len(steps)
    if reach_of_sum <= 0:
        return 1.0
    half = len(steps) // 2
    first, second = _all_sums(steps[:half]), np.sort(_all_sums(steps[half:]))
    as_far = len(second) * len(first) - int(np.searchsorted(second, reach_of_sum - first, side="left").sum())
    return float(2 * as_far / 2 ** len(steps))


def exact_sign_p(differences: NDArray[np.integer[Any]]) -> float:
    """Compute the exact p value of the sum, if each difference is equally likely to be positive or negative.

    R. A. Fisher (1935), The Design of Experiments, section 21: only the signs are random.
    """
    sizes, times = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    mass, reach = np.ones(1), 0
    for size, number in zip(sizes.tolist(), times.tolist(), strict=True):
        step_mass = np.zeros(2 * size * number + 1)
        step_mass[:: 2 * size] = _coins(number)
        mass, reach = np.convolve(mass, step_mass), reach + size * number
    far = np.abs(np.arange(-reach, reach + 1)) >= abs(int(differences.sum()))
    return min(1.0, float(mass[far].sum()))


def _multiples(steps: Ints) -> Ints | None:
    """Write the differences as small multiples of the smallest difference; None if this is impossible up to
    rounding.
    """
    if not len(steps):
        return steps
    least = int(np.abs(steps).min())
    multiples = np.rint(steps / least).astype(np.int64)
    off = np.abs(steps - multiples * least)
    known = np.abs(multiples).sum() <= _REACH and bool((off <= np.abs(multiples)).all())
    return multiples if known else None


def _all_sums(steps: Ints) -> Ints:
    """Compute the sums of all assignments of signs, shape (2^n,)."""
    sums = np.zeros(1, np.int64)
    for step in steps.tolist():
        sums = np.concatenate([sums + step, sums - step])
    return sums


def _drawn_ps(steps: Ints, seed: int, assignments: int) -> Floats:
    """Compute (1 + k) / (1 + B) for each column, from drawn assignments; shape (Q, P) → (P,)."""
    queries, values = len(steps), steps.astype(np.float64)
    sums = np.abs(steps.sum(axis=0)) - (steps != 0).sum(axis=0)
    random = np.random.Generator(np.random.PCG64(seed))
    extreme = np.zeros(steps.shape[1], np.int64)
    block = max(1, MAX_CELLS // max(queries, steps.shape[1]))
    for start in range(0, assignments, block):
        rows = min(block, assignments - start)
        heads = np.unpackbits(random.integers(0, 256, (rows, -(-queries // 8)), np.uint8), axis=1)
        flipped = heads[:, :queries].astype(np.float64) @ (2 * values)
        extreme += (np.abs(flipped - values.sum(axis=0)) >= sums).sum(axis=0)
    return (1 + extreme) / (1 + assignments)


def _coins(number: int) -> Floats:
    """Compute the probability of 0, 1, …, `number` heads, shape (number + 1,)."""
    heads = np.arange(number + 1)
    from scipy.special import gammaln

    choices = gammaln(number + 1) - gammaln(heads + 1) - gammaln(number - heads + 1)
    mass: Floats = np.exp(choices - number * log(2))
    mass /= mass.sum()
    return mass
