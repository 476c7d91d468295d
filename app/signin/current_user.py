"""The current user: the annotator whose open sign-in is named by the request's session cookie.

A session cookie is valid only while the project records the sign-in as open. The app reads the open sign-ins
at most once a second, because the grading screen sends several requests a second. Functions that change the
project check again that the person may make the change.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.context import project_store
from app.signin.cookies import cookie_codec, set_session_cookie
from curation.core.errors import StoreBusyError, StoreError
from curation.people.sign_ins import make_sign_in_id, read_sign_in_owners, store_last_use
from curation.store import Annotator


class SignInCache:
    """A cache of the open sign-ins, which is reread from the project after one second."""

    MAX_AGE_SECONDS = 1.0
    USE_RECORD_SECONDS = 300.0
    """Seconds between two records of the sign-ins that people used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._annotators: dict[str, Annotator] = {}
        self._used_ids: set[str] = set()
        self._expires_at = 0.0
        self._use_recorded_at = time.monotonic()
        # Each call of `expire` makes a token: sign-ins that were read for an older token are out of date.
        self._token = self._read_token = object()

    @property
    def is_fresh(self) -> bool:
        """Return whether the cached sign-ins are still fresh enough for the next request."""
        return self._read_token is self._token and time.monotonic() < self._expires_at

    def find_annotator(self, key: str) -> Annotator | None:
        """Return the annotator of an open sign-in, given its key; None once the sign-in has ended."""
        if not self.is_fresh:
            with self._lock:
                if not self.is_fresh:
                    self._read()
        sign_in_id = make_sign_in_id(key)
        if sign_in_id in self._annotators:
            self._used_ids.add(sign_in_id)
        return self._annotators.get(sign_in_id)

    def expire(self) -> None:
        """Expire the cached sign-ins, for example after a sign-in or a password change.

        A read that another thread has already started does not refresh the cache.
        """
        self._token = object()

    def _read(self) -> None:
        token = self._token
        try:
            with project_store().reading() as cursor:
                self._annotators = read_sign_in_owners(cursor)
            if time.monotonic() - self._use_recorded_at > self.USE_RECORD_SECONDS:
                self._use_recorded_at = time.monotonic()
                used_ids, self._used_ids = self._used_ids, set()
                with suppress(StoreError):  # such as a full disk; the request needs no write
                    store_last_use(project_store(), used_ids)
        except StoreBusyError:
            if not self._annotators:
                raise
            # A different process has the file open: keep the sign-ins rather than sign everybody out.
            # Waiting for the file takes longer than MAX_AGE_SECONDS, so the next request must not wait again.
        self._expires_at = time.monotonic() + self.MAX_AGE_SECONDS
        self._read_token = token


@cache
def sign_in_cache() -> SignInCache:
    """Return this process's cache of the project's open sign-ins."""
    return SignInCache()


def read_sign_in_key(cookies: Mapping[str, str]) -> str | None:
    """Read the sign-in key in the cookies; None if it is forged or has expired."""
    return cookie_codec().read_session_cookie(cookies.get(cookie_codec().cookie, ""))


def find_current_user(cookies: Mapping[str, str]) -> Annotator | None:
    """Find the annotator whose open sign-in the cookies name; None if no cookie names an open sign-in.

    Raises
    ------
    NotFoundError, StoreBusyError: the project cannot be read.
    """
    key = read_sign_in_key(cookies)
    return None if key is None else sign_in_cache().find_annotator(key)


def open_session(request: Request, key: str, target: str) -> Response:
    """Redirect to a page with a new sign-in's session cookie, given its key."""
    sign_in_cache().expire()
    response = RedirectResponse(target, 303)
    set_session_cookie(request, response, key)
    return response
