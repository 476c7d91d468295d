"""Pairs of systems: the paired difference of every measure, overall and in each stratum, with its tests.

Differences are paired: of the same query, answered by both. A query without a figure for one of the two is
left out of the pair and counted.

The families of Holm's correction. Overall, a family is all pairs of one measure. For the strata it is all
pairs in all strata of one measure, so that whoever looks through the strata for a difference does not find
one by chance alone. Measures are not corrected for each other: name the one that decides beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.errors import InputError, refuse_problems
from curation.evaluation.figures.strata import LEAST
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
"""A corrected p below this tells two systems apart."""
WANTED_DIFFERENCE = 0.02
"""The difference for which the number of queries needed is stated, unless the caller names another."""
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


class PairedTests(NamedTuple):
    """What the differences of queries say about two systems. Figures are None where they are undefined.

    Attributes
    ----------
    difference, low, high: mean of the first system minus the second, and its 95 % interval.
    p_t, p_randomisation: of the paired t test and of Fisher's randomisation test, two-sided, uncorrected.
    p_holm: p_randomisation corrected for the `family` tests of its family.
    effect, effect_low, effect_high: the difference in standard deviations of the differences.
    detectable: the true difference that a t test finds with n queries of this spread in 80 % of sets.
    wanted, queries_needed: a difference, and how many queries of this spread find it so often.
    """

    family: int
    wanted: float
    difference: float | None
    low: float | None
    high: float | None
    p_t: float | None
    p_randomisation: float | None
    p_holm: float | None
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    detectable: float | None
    queries_needed: float | None


@dataclass(frozen=True)
class Comparison:
    """Two systems by one measure on some of the queries.

    Attributes
    ----------
    stratum: None for all queries.
    n: queries with a figure for both. left_out: queries without one for either.
    wins, ties, losses: queries where `system` is above, level with and below `other`.
    tests: None with fewer than `LEAST_QUERIES` queries.
    """

    system: str
    other: str
    measure: str
    stratum: StratumName | None
    n: int
    left_out: int
    wins: int
    ties: int
    losses: int
    tests: PairedTests | None

    @property
    def told_apart(self) -> bool:
        """Whether the difference is more than noise, after the correction."""
        p = None if self.tests is None else self.tests.p_holm
        return p is not None and p < SIGNIFICANT

    @property
    def no_verdict(self) -> str | None:
        """Why there are counts only, if so."""
        return TOO_FEW if self.tests is None else None


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


def compare_systems(
    of: SystemValues,
    strata: Mapping[StratumName, Mask],
    *,
    seed: int,
    baseline: str | None = None,
    wanted: float = WANTED_DIFFERENCE,
) -> tuple[Comparison, ...]:
    """Every pair by every measure: overall, then in each stratum.

    Parameters
    ----------
    strata: which of the Q queries each holds, shape (Q,).
    wanted: the difference, above 0, whose number of queries is asked for.

    Raises
    ------
    InputError: as `system_pairs`, or the wanted difference is not above 0.
    """
    if not wanted > 0:
        raise InputError(f"A wanted difference of {wanted:g} needs no queries; expected one above 0.")
    pairs = system_pairs(of.systems, baseline)
    if not pairs:
        return ()
    found: list[Comparison] = []
    for number, measure in enumerate(of.measures):
        differences = pair_differences(of.values[:, :, number], pairs)
        overall = _Block(None, differences)
        parts = [_Block(name, differences[mask]) for name, mask in strata.items()]
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
        found = _tests(block.differences, own, holms, tests, seed, wanted)
        for place, pair in enumerate(pairs):
            yield Comparison(
                systems[pair.system],
                systems[pair.other],
                measure,
                block.stratum,
                n[place],
                len(block.differences) - n[place],
                wins[place],
                ties[place],
                losses[place],
                found[place] if n[place] >= LEAST_QUERIES else None,
            )


def _randomisation_ps(family: Sequence[_Block], seed: int) -> Floats:
    """p of each pair in each block, shape (blocks, P); NaN where there are too few queries for a test."""
    enough = [(~np.isnan(block.differences)).sum(axis=0) >= LEAST_QUERIES for block in family]
    assignments = assignments_for(int(sum(tested.sum() for tested in enough)))
    ps = np.full((len(family), len(enough[0]) if enough else 0), np.nan)
    for row, block, tested in zip(ps, family, enough, strict=True):
        row[tested] = randomisation_ps(block.differences[:, tested], seed, assignments)
    return ps


def _tests(
    differences: Floats, ps: Floats, corrected: Floats, family: int, seed: int, wanted: float
) -> list[PairedTests]:
    """The tests of all pairs of one block."""
    moments = paired_moments(differences)
    columns = (
        *(moments.mean, *paired_intervals(differences, seed)),
        *(paired_t_p(moments), ps, corrected),
        *paired_effects(moments),
        detectable_difference(moments.n, moments.sd),
        queries_needed(wanted, moments.sd),
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [PairedTests(family, wanted, *map(_known, row)) for row in rows]


def _known(figure: float) -> float | None:
    return None if np.isnan(figure) else figure
