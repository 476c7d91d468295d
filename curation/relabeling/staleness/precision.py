"""What the random part of a plan can find, before there is a plan.

Labels of a query go wrong together. How much so is the intraclass correlation of the random parts that were
judged: of n pairs as many are worth n over 1 + (m - 1) times it, where m is how many of them a query has on
average over pairs (L. Kish 1965, Survey Sampling, section 5.4). Before 30 pairs are known, it is assumed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from math import asin, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

from curation.core.statistics.intervals import Z95
from curation.relabeling.request import LEAST, MOST, RANDOM_SHARE
from curation.store import Cursor

KNOWN = 30
"""With fewer random pairs that were judged again, the share and the correlation are assumed."""
ASSUMED = 0.1
"""Of labels that are wrong, and of the correlation of those of a query."""
SHARES = (LEAST, 0.15, MOST)
"""Of plans that are looked at before one is made."""
POWER = 0.8416
"""The normal quantile of 4 of 5."""


# Pairs of random parts, and those of which more than half of the new votes differ from the old grade.
_PAST = """
SELECT count(*), count(*) FILTER (differ > 0.5) FROM (
    SELECT a.query_id, avg((j.grade <> a.grade)::INT) AS differ
    FROM relabeling_pairs a JOIN relabeling_rounds USING (plan_id)
    JOIN current_judgments j USING (round_id, query_id, document_id)
    WHERE a.part = 'random' AND duplicate_of IS NULL
    GROUP BY plan_id, a.query_id, document_id
    HAVING differ IS NOT NULL)
GROUP BY query_id ORDER BY query_id
"""


class SetSpread(NamedTuple):
    """How the pairs that can be judged are spread over queries, and how labels go wrong.

    Attributes
    ----------
    pairs: how many there are. together: the probability that two of them are of one query.
    share, correlation: of wrong labels, and within queries; from `known` pairs, 0: assumed.
    """

    pairs: int
    together: float
    share: float = ASSUMED
    correlation: float = ASSUMED
    known: int = 0

    def expected(self, fraction: float, random: int | None = None) -> ExpectedPrecision:
        """Of a plan of this fraction, by default with the usual random part.

        The difference is that of Cohen's h (J. Cohen 1988, Statistical Power Analysis, chapter 6).
        """
        number = max(1, round(RANDOM_SHARE * round(fraction * self.pairs)) if random is None else random)
        angle = asin(sqrt(self.share)) + (Z95 + POWER) / sqrt(2 * self._worth(number))
        least = sin(min(angle, pi / 2)) ** 2 - self.share
        return ExpectedPrecision(fraction, number, self.half_width(number), least, self)

    def half_width(self, random: int) -> float:
        """Of Wilson's 95 % interval, from so many random pairs."""
        worth = self._worth(random)
        spread = self.share * (1 - self.share) / worth + Z95**2 / (4 * worth**2)
        return Z95 * sqrt(spread) / (1 + Z95**2 / worth)

    def pairs_for(self, half_width: float) -> int:
        """How many random pairs have an interval of this half-width; more than all where none have."""
        numbers = range(1, self.pairs + 1)
        return bisect_left(numbers, -half_width, key=lambda number: -self.half_width(number)) + 1

    def _worth(self, random: int) -> float:
        return random / (1 + (random - 1) * self.together * self.correlation)


class ExpectedPrecision(NamedTuple):
    """What `pairs` random pairs of a plan are expected to find.

    Attributes
    ----------
    half_width: of the 95 % interval of the share of wrong labels.
    least: how much higher than in the quarter before the share must be to be found in 4 of 5 cases.
    """

    fraction: float
    pairs: int
    half_width: float
    least: float
    spread: SetSpread


def read_spread(cursor: Cursor, queries: Iterable[str]) -> SetSpread:
    """The spread of pairs of these queries, one id a pair."""
    counts = np.array([*Counter(queries).values()], np.float64)
    number = counts.sum()
    here = int(number), float(((counts / number) ** 2).sum()) if number else 0.0
    pairs, wrong = np.array(cursor.execute(_PAST).fetchall() or [(0, 0)], np.float64).T
    known, more = pairs.sum(), (pairs**2).sum() - pairs.sum()
    share = wrong.sum() / max(1, known)
    if known < KNOWN or not more or not 0 < share < 1:
        return SetSpread(*here)
    effect = ((wrong - pairs * share) ** 2).sum() / (share * (1 - share))
    return SetSpread(*here, float(share), float(np.clip((effect - known) / more, 0, 1)), int(known))
