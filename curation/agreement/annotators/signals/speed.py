"""Signal `speed`: answers come faster than the texts can be read."""

from __future__ import annotations

from scipy.special import bdtrc

from curation.agreement.annotators.fast_answers import FEWEST_ANSWERS, FastAnswers
from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single

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
        f"Look at these together: {fast.fast:,} of {fast.answers:,} answers of {person.annotator} came in "
        "less than a third of the time that others take over texts as long; of the others' own, "
        f"{fast.others_fast:,} of {fast.others_answers:,} did. Practice or easy pairs can do that, too.",
        fast._asdict(),
    )


SPEED = Signal(
    "speed",
    "answers in less than a third of the others' median time over texts as long: more than "
    f"{USUAL_FAST:.0%} of at least {FEWEST_ANSWERS}",
    look,
)
