"""The login throttle: wrong passwords make the next try wait.

Wrong passwords are counted by name and address, so that nobody locks a person out from a different address.
A browser in which the name has signed in before has its own count, whatever happens at its address. Wrong
passwords of other browsers are also counted together: by network over all names, and by name over all
networks, against guesses from many addresses. An IPv6 customer has many addresses, so a name is counted by
their first 64, 56 and 48 bits. A change of the password is counted by the sign-in that asks for it. Unknown
names wait like known names.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Sequence
from typing import NamedTuple


class Tried(NamedTuple):
    """A key that counts wrong passwords, the number without a wait, and the longest wait in seconds."""

    key: tuple[str, ...]
    free: int = 5
    longest_wait: float = 300.0


class Failures(NamedTuple):
    """The number of wrong passwords, the end of the wait, and the time of the last wrong password."""

    number: int = 0
    until: float = 0.0
    last: float = 0.0


def tried_at_sign_in(name: str, address: str, browser: str | None) -> list[Tried]:
    """Return the keys that count a sign-in; `browser` is the key of a browser that is known to the name."""
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
    """Return the key that counts changes of the password in a sign-in."""
    return [Tried(("change", name, sign_in))]


def tried_at_link(address: str) -> list[Tried]:
    """Return the key that counts opened links that do not work, by network."""
    return [Tried(("link", network(address, 48)), free=20, longest_wait=60.0)]


def network(address: str, bits: int = 64) -> str:
    """Return the network by which an address is counted: an IPv4 address, or the first bits of IPv6."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    mapped = parsed.ipv4_mapped
    return str(mapped or ipaddress.ip_network((address, bits), strict=False))


class LoginThrottle:
    """Counts wrong passwords in memory; a count ends after an hour without a wrong password."""

    FORGOTTEN_AFTER = 3600.0
    COUNTS_KEPT = 10_000

    def __init__(self) -> None:
        self._failures: dict[tuple[str, ...], Failures] = {}

    def attempt(self, tried: Sequence[Tried], now: float | None = None) -> int:
        """Start a try and return 0, or return the whole seconds to wait before the next try.

        A try counts as wrong from its start until `succeeded`, so that simultaneous tries count, too.
        """
        now = time.monotonic() if now is None else now
        wait = max(self._failures_of(counted, now).until - now for counted in tried)
        if wait > 0:
            return math.ceil(wait)
        for counted in tried:
            self._failed(counted, now)
        return 0

    def succeeded(self, tried: Sequence[Tried]) -> None:
        """Note a right password: forget the wrong passwords of this address, and do not count this try."""
        self._failures.pop(tried[0].key, None)
        self.withdrawn(tried[1:])

    def withdrawn(self, tried: Sequence[Tried]) -> None:
        """Do not count a try whose password was not checked."""
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
        """Count a wrong password; beyond `COUNTS_KEPT` counts, drop the count that grew longest ago."""
        count = self._failures_of(tried, now).number + 1
        wait = (
            min(tried.longest_wait, 4.0 * 2.0 ** min(count - tried.free, 30)) if count >= tried.free else 0.0
        )
        self._failures.pop(tried.key, None)
        self._failures[tried.key] = Failures(count, now + wait, now)
        if len(self._failures) > self.COUNTS_KEPT:
            del self._failures[next(iter(self._failures))]


login_throttle = LoginThrottle()
