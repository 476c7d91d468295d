"""How the processor time of a function grows with its input: a ratio, for which no machine is too slow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
RUNS = 3
"""The quickest of so many runs counts: what else the machine does makes a run slower, never quicker."""
LINEAR = 3.0
"""Twice the input takes twice the time where the time is linear, four times where it is quadratic."""


def grows_linearly(work: Callable[[T], object], small: T, twice: T) -> bool:
    """Whether `work` takes at most `LINEAR` times as long for `twice`, which is twice as large as `small`."""
    return _seconds(work, twice) < LINEAR * _seconds(work, small)


def _seconds(work: Callable[[T], object], given: T) -> float:
    times = []
    for _ in range(RUNS):
        began = time.process_time()
        work(given)
        times.append(time.process_time() - began)
    return min(times)
