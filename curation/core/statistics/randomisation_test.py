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

MAX_ENUMERATED = 24  # with at most this many differing queries, all assignments of signs are enumerated
# Number of drawn assignments if there are too many to enumerate; see `choose_assignments`
MIN_ASSIGNMENTS, MAX_ASSIGNMENTS = 9_999, 99_999
# Steps in the largest difference; sums of a million queries remain exact in double precision
STEPS_OF_LARGEST = 2.0**32
MAX_CELLS = 4_000_000  # maximum number of signs or values in memory at a time
_MAX_EXACT_SUM = 20_000  # the whole distribution is computed up to this sum, in steps


def choose_assignments(tests: int) -> int:
    """Compute how many assignments of signs to draw, so that the smallest possible p value can pass a
    correction for `tests`."""
    return min(max(MIN_ASSIGNMENTS, 40 * tests - 1), MAX_ASSIGNMENTS)


def randomisation_ps(differences: Floats, seed: int, assignments: int = MIN_ASSIGNMENTS) -> Floats:
    """Compute the two-sided p value of each of P pairs of systems, shape (P,); 1 if no query differs.

    The p value is exact with up to `MAX_ENUMERATED` queries that differ, and if all differences are small
    multiples of one number, as with binary measures. Else the p value is (1 + k) / (1 + B), for k of B drawn
    assignments as extreme as the observed sum (B. Phipson and G. K. Smyth (2010), Permutation p-values should
    never be zero). All pairs share the drawn signs.

    Parameters
    ----------
    differences: shape (Q, P); NaN counts as no difference.
    """
    ps, drawn_pairs, steps = np.ones(differences.shape[1]), [], np.zeros(differences.shape, np.int64)
    for pair, column in enumerate(differences.T):
        steps[:, pair] = round_to_steps(column)
        nonzero = steps[steps[:, pair] != 0, pair]
        multiples = _find_multiples(nonzero)
        if multiples is not None:
            ps[pair] = exact_sign_p(multiples)
        elif len(nonzero) <= MAX_ENUMERATED:
            ps[pair] = enumerated_p(nonzero)
        else:
            drawn_pairs.append(pair)
    if drawn_pairs:
        ps[drawn_pairs] = _estimate_ps(steps[:, drawn_pairs], seed, assignments)
    return ps


def round_to_steps(differences: Floats) -> Ints:
    """Round differences to whole numbers of a tiny step; NaN becomes 0."""
    values = np.nan_to_num(differences)
    largest = float(np.abs(values).max(initial=0.0))
    step = 2.0 ** ceil(log2(largest)) / STEPS_OF_LARGEST if largest else 1.0
    return np.rint(values / step).astype(np.int64)


def enumerated_p(steps: Ints) -> float:
    """Compute the share of sign assignments whose sum is as extreme as observed, for up to `MAX_ENUMERATED`
    numbers.

    The count combines the sums of two halves of the numbers (Horowitz and Sahni 1974). The rounding error of
    each number is at most one half.
    """
    reach_of_sum = abs(int(steps.sum())) - len(steps)
    if reach_of_sum <= 0:
        return 1.0
    half = len(steps) // 2
    left, right = _list_sums(steps[:half]), np.sort(_list_sums(steps[half:]))
    extreme = len(right) * len(left) - int(np.searchsorted(right, reach_of_sum - left, side="left").sum())
    return float(2 * extreme / 2 ** len(steps))


def exact_sign_p(differences: NDArray[np.integer[Any]]) -> float:
    """Compute the exact p value of a sum, if each difference is equally likely to be positive or negative.

    R. A. Fisher (1935), The Design of Experiments, section 21: only the signs are random.
    """
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    mass, reach = np.ones(1), 0
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        step_mass = np.zeros(2 * size * count + 1)
        step_mass[:: 2 * size] = _heads_distribution(count)
        mass, reach = np.convolve(mass, step_mass), reach + size * count
    is_extreme = np.abs(np.arange(-reach, reach + 1)) >= abs(int(differences.sum()))
    return min(1.0, float(mass[is_extreme].sum()))


def _find_multiples(steps: Ints) -> Ints | None:
    """Write differences as small multiples of the smallest difference; None if this is impossible up to
    rounding."""
    if not len(steps):
        return steps
    smallest = int(np.abs(steps).min())
    multiples = np.rint(steps / smallest).astype(np.int64)
    errors = np.abs(steps - multiples * smallest)
    are_small = np.abs(multiples).sum() <= _MAX_EXACT_SUM and bool((errors <= np.abs(multiples)).all())
    return multiples if are_small else None


def _list_sums(steps: Ints) -> Ints:
    """Compute the sums of all assignments of signs to n numbers, shape (2^n,)."""
    sums = np.zeros(1, np.int64)
    for step in steps.tolist():
        sums = np.concatenate([sums + step, sums - step])
    return sums


def _estimate_ps(steps: Ints, seed: int, assignments: int) -> Floats:
    """Compute (1 + k) / (1 + B) for each column, from drawn assignments; shape (Q, P) → (P,)."""
    queries, values = len(steps), steps.astype(np.float64)
    observed_sums = np.abs(steps.sum(axis=0)) - (steps != 0).sum(axis=0)
    random = np.random.Generator(np.random.PCG64(seed))
    extreme = np.zeros(steps.shape[1], np.int64)
    block_size = max(1, MAX_CELLS // max(queries, steps.shape[1]))
    for start in range(0, assignments, block_size):
        rows = min(block_size, assignments - start)
        sign_bits = np.unpackbits(random.integers(0, 256, (rows, -(-queries // 8)), np.uint8), axis=1)
        flipped_sums = sign_bits[:, :queries].astype(np.float64) @ (2 * values)
        extreme += (np.abs(flipped_sums - values.sum(axis=0)) >= observed_sums).sum(axis=0)
    return (1 + extreme) / (1 + assignments)


def _heads_distribution(tosses: int) -> Floats:
    """Compute the probability of 0, 1, …, `tosses` heads, shape (tosses + 1,)."""
    heads = np.arange(tosses + 1)
    from scipy.special import gammaln

    choices = gammaln(tosses + 1) - gammaln(heads + 1) - gammaln(tosses - heads + 1)
    mass: Floats = np.exp(choices - tosses * log(2))
    mass /= mass.sum()
    return mass
