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
from math import atanh, sqrt, tanh
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from curation.statistics.arrays import Floats, Mask
from curation.statistics.intervals import MINIMUM_QUERIES

FEW_SAMPLED = f"no interval: people graded fewer than {MINIMUM_QUERIES} of the sampled units"
FEW_APART = 10
"""With fewer sampled units on which judge and people differ, rare mistakes may go unseen."""
LEAST_EFFECTIVE = 1 / 3
"""With a smaller share of effective units (Kish) 95 % intervals held in 92 to 93 % of simulations."""
MOST_LEVERAGE = 0.5
"""A single unit on which the judge differs from all others would have a residual of 0 and a leverage of 1."""
ALMOST_ONE = 1 - 1e-9
NO_SPREAD = "no interval: people's figures are all the same, so nothing tells how far they vary"


class MeanInterval(NamedTuple):
    """A mean with its 95 % interval (Student's t) and standard error; the last three None without one."""

    value: float
    low: float | None
    high: float | None
    standard_error: float | None


class Correlation(NamedTuple):
    """Pearson's correlation of n pairs with its 95 % interval.

    The interval is Student's t on Fisher's z (1921, Metron 1), with the variance that supposes no
    distribution (J. H. Steiger and A. R. Hakstian 1982, British Journal of Mathematical and Statistical
    Psychology 35), at least that of the normal one.
    """

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class PredictionPoweredMean:
    """A mean by judge and people, and next to it what people alone and the judge alone say.

    Attributes
    ----------
    estimate: the prediction-powered mean. classical: people's alone, on the same sample.
    judge: the judge's mean over everything; no interval says how far that is from people's.
    rectifier: people's mean over the sample less the judge's.
    power: the weight b of the judge, 0 to 1.
    sampled, everything: units with people's figure, and all N, without those of probability 1, if others have
        less: what is known for certain tells neither how far units vary nor what a judge is worth.
    effective: how large a sample people would need alone for the same variance; None without intervals.
    saved: how many units more that is than they graded; below 0 where the judge costs some.
    correlation: of people's figures with the judge's over the sample, with its interval; it decides what the
        judge saves. saved_low, saved_high: what it saves at both ends of that interval.
    no_interval: why there is none.
    doubt: why the interval of the estimate may hold the truth in fewer than 95 % of cases.
    """

    estimate: MeanInterval
    classical: MeanInterval
    judge: float | None
    rectifier: float | None
    power: float
    sampled: int
    everything: int
    effective: float | None
    saved: float | None
    correlation: Correlation | None = None
    saved_low: float | None = None
    saved_high: float | None = None
    no_interval: str | None = None
    doubt: str | None = None


def prediction_powered_mean(
    judge: Floats,
    people: Floats,
    asked: Mask | None = None,
    probabilities: Floats | None = None,
    weights: Floats | None = None,
    power: float | None = None,
) -> PredictionPoweredMean:
    """The mean of people's figures over all units, had they graded all.

    A unit can have no figure, such as a query without a relevant document. It is left out of the mean, which
    is then a ratio of two such means; its variance is that of the linearised ratio.

    Parameters
    ----------
    judge: shape (N,), the judge's figure of every unit; NaN where the judge finds that it has none.
    people: shape (N,), people's figure of the units that were sampled.
    asked: shape (N,), which units were sampled; by default those that are not NaN in `people`.
    probabilities: shape (N,), how likely people were to be asked about each unit; None: equally likely.
    weights: shape (N,), what each unit counts in the mean, such as its traffic; None: all alike.
    power: the judge's weight b; None tunes it.

    Raises
    ------
    ValueError: people's figure of every sampled unit is missing, or a probability is not in (0, 1].
    """
    units = _units(judge, people, ~np.isnan(people) if asked is None else asked, probabilities, weights)
    alone = _ratio(units, 0.0)
    tuned = _tuned(units, alone) if power is None else power
    if _size(units, tuned) <= 0:  # the judge finds too many units without a figure
        tuned = 0.0
    value = _ratio(units, tuned)
    fitted = power is None and 0 < tuned < 1
    estimate, classical = _interval(units, value, tuned, fitted), _interval(units, alone, 0.0, False)
    about = _judges_mean(units.judge[units.asked], units.sample_weights * units.judged[units.asked])
    why_none, correlation = _why_none(units), _correlation(units)
    ratio = None if why_none else _variance_ratio(units, (value, tuned, fitted), (alone, 0.0, False))
    effective = None if ratio is None else _effective(units, ratio)
    ends = None if ratio is None else _saved_between(units, ratio, correlation)
    return PredictionPoweredMean(
        estimate=estimate,
        classical=classical,
        judge=_judges_mean(units.judge, units.counts * units.judged),
        rectifier=None if about is None else alone - about,
        power=tuned,
        sampled=units.sampled,
        everything=int(units.by_chance.sum()),
        effective=effective,
        saved=None if effective is None else effective - units.sampled,
        correlation=correlation,
        saved_low=None if ends is None else ends[0],
        saved_high=None if ends is None else ends[1],
        no_interval=why_none,
        doubt=_doubt(units, tuned),
    )


