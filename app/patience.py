"""Patience with those who guess passwords.

After a few wrong passwords for a name, further tries for it wait, twice as long each time; it is the
name that waits, whether it exists or not, and nobody else.
"""

from __future__ import annotations

import math
import time


class Patience:
    """Counts wrong tries by name, in memory."""

    FREE = 5
    LONGEST = 300.0
    KEPT = 10_000

    def __init__(self) -> None:
        self._wrong: dict[str, tuple[int, float]] = {}

    def wait(self, name: str, now: float) -> float:
        """Seconds until the name may be tried again."""
        return max(0.0, self._wrong.get(name, (0, 0.0))[1] - now)

    def failed(self, name: str, now: float) -> None:
        """Remember a wrong try."""
        count = self._wrong.pop(name, (0, 0.0))[0] + 1
        rest = min(self.LONGEST, 4.0 * 2.0 ** (count - self.FREE)) if count >= self.FREE else 0.0
        self._wrong[name] = (count, now + rest)
        if len(self._wrong) > self.KEPT:
            del self._wrong[next(iter(self._wrong))]

    def succeeded(self, name: str) -> None:
        """Forget the name's wrong tries."""
        self._wrong.pop(name, None)

    def begin(self, name: str) -> int:
        """Whole seconds to wait, or 0 and the try counts: as wrong until it is told to have succeeded.

        Counted before the check, so that tries at once count too.
        """
        now = time.monotonic()
        rest = self.wait(name, now)
        if not rest:
            self.failed(name, now)
        return math.ceil(rest)


patience = Patience()
