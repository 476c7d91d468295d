"""Pairs of systems: the paired difference of every measure, overall and in each stratum, with its tests.

Differences are paired: of the same query, answered by both. A query without a figure for one of the two is
left out of the pair and counted.

The families of Holm's correction. Overall, a family is all pairs of one measure. For the strata it is all
pairs in all strata of one measure, so that whoever looks through the strata for a difference does not find
one by chance alone. Measures are not corrected for each other: name the one that decides beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.errors import InputError, refuse_problems
from curation.evaluation.figures.strata import LEAST
from curation.evaluation.figures.traffic import TrafficFigure
from curation.statistics.p_values import holm
from curation.statistics.paired.differences import (
    paired_effects,
    paired_intervals,
    paired_moments,
    paired_t_p,
    wins_ties_losses,
)
from curation.statistics.paired.power import detectable_difference, queries_needed
from curation.statistics.paired.randomisation import assignments_for, randomisation_ps

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEAST_QUERIES = LEAST
"""With fewer queries a comparison is counts of wins, ties and losses, and no verdict."""
SIGNIFICANT = 0.05
"""A corrected p below this distinguishes two systems."""
DECIDES = f"p Holm below {SIGNIFICANT:g}, of Fisher's randomisation test, decides"
"""What the captions of differences say: neither the interval nor the t test decides."""
WANTED_DIFFERENCE = 0.02
"""The difference for which the number of queries needed is stated, unless the caller names another."""
INTERVAL_ALONE = "the interval excludes 0, the test does not decide"
BEFORE_CORRECTION = "the interval excludes 0; after Holm's correction nothing is decided"
TEST_ALONE = "the test decides, though the interval holds 0"
TOO_FEW = f"fewer than {LEAST_QUERIES} queries: counts only"


class StratumName(NamedTuple):
    """A kind of query: the value of a facet, such as `tag` and `question`."""

    facet: str
    value: str


@dataclass(frozen=True)
class SystemValues:
    """What systems reached on the same queries.

    Attributes
    ----------
    systems: S names. measures: M names.
    values: shape (S, Q, M), NaN where a query has no figure.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats


class SystemPair(NamedTuple):
    """Positions of two systems; the difference is `system` minus `other`."""

    system: int
    other: int


@dataclass(frozen=True)
class Comparison:
    """Two systems by one measure on some of the queries. Figures are None where they are undefined.

    Attributes
    ----------
    stratum: None for all queries.
    n: queries with a figure for both. left_out: queries without one for either.
    wins, ties, losses: queries where `system` is above, level with and below `other`; None where a sealed
        part was evaluated.
    no_verdict: why there are counts only.
    difference, low, high: mean of `system` minus `other`, and its 95 % interval.
    p_t, p_randomisation: of the paired t test and of Fisher's randomisation test, two-sided, uncorrected.
    p_holm: p_randomisation corrected for the `family` tests of its family.
    effect, effect_low, effect_high: the difference in standard deviations of the differences.
    detectable: the true difference that a t test finds with n queries of this spread in 80 % of sets.
    wanted, queries_needed: a difference, and how many queries of this spread find it so often.
    traffic: the difference for all searches; None for strata and where no query was drawn.
    """

    system: str
    other: str
    measure: str
    stratum: StratumName | None
    n: int
    left_out: int
    wins: int | None
    ties: int | None
    losses: int | None
    no_verdict: str | None = TOO_FEW
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_t: float | None = None
    p_randomisation: float | None = None
    p_holm: float | None = None
    family: int | None = None
    effect: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None
    detectable: float | None = None
    wanted: float | None = None
    queries_needed: int | None = None
    traffic: TrafficFigure | None = None

    @property
    def distinguished(self) -> bool:
        """Whether the difference is more than noise, after the correction."""
        return self.p_holm is not None and self.p_holm < SIGNIFICANT

    @property
    def note(self) -> str:
        """Why there is no verdict, or that interval and test disagree; empty without either."""
        if self.no_verdict is not None or self.low is None or self.high is None:
            return self.no_verdict or ""
        excludes = self.low > 0 or self.high < 0
        if excludes and not self.distinguished:
            before = self.p_randomisation is not None and self.p_randomisation < SIGNIFICANT
            return BEFORE_CORRECTION if before else INTERVAL_ALONE
        return TEST_ALONE if self.distinguished and not excludes else ""


class _Block(NamedTuple):
    """The differences of all pairs by one measure in one stratum, shape (q, P)."""

    stratum: StratumName | None
    differences: Floats


