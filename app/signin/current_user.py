"""The current user: which annotator the sign-in cookie of a request belongs to, if it is still valid.

A sign-in is valid until its password changes, its e-mail address is taken away, or its owner is deactivated
or signs out. All this is read from the project, at most every second: the grading loop asks this several
times a second. What changes the project checks its author once more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from functools import cache

from app.context import project_store
from app.signin.sessions import Sessions, SignIn
from curation.errors import StoreBusyError
from curation.people.identities import SignInState, ended_sign_ins, sign_in_states
from curation.store import Annotator, require_setting


class AccountCache:
    """The accounts that can sign in and the sign-ins that have ended, read again after a second."""

    MAX_AGE = 1.0
    """Seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._accounts: dict[str, SignInState] = {}
        self._ended: set[str] = set()
        self._expires = 0.0
        # One token for each call of `expire`: what was read for an older token is out of date.
        self._current = self._read_for = object()

    @property
    def fresh(self) -> bool:
        """Whether the next question can be answered without reading the project."""
        return self._read_for is self._current and time.monotonic() < self._expires

    def annotator(self, sign_in: SignIn) -> Annotator | None:
        """The annotator of a sign-in, or None if it is no longer valid."""
        if not self.fresh:
            with self._lock:
                if not self.fresh:
                    self._read()
        account = self._accounts.get(sign_in.name)
        if account is None or account.password_revision != sign_in.password_revision:
            return None
        if account.deactivations != sign_in.deactivations or sign_in.key in self._ended:
            return None
        if sign_in.email is not None and sign_in.email not in account.emails:
            return None
        return account.annotator

    def expire(self) -> None:
        """Read the project before the next answer: somebody signed in or out, or changed a password.

        A read that another thread has already started does not count.
        """
        self._current = object()

    def _read(self) -> None:
        token = self._current
        try:
            with project_store().reading() as cursor:
                self._accounts = sign_in_states(cursor)
                self._ended |= ended_sign_ins(cursor, int(time.time()))  # ended once is ended for good
        except StoreBusyError:
            if not self._accounts:
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


def sign_in_of(cookies: Mapping[str, str]) -> SignIn | None:
    """The sign-in whose cookie was issued here and has not expired, or None."""
    return sessions().read(cookies.get(sessions().cookie, ""))


def current_user(cookies: Mapping[str, str]) -> Annotator | None:
    """The annotator whose valid sign-in is among the cookies, or None.

    Raises
    ------
    NotFoundError, StoreBusyError: the project cannot be read.
    """
    sign_in = sign_in_of(cookies)
    return None if sign_in is None else accounts().annotator(sign_in)
