"""Pairs of systems: the paired difference of every measure, overall and in each stratum, with its tests.

Differences are paired: of the same query, answered by both. A query without a figure for one of the two is
left out of the pair and counted.

The families of a correction. Overall, a family is all pairs of one measure. For the strata it is all
pairs in all strata of one measure, so that a reader who looks through the strata for a difference does not
find one by chance alone. Measures are not corrected for each other: name the one that decides beforehand.

The randomisation test and Student's are made of every pair, overall and in every stratum; the test that
decides as well. Wilcoxon's is shown as well overall.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from curation.core.errors import InputError, refuse_problems
from curation.core.statistics.arrays import Floats, Mask
from curation.core.statistics.p_values import holm
from curation.core.statistics.paired.differences import (
    detectable_difference,
    paired_effects,
    paired_intervals,
    paired_moments,
    paired_t_p,
    queries_needed,
    wilcoxon_ps,
    wins_ties_losses,
)
from curation.core.statistics.paired.randomisation import assignments_for, randomisation_ps
from curation.evaluation.figures.traffic import TrafficFigure
from curation.evaluation.scoring.inputs.facets import LEAST
from curation.evaluation.significance import RANDOMISATION, SIGNIFICANT, TESTS

MOST_PAIRS = 45
"""With more pairs lists are not compared, and strata by the first measure alone; ten systems have so many."""
LEAST_QUERIES = LEAST
"""With fewer queries a comparison is counts of wins, ties and losses, and no verdict."""
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
    wins, ties, losses: queries where `system` is above, level with and below `other`.
    no_verdict: why there are counts only.
    difference, low, high: mean of `system` minus `other`, and its 95 % interval.
    p_t, p_randomisation, p_wilcoxon: of tests of the pair, two-sided, uncorrected.
    p_holm: p_randomisation after Holm's correction for its family, whichever test decides.
    test: which of the tests decides.
    p_corrected: that of the test that decides, corrected by Holm's method for its `family` tests.
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
    p_wilcoxon: float | None = None
    p_holm: float | None = None
    test: str | None = None
    p_corrected: float | None = None
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
        return self.p_corrected is not None and self.p_corrected < SIGNIFICANT

    @property
    def deciding(self) -> str:
        """The test that decides; the default one where none was made."""
        return self.test or RANDOMISATION

    @property
    def p(self) -> float | None:
        """Of the test that decides, uncorrected."""
        found: float | None = getattr(self, f"p_{self.deciding}")
        return found

    @property
    def note(self) -> str:
        """Why there is no verdict, or that interval and test disagree; empty without either."""
        if self.no_verdict is not None or self.low is None or self.high is None:
            return self.no_verdict or ""
        excludes = self.low > 0 or self.high < 0
        if excludes and not self.distinguished:
            before = self.p is not None and self.p < SIGNIFICANT
            return BEFORE_CORRECTION if before else INTERVAL_ALONE
        return TEST_ALONE if self.distinguished and not excludes else ""


class _Block(NamedTuple):
    """One measure in one stratum: differences of all pairs, shape (q, P)."""

    stratum: StratumName | None
    differences: Floats


class _Comparing(NamedTuple):
    """What the comparisons of one measure have in common."""

    systems: Sequence[str]
    measure: str
    pairs: Sequence[SystemPair]
    deciding: str
    seed: int
    wanted: float


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
    deciding: str = RANDOMISATION,
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
    comparisons: list[Comparison] = []
    for number, measure in enumerate(of.measures):
        asked = _Comparing(of.systems, measure, pairs, deciding, seed, wanted)
        differences = pair_differences(of.values[:, :, number], pairs)
        overall = _Block(None, differences)
        shown = strata if by_stratum is None or number < by_stratum else {}
        parts = [_Block(name, differences[mask]) for name, mask in shown.items()]
        comparisons += _compared_family([overall], TESTS, asked)
        comparisons += _compared_family(parts, {"t", "randomisation", deciding}, asked)
    return tuple(comparisons)


def pair_differences(values: Floats, pairs: Sequence[SystemPair]) -> Floats:
    """The differences of shape (Q, P) of values of shape (S, Q)."""
    return (values[[pair.system for pair in pairs]] - values[[pair.other for pair in pairs]]).T


def _compared_family(
    family: Sequence[_Block], tests: Collection[str], asked: _Comparing
) -> Iterator[Comparison]:
    ps = {test: _ps(test, family, asked) for test in sorted(tests)}
    holms, corrected = (
        holm(ps[test].ravel()).reshape(ps[test].shape) for test in ("randomisation", asked.deciding)
    )
    tested = int((~np.isnan(corrected)).sum())
    for row, block in enumerate(family):
        n = (~np.isnan(block.differences)).sum(axis=0).tolist()
        wins, ties, losses = (number.tolist() for number in wins_ties_losses(block.differences))
        own = {f"p_{test}": found[row] for test, found in ps.items()}
        own |= {"p_holm": holms[row], "p_corrected": corrected[row]}
        figures = _figures(block.differences, own, asked)
        for place, pair in enumerate(asked.pairs):
            counted = Comparison(
                asked.systems[pair.system],
                asked.systems[pair.other],
                asked.measure,
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
                yield replace(
                    counted,
                    no_verdict=None,
                    test=asked.deciding,
                    family=tested,
                    wanted=asked.wanted,
                    **figures[place],
                )


def _ps(test: str, family: Sequence[_Block], asked: _Comparing) -> Floats:
    """p of each pair in each block, shape (blocks, P); NaN where there are too few queries for a test."""
    enough = [(~np.isnan(block.differences)).sum(axis=0) >= LEAST_QUERIES for block in family]
    ps = np.full((len(family), len(asked.pairs)), np.nan)
    drawn = assignments_for(int(sum(tested.sum() for tested in enough)))
    for row, block, tested in zip(ps, family, enough, strict=True):
        differences = block.differences[:, tested]
        if test == "t":
            row[tested] = paired_t_p(paired_moments(differences))
        elif test == "randomisation":
            row[tested] = randomisation_ps(differences, asked.seed, drawn)
        else:
            row[tested] = wilcoxon_ps(differences)
    return ps


def _figures(differences: Floats, ps: Mapping[str, Floats], asked: _Comparing) -> list[dict[str, Any]]:
    """The figures of every pair of one block, as `Comparison` names them."""
    moments = paired_moments(differences)
    effect, effect_low, effect_high = paired_effects(moments)
    low, high = paired_intervals(differences, asked.seed)
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
    needed = queries_needed(asked.wanted, moments.sd).tolist()
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {name: None if isnan(value) else value for name, value in zip(columns, row, strict=True)}
        | {"queries_needed": None if isnan(number) else int(number)}
        for row, number in zip(rows, needed, strict=True)
    ]
