"""Signal `pace`: an annotator's quick answers are wrong more often than the slow ones, or the reverse."""

from __future__ import annotations

from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import decimal, percent


def look(person: Evidence) -> Look | str:
    """Student's t over queries, after what the texts' length explains."""
    pace = person.bias.pace if person.bias is not None else None
    if pace is None:
        return (person.bias and person.bias.no_pace) or "no grades of others to compare with"
    worse, than = ("faster", "slower") if pace.difference < 0 else ("slower", "faster")
    return single(
        "pace",
        pace.p,
        f"Of the {worse} answers fewer agree with the others than of the {than} ones: {percent(pace.fast)} "
        f"of {pace.fast_grades:,} fast and {percent(pace.slow)} of {pace.slow_grades:,} slow grades "
        f"(difference {decimal(pace.low, 2, '+')} to {decimal(pace.high, 2, '+')}).",
        pace._asdict(),
    )


PACE = Signal("pace", "right grades in the faster and the slower half of own answers: not alike", look)
