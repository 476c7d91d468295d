"""Signal `speed`: answers come faster than the texts can be read."""

from __future__ import annotations

from scipy.special import bdtrc

from curation.agreement.annotators.fast_answers import FASTEST, FEWEST_ANSWERS, FastAnswers
from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import amount, percent

USUAL_FAST = 0.25
"""A share of fast answers that is not yet remarkable: quick readers stay below it."""


def look(person: Evidence) -> Look | str:
    """An exact binomial test, one-sided, against `USUAL_FAST`."""
    fast = person.fast
    if not isinstance(fast, FastAnswers):
        return fast or "no times were read"
    return single(
        "speed",
        float(bdtrc(fast.fast - 1, fast.answers, USUAL_FAST)),
        f"Look at these together: {fast.fast:,} of {amount(fast.answers, 'answer')} of "
        f"{person.annotator} came in "
        f"{_limit(fast)}. {_excuse(fast)}",
        fast._asdict(),
    )


def _limit(fast: FastAnswers) -> str:
    if not fast.compared:
        return f"less than {FASTEST:g} second; there are too few others to compare with"
    return (
        "less than a third of the time that others take over texts as long, "
        f"{fast.below_second:,} of them in less than {FASTEST:g} second; of the others' own, "
        f"{fast.others_fast:,} of {fast.others_answers:,} did"
    )


def _excuse(fast: FastAnswers) -> str:
    if fast.median < FASTEST:
        return f"Half of all took {fast.median:.1f} seconds or less: nobody reads at this pace."
    return "Practice or easy pairs can do that, too."


SPEED = Signal(
    "speed",
    f"answers in less than {FASTEST:g} second, or a third of the others' median time over texts as long: "
    f"more than {percent(USUAL_FAST)} of at least {FEWEST_ANSWERS}",
    look,
)
