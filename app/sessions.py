"""Sign-ins as signed cookies: a name and an end, which nobody without the project's key can write."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time

LASTS = 12 * 60 * 60
"""Seconds for which a sign-in lasts: a working day."""


class Sessions:
    """Makes and reads the sign-in cookies of one project."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.project = self._sign(b"project")[:8]
        # Cookies know no ports: two projects on one machine need two names.
        self.cookie = f"goldset_{self.project}"

    def issue(self, name: str, now: float | None = None) -> str:
        """A cookie value that says `name` until it ends."""
        until = int(time.time() if now is None else now) + LASTS
        content = base64.urlsafe_b64encode(json.dumps([name, until]).encode()).rstrip(b"=")
        return f"{content.decode()}.{self._sign(content)}"

    def read(self, value: str, now: float | None = None) -> str | None:
        """The name in a cookie value, or None where it was not issued here or has ended."""
        content, _, signature = value.partition(".")
        if not hmac.compare_digest(self._sign(content.encode()).encode(), signature.encode()):
            return None
        try:
            name, until = json.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)))
        except (ValueError, binascii.Error):
            return None
        return str(name) if until > (time.time() if now is None else now) else None

    def _sign(self, content: bytes) -> str:
        return hmac.new(self._key, b"goldset sign-in\0" + content, hashlib.sha256).hexdigest()
