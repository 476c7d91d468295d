"""The current user: which annotator the sign-in cookie of a request belongs to, and the browser it is in.

A sign-in is valid while it is open in the project, which is read at most every second: the grading loop asks
several times a second. What changes the project checks its author once more. A session cookie, a signed key
of a sign-in, alone proves nothing.

The list of sign-ins says browser, system and network, so that an owner recognises each.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer
from starlette.requests import Request

from app.context import project_store
from app.signin.throttle import network
from curation.core.errors import StoreBusyError, StoreError
from curation.people.sign_ins import SIGN_IN_SECONDS, Visit, id_of, note_use, signed_in
from curation.store import Annotator, require_setting

KNOWN_FOR = 180 * 24 * 60 * 60
"""Seconds for which a browser is known as one in which a name has signed in."""
_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Version": "Safari"}
"""How a user agent names a browser and its version → what it is called; the first that fits."""
_SYSTEMS = {"Windows": "Windows", "Android": "Android", "iP": "iOS", "Mac OS": "macOS", "Linux": "Linux"}


class Sessions:
    """Writes and reads the session cookies of one project."""

    def __init__(self, key: bytes) -> None:
        signing = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        self._serializer = URLSafeSerializer(key, salt=b"goldgrade sign-in", signer_kwargs=signing)
        self._known = URLSafeTimedSerializer(key, salt=b"goldgrade known browser", signer_kwargs=signing)
        self._key = key
        # Browsers keep unsent answers under this id, so it must stay the same for a project.
        self.project = hmac.new(key, b"goldgrade sign-in\0project", "sha256").hexdigest()[:8]
        # Cookies are shared by all ports of a host: two projects on one machine need two names.
        self.cookie = f"goldgrade_{self.project}"

    def issue(self, key: str, now: float | None = None) -> str:
        """A cookie value for the sign-in with this key, which begins now."""
        return str(self._serializer.dumps([int(time.time() if now is None else now) + SIGN_IN_SECONDS, key]))

    def read(self, value: str, now: float | None = None) -> str | None:
        """The key in a cookie value, or None if it was not issued here or has expired."""
        try:
            expires, key = self._serializer.loads(value)
        except (BadData, TypeError, ValueError):  # not signed here, or by a version with other fields
            return None
        return str(key) if expires > (time.time() if now is None else now) else None

    def known_cookie(self, name: str) -> str:
        """The cookie by which a browser is known to a name; it does not tell the name."""
        digest = hmac.new(self._key, b"goldgrade known browser\0" + name.encode(), "sha256").hexdigest()
        return f"{self.cookie}_known_{digest[:8]}"

    def know(self, name: str, key: str | None = None) -> str:
        """A cookie value for a browser (with the key that it has) in which a name has signed in now.

        It signs nobody in.
        """
        return str(self._known.dumps([name, key or secrets.token_hex(16)]))

    def browser_of(self, name: str, value: str) -> str | None:
        """The key of a browser that is known to a name, or None."""
        try:
            known, key = self._known.loads(value, max_age=KNOWN_FOR)
        except (BadData, TypeError, ValueError):
            return None
        return str(key) if known == name else None


class AccountCache:
    """The sign-ins that are open, read again after a second."""

    MAX_AGE, NOTED_EVERY = 1.0, 300.0
    """Seconds; what was used meanwhile is stored as often as the latter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, Annotator] = {}
        self._used: set[str] = set()
        self._expires, self._noted = 0.0, time.monotonic()
        # One token for each call of `expire`: what was read for an older token is out of date.
        self._current = self._read_for = object()

    @property
    def fresh(self) -> bool:
        """Whether the next question can be answered without reading the project."""
        return self._read_for is self._current and time.monotonic() < self._expires

    def annotator(self, key: str) -> Annotator | None:
        """Who signed in with this key; None once the sign-in has ended."""
        if not self.fresh:
            with self._lock:
                if not self.fresh:
                    self._read()
        sign_in = id_of(key)
        if sign_in in self._open:
            self._used.add(sign_in)
        return self._open.get(sign_in)

    def expire(self) -> None:
        """Read the project before the next answer: somebody signed in or out, or changed a password.

        A read that another thread has already started does not count.
        """
        self._current = object()

    def _read(self) -> None:
        token = self._current
        try:
            with project_store().reading() as cursor:
                self._open = signed_in(cursor)
            if time.monotonic() - self._noted > self.NOTED_EVERY:
                self._noted, used, self._used = time.monotonic(), self._used, set()
                with suppress(StoreError):  # such as a full disk: what is asked does not need it
                    note_use(project_store(), used)
        except StoreBusyError:
            if not self._open:
                raise
            # Another process has the file open: keep the accounts rather than sign everybody out.
            # A wait for it takes longer than MAX_AGE: not again at once.
        self._expires, self._read_for = time.monotonic() + self.MAX_AGE, token


@cache
def sessions() -> Sessions:
    """The session cookies of the project, signed with its own key."""
    with project_store().reading() as cursor:
        key = require_setting(cursor, "cookie_key", "The project has no key to sign sign-ins with.")
    return Sessions(bytes.fromhex(key))


@cache
def accounts() -> AccountCache:
    """The accounts of the project."""
    return AccountCache()


def sign_in_of(cookies: Mapping[str, str]) -> str | None:
    """The key of the sign-in whose cookie was issued here and has not expired, or None."""
    return sessions().read(cookies.get(sessions().cookie, ""))


def current_user(cookies: Mapping[str, str]) -> Annotator | None:
    """The annotator whose open sign-in is among the cookies, or None.

    Raises
    ------
    NotFoundError, StoreBusyError: the project cannot be read.
    """
    key = sign_in_of(cookies)
    return None if key is None else accounts().annotator(key)


def visit_of(request: Request) -> Visit:
    """The browser and system of a request, such as "Firefox 151 on Linux", and the network it came from."""
    agent = request.headers.get("user-agent", "")
    versions = ((called, re.search(rf"{name}/(\d{{1,4}})", agent)) for name, called in _BROWSERS.items())
    browser = next((f"{called} {version[1]}" for called, version in versions if version), "Another browser")
    system = next((called for name, called in _SYSTEMS.items() if re.search(name, agent)), "another system")
    return Visit(f"{browser} on {system}", _place(request))


def address_of(request: Request) -> str:
    """Where a request came from; behind a proxy, uvicorn has put the visitor's address."""
    return request.client.host if request.client else ""


def network_of(request: Request) -> str:
    """What the queues count: one customer's addresses."""
    return network(address_of(request), 48)


def _place(request: Request) -> str:
    """The first 24 bits of an IPv4 address, or 48 of IPv6; '' for none."""
    address = network_of(request)
    with suppress(ValueError):
        return str(ipaddress.ip_network(address if "/" in address else f"{address}/24", strict=False))
    return ""
