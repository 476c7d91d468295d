"""The current user: which annotator the sign-in cookie of a request belongs to, if it is still valid.

A sign-in is valid while it is open in the project, which is read at most every second: the grading loop asks
several times a second. What changes the project checks its author once more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

from app.context import project_store
from app.signin.sessions import Sessions
from curation.errors import StoreBusyError, StoreError
from curation.people.sign_ins import id_of, note_use, signed_in
from curation.store import Annotator, require_setting


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
        """Whose the sign-in with this key is, or None if it is not open."""
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
