"""Claims: which reviewer of a project has which pairs before them, so that two do not decide the same one.

A claim is held in the memory of the process that serves the project, and ends by itself. It spares work and
guards nothing: what guards a decision is the revision that its reviewer saw.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from curation.labeling.consensus.decisions import Pair
from curation.store import Store

HELD = 600.0
"""Seconds for which a pair is with a reviewer after they last did something with it on their screen."""

_projects: WeakKeyDictionary[Store, dict[Pair, tuple[str, float]]] = WeakKeyDictionary()
_lock = threading.Lock()


def claim(store: Store, reviewer: str, pairs: Iterable[Pair]) -> None:
    """These pairs are with the reviewer, and no other is any more; those of other reviewers stay theirs."""
    now = time.monotonic()
    with _lock:
        held = _projects.setdefault(store, {})
        for pair, (who, until) in list(held.items()):
            if who == reviewer or until <= now:
                del held[pair]
        for pair in pairs:
            held.setdefault(pair, (reviewer, now + HELD))


def claimed_by_others(store: Store, reviewer: str) -> set[Pair]:
    """The pairs that are with another reviewer now."""
    now = time.monotonic()
    with _lock:
        held = _projects.get(store, {})
        return {pair for pair, (who, until) in held.items() if who != reviewer and until > now}
