"""Session cookies: signed statements of who signed in, until when, and by which password or e-mail address.

A cookie alone proves nothing: `app.signin.current_user` checks that password and address are still in force
and that the sign-in has not been ended.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import NamedTuple

from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer

LASTS = 12 * 60 * 60
"""Seconds for which a sign-in lasts: a working day."""
KNOWN_FOR = 180 * 24 * 60 * 60
"""Seconds for which a browser is known as one in which a name has signed in."""


class SignIn(NamedTuple):
    """Who signed in, the revision of their password (-1: none), and the address if it was by one.

    deactivations: how often they had been deactivated then.

    key: the unique id of this sign-in; `Sessions.issue` makes one where it is ''.
    expires: when it ends by itself, in seconds since 1970; `Sessions.issue` sets it.
    """

    name: str
    password_revision: int
    email: str | None = None
    key: str = ""
    deactivations: int = 0
    expires: int = 0


class Sessions:
    """Writes and reads the session cookies of one project."""

    def __init__(self, key: bytes) -> None:
        signing = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        self._serializer = URLSafeSerializer(key, salt=b"goldset sign-in", signer_kwargs=signing)
        self._known = URLSafeTimedSerializer(key, salt=b"goldset known browser", signer_kwargs=signing)
        self._key = key
        # Browsers keep unsent answers under this id, so it must stay the same for a project.
        self.project = hmac.new(key, b"goldset sign-in\0project", "sha256").hexdigest()[:8]
        # Cookies are shared by all ports of a host: two projects on one machine need two names.
        self.cookie = f"goldset_{self.project}"

    def issue(self, sign_in: SignIn, now: float | None = None) -> str:
        """A cookie value for a sign-in that begins now."""
        expires = int(time.time() if now is None else now) + LASTS
        fields = sign_in._replace(key=sign_in.key or secrets.token_hex(16))._asdict()
        del fields["expires"]
        return str(self._serializer.dumps([expires, *fields.values()]))

    def read(self, value: str, now: float | None = None) -> SignIn | None:
        """The sign-in of a cookie value, or None where it was not issued here or has expired."""
        try:
            expires, *fields = self._serializer.loads(value)
            sign_in = SignIn(*fields)._replace(expires=expires)
        except (BadData, TypeError, ValueError):  # not signed here, or by a version with other fields
            return None
        return sign_in if expires > (time.time() if now is None else now) else None

    def known_cookie(self, name: str) -> str:
        """The cookie by which a browser is known to a name; it does not tell the name."""
        digest = hmac.new(self._key, b"goldset known browser\0" + name.encode(), "sha256").hexdigest()
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
