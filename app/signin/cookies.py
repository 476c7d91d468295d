"""A project's signed cookies: the session cookie, and the cookie that marks a browser as known to a person.

Both cookies have a signature of the project's key. The session cookie holds the key of an open sign-in. The
cookie of a known browser gives no access: the browser has separate limits on wrong passwords.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from functools import cache

from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from app.context import project_store
from curation.people.sign_ins import SIGN_IN_SECONDS
from curation.store import require_setting

KNOWN_BROWSER_SECONDS = 180 * 24 * 60 * 60


class CookieCodec:
    """A codec that writes and reads a project's cookie values."""

    def __init__(self, key: bytes) -> None:
        options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        self._sign_ins = URLSafeSerializer(key, salt=b"goldgrade sign-in", signer_kwargs=options)
        self._browsers = URLSafeTimedSerializer(key, salt=b"goldgrade known browser", signer_kwargs=options)
        self._key = key
        # Browsers keep unsent answers under this id, so it must stay the same for a project.
        self.project = hmac.new(key, b"goldgrade sign-in\0project", "sha256").hexdigest()[:8]
        # Cookies are shared by all ports of a host: two projects on one machine need two names.
        self.cookie = f"goldgrade_{self.project}"

    def issue_session_cookie(self, key: str, now: float | None = None) -> str:
        """Return a cookie value for a sign-in that begins now, given the sign-in's key."""
        return str(self._sign_ins.dumps([int(time.time() if now is None else now) + SIGN_IN_SECONDS, key]))

    def read_session_cookie(self, value: str, now: float | None = None) -> str | None:
        """Read the sign-in key in a cookie value; None if the value is forged or has expired."""
        try:
            expires, key = self._sign_ins.loads(value)
        except (BadData, TypeError, ValueError):  # not signed here, or by a version with other fields
            return None
        return str(key) if expires > (time.time() if now is None else now) else None

    def name_browser_cookie(self, name: str) -> str:
        """Return the name of the cookie that marks a browser as known, without the person's name in it."""
        digest = hmac.new(self._key, b"goldgrade known browser\0" + name.encode(), "sha256").hexdigest()
        return f"{self.cookie}_known_{digest[:8]}"

    def issue_browser_cookie(self, name: str, key: str | None = None) -> str:
        """Return a cookie value that marks a browser as known to a person but gives no access.

        A browser that is known already keeps its key.
        """
        return str(self._browsers.dumps([name, key or secrets.token_hex(16)]))

    def read_browser_cookie(self, name: str, value: str) -> str | None:
        """Read the key of a browser known to a person; None for other browsers."""
        try:
            owner, key = self._browsers.loads(value, max_age=KNOWN_BROWSER_SECONDS)
        except (BadData, TypeError, ValueError):
            return None
        return str(key) if owner == name else None


@cache
def cookie_codec() -> CookieCodec:
    """Return the codec of the project's session cookies, which are signed with the project's key."""
    with project_store().reading() as cursor:
        key = require_setting(cursor, "cookie_key", "The project has no key that signs session cookies.")
    return CookieCodec(bytes.fromhex(key))


def set_cookie(response: Response, name: str, value: str, *, seconds: int, path: str, secure: bool) -> None:
    """Set a browser cookie that scripts and other sites cannot read."""
    response.set_cookie(name, value, seconds, path=path, secure=secure, httponly=True, samesite="lax")


def set_session_cookie(request: Request, response: Response, key: str) -> None:
    """Set a sign-in's session cookie, given the sign-in's key."""
    codec = cookie_codec()
    value, secure = codec.issue_session_cookie(key), request.url.scheme == "https"
    set_cookie(response, codec.cookie, value, seconds=SIGN_IN_SECONDS, path="/", secure=secure)


def read_known_browser(request: Request, name: str) -> str | None:
    """Read the key of the request's browser if this person has signed in with it before."""
    codec = cookie_codec()
    value = request.cookies.get(codec.name_browser_cookie(name), "")
    return codec.read_browser_cookie(name, value)


def remember_browser(request: Request, response: Response, name: str) -> Response:
    """Mark the browser as known to a person who has just signed in; return the same response."""
    codec = cookie_codec()
    cookie, secure = codec.name_browser_cookie(name), request.url.scheme == "https"
    value = codec.issue_browser_cookie(name, read_known_browser(request, name))
    set_cookie(response, cookie, value, seconds=KNOWN_BROWSER_SECONDS, path="/sign-in", secure=secure)
    return response
