"""Paired tests of all pairs of systems, overall and in each stratum."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np

from curation.core.errors import refuse_problems
from curation.core.statistics import paired_differences
from curation.core.statistics.arrays import Floats, Mask
from curation.core.statistics.multiple_tests import correct_by_holm
from curation.core.statistics.paired_intervals import paired_intervals
from curation.core.statistics.power import detectable_difference, queries_needed
from curation.core.statistics.randomisation_test import choose_assignments, randomisation_ps
from curation.evaluation.figures.comparison import (
    RANDOMISATION,
    TARGET_DIFFERENCE,
    TESTS,
    Comparison,
    StratumName,
)
from curation.evaluation.scoring.release import MIN_QUERIES

SystemPair = tuple[int, int]
"""Indexes of two systems; the difference is the first minus the second."""
_Block = tuple["StratumName | None", Floats]
"""Differences of all pairs by one measure in one stratum, shape (q, P)."""


def pair_systems(systems: Sequence[str], baseline: str | None = None) -> list[SystemPair]:
    """Pair the systems: the later of two systems minus the earlier, or each system minus the baseline.

    Raises
    ------
    InputError: no system has the name of the baseline, or two systems have one name.
    """
    problems = [
        f"the system {name!r} is named {systems.count(name)} times; expected each name once"
        for name in sorted(set(systems))
        if systems.count(name) > 1
    ]
    if baseline is not None and baseline not in systems:
        known = ", ".join(systems)
        problems.append(f"the baseline {baseline!r} is not one of the systems; expected one of {known}")
    refuse_problems(problems)
    if baseline is None:
        return [(later, earlier) for earlier, later in combinations(range(len(systems)), 2)]
    base = list(systems).index(baseline)
    return [(index, base) for index in range(len(systems)) if index != base]


def compare_systems(
    systems: Sequence[str],
    measures: Sequence[str],
    values: Floats,
    strata: Mapping[StratumName, Mask],
    *,
    seed: int,
    baseline: str | None = None,
    by_stratum: int | None = None,
    deciding: str = RANDOMISATION,
) -> tuple[Comparison, ...]:
    """Compare every pair by every measure: overall, then in each stratum.

    Parameters
    ----------
    values: the values of S systems by M measures, shape (S, Q, M), NaN where a query has no figure.
    strata: stratum → whether it holds each of the Q queries, shape (Q,).
    by_stratum: the number of measures, from the first, that are compared by stratum; None is all measures.

    Raises
    ------
    InputError: as for `pair_systems`.
    """
    pairs = pair_systems(systems, baseline)
    if not pairs:
        return ()
    names = [(systems[system], systems[other]) for system, other in pairs]
    comparisons: list[Comparison] = []
    for column, measure in enumerate(measures):
        differences = subtract_pairs(values[:, :, column], pairs)
        compared_strata = strata if by_stratum is None or column < by_stratum else {}
        blocks: list[_Block] = [(name, differences[mask]) for name, mask in compared_strata.items()]
        comparisons += _compare_family([(None, differences)], TESTS, names, measure, deciding, seed)
        if blocks:
            tests = {"t", "randomisation", deciding}
            comparisons += _compare_family(blocks, tests, names, measure, deciding, seed)
    return tuple(comparisons)


def subtract_pairs(values: Floats, pairs: Sequence[SystemPair]) -> Floats:
    """Subtract the values of pairs, shape (S, Q); the differences have the shape (Q, P)."""
    return (values[[system for system, _ in pairs]] - values[[other for _, other in pairs]]).T


def _compare_family(
    family: Sequence[_Block],
    tests: Collection[str],
    names: Sequence[tuple[str, str]],
    measure: str,
    deciding: str,
    seed: int,
) -> Iterator[Comparison]:
    """Compare pairs that are corrected together.

    Parameters
    ----------
    family: the blocks of differences of all pairs.
    names: the two systems of each pair.
    """
    ps = {test: _test_family(test, family, seed) for test in sorted(tests)}
    holms, corrected = (
        correct_by_holm(ps[test].ravel()).reshape(ps[test].shape) for test in ("randomisation", deciding)
    )
    size = int((~np.isnan(corrected)).sum())
    for row, (stratum, differences) in enumerate(family):
        n = (~np.isnan(differences)).sum(axis=0).tolist()
        outcomes = paired_differences.count_wins_ties_losses(differences)
        counts = zip(*(column.tolist() for column in outcomes), strict=True)
        p_values = {f"p_{test}": values[row] for test, values in ps.items()}
        p_values |= {"p_holm": holms[row], "p_corrected": corrected[row]}
        figures = _compute_pair_figures(differences, p_values, seed)
        for pair, pair_figures, pair_n, results in zip(names, figures, n, counts, strict=True):
            left_out = len(differences) - pair_n
            comparison = Comparison(*pair, measure, stratum, pair_n, left_out, *results)
            if pair_n >= MIN_QUERIES:
                comparison = replace(comparison, no_verdict=None, test=deciding, family=size, **pair_figures)
            yield comparison


def _test_family(test: str, family: Sequence[_Block], seed: int) -> Floats:
    """Compute the p of each pair in each block, shape (blocks, P); NaN where a pair has too few queries."""
    is_tested = np.array([(~np.isnan(differences)).sum(axis=0) >= MIN_QUERIES for _, differences in family])
    ps, drawn = np.full(is_tested.shape, np.nan), choose_assignments(int(is_tested.sum()))
    for row, (_, block), tested in zip(ps, family, is_tested, strict=True):
        differences = block[:, tested]
        if test == "t":
            row[tested] = paired_differences.paired_t_p(paired_differences.compute_moments(differences))
        elif test == "randomisation":
            row[tested] = randomisation_ps(differences, seed, drawn)
        else:
            row[tested] = paired_differences.wilcoxon_ps(differences)
    return ps


def _compute_pair_figures(differences: Floats, ps: Mapping[str, Floats], seed: int) -> list[dict[str, Any]]:
    """Compute the figures of every pair of one block, by the fields of `Comparison`."""
    moments = paired_differences.compute_moments(differences)
    effect, effect_low, effect_high = paired_differences.paired_effects(moments)
    low, high = paired_intervals(differences, seed)
    columns = {
        "difference": moments.mean,
        "low": low,
        "high": high,
        **ps,
        "effect": effect,
        "effect_low": effect_low,
        "effect_high": effect_high,
        "detectable": detectable_difference(moments.n, moments.sd),
    }
    needed = queries_needed(TARGET_DIFFERENCE, moments.sd).tolist()
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {name: None if isnan(value) else value for name, value in zip(columns, row, strict=True)}
        | {"queries_needed": None if isnan(number) else int(number)}
        for row, number in zip(rows, needed, strict=True)
    ]
