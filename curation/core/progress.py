"""Progress of long work: a callback that reports progress, and an estimate of the time left."""

from __future__ import annotations

from collections.abc import Callable

# Called as progress(step, done, total); `total` is 0 as long as it is unknown
Progress = Callable[[str, int, int], None]

MIN_SECONDS = 5.0
"""Seconds after which the pace of a step is known well enough for an estimate."""


def silent(step: str, done: int, total: int) -> None:
    """Ignore a report of progress, for work whose progress nobody sees."""


class StepPace:
    """The pace of the current step of long work, from which each report estimates the time left."""

    def __init__(self) -> None:
        self._step, self._first_done, self._began_at = "", 0, 0.0

    def describe(self, step: str, done: int, total: int, now: float) -> str:
        """Say how far a step has come, and how long the rest of the step will take at its current pace.

        Parameters
        ----------
        now: a time in seconds.
        """
        if step != self._step or done < self._first_done:
            self._step, self._first_done, self._began_at = step, done, now
        if not total:
            return f"{step} ({done:,})" if done else step
        words = f"{step} ({done:,} of {total:,})"
        seconds = now - self._began_at
        if done in (self._first_done, total) or seconds < MIN_SECONDS:
            return words
        minutes = (total - done) * seconds / (done - self._first_done) / 60
        left = f"about {round(minutes):,} min" if minutes >= 1 else "under a minute"
        return f"{words}; {left} left"
