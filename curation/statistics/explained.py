"""Variance explained: how far a figure of queries, or the strata they are in, accounts for their scores.

A figure explains the share r² of a straight line; its p is that of the correlation under permutations.

Strata explain what is missing in the spread within them. A query may be in several strata and is spread
evenly over them, with weights w: SS within = Σ w (x − mean of the stratum)², σ within = √(SS within / n).
That is never above σ overall, however the strata were made, and 0 where each stratum has one query. So σ
within is shown and what chance gives it: its expectation if the same scores were assigned to the queries
at
random, E[SS within] = s² tr(A) with SS within = xᵀAx and s² the variance of the sample. The share explained
is 1 − SS within / E[SS within]: 0 on average where strata say nothing, negative where they do worse. Of
strata that share no query it is the adjusted R² of a one-way analysis of variance, and the test its F test by
permutations (R. A. Fisher 1935; M. J. Anderson and C. J. F. ter Braak 2003, Permutation tests for
multi-factorial analysis of variance, Journal of Statistical Computation and Simulation 73).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from curation.statistics.arrays import Floats
from curation.statistics.p_values import PERMUTATIONS, permuted_p

FEWEST = 3
"""Queries from which a correlation says anything: two points are always on a line."""
_AT_ONCE = 100  # permutations that are held


class ExplainedByFigure(NamedTuple):
    """What a figure of queries explains of their scores.

    Attributes
    ----------
    correlation: Pearson's r; None with fewer than `FEWEST` queries or where one of the two is constant.
    share: r², the share of the variance explained by a straight line.
    p: of the correlation under permutations, both signs.
    """

    queries: int
    correlation: float | None
    share: float | None
    p: float | None


class SpreadWithin(NamedTuple):
    """The spread of scores within strata.

    Attributes
    ----------
    strata: those with a query.
    overall, within: σ of all scores, and within strata; None without a query.
    by_chance: σ within to be expected if the scores were assigned to the queries at random.
    share: of the variance explained, corrected for chance; None where no stratum has two queries or the
        scores are all equal.
    p: how often scores assigned at random have as little spread within; None without `share` or not asked
    for.
    """

    queries: int
    strata: int
    overall: float | None
    within: float | None
    by_chance: float | None
    share: float | None
    p: float | None


def explained_by_figure(scores: Floats, figure: Floats, seed: int | None) -> ExplainedByFigure:
    """What a figure explains of scores, both of shape (queries,); without a seed no p."""
    queries = len(scores)
    x, y = figure - figure.mean() if queries else figure, scores - scores.mean() if queries else scores
    spread = float((x @ x) * (y @ y))
    if queries < FEWEST or spread <= 1e-18 * queries:
        return ExplainedByFigure(queries, None, None, None)
    r = max(-1.0, min(1.0, float(x @ y) / sqrt(spread)))
    return ExplainedByFigure(queries, r, r * r, None if seed is None else permuted_p(figure, scores, seed))


def spread_within(
    scores: Floats, strata: Sequence[Collection[Hashable]], seed: int | None = None
) -> SpreadWithin:
    """The spread of scores within the strata of each query; a query without one does not count.

    Parameters
    ----------
    seed: of the permutations; None: no p.
    """
    kept = [place for place, held in enumerate(strata) if held]
    held = [strata[place] for place in kept]
    queries = len(held)
    if not queries:
        return SpreadWithin(0, 0, None, None, None, None, None)
    weights = _weights(held)
    total = np.asarray(weights.sum(axis=0)).ravel()
    x = np.asarray(scores, float)[kept]
    x = x - x.mean()
    squares = float(x @ x)
    within = max(0.0, squares - float(_between(x[None, :], weights, total)[0]))
    trace = queries - float((np.asarray(weights.power(2).sum(axis=0)).ravel() / total).sum())
    chance = squares / (queries - 1) * trace if queries > 1 else 0.0
    known = squares > 1e-18 * queries and trace > 1e-9
    return SpreadWithin(
        queries=queries,
        strata=len(total),
        overall=sqrt(squares / queries),
        within=sqrt(within / queries),
        by_chance=sqrt(chance / queries),
        share=1 - within / chance if known else None,
        p=_permuted(x, within, weights, total, seed) if known and seed is not None else None,
    )


def _weights(strata: Sequence[Collection[Hashable]]) -> Any:
    """The weight of each query in each stratum, CSR of shape (queries, strata); rows sum to 1."""
    from scipy.sparse import csr_array

    names = {
        name: place for place, name in enumerate(dict.fromkeys(name for held in strata for name in held))
    }
    columns = [sorted(names[name] for name in set(held)) for held in strata]
    sizes = np.array([len(held) for held in columns])
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return csr_array(
        (np.repeat(1 / sizes, sizes), np.concatenate(columns), ends), shape=(len(strata), len(names))
    )


def _between(x: Floats, weights: Any, total: Floats) -> Floats:
    """Σ over strata of (Σ w x)² / Σ w, for each row of x."""
    sums = (weights.T @ x.T).T
    found: Floats = (sums**2 / total).sum(axis=1)
    return found


def _permuted(x: Floats, within: float, weights: Any, total: Floats, seed: int) -> float:
    """The share of permutations, the scores as they are among them, with as little spread within."""
    random = np.random.Generator(np.random.PCG64(seed))
    squares, as_small = float(x @ x), 0
    for start in range(0, PERMUTATIONS, _AT_ONCE):
        rows = min(_AT_ONCE, PERMUTATIONS - start)
        dealt = random.permuted(np.tile(x, (rows, 1)), axis=1)
        as_small += int((squares - _between(dealt, weights, total) <= within + 1e-9 * squares).sum())
    return (1 + as_small) / (1 + PERMUTATIONS)
