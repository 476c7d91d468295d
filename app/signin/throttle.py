"""The login throttle: repeated wrong passwords make a name wait before the next try.

The first few wrong passwords for a name cost nothing; after that the wait doubles with each one. Only that
name waits, and it waits whether or not it exists.
"""

from __future__ import annotations

import math
import time


class LoginThrottle:
    """Counts wrong passwords by name, in memory."""

    FREE_TRIES = 5
    LONGEST_WAIT = 300.0
    NAMES_KEPT = 10_000

    def __init__(self) -> None:
        self._failures: dict[str, tuple[int, float]] = {}

    def wait(self, name: str, now: float) -> float:
        """Seconds until the name may be tried again."""
        _, until = self._failures.get(name, (0, 0.0))
        return max(0.0, until - now)

    def failed(self, name: str, now: float) -> None:
        """Count a wrong password; beyond `NAMES_KEPT` names the one that failed longest ago is dropped."""
        count = self._failures.pop(name, (0, 0.0))[0] + 1
        excess = count - self.FREE_TRIES
        wait = min(self.LONGEST_WAIT, 4.0 * 2.0**excess) if excess >= 0 else 0.0
        self._failures[name] = (count, now + wait)
        if len(self._failures) > self.NAMES_KEPT:
            del self._failures[next(iter(self._failures))]

    def succeeded(self, name: str) -> None:
        """Forget the wrong passwords of a name."""
        self._failures.pop(name, None)

    def attempt(self, name: str) -> int:
        """Whole seconds to wait, or 0: then a try starts, and counts as wrong until `succeeded`.

        It counts before the password is checked, so that simultaneous tries count as well.
        """
        now = time.monotonic()
        wait = self.wait(name, now)
        if not wait:
            self.failed(name, now)
        return math.ceil(wait)


login_throttle = LoginThrottle()