class _Units(NamedTuple):
    """The units; arrays of length N (judge, judged, counts, probabilities, asked) or n (the others).

    `judged` and `there` are 1 where the judge, or people, find a figure; without one it is 0 in `judge` and
    `people`.
    """

    judge: Floats
    judged: Floats
    counts: Floats
    probabilities: Floats
    asked: Mask
    people: Floats
    there: Floats
    drawn: Floats
    sample_weights: Floats

    @property
    def by_chance(self) -> Mask:
        """Which of the N units people might not have seen; all, where they had to see everything."""
        uncertain = self.probabilities < 1
        return uncertain if uncertain.any() else ~uncertain

    @property
    def sampled(self) -> int:
        """Sampled units with people's figure, of these."""
        return int(self.there[self.by_chance[self.asked]].sum())


def _units(
    judge: Floats, people: Floats, asked: Mask, probabilities: Floats | None, weights: Floats | None
) -> _Units:
    everything = len(judge)
    counts = np.ones(everything) if weights is None else weights
    if probabilities is None:
        probabilities = np.full(everything, asked.sum() / everything)
    drawn, known = probabilities[asked], people[asked]
    if np.isnan(known).all():
        raise ValueError("a prediction-powered mean needs units with people's figures")
    if ((probabilities <= 0) | (probabilities > 1)).any():
        raise ValueError("inclusion probabilities are above 0 and at most 1")
    judged, there = (~np.isnan(values) * 1.0 for values in (judge, known))
    return _Units(
        judge=np.nan_to_num(judge),
        judged=judged,
        counts=counts,
        probabilities=probabilities,
        asked=asked,
        people=np.nan_to_num(known),
        there=there,
        drawn=drawn,
        sample_weights=counts[asked] / drawn,
    )


def _ratio(units: _Units, power: float) -> float:
    total = _mean(units.people - power * units.judge[units.asked], units.sample_weights)
    return (total + power * _mean(units.judge, units.counts)) / _size(units, power)


def _size(units: _Units, power: float) -> float:
    """The share of the units that have a figure, by judge and people."""
    apart = _mean(units.there - power * units.judged[units.asked], units.sample_weights)
    return apart + power * _mean(units.judged, units.counts)


def _tuned(units: _Units, value: float) -> float:
    """The weight of least variance over samples, within 0 and 1: a slope of people's figures on the judge's.

    The judge's variance is that over all units, as in PPI++, and the covariance that over the sample.
    """
    judge, people = _apart(units, value)
    about, weights = judge[units.asked], units.sample_weights
    spread = judge - _mean(judge, units.counts)
    every = units.counts**2 * (1 - units.probabilities) / units.probabilities
    variance = every @ spread**2 * len(spread) / max(len(spread) - 1, 1)
    both = (about - _mean(about, weights)) * (people - _mean(people, weights))
    covariance = (weights**2 * (1 - units.drawn)) @ both
    return float(np.clip(covariance / variance, 0, 1)) if variance > 0 else 0.0


def _apart(units: _Units, value: float) -> tuple[Floats, Floats]:
    """How far the judge's figures (N,) and people's (n,) are from a value; 0 for units without one."""
    return units.judge - value * units.judged, units.people - value * units.there


def _interval(units: _Units, value: float, power: float, fitted: bool) -> MeanInterval:
    """The value with its interval.

    Degrees of freedom are those of Kish's effective sample size; a fitted weight costs one of them.
    """
    if _why_none(units) is not None:
        return MeanInterval(value, None, None, None)
    drawn = _variance_of_draws(units, _apart(units, value)[1]) / _size(units, power) ** 2
    error = sqrt(_over_samples(units, value, power, fitted) + drawn)
    weights = units.sample_weights[units.by_chance[units.asked]]
    freedom = weights.sum() ** 2 / (weights @ weights) - 1 - fitted
    reach = float(stdtrit(max(freedom, 1), 0.975)) * error
    return MeanInterval(value, value - reach, value + reach, error)


def _over_samples(units: _Units, value: float, power: float, fitted: bool) -> float:
    """The part of the variance that is smaller the more units people see, and the better the judge is."""
    judge, people = _apart(units, value)
    residuals = people - power * judge[units.asked]
    return _variance_over_samples(units, residuals, _kept(units, judge, fitted)) / _size(units, power) ** 2


def _variance_ratio(
    units: _Units, powered: tuple[float, float, bool], alone: tuple[float, float, bool]
) -> float:
    """The variance over samples with the judge, as a share of that without."""
    classical = _over_samples(units, *alone)
    return _over_samples(units, *powered) / classical if classical > 0 else 1.0


def _effective(units: _Units, ratio: float) -> float:
    """How many units people would have to see alone: the variance over samples falls with 1 / n − 1 / N."""
    n, everything = units.sampled, int(units.by_chance.sum()) * _size(units, 0.0)
    if everything <= n:
        return float(n)
    return 1 / (1 / everything + ratio * (1 / n - 1 / everything))


