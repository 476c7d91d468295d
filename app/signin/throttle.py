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


class Tried(NamedTuple):
    """A key by which wrong passwords are counted, the number of attempts without a wait, and the maximum wait
    in seconds.
    """

    key: tuple[str, ...]
    free: int = 5
    longest_wait: float = 300.0


class Failures(NamedTuple):
    """The number of wrong passwords, the end of the wait, and the time of the last wrong password."""

    number: int = 0
    until: float = 0.0
    last: float = 0.0


def tried_at_sign_in(name: str, address: str, browser: str | None) -> list[Tried]:
    """Return the keys by which a sign-in attempt is counted; `browser` is the key of a browser known to the
    name.
    """
    if browser is not None:
        return [Tried(("browser", name, browser))]
    customer = network(address, 48)
    return [
        Tried(("address", name, network(address))),
        *(
            Tried(("address", name, wider), free=free)
            for wider, free in ((network(address, 56), 10), (customer, 20))
            if wider != network(address)
        ),
        Tried(("network", customer), free=60, longest_wait=60.0),
        Tried(("name", name), free=100, longest_wait=30.0),
    ]


def tried_at_change(name: str, sign_in: str) -> list[Tried]:
    """Return the key by which attempts to change the password are counted, one key for each sign-in."""
    return [Tried(("change", name, sign_in))]


def tried_at_link(address: str) -> list[Tried]:
    """Return the key by which opened invalid links are counted, one key for each network."""
    return [Tried(("link", network(address, 48)), free=20, longest_wait=60.0)]


def network(address: str, bits: int = 64) -> str:
    """Return the network by which attempts are counted: an IPv4 address, or the first bits of an IPv6
    address.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    mapped = parsed.ipv4_mapped
    return str(mapped or ipaddress.ip_network((address, bits), strict=False))


class LoginThrottle:
    """Counters of wrong passwords in memory; a counter is reset after an hour without a wrong password."""

    FORGOTTEN_AFTER = 3600.0
    COUNTS_KEPT = 10_000

    def __init__(self) -> None:
        self._failures: dict[tuple[str, ...], Failures] = {}

    def attempt(self, tried: Sequence[Tried], now: float | None = None) -> int:
        """Start a password attempt and return 0, or return the whole seconds to wait before the next attempt.

        An attempt counts as wrong from its start until `succeeded` is called, so that simultaneous attempts
        count, too.
        """
        now = time.monotonic() if now is None else now
        wait = max(self._failures_of(counted, now).until - now for counted in tried)
        if wait > 0:
            return math.ceil(wait)
        for counted in tried:
            self._failed(counted, now)
        return 0

    def succeeded(self, tried: Sequence[Tried]) -> None:
        """Record a correct password: reset the wrong passwords of this address, and do not count this
        attempt.
        """
        self._failures.pop(tried[0].key, None)
        self.withdrawn(tried[1:])

    def withdrawn(self, tried: Sequence[Tried]) -> None:
        """Remove an attempt from the counts if its password was not checked."""
        for counted in tried:
            failures = self._failures.get(counted.key, Failures())
            if failures.number > 1:
                self._failures[counted.key] = failures._replace(number=failures.number - 1, until=0.0)
            else:
                self._failures.pop(counted.key, None)

    def _failures_of(self, tried: Tried, now: float) -> Failures:
        failures = self._failures.get(tried.key, Failures())
        return failures if now - failures.last < self.FORGOTTEN_AFTER else Failures()

    def _failed(self, tried: Tried, now: float) -> None:
        """Count a wrong password; beyond `COUNTS_KEPT` counters, drop the counter that has been unchanged
        longest.
        """
        count = self._failures_of(tried, now).number + 1
        wait = (
            min(tried.longest_wait, 4.0 * 2.0 ** min(count - tried.free, 30)) if count >= tried.free else 0.0
        )
        self._failures.pop(tried.key, None)
        self._failures[tried.key] = Failures(count, now + wait, now)
        if len(self._failures) > self.COUNTS_KEPT:
            del self._failures[next(iter(self._failures))]


login_throttle = LoginThrottle()
