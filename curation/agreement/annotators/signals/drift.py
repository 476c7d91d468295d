"""Signal `drift`: the bias moves steadily from the first query to the last."""

from __future__ import annotations

from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import decimal, p_text


def look(person: Evidence) -> Look | str:
    """A permutation test of the slope over the order of queries."""
    one = person.bias
    if one is None or one.trend is None or one.trend_p is None:
        return (one and one.no_trend) or "no grades of others to compare with"
    return single(
        "drift",
        one.trend_p,
        f"Beside the others, grades have moved by {decimal(one.trend, 2, '+')} from the first query to the "
        f"last (p {p_text(one.trend_p)}). Has a reading of the guide changed?",
        {"trend": one.trend, "queries": one.queries},
    )


DRIFT = Signal("drift", "slope of the bias over the order of queries: not 0", look)
