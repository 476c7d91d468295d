"""Sign-ins as signed cookies: a name, an end and what it rests on, which nobody without the key can write.

A sign-in rests on a password's number, and on an address where an identity provider vouched for it. Whoever
reads a cookie asks whether that still stands: a changed password ends what was signed in by the old one, and
signing out ends the one sign-in that the cookie stands for, wherever a copy of it lies.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import time
from typing import NamedTuple

LASTS = 12 * 60 * 60
"""Seconds for which a sign-in lasts: a working day."""


class SignIn(NamedTuple):
    """Who signed in, the password that was in force (-1: none) and the address, if it was by one.

    key: tells this sign-in from all others; '' is given one when it is issued.
    """

    name: str
    password_revision: int
    email: str | None = None
    key: str = ""


class Sessions:
    """Makes and reads the sign-in cookies of one project."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.project = self._sign(b"project")[:8]
        # Cookies know no ports: two projects on one machine need two names.
        self.cookie = f"goldset_{self.project}"

    def issue(self, sign_in: SignIn, now: float | None = None) -> str:
        """A cookie value that says who signed in until it ends."""
        until = int(time.time() if now is None else now) + LASTS
        keyed = sign_in._replace(key=sign_in.key or secrets.token_hex(16))
        content = base64.urlsafe_b64encode(json.dumps([until, *keyed]).encode()).rstrip(b"=")
        return f"{content.decode()}.{self._sign(content)}"

    def read(self, value: str, now: float | None = None) -> SignIn | None:
        """Who signed in, or None where the value was not issued here or has ended."""
        content, _, signature = value.partition(".")
        if not hmac.compare_digest(self._sign(content.encode()).encode(), signature.encode()):
            return None
        try:
            until, *who = json.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)))
            sign_in = SignIn(*who)
        except (ValueError, TypeError, binascii.Error):
            return None  # signed here, but by a version that wrote something else
        return sign_in if until > (time.time() if now is None else now) else None

    def _sign(self, content: bytes) -> str:
        return hmac.new(self._key, b"goldset sign-in\0" + content, hashlib.sha256).hexdigest()
