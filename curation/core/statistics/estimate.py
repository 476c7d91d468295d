"""Estimates: statistics with a 95 % interval and a sample size, or with the reason why they are missing."""

from __future__ import annotations

from typing import NamedTuple

from curation.core.statistics.intervals import wilson_interval
from curation.core.text import decimal, interval_text, percent


class Estimate(NamedTuple):
    """A statistic with its 95 % interval and sample size.

    Attributes
    ----------
    value: None if the figure is missing.
    low, high: None if there is no interval.
    n: sample size of the figure: queries, pairs or repeats.
    why: the reason for a missing value or interval; None if nothing is missing.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    why: str | None = None

    @property
    def has_interval(self) -> bool:
        """Return whether both ends of the interval are known."""
        return self.low is not None and self.high is not None

    def interval(self, places: int = 3, sign: str = "") -> str:
        """Write the interval, such as "0.100 to 0.200"; a dash if the estimate has no interval."""
        return interval_text(self.low, self.high, places, sign)

    def text(self, places: int = 3, sign: str = "") -> str:
        """Write the estimate with its interval, such as "0.512 (95 % interval 0.400 to 0.600)", or why it is
        missing.
        """
        return self._join_interval(decimal(self.value, places, sign), self.interval(places, sign))

    def percent_text(self, places: int = 0) -> str:
        """Write a share with its interval, such as "12 % (95 % interval 4 % to 31 %)", or why it is
        missing.
        """
        interval = f"{percent(self.low, places)} to {percent(self.high, places)}"
        return self._join_interval(percent(self.value, places), interval)

    def _join_interval(self, value: str, interval: str) -> str:
        if self.has_interval:
            return f"{value} (95 % interval {interval})"
        return f"{value} ({self.why})" if self.why else value


def share_estimate(successes: int, n: int, minimum: int = 1, why: str | None = None) -> Estimate:
    """Estimate the share of successes with Wilson's interval; with fewer than `minimum` trials, give only
    `why`.
    """
    if n < max(minimum, 1):
        return Estimate(n=n, why=why)
    return Estimate(successes / n, *wilson_interval(successes, n), n)
