"""The stratified difference estimator: a judge's mean over all units, corrected by people's grades.

With the judge's figure f of all N units, and people's figure y of a random sample from each stratum:

    estimate = mean of f over all + weighted mean of (y − f) over the sample

The second term estimates the judge's error. The estimate is right on average even with a bad judge, because
the sample was drawn with known probabilities; the judge only decides how wide the interval is. A judge that
knows nothing makes the interval wider than an interval from human grades alone.

The interval is about the population that the units were drawn from. The variance of the estimate has two
parts: the variance of the correction over samples of these N units, stratum by stratum, and the variance of y
over draws of N units. Strata with one sampled unit share one variance.

C.-E. Särndal, B. Swensson and J. Wretman (1992), Model Assisted Survey Sampling, sections 3.7, 5.7 and 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.statistics.intervals import MINIMUM_QUERIES

FEW_SAMPLED = f"no interval: people graded fewer than {MINIMUM_QUERIES} of the sampled units"
NO_SPREAD = "no interval: people's figures are all the same, so their variation is unknown"
MIN_ERRORS = 10  # with fewer units on which judge and people differ, the sample may miss rare mistakes


class MeanInterval(NamedTuple):
    """A mean with its 95 % interval (Student's t); low and high are None if there is no interval."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class DifferenceEstimate:
    """A mean estimated from a judge's and people's grades together, with the means from the judge alone and
    from people alone.

    Attributes
    ----------
    people_alone: mean of people's figures on the same sample.
    judge_alone: mean of the judge's figures over all units, without an interval, because its error is
        unknown.
    sampled, everything: number of units with people's figure, and of all units. Units of probability 1 are
        left out if other units have a lower probability, because a complete stratum shows neither sampling
        variance nor the value of a judge.
    saved: number of further units that people would have to grade for the same variance without a judge;
        below 0 if the judge makes the variance larger, None without an interval.
    no_interval: the reason for a missing interval.
    doubt: the reason why the interval may contain the true mean in fewer than 95 % of cases.
    """

    estimate: MeanInterval
    people_alone: MeanInterval
    judge_alone: float | None
    sampled: int
    everything: int
    saved: float | None
    no_interval: str | None
    doubt: str | None


class _Sample(NamedTuple):
    """The sampled units as arrays of length n; `figures` and `known` are 0 for a unit without a value from
    people.

    is_sampled: shape (N,), True for a sampled unit. weights: the count of a unit over its probability.
    strata: numbers from 0; each stratum has two units or more if the sample has two units.
    """

    is_sampled: Mask
    figures: Floats
    known: Floats
    probabilities: Floats
    weights: Floats
    strata: Ints

    def mean(self, values: Floats) -> float:
        """Compute Hájek's mean of a value over the sampled units."""
        return float(self.weights @ values / self.weights.sum())


class _MeanEstimate(NamedTuple):
    """A mean, with its variance over samples of the N units and over draws of N units from a population."""

    value: float
    over_samples: float
    over_draws: float


def difference_estimate(
    judge: Floats,
    people: Floats,
    is_sampled: Mask,
    probabilities: Floats,
    strata: Sequence[str],
    counts: Floats | None = None,
) -> DifferenceEstimate:
    """Estimate the mean of people's values over all units from a sample and from a judge's values.

    A unit can have no figure, such as a query without a relevant document. A unit without a figure is left
    out of the mean, which is then a ratio of two means, with the variance of the linearised ratio.

    Parameters
    ----------
    judge: shape (N,), the judge's figure of every unit; NaN if the judge finds no figure.
    people: shape (N,), people's figure of each sampled unit; NaN if people find no figure.
    is_sampled: shape (N,), True for a sampled unit.
    probabilities: shape (N,), the inclusion probability of each unit.
    strata: length N, the stratum of each unit; each stratum was sampled separately.
    counts: shape (N,), the weight of each unit in the mean, such as its traffic; None for equal weights.

    Raises
    ------
    ValueError: people's figure of every sampled unit is missing, or a probability is not in (0, 1].
    """
    if np.isnan(people[is_sampled]).all():
        raise ValueError("a difference estimate needs units that people graded")
    if ((probabilities <= 0) | (probabilities > 1)).any():
        raise ValueError("inclusion probabilities must be above 0 and at most 1")
    counts = np.ones(len(judge)) if counts is None else counts
    is_uncertain = probabilities < 1 if probabilities.min() < 1 else np.ones(len(judge), bool)
    sample = _build_sample(people, is_sampled, probabilities, strata, counts)
    graded = sample.figures[(sample.known > 0) & is_uncertain[is_sampled]]
    no_interval = FEW_SAMPLED if len(graded) < MINIMUM_QUERIES else NO_SPREAD if np.ptp(graded) == 0 else None
    corrected, people_only = (
        _estimate_mean(sample, figures, counts) for figures in (judge, np.full(len(judge), np.nan))
    )
    df, counted = _degrees_of_freedom(sample), ~np.isnan(judge) & (counts > 0)
    return DifferenceEstimate(
        estimate=_interval(corrected, df, no_interval),
        people_alone=_interval(people_only, df, no_interval),
        judge_alone=float(np.average(judge[counted], weights=counts[counted])) if counted.any() else None,
        sampled=len(graded),
        everything=int(is_uncertain.sum()),
        saved=None if no_interval else _count_saved_units(corrected, people_only, sample, is_uncertain),
        no_interval=no_interval,
        doubt=_describe_doubt(sample.figures - np.nan_to_num(judge)[is_sampled], len(graded)),
    )


def _build_sample(
    people: Floats, is_sampled: Mask, probabilities: Floats, strata: Sequence[str], counts: Floats
) -> _Sample:
    figures, inclusion = people[is_sampled], probabilities[is_sampled]
    return _Sample(
        is_sampled=is_sampled,
        figures=np.nan_to_num(figures),
        known=~np.isnan(figures) * 1.0,
        probabilities=inclusion,
        weights=counts[is_sampled] / inclusion,
        strata=_join_small_strata(
            np.unique(np.asarray(strata)[is_sampled], return_inverse=True)[1], inclusion < 1
        ),
    )


def _join_small_strata(strata: Ints, by_chance: Mask) -> Ints:
    """Join the strata that have only one sampled unit; a single such stratum joins the smallest other
    stratum.

    A single unit shows no variance within its stratum, and without the join the unit would count as certain.
    """
    sizes = np.bincount(strata[by_chance], minlength=int(strata.max()) + 1)
    single_strata, larger_strata = np.flatnonzero(sizes == 1), np.flatnonzero(sizes > 1)
    if len(single_strata) == 1 and len(larger_strata):
        single_strata = np.append(single_strata, larger_strata[np.argmin(sizes[larger_strata])])
    return np.where(np.isin(strata, single_strata), single_strata[:1].sum(), strata)


def _estimate_mean(sample: _Sample, judge: Floats, counts: Floats) -> _MeanEstimate:
    figures, is_known = np.nan_to_num(judge), ~np.isnan(judge) * 1.0
    errors = sample.figures - figures[sample.is_sampled]
    missing_errors = sample.known - is_known[sample.is_sampled]
    size = float(np.average(is_known, weights=counts)) + sample.mean(missing_errors)
    if size <= 0:  # the judge has too many units without a figure
        return _estimate_mean(sample, np.full(len(judge), np.nan), counts)
    value = (float(np.average(figures, weights=counts)) + sample.mean(errors)) / size
    over_samples = _variance_over_samples(sample, errors - value * missing_errors)
    over_draws = _variance_over_draws(sample, sample.figures - value * sample.known, counts)
    return _MeanEstimate(value, over_samples / size**2, over_draws / size**2)


def _variance_over_samples(sample: _Sample, residuals: Floats) -> float:
    """Compute the variance of Hájek's mean of residuals by stratum (Särndal et al. 1992, section 5.7).

    The weight of a unit is the change of the mean without the unit (the jackknife).
    """
    remaining_weights = np.maximum(sample.weights.sum() - sample.weights, sample.weights.min())
    influences = sample.weights * (residuals - sample.mean(residuals)) / remaining_weights
    sizes = np.bincount(sample.strata)
    influences = influences - (np.bincount(sample.strata, influences) / np.maximum(sizes, 1))[sample.strata]
    bessel = (sizes / np.maximum(sizes - 1, 1))[sample.strata]
    return float((bessel * (1 - sample.probabilities)) @ influences**2)


def _variance_over_draws(sample: _Sample, people: Floats, counts: Floats) -> float:
    """Compute the variance of people's mean over all N units, treated as draws from the population."""
    deviations = counts[sample.is_sampled] * (people - sample.mean(people)) / counts.sum()
    return float((deviations**2 / sample.probabilities).sum() * len(deviations) / max(len(deviations) - 1, 1))


def _degrees_of_freedom(sample: _Sample) -> float:
    """Compute degrees of freedom from the randomly drawn units: units minus strata, at most Kish's effective
    size − 1.
    """
    is_uncertain = sample.probabilities < 1 if sample.probabilities.min() < 1 else sample.known >= 0
    weights = sample.weights[is_uncertain]
    df = len(weights) - len(np.unique(sample.strata[is_uncertain]))
    return max(1.0, min(df, float(weights.sum() ** 2 / (weights @ weights)) - 1))


def _interval(estimated: _MeanEstimate, df: float, no_interval: str | None) -> MeanInterval:
    if no_interval is not None:
        return MeanInterval(estimated.value, None, None)
    half_width = float(stdtrit(df, 0.975)) * sqrt(estimated.over_samples + estimated.over_draws)
    return MeanInterval(estimated.value, estimated.value - half_width, estimated.value + half_width)


def _count_saved_units(
    corrected: _MeanEstimate, people_only: _MeanEstimate, sample: _Sample, by_chance: Mask
) -> float:
    """Compute how many more units people would have to grade without a judge; the variance falls with 1/n −
    1/N."""
    n = float(sample.known[by_chance[sample.is_sampled]].sum())
    everything = int(by_chance.sum()) * sample.mean(sample.known)
    if everything <= n or people_only.over_samples <= 0:
        return 0.0
    variance_ratio = corrected.over_samples / people_only.over_samples
    return 1 / (1 / everything + variance_ratio * (1 / n - 1 / everything)) - n


def _describe_doubt(errors: Floats, graded: int) -> str | None:
    """Warn that the interval may be too narrow, because a sample can miss the judge's rare mistakes."""
    count = np.count_nonzero(errors)
    if count >= MIN_ERRORS:
        return None
    return f"judge and people differ on only {count} of {graded}: the interval may be too narrow"
