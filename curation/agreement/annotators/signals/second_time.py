"""Signal `second time`: the second grade of a pair is higher or lower than the first."""

from __future__ import annotations

from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS
from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import amount, decimal


def look(person: Evidence) -> Look | str:
    """An exact test of signs."""
    one = person.repeats
    if one is None or one.n < MINIMUM_REPEATS:
        return f"fewer than {MINIMUM_REPEATS} blind duplicates judged twice"
    return single(
        "second time",
        one.shift_p,
        f"The second grade of a pair is {abs(one.shift):.2f} {'higher' if one.shift > 0 else 'lower'} "
        f"than the first on average ({decimal(one.shift_low, 2, '+')} to {decimal(one.shift_high, 2, '+')}, "
        f"{amount(one.n, 'pair')}).",
        {"shift": one.shift, "low": one.shift_low, "high": one.shift_high, "n": one.n},
    )


SECOND_TIME = Signal("second time", "second less first grade of repeats: not 0", look)
