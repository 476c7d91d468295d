"""How long work tells how far it is, without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called as progress(step, done, total); `total` is 0 while it is unknown."""


def silent(step: str, done: int, total: int) -> None:
    """Listens to nothing."""
