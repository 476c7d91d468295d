"""The project that this process serves, and who is signed in to it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import cache
from pathlib import Path

from app.sessions import LASTS, Sessions, SignIn
from curation.errors import StoreBusyError
from curation.labeling.identities import Standing, ended_sign_ins, standings
from curation.store import Store, open_store, require_setting
from curation.store.rows import Annotator

PROJECT = "GOLDSET_PROJECT"
"""The environment variable that names the project's file."""


class People:
    """What sign-ins may rest on, read anew after some seconds: a grade costs no reading of its own."""

    KEPT = 5.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Standing] = {}
        self._ended: set[str] = set()
        self._until = 0.0
        self._asked = self._read_for = object()

    @property
    def fresh(self) -> bool:
        """Whether asking needs no reading of the file."""
        return self._read_for is self._asked and time.monotonic() < self._until

    def behind(self, sign_in: SignIn) -> Annotator | None:
        """The annotator, if what the sign-in rests on still stands."""
        found = self._all().get(sign_in.name)
        if found is None or found.password_revision != sign_in.password_revision:
            return None
        if sign_in.key in self._ended:
            return None
        stands = sign_in.email is None or sign_in.email in found.emails
        return found.annotator if stands else None

    def forget(self) -> None:
        """Read anew when next asked: somebody has just signed in or out, or changed a password.

        What another thread is reading at this moment is too old already.
        """
        self._asked = object()

    def _all(self) -> dict[str, Standing]:
        if not self.fresh:
            with self._lock:
                if not self.fresh:
                    self._read()
        return self._known

    def _read(self) -> None:
        begun, asked = time.monotonic(), self._asked
        # Who is known stays known while another process holds the file: to be signed out would be no answer.
        with suppress(*[StoreBusyError] * bool(self._known)), project_store().reading() as cursor:
            self._known, self._ended = standings(cursor), ended_sign_ins(cursor, timedelta(seconds=LASTS))
        self._until, self._read_for = begun + self.KEPT, asked


def project_store() -> Store:
    """The store of the project that is served.

    Raises
    ------
    NotFoundError: there is no such project.
    """
    return open_store(Path(os.environ.get(PROJECT, "data/goldset.duckdb")))


@cache
def sessions() -> Sessions:
    """The sign-ins of the project, signed with its own key."""
    with project_store().reading() as cursor:
        key = require_setting(cursor, "cookie_key", "The project has no key to sign sign-ins with.")
    return Sessions(bytes.fromhex(key))


@cache
def people() -> People:
    """Who can sign in to the project."""
    return People()


def sign_in_of(cookies: Mapping[str, str]) -> SignIn | None:
    """The sign-in among the cookies that was issued here and has not ended, or None."""
    return sessions().read(cookies.get(sessions().cookie, ""))


def signed_in(cookies: Mapping[str, str]) -> Annotator | None:
    """The annotator whose valid sign-in is among the cookies, or None.

    Raises
    ------
    NotFoundError, StoreBusyError: the project cannot be read.
    """
    found = sign_in_of(cookies)
    return None if found is None else people().behind(found)
