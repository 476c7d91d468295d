"""A CUSUM chart of one annotator's repeats: the evidence that they stopped grading alike, added up.

Each repeat adds the logarithm of a likelihood ratio: how much better a worse annotator explains it, for whom
the odds of not grading alike are `ODDS` times those of all the repeats together. The sum never falls below
zero. So it grows through a bad stretch of any length and forgets good ones. Groups of ten would cut a stretch
in two, and change points look for what lasts. The limit is the one that the sum's highest point crosses in at
most 5 % of random orders of the same repeats: exact for few repeats, and with a share that is not known but
estimated from them.

M. R. Reynolds and Z. G. Stoumbos (1999), A CUSUM chart for monitoring a proportion when inspecting
continuously, Journal of Quality Technology 31; odds twice as high as in S. H. Steiner and others (2000),
Monitoring surgical performance using risk-adjusted cumulative sum charts, Biostatistics 1. Run lengths are
those of a Markov chain (D. Brook and D. A. Evans (1972), Biometrika 59).
"""

from __future__ import annotations

from datetime import datetime
from math import log
from typing import NamedTuple

import numpy as np

from curation.agreement.annotators.change_points import LEVEL, SHORTEST, Bools, Ints, Times, moment
from curation.statistics.intervals import Floats
from curation.statistics.p_values import PERMUTATIONS
from curation.text import p_text

ODDS = 2.0
"""How much higher the odds of not grading alike are in what the chart looks for."""

_STATES = 60
_TIE = 1e-9


class Stretch(NamedTuple):
    """The repeats through which the sum rose to its highest point.

    Attributes
    ----------
    begins, ends: when the first and the last of them were graded.
    identical, n: how many of how many got the same grade.
    """

    begins: datetime
    ends: datetime
    identical: int
    n: int


class Cusum(NamedTuple):
    """The chart.

    Attributes
    ----------
    values: the sum after each repeat, in their order.
    limit: crossed anywhere in at most 5 % of random orders.
    p: how probable a point as high as the highest one is where the order does not matter.
    worst: where it is; None where the sum never rises.
    run_length: repeats until the limit is crossed by chance, on average, at the share of all the repeats;
        `run_length_worse`: likewise at odds of not grading alike that are `ODDS` times as high. None where
        the limit is 0.
    """

    values: tuple[float, ...]
    limit: float
    p: float
    worst: Stretch | None
    run_length: float | None
    run_length_worse: float | None

    @property
    def outside(self) -> bool:
        """Whether the sum crosses its limit; by `p`, since `values` are rounded."""
        return self.p <= LEVEL

    @property
    def sentence(self) -> str:
        """The chart in words."""
        peak = max(self.values, default=0.0)
        where = ""
        if self.worst is not None:
            first, last = (f"{day:%Y-%m-%d %H:%M}" for day in (self.worst.begins, self.worst.ends))
            where = (
                f", reached from {first} to {last} with {self.worst.identical:,} of {self.worst.n:,} repeats "
                "graded alike"
            )
        often = ""
        if self.run_length is not None and self.run_length_worse is not None:
            often = (
                f" Going on like this, the limit is crossed by chance every {self.run_length:,.0f} repeats; "
                f"with twice the odds of not grading alike, after {self.run_length_worse:,.0f}."
            )
        return (
            f"CUSUM: the highest point is {peak:.2f}{where}; {'above' if self.outside else 'below'} the "
            f"limit of {self.limit:.2f} (p {p_text(self.p)}).{often}"
        )


def cusum(alike: Bools, at: Times, seed: int = 0) -> Cusum | None:
    """The chart of repeats in their order; None with fewer than 16 of them, or where all are the same."""
    if len(alike) < 2 * SHORTEST or alike.all() or not alike.any():
        return None
    share = float(alike.mean())
    good, bad = steps(share)
    random = np.random.Generator(np.random.PCG64(seed))
    orders = random.permuted(np.tile(alike.astype(np.int8), (PERMUTATIONS, 1)), axis=1)
    peaks = np.sort(_sums(orders, good, bad).max(axis=1))
    values = _sums(alike[None, :].astype(np.int8), good, bad)[0]
    peak = float(values.max())
    p = (1 + int((peaks >= peak - _TIE).sum())) / (1 + PERMUTATIONS)
    limit = float(peaks[int(np.ceil((1 - LEVEL) * (1 + PERMUTATIONS))) - 1])
    lengths = (
        [run_length(odds_worse(share, times), limit, good, bad) for times in (1.0, ODDS)]
        if limit > 0
        else [None, None]
    )
    return Cusum(tuple(np.round(values, 6).tolist()), limit, p, _worst(values, alike, at), *lengths)


def steps(share: float) -> tuple[float, float]:
    """What a repeat graded alike, and one that was not, add to the sum; 0 < share < 1."""
    worse = odds_worse(share, ODDS)
    return log(worse / share), log((1 - worse) / (1 - share))


def odds_worse(share: float, times: float) -> float:
    """The share of grades alike where the odds of one that is not are so many times as high."""
    odds = (1 - share) / share * times
    return 1 / (1 + odds)


def run_length(share: float, limit: float, good: float, bad: float) -> float:
    """Repeats until the sum crosses the limit, on average, starting from 0; 0 < share < 1, limit > 0.

    The sum's way from 0 to the limit is cut into `_STATES` steps; a place between two of them counts to both.
    """
    width = limit / _STATES
    places = np.arange(_STATES)
    moves = np.zeros((_STATES, _STATES + 2))
    for step, chance in ((good, share), (bad, 1 - share)):
        reached = np.clip(places + step / width, 0, _STATES + 0.5)
        below = reached.astype(np.int64)
        np.add.at(moves, (places, below), chance * (1 - (reached - below)))
        np.add.at(moves, (places, below + 1), chance * (reached - below))
    within = moves[:, :_STATES]
    return float(np.linalg.solve(np.eye(_STATES) - within, np.ones(_STATES))[0])


def _sums(alike: Ints, good: float, bad: float) -> Floats:
    """The CUSUM of each row after each repeat: the plain sum above its lowest point so far, 0 included."""
    plain = np.cumsum(np.where(alike == 1, good, bad), axis=1)
    lowest = np.minimum(np.minimum.accumulate(plain, axis=1), 0.0)
    found: Floats = plain - lowest
    return found


def _worst(values: Floats, alike: Bools, at: Times) -> Stretch | None:
    peak = int(np.round(values, 9).argmax())
    if values[peak] <= _TIE:
        return None
    zeros = np.flatnonzero(values[: peak + 1] <= _TIE)
    start = int(zeros[-1]) + 1 if len(zeros) else 0
    part = slice(start, peak + 1)
    return Stretch(moment(at[start]), moment(at[peak]), int(alike[part].sum()), peak + 1 - start)
