"""Session cookies: signed keys of sign-ins, and until when.

A cookie alone proves nothing: `app.signin.current_user` asks the project whether that sign-in is open.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer

from curation.people.sign_ins import LASTS

KNOWN_FOR = 180 * 24 * 60 * 60
"""Seconds for which a browser is known as one in which a name has signed in."""


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

    def issue(self, key: str, now: float | None = None) -> str:
        """A cookie value for the sign-in with this key, which begins now."""
        return str(self._serializer.dumps([int(time.time() if now is None else now) + LASTS, key]))

    def read(self, value: str, now: float | None = None) -> str | None:
        """The key in a cookie value, or None where it was not issued here or has expired."""
        try:
            expires, key = self._serializer.loads(value)
        except (BadData, TypeError, ValueError):  # not signed here, or by a version with other fields
            return None
        return str(key) if expires > (time.time() if now is None else now) else None

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
