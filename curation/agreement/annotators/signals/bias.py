"""Signal `bias`: grades are higher or lower than the others' on the same pairs."""

from __future__ import annotations

from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import amount, decimal

REMARKABLE = 0.1
"""Grades; a smaller bias needs no conversation, however certain."""


def look(person: Evidence) -> Look | str:
    """Student's t over queries; see `mean_p`."""
    one = person.bias
    if one is None or one.bias is None or one.bias_p is None:
        return (one and one.undefined) or "no grades of others to compare with"
    interval = ""
    if one.low is not None and one.high is not None:
        interval = f"{decimal(one.low, 2, '+')} to {decimal(one.high, 2, '+')}, "
    return single(
        "bias",
        one.bias_p if abs(one.bias) >= REMARKABLE else 1.0,
        f"Grades are {abs(one.bias):.2f} {'higher' if one.bias > 0 else 'lower'} than the others' or the "
        f"reviewer's on the same pairs ({interval}{amount(one.grades, 'grade')}). Where does the guide "
        "allow that?",
        {"bias": one.bias, "low": one.low, "high": one.high, "grades": one.grades},
    )


BIAS = Signal("bias", f"own less others' grades: {REMARKABLE:g} of a grade or more, and not 0", look)
