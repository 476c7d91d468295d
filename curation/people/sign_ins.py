"""Sign-ins: who is signed in to the app, with which browser, from where and since when.

A sign-in is open while its row is there. The cookie of the browser has a key, and the row the key's hash: who
reads the project can sign in nowhere with it. Ending one deletes its row, so that neither a clock that was
wrong nor a copy of the cookie brings it back.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.store import Annotator, Cursor, Store, fetch, utc_now

LASTS = 12 * 60 * 60
"""Seconds for which a sign-in lasts: a working day."""


class Visit(NamedTuple):
    """What is known of a browser: its name and system, and the network that it is in."""

    device: str = ""
    network: str = ""


UNKNOWN = Visit()


class OpenSignIn(NamedTuple):
    """A sign-in as people see it; `email` is None for one by password."""

    sign_in_id: str
    annotator: str
    email: str | None
    device: str
    network: str
    since: datetime
    last_used: datetime

    @property
    def place(self) -> str:
        """The browser, and the network it is in."""
        return f"{self.device} at {self.network}" if self.network else self.device

    @property
    def times(self) -> str:
        """Since when, and when last, in words."""
        return f"since {self.since:%d %b %H:%M}, last used {self.last_used:%d %b %H:%M} UTC"


def id_of(key: str) -> str:
    """What a sign-in is known by, which tells nothing of its key."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


_OPEN = """
INSERT INTO sign_ins
SELECT ?, name, ?, ?, ?, ?, ?, ? FROM annotators a
WHERE name = ? AND NOT imported AND deactivated_at IS NULL
  AND (?::INTEGER IS NULL OR ? = (SELECT max(revision) FROM passwords p WHERE p.annotator = a.name))
RETURNING 1
"""


def open_sign_in(
    cursor: Cursor, name: str, visit: Visit, email: str | None = None, revision: int | None = None
) -> str | None:
    """Open a sign-in and return its key; None where they cannot sign in, or have a newer password.

    revision: of the password that was right; None for who needed none.
    """
    key, now = secrets.token_hex(16), utc_now()
    cursor.execute("DELETE FROM sign_ins WHERE expires < ?", [now])
    times = [now, now, now + timedelta(seconds=LASTS)]
    opened = cursor.execute(_OPEN, [id_of(key), email, *visit, *times, name, revision, revision]).fetchall()
    return key if opened else None


_SIGNED_IN = """
SELECT sign_in_id, name, role FROM sign_ins JOIN annotators ON annotator = name
WHERE NOT imported AND deactivated_at IS NULL
"""


def signed_in(cursor: Cursor) -> dict[str, Annotator]:
    """Whose each open sign-in is, by its id."""
    rows = cursor.execute(_SIGNED_IN).fetchall()
    return {sign_in_id: Annotator(name, role, imported=False) for sign_in_id, name, role in rows}


_LIST = """
SELECT sign_in_id, annotator, email, device, network, since, last_used FROM sign_ins
WHERE annotator = coalesce(?, annotator) AND expires > ? ORDER BY last_used DESC, since DESC, sign_in_id
"""


def list_sign_ins(cursor: Cursor, name: str | None = None) -> list[OpenSignIn]:
    """Open sign-ins, of one person or of all, the one used last first."""
    return fetch(cursor, OpenSignIn, _LIST, [name, utc_now()])


_FORGET = """
DELETE FROM sign_ins WHERE annotator = $name AND starts_with(sign_in_id, $begins) AND sign_in_id <> $but
  AND ($email::TEXT IS NULL OR email = $email) RETURNING 1
"""


def forget_sign_ins(
    cursor: Cursor, name: str, begins: str = "", email: str | None = None, but: str = ""
) -> int:
    """End somebody's sign-ins and return how many.

    Parameters
    ----------
    begins: how the id begins of the one to end; '' for all.
    email: an address; None for all, those by password, too.
    but: the id of one that goes on.
    """
    known = {"name": name, "begins": begins, "email": email, "but": but}
    return len(cursor.execute(_FORGET, known).fetchall())


_USED = "UPDATE sign_ins SET last_used = ? WHERE sign_in_id = ANY(?::TEXT[])"


def note_use(store: Store, ids: Collection[str]) -> None:
    """Store that these sign-ins have been used by now."""
    with store.transaction(new_data_version=False) as cursor:
        cursor.execute(_USED, [utc_now(), list(ids)])
