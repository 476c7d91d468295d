"""How many false alarms many tests raise together: the step-up rule of Benjamini and Hochberg.

Y. Benjamini and Y. Hochberg (1995), Controlling the false discovery rate, Journal of the Royal Statistical
Society B 57.
"""

from __future__ import annotations

from collections.abc import Sequence


def threshold(ps: Sequence[float], share: float) -> float:
    """The largest p that counts among all these tests; below 0 where none does.

    The k-th smallest p of m counts up to k/m of `share`. Where nothing is to be found, anything counts in at
    most `share` of cases; else at most `share` of what counts is false on average. This holds for tests that
    are independent or lean the same way.
    """
    ordered = sorted(ps)
    counting = [p for k, p in enumerate(ordered, start=1) if p <= k * share / len(ordered)]
    return counting[-1] if counting else -1.0
