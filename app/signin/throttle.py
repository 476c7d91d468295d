"""The login throttle: after wrong passwords, the next sign-in attempt must wait.

Wrong passwords are counted by name and network address, so that nobody can lock a person out from a different
address. A browser with which a person has signed in before has a separate count, independent of other
attempts from the same address. Wrong passwords from unknown browsers are also counted by network over all
names, and by name over all networks, to stop guesses from many addresses. Because an IPv6 customer has many
addresses, attempts for a name are counted by the first 64, 56 and 48 bits of the address. Wrong passwords in
a change of the password are counted by sign-in. Attempts with unknown names wait like attempts with known
names.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Sequence
from typing import NamedTuple


class AttemptKey(NamedTuple):
    """A key, such as a name at a network address, for which wrong passwords are counted, with its limits.

    free_attempts: the number of wrong passwords without a wait.
    max_wait: the maximum wait in seconds.
    """

    key: tuple[str, ...]
    free_attempts: int = 5
    max_wait: float = 300.0


class Failures(NamedTuple):
    """The wrong passwords for one key: their number, the end of the wait, and the time of the last wrong
    password."""

    wrong_count: int = 0
    wait_ends_at: float = 0.0
    last_at: float = 0.0


def list_sign_in_keys(name: str, address: str, browser: str | None) -> list[AttemptKey]:
    """Return the keys by which a sign-in attempt is counted; `browser` is a known browser's key."""
    if browser is not None:
        return [AttemptKey(("browser", name, browser))]
    customer = find_network(address, 48)
    return [
        AttemptKey(("address", name, find_network(address))),
        *(
            AttemptKey(("address", name, wider_network), free_attempts=free_attempts)
            for wider_network, free_attempts in ((find_network(address, 56), 10), (customer, 20))
            if wider_network != find_network(address)
        ),
        AttemptKey(("network", customer), free_attempts=60, max_wait=60.0),
        AttemptKey(("name", name), free_attempts=100, max_wait=30.0),
    ]


def list_password_change_keys(name: str, sign_in: str) -> list[AttemptKey]:
    """Return the key by which attempts to change the password are counted, one key per sign-in."""
    return [AttemptKey(("change", name, sign_in))]


def list_link_keys(address: str) -> list[AttemptKey]:
    """Return the key by which opened invalid links are counted, one key per network."""
    return [AttemptKey(("link", find_network(address, 48)), free_attempts=20, max_wait=60.0)]


def find_network(address: str, bits: int = 64) -> str:
    """Return the network by which attempts are counted: an IPv4 address, or the first bits of an IPv6 one."""
    try:
        ip_address = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip_address, ipaddress.IPv4Address):
        return address
    ipv4_mapped = ip_address.ipv4_mapped
    return str(ipv4_mapped or ipaddress.ip_network((address, bits), strict=False))


class LoginThrottle:
    """In-memory counters of wrong passwords; a counter is reset after an hour without a wrong password."""

    RESET_AFTER = 3600.0
    MAX_COUNTERS = 10_000

    def __init__(self) -> None:
        self._failures: dict[tuple[str, ...], Failures] = {}

    def start_attempt(self, keys: Sequence[AttemptKey], now: float | None = None) -> int:
        """Start a password attempt and return 0, or return how many whole seconds to wait before the next
        attempt.

        An attempt counts as wrong from its start until `record_success` is called, so that
        simultaneous attempts count, too.
        """
        now = time.monotonic() if now is None else now
        wait = max(self._read_failures(key, now).wait_ends_at - now for key in keys)
        if wait > 0:
            return math.ceil(wait)
        for key in keys:
            self._count_failure(key, now)
        return 0

    def record_success(self, keys: Sequence[AttemptKey]) -> None:
        """Record a correct password: reset the count for this address, and do not count this attempt."""
        self._failures.pop(keys[0].key, None)
        self.withdraw_attempt(keys[1:])

    def withdraw_attempt(self, keys: Sequence[AttemptKey]) -> None:
        """Remove an attempt from the counts if its password was not checked."""
        for attempt_key in keys:
            failures = self._failures.get(attempt_key.key, Failures())
            if failures.wrong_count > 1:
                self._failures[attempt_key.key] = Failures(failures.wrong_count - 1, 0.0, failures.last_at)
            else:
                self._failures.pop(attempt_key.key, None)

    def _read_failures(self, attempt_key: AttemptKey, now: float) -> Failures:
        failures = self._failures.get(attempt_key.key, Failures())
        return failures if now - failures.last_at < self.RESET_AFTER else Failures()

    def _count_failure(self, attempt_key: AttemptKey, now: float) -> None:
        """Count a wrong password; beyond `MAX_COUNTERS` counters, drop the oldest."""
        count = self._read_failures(attempt_key, now).wrong_count + 1
        wait = 0.0
        if count >= attempt_key.free_attempts:
            wait = min(attempt_key.max_wait, 4.0 * 2.0 ** min(count - attempt_key.free_attempts, 30))
        self._failures.pop(attempt_key.key, None)
        self._failures[attempt_key.key] = Failures(count, now + wait, now)
        if len(self._failures) > self.MAX_COUNTERS:
            del self._failures[next(iter(self._failures))]


login_throttle = LoginThrottle()