def system_pairs(systems: Sequence[str], baseline: str | None = None) -> list[SystemPair]:
    """All pairs, the later of two systems minus the earlier; or each system minus the baseline.

    Raises
    ------
    InputError: the baseline is none of the systems, or a name is there twice.
    """
    problems = [
        f"the system {name!r} is there {systems.count(name)} times; expected each name once"
        for name in sorted(set(systems))
        if systems.count(name) > 1
    ]
    if baseline is not None and baseline not in systems:
        known = ", ".join(systems)
        problems.append(f"the baseline {baseline!r} is none of the systems; expected one of {known}")
    refuse_problems(problems)
    if baseline is None:
        return [SystemPair(later, earlier) for earlier, later in combinations(range(len(systems)), 2)]
    base = list(systems).index(baseline)
    return [SystemPair(place, base) for place in range(len(systems)) if place != base]


def check_wanted(wanted: float) -> None:
    """Refuse a wanted difference that no number of queries belongs to.

    Raises
    ------
    InputError: it is not above 0.
    """
    if not wanted > 0:
        raise InputError(f"A wanted difference of {wanted:g} needs no queries; expected one above 0.")


def compare_systems(
    of: SystemValues,
    strata: Mapping[StratumName, Mask],
    *,
    seed: int,
    baseline: str | None = None,
    wanted: float = WANTED_DIFFERENCE,
    by_stratum: int | None = None,
) -> tuple[Comparison, ...]:
    """Every pair by every measure: overall, then in each stratum.

    Parameters
    ----------
    strata: which of the Q queries each holds, shape (Q,).
    wanted: the difference, above 0, whose number of queries is asked for.
    by_stratum: how many of the measures, from the first, are compared by stratum; None is all.

    Raises
    ------
    InputError: as `system_pairs`, or the wanted difference is not above 0.
    """
    check_wanted(wanted)
    pairs = system_pairs(of.systems, baseline)
    if not pairs:
        return ()
    found: list[Comparison] = []
    for number, measure in enumerate(of.measures):
        differences = pair_differences(of.values[:, :, number], pairs)
        overall = _Block(None, differences)
        shown = strata if by_stratum is None or number < by_stratum else {}
        parts = [_Block(name, differences[mask]) for name, mask in shown.items()]
        for family in ([overall], parts):
            found += _compared_family(of.systems, measure, pairs, family, seed, wanted)
    return tuple(found)


def pair_differences(values: Floats, pairs: Sequence[SystemPair]) -> Floats:
    """The differences of shape (Q, P) of values of shape (S, Q)."""
    return (values[[pair.system for pair in pairs]] - values[[pair.other for pair in pairs]]).T


def _compared_family(
    systems: Sequence[str],
    measure: str,
    pairs: Sequence[SystemPair],
    family: Sequence[_Block],
    seed: int,
    wanted: float,
) -> Iterator[Comparison]:
    ps = _randomisation_ps(family, seed)
    corrected = holm(ps.ravel()).reshape(ps.shape)
    tests = int((~np.isnan(ps)).sum())
    for block, own, holms in zip(family, ps, corrected, strict=True):
        n = (~np.isnan(block.differences)).sum(axis=0).tolist()
        wins, ties, losses = (number.tolist() for number in wins_ties_losses(block.differences))
        figures = _figures(block.differences, own, holms, seed, wanted)
        for place, pair in enumerate(pairs):
            counted = Comparison(
                systems[pair.system],
                systems[pair.other],
                measure,
                block.stratum,
                n[place],
                len(block.differences) - n[place],
                wins[place],
                ties[place],
                losses[place],
            )
            if n[place] < LEAST_QUERIES:
                yield counted
            else:
                yield replace(counted, no_verdict=None, family=tests, wanted=wanted, **figures[place])


def _randomisation_ps(family: Sequence[_Block], seed: int) -> Floats:
    """p of each pair in each block, shape (blocks, P); NaN where there are too few queries for a test."""
    enough = [(~np.isnan(block.differences)).sum(axis=0) >= LEAST_QUERIES for block in family]
    assignments = assignments_for(int(sum(tested.sum() for tested in enough)))
    ps = np.full((len(family), len(enough[0]) if enough else 0), np.nan)
    for row, block, tested in zip(ps, family, enough, strict=True):
        row[tested] = randomisation_ps(block.differences[:, tested], seed, assignments)
    return ps


def _figures(
    differences: Floats, ps: Floats, corrected: Floats, seed: int, wanted: float
) -> list[dict[str, Any]]:
    """The figures of every pair of one block, as `Comparison` names them."""
    moments = paired_moments(differences)
    effects = paired_effects(moments)
    low, high = paired_intervals(differences, seed)
    columns = {
        "difference": moments.mean,
        "low": low,
        "high": high,
        "p_t": paired_t_p(moments),
        "p_randomisation": ps,
        "p_holm": corrected,
        "effect": effects.value,
        "effect_low": effects.low,
        "effect_high": effects.high,
        "detectable": detectable_difference(moments.n, moments.sd),
    }
    needed = queries_needed(wanted, moments.sd).tolist()
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {name: None if isnan(value) else value for name, value in zip(columns, row, strict=True)}
        | {"queries_needed": None if isnan(number) else int(number)}
        for row, number in zip(rows, needed, strict=True)
    ]
