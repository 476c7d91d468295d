"""Prediction-powered means: a judge's figures of everything, corrected by people's on a probability sample.

With judge f on all N units, people y on a sample S of n of them, and Hájek's weighted mean over S:

    estimate = b · mean of f over all + mean over S of (y − b · f)

The second term, the rectifier, is what the judge gets wrong. It is unbiased whatever the judge is worth,
because S was drawn with known probabilities; the judge decides only how wide the interval is. b = 1 is
prediction-powered inference, b = 0 the classical mean of the sample. The tuned b makes the variance least; it
is kept between 0 and 1, so a judge that points the wrong way has no weight (power tuning).

The interval is about the population that the units were drawn from. Its variance has two parts: that of the
rectifier over samples of these N units, and that of y over draws of N units. Where all units count alike, and
where λ = b (N − n) / N, estimate and variance are those of the two papers, which give f on the N − n others.

A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic (2023), Prediction-powered inference,
Science 382, algorithm 1. A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023), PPI++, arXiv:2311.01453,
section 6. Unequal probabilities: C.-E. Särndal, B. Swensson and J. Wretman (1992), Model Assisted Survey
Sampling, sections 5.7 and 6.3 to 6.5; J. Hájek (1964), Annals of Mathematical Statistics 35.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from curation.statistics.intervals import MINIMUM_QUERIES, Floats

Mask = NDArray[np.bool_]

FEW_SAMPLED = f"no interval: people graded fewer than {MINIMUM_QUERIES} of the sampled units"
MOST_LEVERAGE = 0.5
"""A single unit on which the judge differs from all others would have a residual of 0 and a leverage of 1."""
NO_SPREAD = "no interval: people's figures are all the same, so nothing tells how far they vary"


class MeanInterval(NamedTuple):
    """A mean with its 95 % interval (Student's t) and standard error; the last three None without one."""

    value: float
    low: float | None
    high: float | None
    standard_error: float | None


@dataclass(frozen=True)
class PredictionPoweredMean:
    """A mean by judge and people, and beside it what people alone and the judge alone say.

    Attributes
    ----------
    estimate: the prediction-powered mean. classical: people's alone, on the same sample.
    judge: the judge's mean over everything, which no interval of this kind belongs to.
    rectifier: people's figures less the judge's, weighted mean over the sample.
    power: the weight b of the judge, 0 to 1.
    sampled, everything: n and N.
    effective: how large a sample people would need alone for the same variance; None without intervals.
    no_interval: why there is none.
    """

    estimate: MeanInterval
    classical: MeanInterval
    judge: float
    rectifier: float
    power: float
    sampled: int
    everything: int
    effective: float | None
    no_interval: str | None = None

    @property
    def saved(self) -> float | None:
        """How many units more people would have to grade without the judge; below 0 where it costs some."""
        return None if self.effective is None else self.effective - self.sampled


def prediction_powered_mean(
    judge: Floats,
    people: Floats,
    probabilities: Floats | None = None,
    weights: Floats | None = None,
    power: float | None = None,
) -> PredictionPoweredMean:
    """The mean of people's figures over all units, had they graded all.

    Parameters
    ----------
    judge: shape (N,), the judge's figure of every unit.
    people: shape (N,), people's figure of the units that were sampled, NaN for the others.
    probabilities: shape (N,), how likely people were to be asked about each unit; None: equally likely.
    weights: shape (N,), what each unit counts in the mean, such as its traffic; None: all alike.
    power: the judge's weight b; None tunes it.

    Raises
    ------
    ValueError: nobody graded anything, or a probability is not in (0, 1].
    """
    asked = ~np.isnan(people)
    if not asked.any():
        raise ValueError("a prediction-powered mean needs units with people's figures")
    units = _units(judge, people, asked, probabilities, weights)
    tuned = _tuned(units) if power is None else power
    residuals = units.people - tuned * units.judge[asked]
    mean = _mean(units.judge, units.counts) * tuned + _mean(residuals, units.sample_weights)
    classical = _mean(units.people, units.sample_weights)
    fitted = power is None and 0 < tuned < 1
    estimate, alone = _intervals(units, residuals, mean, classical, fitted)
    ratio = _ratio(alone, estimate)
    return PredictionPoweredMean(
        estimate=estimate,
        classical=alone,
        judge=_mean(units.judge, units.counts),
        rectifier=_mean(units.people - units.judge[asked], units.sample_weights),
        power=tuned,
        sampled=len(units.people),
        everything=len(judge),
        effective=None if ratio is None else len(units.people) * ratio,
        no_interval=_why_none(units) if estimate.standard_error is None else None,
    )


class _Units(NamedTuple):
    """The units; arrays of length N (judge, counts) or n (people, probabilities, sample_weights)."""

    judge: Floats
    counts: Floats
    asked: Mask
    people: Floats
    probabilities: Floats
    sample_weights: Floats


def _units(
    judge: Floats, people: Floats, asked: Mask, probabilities: Floats | None, weights: Floats | None
) -> _Units:
    everything = len(judge)
    counts = np.ones(everything) if weights is None else weights
    if probabilities is None:
        probabilities = np.full(everything, asked.sum() / everything)
    drawn = probabilities[asked]
    if ((drawn <= 0) | (drawn > 1)).any():
        raise ValueError("inclusion probabilities are above 0 and at most 1")
    return _Units(judge, counts, asked, people[asked], drawn, counts[asked] / drawn)


def _tuned(units: _Units) -> float:
    """The slope of people's figures on the judge's: the weight of least variance, within 0 and 1.

    The judge's variance is that over all units, as in PPI++, and the covariance that over the sample.
    """
    about, weights = units.judge[units.asked], units.sample_weights
    spread = units.judge - _mean(units.judge, units.counts)
    variance = (units.counts @ spread**2) / units.counts.sum() * len(spread) / max(len(spread) - 1, 1)
    both = (about - _mean(about, weights)) * (units.people - _mean(units.people, weights))
    covariance = weights @ both / weights.sum()
    return float(np.clip(covariance / variance, 0, 1)) if variance > 0 else 0.0


def _intervals(
    units: _Units, residuals: Floats, mean: float, classical: float, fitted: bool
) -> tuple[MeanInterval, MeanInterval]:
    """Both means with their intervals.

    Degrees of freedom are those of Kish's effective sample size; a fitted weight costs one of them.
    """
    if _why_none(units) is not None:
        return MeanInterval(mean, None, None, None), MeanInterval(classical, None, None, None)
    weights = units.sample_weights
    freedom = weights.sum() ** 2 / (weights @ weights) - 1
    drawn = _variance_of_draws(units)
    alone = _variance_over_samples(units, units.people, _kept(units, False)) + drawn
    powered = _variance_over_samples(units, residuals, _kept(units, fitted)) + drawn
    return _interval(mean, powered, freedom - fitted), _interval(classical, alone, freedom)


def _variance_over_samples(units: _Units, values: Floats, kept: Floats) -> float:
    """Of Hájek's mean of a sample from these units (Särndal et al. 1992, section 5.7; Hájek 1964)."""
    weights = units.sample_weights
    squares = (weights * (values - _mean(values, weights))) ** 2 / kept
    return float((squares * (1 - units.probabilities)).sum() / weights.sum() ** 2)


def _kept(units: _Units, fitted: bool) -> Floats:
    """The share of its variance that a unit's residual keeps: it draws mean and fitted weight to itself.

    With h the unit's leverage this is 1 − h for a mean, which makes the n − 1 of equal weights, and (1 − h)²
    with a fitted weight, as a jackknife would (HC2 and HC3 of J. G. MacKinnon and H. White (1985), Journal of
    Econometrics 29).
    """
    weights = units.sample_weights
    shares = weights / weights.sum()
    if not fitted:
        kept: Floats = 1 - shares
        return kept
    about = units.judge[units.asked] - _mean(units.judge[units.asked], weights)
    leverage = shares + weights * about**2 / (weights @ about**2)
    squared: Floats = (1 - np.minimum(leverage, MOST_LEVERAGE)) ** 2
    return squared


def _variance_of_draws(units: _Units) -> float:
    """Of people's mean over all N units, as draws from the population; estimated from the sample."""
    apart = units.people - _mean(units.people, units.sample_weights)
    counts = units.counts[units.asked]
    total = ((counts * apart) ** 2 / units.probabilities).sum() / units.counts.sum() ** 2
    return float(total * len(apart) / (len(apart) - 1))


def _interval(value: float, variance: float, freedom: float) -> MeanInterval:
    error = sqrt(variance)
    reach = float(stdtrit(max(freedom, 1), 0.975)) * error
    return MeanInterval(value, value - reach, value + reach, error)


def _ratio(classical: MeanInterval, powered: MeanInterval) -> float | None:
    if classical.standard_error is None or not powered.standard_error:
        return None
    return (classical.standard_error / powered.standard_error) ** 2


def _why_none(units: _Units) -> str | None:
    if len(units.people) < MINIMUM_QUERIES:
        return FEW_SAMPLED
    return NO_SPREAD if np.ptp(units.people) == 0 else None


def _mean(values: Floats, weights: Floats) -> float:
    return float(weights @ values / weights.sum())
