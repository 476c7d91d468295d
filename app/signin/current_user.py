"""The current user: the annotator of a request's sign-in cookie, and the browser and network of the request.

A sign-in is valid while it is open in the project. The app reads open sign-ins at most every second, because
the grading loop asks several times a second. Functions that change the project check their author again. A
session cookie is a signed key of a sign-in and proves nothing by itself.

The list of sign-ins shows the browser, the system and the network, so that people recognize their sign-ins.
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
from starlette.responses import Response

from app.context import project_store
from app.signin.throttle import network
from curation.core.errors import StoreBusyError, StoreError
from curation.people.sign_ins import SIGN_IN_SECONDS, Visit, id_of, note_use, signed_in
from curation.store import Annotator, require_setting

KNOWN_FOR = 180 * 24 * 60 * 60
"""Seconds for which the app knows that a name has signed in with a browser."""
_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Version": "Safari"}
"""Name of a browser in user agents → its name for people; the first name that fits counts."""
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
        """Write a cookie value for a sign-in that begins now, given its key."""
        return str(self._serializer.dumps([int(time.time() if now is None else now) + SIGN_IN_SECONDS, key]))

    def read(self, value: str, now: float | None = None) -> str | None:
        """Read the key in a cookie value; None if the value was not issued here or has expired."""
        try:
            expires, key = self._serializer.loads(value)
        except (BadData, TypeError, ValueError):  # not signed here, or by a version with other fields
            return None
        return str(key) if expires > (time.time() if now is None else now) else None

    def known_cookie(self, name: str) -> str:
        """Name the cookie that marks a browser as known to a person; it does not reveal the person's name."""
        digest = hmac.new(self._key, b"goldgrade known browser\0" + name.encode(), "sha256").hexdigest()
        return f"{self.cookie}_known_{digest[:8]}"

    def know(self, name: str, key: str | None = None) -> str:
        """Write a cookie value that marks a browser as known to a person; it signs nobody in.

        A known browser keeps its key.
        """
        return str(self._known.dumps([name, key or secrets.token_hex(16)]))

    def browser_of(self, name: str, value: str) -> str | None:
        """Read the key of a browser that is known to a person; None for other browsers."""
        try:
            known, key = self._known.loads(value, max_age=KNOWN_FOR)
        except (BadData, TypeError, ValueError):
            return None
        return str(key) if known == name else None


class AccountCache:
    """The open sign-ins, read again after a second."""

    MAX_AGE, NOTED_EVERY = 1.0, 300.0
    """Seconds until the sign-ins are read again, and between two notes of which sign-ins were used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, Annotator] = {}
        self._used: set[str] = set()
        self._expires, self._noted = 0.0, time.monotonic()
        # Each call of `expire` makes a token: sign-ins that were read for an older token are out of date.
        self._current = self._read_for = object()

    @property
    def fresh(self) -> bool:
        """Whether the sign-ins need not be read again for the next request."""
        return self._read_for is self._current and time.monotonic() < self._expires

    def annotator(self, key: str) -> Annotator | None:
        """Return the annotator of an open sign-in, given its key; None once the sign-in has ended."""
        if not self.fresh:
            with self._lock:
                if not self.fresh:
                    self._read()
        sign_in = id_of(key)
        if sign_in in self._open:
            self._used.add(sign_in)
        return self._open.get(sign_in)

    def expire(self) -> None:
        """Have the sign-ins read again for the next request, as after a sign-in or a change of a password.

        A read that a different thread has already started does not count.
        """
        self._current = object()

    def _read(self) -> None:
        token = self._current
        try:
            with project_store().reading() as cursor:
                self._open = signed_in(cursor)
            if time.monotonic() - self._noted > self.NOTED_EVERY:
                self._noted, used, self._used = time.monotonic(), self._used, set()
                with suppress(StoreError):  # such as a full disk: the request can be answered anyway
                    note_use(project_store(), used)
        except StoreBusyError:
            if not self._open:
                raise
            # A different process has the file open: keep the sign-ins rather than sign everybody out.
            # Waiting for the file takes longer than MAX_AGE, so the next request must not wait again.
        self._expires, self._read_for = time.monotonic() + self.MAX_AGE, token


@cache
def sessions() -> Sessions:
    """Return the session cookies of the project, which its own key signs."""
    with project_store().reading() as cursor:
        key = require_setting(cursor, "cookie_key", "The project has no key to sign sign-ins with.")
    return Sessions(bytes.fromhex(key))


@cache
def accounts() -> AccountCache:
    """Return the open sign-ins of the project."""
    return AccountCache()


def sign_in_of(cookies: Mapping[str, str]) -> str | None:
    """Return the key of the sign-in among the cookies; None if it was not issued here or has expired."""
    return sessions().read(cookies.get(sessions().cookie, ""))


def current_user(cookies: Mapping[str, str]) -> Annotator | None:
    """Return the annotator whose open sign-in is among the cookies, or None.

    Raises
    ------
    NotFoundError, StoreBusyError: the project cannot be read.
    """
    key = sign_in_of(cookies)
    return None if key is None else accounts().annotator(key)


def keep_cookie(response: Response, name: str, value: str, *, seconds: int, path: str, secure: bool) -> None:
    """Let a browser keep a cookie that scripts and other sites cannot read."""
    response.set_cookie(name, value, seconds, path=path, secure=secure, httponly=True, samesite="lax")


def visit_of(request: Request) -> Visit:
    """Describe the browser and system of a request, such as "Firefox 151 on Linux", and its network."""
    agent = request.headers.get("user-agent", "")
    versions = ((called, re.search(rf"{name}/(\d{{1,4}})", agent)) for name, called in _BROWSERS.items())
    browser = next((f"{called} {version[1]}" for called, version in versions if version), "Another browser")
    system = next((called for name, called in _SYSTEMS.items() if re.search(name, agent)), "another system")
    return Visit(f"{browser} on {system}", _place(request))


def address_of(request: Request) -> str:
    """Return the address of a request; behind a proxy, uvicorn fills in the visitor's address."""
    return request.client.host if request.client else ""


def network_of(request: Request) -> str:
    """Return the network of a request, which is usually the network of one customer of a provider."""
    return network(address_of(request), 48)


def _place(request: Request) -> str:
    """Return the first 24 bits of an IPv4 address, or the first 48 bits of an IPv6 address, or ''."""
    address = network_of(request)
    with suppress(ValueError):
        return str(ipaddress.ip_network(address if "/" in address else f"{address}/24", strict=False))
    return ""
