"""Paired tests of all pairs of systems, overall and in each stratum, with Holm's correction.

With Holm's correction, at most 5 % of families contain a false alarm. For all queries together, a family is
all pairs of systems by one measure. For strata, a family is all pairs of systems in all strata by one
measure. Tests by several measures are not corrected for each other, so choose the main measure beforehand. A
stratum with few sealed queries is suppressed and not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from curation.evaluation.figures import comparison
from curation.evaluation.figures.comparison import RANDOMISATION, Comparison, StratumName
from curation.evaluation.scoring.release import MIN_QUERIES

SystemPair = tuple[int, int]
"""Indexes of two systems; their difference is the first minus the second."""
_Block = tuple["StratumName | None", Floats]
"""Differences between all pairs of systems by one measure in one stratum, shape (q, P)."""


def pair_systems(systems: Sequence[str], baseline: str | None = None) -> list[SystemPair]:
    """Pair each system with each later one, or the baseline with each system; a difference is the second
    value minus the first.

    Raises
    ------
    InputError: no system has the name of the baseline, or two systems have one name.
    """
    counts = {name: systems.count(name) for name in sorted(set(systems))}
    repeated = {name: count for name, count in counts.items() if count > 1}.items()
    problems = [f"the system {name!r} is named {n} times; expected each name once" for name, n in repeated]
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
    test: str = RANDOMISATION,
) -> tuple[Comparison, ...]:
    """Compare every pair of systems by every measure, overall and then in each stratum.

    Parameters
    ----------
    values: the values of S systems by M measures, shape (S, Q, M), NaN where a query has no figure.
    strata: stratum → whether it holds each of the Q queries, shape (Q,).
    by_stratum: the number of measures, from the first, that are compared by stratum; None is all measures.
    test: the test that decides.

    Raises
    ------
    InputError: as for `pair_systems`.
    """
    pairs = pair_systems(systems, baseline)
    if not pairs:
        return ()
    pair_names = [(systems[system], systems[other]) for system, other in pairs]
    rows: list[Comparison] = []
    for column, measure in enumerate(measures):
        differences = subtract_pairs(values[:, :, column], pairs)
        compared_strata = strata if by_stratum is None or column < by_stratum else {}
        blocks: list[_Block] = [(name, differences[mask]) for name, mask in compared_strata.items()]
        for family in ([(None, differences)], blocks):
            rows += _compare_family(family, pair_names, measure, test, seed) if family else ()
    return tuple(rows)


def subtract_pairs(values: Floats, pairs: Sequence[SystemPair]) -> Floats:
    """Compute the differences between the two systems of each of P pairs, shape (S, Q) → (Q, P)."""
    return (values[[system for system, _ in pairs]] - values[[other for _, other in pairs]]).T


def _compare_family(
    family: Sequence[_Block], pair_names: Sequence[tuple[str, str]], measure: str, test: str, seed: int
) -> Iterator[Comparison]:
    """Compare the pairs of systems whose p values are corrected together.

    Parameters
    ----------
    family: the blocks of differences of all pairs.
    pair_names: the two systems of each pair.
    """
    p_values = _test_family(test, family, seed)
    p_corrected = correct_by_holm(p_values.ravel()).reshape(p_values.shape)
    family_size = int((~np.isnan(p_corrected)).sum())
    for row, (stratum, differences) in enumerate(family):
        figures = _compute_figures(differences, {"p": p_values[row], "p_corrected": p_corrected[row]}, seed)
        counts = (~np.isnan(differences)).sum(axis=0).tolist()
        outcome_counts = np.stack(paired_differences.count_wins_ties_losses(differences), axis=1).tolist()
        for names, n, outcomes, pair_figures in zip(pair_names, counts, outcome_counts, figures, strict=True):
            pair = Comparison(*names, measure, stratum, n, len(differences) - n, *outcomes)
            if n >= MIN_QUERIES:
                pair = replace(pair, no_verdict=None, test=test, family=family_size, **pair_figures)
            yield pair


def _test_family(test: str, family: Sequence[_Block], seed: int) -> Floats:
    """Compute each pair's p value in each block, shape (blocks, P); NaN where a pair has too few queries."""
    is_tested = np.array([(~np.isnan(differences)).sum(axis=0) >= MIN_QUERIES for _, differences in family])
    p_values = np.full(is_tested.shape, np.nan)
    assignments = choose_assignments(int(is_tested.sum()))
    for row, (_, block), tested in zip(p_values, family, is_tested, strict=True):
        differences = block[:, tested]
        if test == "t":
            row[tested] = paired_differences.paired_t_p(paired_differences.compute_moments(differences))
        elif test == RANDOMISATION:
            row[tested] = randomisation_ps(differences, seed, assignments)
        else:
            row[tested] = paired_differences.wilcoxon_ps(differences)
    return p_values


def _compute_figures(differences: Floats, p_values: Mapping[str, Floats], seed: int) -> list[dict[str, Any]]:
    """Compute the fields of `Comparison` for each pair of systems, from one block of differences."""
    moments = paired_differences.compute_moments(differences)
    low, high = paired_intervals(differences, seed)
    columns = {
        "difference": moments.mean,
        "low": low,
        "high": high,
        **p_values,
        "detectable": detectable_difference(moments.n, moments.sd),
    }
    needed = queries_needed(comparison.TARGET_DIFFERENCE, moments.sd).tolist()
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {name: None if isnan(value) else value for name, value in zip(columns, row, strict=True)}
        | {"queries_needed": None if isnan(count) else int(count)}
        for row, count in zip(rows, needed, strict=True)
    ]
