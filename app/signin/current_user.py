"""The current user: the person who has signed in with the browser that sends a request.

A session cookie holds the signed key of a sign-in, and is valid only while the project records the sign-in as
open. The app reads open sign-ins at most once a second, because the grading screen sends several requests a
second. Functions that change the project check again that the person may make the change.

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
from curation.people.sign_ins import (
    SIGN_IN_SECONDS,
    ClientInfo,
    make_sign_in_id,
    read_sign_in_owners,
    store_last_use,
)
from curation.store import Annotator, require_setting

KNOWN_BROWSER_SECONDS = 180 * 24 * 60 * 60
"""Seconds for which the app remembers that a person has signed in with a browser."""
_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Version": "Safari"}
"""Name of a browser in user-agent strings → its display name; the first name that matches counts."""
_SYSTEMS = {"Windows": "Windows", "Android": "Android", "iP": "iOS", "Mac OS": "macOS", "Linux": "Linux"}


class Sessions:
    """Codec that writes and reads the session cookies of a project."""

    def __init__(self, key: bytes) -> None:
        options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        self._sign_ins = URLSafeSerializer(key, salt=b"goldgrade sign-in", signer_kwargs=options)
        self._browsers = URLSafeTimedSerializer(key, salt=b"goldgrade known browser", signer_kwargs=options)
        self._key = key
        # Browsers keep unsent answers under this id, so it must stay the same for a project.
        self.project = hmac.new(key, b"goldgrade sign-in\0project", "sha256").hexdigest()[:8]
        # Cookies are shared by all ports of a host: two projects on one machine need two names.
        self.cookie = f"goldgrade_{self.project}"

    def issue(self, key: str, now: float | None = None) -> str:
        """Return a cookie value for a sign-in that begins now, given the key of the sign-in."""
        return str(self._sign_ins.dumps([int(time.time() if now is None else now) + SIGN_IN_SECONDS, key]))

    def read(self, value: str, now: float | None = None) -> str | None:
        """Read the key in a cookie value; None if the project did not issue the value or the value has
        expired.
        """
        try:
            expires, key = self._sign_ins.loads(value)
        except (BadData, TypeError, ValueError):  # not signed here, or by a version with other fields
            return None
        return str(key) if expires > (time.time() if now is None else now) else None

    def browser_cookie_name(self, name: str) -> str:
        """Return the name of the cookie that marks a browser as known to a person, without the person's name
        in it.
        """
        digest = hmac.new(self._key, b"goldgrade known browser\0" + name.encode(), "sha256").hexdigest()
        return f"{self.cookie}_known_{digest[:8]}"

    def issue_browser_cookie(self, name: str, key: str | None = None) -> str:
        """Return a cookie value that marks a browser as known to a person but gives no access.

        A browser that is known already keeps its key.
        """
        return str(self._browsers.dumps([name, key or secrets.token_hex(16)]))

    def read_browser_cookie(self, name: str, value: str) -> str | None:
        """Read the key of a browser that is known to a person; None for other browsers."""
        try:
            owner, key = self._browsers.loads(value, max_age=KNOWN_BROWSER_SECONDS)
        except (BadData, TypeError, ValueError):
            return None
        return str(key) if owner == name else None


class AccountCache:
    """A cache of the open sign-ins, which is read again from the project after a second."""

    MAX_AGE, NOTE_EVERY = 1.0, 300.0
    """Seconds until the sign-ins are read again, and seconds between two records of which sign-ins were
    used.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, Annotator] = {}
        self._used: set[str] = set()
        self._expires_at, self._noted_at = 0.0, time.monotonic()
        # Each call of `expire` makes a token: sign-ins that were read for an older token are out of date.
        self._token = self._token_of_read = object()

    @property
    def is_fresh(self) -> bool:
        """Return whether the cached sign-ins are still fresh enough for the next request."""
        return self._token_of_read is self._token and time.monotonic() < self._expires_at

    def annotator(self, key: str) -> Annotator | None:
        """Return the annotator of an open sign-in, given its key; None once the sign-in has ended."""
        if not self.is_fresh:
            with self._lock:
                if not self.is_fresh:
                    self._read()
        sign_in_id = make_sign_in_id(key)
        if sign_in_id in self._open:
            self._used.add(sign_in_id)
        return self._open.get(sign_in_id)

    def expire(self) -> None:
        """Expire the cached sign-ins, for example after a sign-in or a change of a password.

        A read that another thread has already started does not refresh the cache.
        """
        self._token = object()

    def _read(self) -> None:
        token = self._token
        try:
            with project_store().reading() as cursor:
                self._open = read_sign_in_owners(cursor)
            if time.monotonic() - self._noted_at > self.NOTE_EVERY:
                self._noted_at, used, self._used = time.monotonic(), self._used, set()
                with suppress(StoreError):  # such as a full disk: the request can be answered anyway
                    store_last_use(project_store(), used)
        except StoreBusyError:
            if not self._open:
                raise
            # A different process has the file open: keep the sign-ins rather than sign everybody out.
            # Waiting for the file takes longer than MAX_AGE, so the next request must not wait again.
        self._expires_at, self._token_of_read = time.monotonic() + self.MAX_AGE, token


@cache
def sessions() -> Sessions:
    """Return the codec of the project's session cookies, which the project's key signs."""
    with project_store().reading() as cursor:
        key = require_setting(cursor, "cookie_key", "The project has no key that signs session cookies.")
    return Sessions(bytes.fromhex(key))


@cache
def accounts() -> AccountCache:
    """Return the open sign-ins of the project."""
    return AccountCache()


def sign_in_of(cookies: Mapping[str, str]) -> str | None:
    """Return the key of the sign-in in the cookies; None if the project did not issue the key or it has
    expired.
    """
    return sessions().read(cookies.get(sessions().cookie, ""))


def current_user(cookies: Mapping[str, str]) -> Annotator | None:
    """Return the annotator whose open sign-in the cookies name; None without an open sign-in.

    Raises
    ------
    NotFoundError, StoreBusyError: the project cannot be read.
    """
    key = sign_in_of(cookies)
    return None if key is None else accounts().annotator(key)


def keep_cookie(response: Response, name: str, value: str, *, seconds: int, path: str, secure: bool) -> None:
    """Set a cookie in the browser that scripts and other sites cannot read."""
    response.set_cookie(name, value, seconds, path=path, secure=secure, httponly=True, samesite="lax")


def read_client(request: Request) -> ClientInfo:
    """Describe the browser and system of a request, such as "Firefox 151 on Linux", and its network."""
    agent = request.headers.get("user-agent", "")
    versions = ((label, re.search(rf"{token}/(\d{{1,4}})", agent)) for token, label in _BROWSERS.items())
    browser = next((f"{label} {version[1]}" for label, version in versions if version), "Another browser")
    system = next((label for token, label in _SYSTEMS.items() if re.search(token, agent)), "another system")
    return ClientInfo(f"{browser} on {system}", _mask_address(request))


def address_of(request: Request) -> str:
    """Return the network address of a request; behind a trusted proxy, uvicorn supplies the visitor's
    address.
    """
    return request.client.host if request.client else ""


def network_of(request: Request) -> str:
    """Return the network of a request, which usually belongs to one customer of an internet provider."""
    return network(address_of(request), 48)


def _mask_address(request: Request) -> str:
    """Return the first 24 bits of an IPv4 address or the first 48 bits of an IPv6 address; '' for other
    text.
    """
    address = network_of(request)
    with suppress(ValueError):
        return str(ipaddress.ip_network(address if "/" in address else f"{address}/24", strict=False))
    return ""
