"""People's sign-ins: the browsers in which they are signed in.

A sign-in is open while its row in the database exists. The browser's cookie holds a key, and the row holds
only a hash of the key, with which nobody can sign in. Ending a sign-in deletes its row, so that neither a
wrong clock nor a copy of the cookie can open the sign-in again.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.core.errors import NotFoundError
from curation.people.annotators import require_annotators, require_author
from curation.store import COMMAND_LINE, Annotator, Cursor, Store, fetch, record_event, utc_now

SIGN_IN_SECONDS = 12 * 60 * 60  # duration of a sign-in in seconds: a working day
_OPEN = """
INSERT INTO sign_ins
SELECT ?, name, ?, ?, ?, ?, ?, ? FROM annotators a
WHERE name = ? AND NOT imported AND deactivated_at IS NULL
  AND (?::INTEGER IS NULL OR ? = (SELECT max(revision) FROM passwords p WHERE p.annotator = a.name))
RETURNING 1
"""
_OWNERS = """
SELECT sign_in_id, name, role FROM sign_ins JOIN annotators ON annotator = name
WHERE NOT imported AND deactivated_at IS NULL
"""
_LIST = """
SELECT sign_in_id, annotator, email, device, network, since, last_used FROM sign_ins
WHERE annotator = coalesce(?, annotator) AND expires > ? ORDER BY last_used DESC, since DESC, sign_in_id
"""
_DELETE = """
DELETE FROM sign_ins WHERE annotator = $name AND starts_with(sign_in_id, $id_prefix)
  AND sign_in_id <> $except_id AND ($email::TEXT IS NULL OR email = $email) RETURNING 1
"""
_STORE_LAST_USE = "UPDATE sign_ins SET last_used = ? WHERE sign_in_id = ANY(?::TEXT[])"


class ClientInfo(NamedTuple):
    """The browser from which a person signs in; `device` is the browser's name and operating system."""

    device: str = ""
    network: str = ""


UNKNOWN_CLIENT = ClientInfo()


class OpenSignIn(NamedTuple):
    """An open sign-in, as shown to users; `email` is None for a sign-in by password."""

    sign_in_id: str
    annotator: str
    email: str | None
    device: str
    network: str
    since: datetime
    last_used: datetime

    @property
    def client_text(self) -> str:
        """Describe the browser and the network of the sign-in."""
        return f"{self.device} at {self.network}" if self.network else self.device

    @property
    def times_text(self) -> str:
        """Write when the sign-in began and was last used."""
        return f"since {self.since:%d %b %H:%M}, last used {self.last_used:%d %b %H:%M} UTC"


def make_sign_in_id(key: str) -> str:
    """Compute a sign-in's id, which is a hash that does not reveal the sign-in's key."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def open_sign_in(
    cursor: Cursor, name: str, client: ClientInfo, email: str | None = None, revision: int | None = None
) -> str | None:
    """Open a sign-in and return its key; None if the person cannot sign in or has a newer password.

    revision: revision of the compared password; None for a sign-in without a password.
    """
    key, now = secrets.token_hex(16), utc_now()
    cursor.execute("DELETE FROM sign_ins WHERE expires < ?", [now])
    times = [now, now, now + timedelta(seconds=SIGN_IN_SECONDS)]
    opened = cursor.execute(
        _OPEN, [make_sign_in_id(key), email, *client, *times, name, revision, revision]
    ).fetchall()
    return key if opened else None


def read_sign_in_owners(cursor: Cursor) -> dict[str, Annotator]:
    """Map each open sign-in's id to its person."""
    rows = cursor.execute(_OWNERS).fetchall()
    return {sign_in_id: Annotator(name, role, imported=False) for sign_in_id, name, role in rows}


def list_sign_ins(cursor: Cursor, name: str | None = None) -> list[OpenSignIn]:
    """List the open sign-ins of one person or of all people, sorted by last use."""
    return fetch(cursor, OpenSignIn, _LIST, [name, utc_now()])


def delete_sign_ins(
    cursor: Cursor, name: str, id_prefix: str = "", email: str | None = None, except_id: str = ""
) -> int:
    """Delete some of a person's sign-ins, and return how many were deleted.

    Parameters
    ----------
    id_prefix: beginning of the id of one sign-in; '' for all.
    email: address of the sign-ins; None for all, including sign-ins by password.
    except_id: id of a sign-in that stays open.
    """
    values = {"name": name, "id_prefix": id_prefix, "email": email, "except_id": except_id}
    return len(cursor.execute(_DELETE, values).fetchall())


def end_sign_ins(
    store: Store, name: str, id_prefix: str = "", author: str = COMMAND_LINE, except_id: str = ""
) -> int:
    """End one or all of a person's sign-ins, and return how many ended; the author is that person or a lead.

    Parameters
    ----------
    id_prefix: beginning of the id of one sign-in; '' for all.
    except_id: id of a sign-in that stays open.

    Raises
    ------
    NotFoundError: the project does not know the name, or the person does not have this sign-in.
    RefusedError: the author is a different person and not a lead.
    """
    with store.transaction(new_data_version=False) as cursor:
        require_annotators(cursor, [name])
        if author != name:
            require_author(cursor, author, "lead")
        ended = delete_sign_ins(cursor, name, id_prefix, except_id=except_id)
        if id_prefix and not ended:
            raise NotFoundError(f"{name} has no open sign-in {id_prefix}: it may already have ended.")
        record_event(cursor, "end sign-ins", {"name": name, "number": ended}, author)
    return ended


def store_last_use(store: Store, ids: Collection[str]) -> None:
    """Store the current time as the last use of several sign-ins."""
    with store.transaction(new_data_version=False) as cursor:
        cursor.execute(_STORE_LAST_USE, [utc_now(), list(ids)])