def _correlation(units: _Units) -> Correlation | None:
    """None with fewer than `MINIMUM_QUERIES` units that both have, or where one of them never varies."""
    both = (units.there > 0) & ((units.judged > 0) & units.by_chance)[units.asked]
    weights = units.sample_weights[both]
    judge, people = units.judge[units.asked][both], units.people[both]
    if len(weights) < MINIMUM_QUERIES or min(np.ptp(judge), np.ptp(people)) == 0:
        return None
    judge, people = (_standard(values, weights) for values in (judge, people))
    value = _mean(judge * people, weights)
    inside = min(max(value, -ALMOST_ONE), ALMOST_ONE)
    apart = weights / weights.sum() * (judge * people - value * (judge**2 + people**2) / 2)
    size = weights.sum() ** 2 / (weights @ weights)
    error = sqrt(apart @ apart * size / max(size - 3, 1.0)) / (1 - inside**2)
    reach = float(stdtrit(max(size - 3, 1.0), 0.975)) * max(error, 1 / sqrt(size))
    return Correlation(value, tanh(atanh(inside) - reach), tanh(atanh(inside) + reach), len(weights))


def _standard(values: Floats, weights: Floats) -> Floats:
    apart = values - _mean(values, weights)
    standard: Floats = apart / sqrt(_mean(apart**2, weights))
    return standard


def _saved_between(units: _Units, ratio: float, found: Correlation | None) -> tuple[float, float] | None:
    """What a judge saves at both ends of its correlation ρ.

    With the best weight 1 − ρ² of the variance is left. The measured share is scaled by that, so that what is
    measured is within.
    """
    if found is None or found.value >= ALMOST_ONE:
        return None
    left = [1 - max(rho, 0.0) ** 2 for rho in (found.low, found.value, found.high)]
    low, high = (_effective(units, ratio * end / left[1]) - units.sampled for end in (left[0], left[2]))
    return low, high


def _variance_over_samples(units: _Units, values: Floats, kept: Floats) -> float:
    """Of Hájek's mean of a sample from these units (Särndal et al. 1992, section 5.7; Hájek 1964)."""
    weights = units.sample_weights
    squares = (weights * (values - _mean(values, weights))) ** 2 / kept
    return float((squares * (1 - units.drawn)).sum() / weights.sum() ** 2)


def _kept(units: _Units, judge: Floats, fitted: bool) -> Floats:
    """The share of its variance that a unit's residual keeps: it draws mean and fitted weight to itself.

    With h the unit's leverage this is 1 − h for a mean, which makes the n − 1 of equal weights, and (1 − h)²
    with a fitted weight, as a jackknife would (HC2 and HC3 of J. G. MacKinnon and H. White (1985), Journal of
    Econometrics 29).
    """
    weights = units.sample_weights
    shares = weights / weights.sum()
    about = judge[units.asked] - _mean(judge[units.asked], weights)
    spread = weights @ about**2
    if not fitted or spread <= 0:
        kept: Floats = 1 - shares
        return kept
    leverage = shares + weights * about**2 / spread
    squared: Floats = (1 - np.minimum(leverage, MOST_LEVERAGE)) ** 2
    return squared


def _variance_of_draws(units: _Units, people: Floats) -> float:
    """Of people's mean over all N units, as draws from the population; estimated from the sample."""
    apart = people - _mean(people, units.sample_weights)
    counts = units.counts[units.asked]
    total = ((counts * apart) ** 2 / units.drawn).sum() / units.counts.sum() ** 2
    return float(total * len(apart) / (len(apart) - 1))


def _judges_mean(values: Floats, weights: Floats) -> float | None:
    return _mean(values, weights) if weights.any() else None


def _doubt(units: _Units, power: float) -> str | None:
    """Why the interval may be too narrow, if it may."""
    weights = units.sample_weights[units.by_chance[units.asked]]
    effective = weights.sum() ** 2 / (weights**2).sum()
    if effective < LEAST_EFFECTIVE * len(weights):
        return (
            f"the sample's inclusion probabilities are very unequal: {len(weights):,} units count as "
            f"{effective:,.0f}, and the 95 % interval holds in about 92 % of cases"
        )
    apart = int((units.people - units.judge[units.asked] != 0).sum())
    if power == 0 or apart >= FEW_APART:
        return None
    # Mistakes that are so rare may not be in the sample, and so not in the interval.
    return f"judge and people differ on {apart} of {units.sampled} only: the interval may be too narrow"


def _why_none(units: _Units) -> str | None:
    if units.sampled < MINIMUM_QUERIES:
        return FEW_SAMPLED
    known = units.people[(units.there > 0) & units.by_chance[units.asked]]
    return NO_SPREAD if np.ptp(known) == 0 else None


def _mean(values: Floats, weights: Floats) -> float:
    return float(weights @ values / weights.sum())
