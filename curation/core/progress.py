"""Progress of long work, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable

# Called as progress(step, done, total); `total` is 0 while it is unknown
Progress = Callable[[str, int, int], None]


def silent(step: str, done: int, total: int) -> None:
    """Ignore progress."""
