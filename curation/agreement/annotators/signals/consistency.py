"""Signal `consistency`: fewer than 80 % of repeats got the same grade."""

from __future__ import annotations

from scipy.special import bdtr

from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS
from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import amount, percent

WANTED = 0.8
"""The share of identical grades, and of right known answers, that needs no conversation."""


def look(person: Evidence) -> Look | str:
    """An exact binomial test, one-sided, against `WANTED`."""
    one = person.consistency
    if one is None or one.identical is None or one.high is None or one.too_few:
        return f"fewer than {MINIMUM_REPEATS} blind duplicates judged twice"
    return single(
        "consistency",
        float(bdtr(round(one.identical * one.n), one.n, WANTED)),
        f"{percent(one.identical)} of {amount(one.n, 'pair')} that came again got the same grade (95 % "
        "interval up "
        f"to {percent(one.high)}). Which of the grades were hard to tell apart?",
        {"identical": one.identical, "low": one.low, "high": one.high, "n": one.n},
    )


CONSISTENCY = Signal(
    "consistency",
    f"share of at least {MINIMUM_REPEATS} blind duplicates graded alike: significantly below "
    f"{percent(WANTED)}",
    look,
)
