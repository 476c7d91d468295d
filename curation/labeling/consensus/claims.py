"""Claims on disputed pairs, so that two reviewers do not work on the same pair.

A claim leases the pairs on a reviewer's screen to the reviewer. Claims are in the memory of the process that
serves the project, and expire. Claims only avoid double work; the revision that a reviewer saw is what
prevents conflicting decisions.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from curation.labeling.consensus.decisions import Pair
from curation.store import Store

CLAIM_SECONDS = 600.0
"""Seconds until a claim expires after the reviewer's last action on the pair."""
_claims_by_project: WeakKeyDictionary[Store, dict[Pair, tuple[str, float]]] = WeakKeyDictionary()
_lock = threading.Lock()


def claim_pairs(store: Store, reviewer: str, pairs: Iterable[Pair]) -> None:
    """Replace the reviewer's claims with claims on `pairs`; pairs claimed by other reviewers stay theirs."""
    now = time.monotonic()
    with _lock:
        claims = _claims_by_project.setdefault(store, {})
        for pair, (claimant, expiry) in list(claims.items()):
            if claimant == reviewer or expiry <= now:
                del claims[pair]
        for pair in pairs:
            claims.setdefault(pair, (reviewer, now + CLAIM_SECONDS))


def find_claimed_pairs(store: Store, reviewer: str) -> set[Pair]:
    """Return the pairs that other reviewers have claimed."""
    now = time.monotonic()
    with _lock:
        claims = _claims_by_project.get(store, {})
        return {pair for pair, (claimant, expiry) in claims.items() if claimant != reviewer and expiry > now}
