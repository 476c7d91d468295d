"""Sessions and users of a log: kept apart from each other, and never known again outside the project.

A session's id is stored as the first 16 hex digits of its HMAC-SHA256. The key is a secret of the project,
made when a log first has sessions: the same session stays the same through all logs, nobody without the key
can find out whose it is by hashing guesses, and no release or export holds key or hash.
"""

from __future__ import annotations

import hmac
import secrets

from curation.errors import RefusedError
from curation.store import Cursor, get_setting, put_setting

SETTING = "session_key"


def session_key(cursor: Cursor) -> str:
    """The project's key; a fresh one, to be stored by `keep_session_key`, if it has none yet."""
    return get_setting(cursor, SETTING) or secrets.token_hex(32)


def keep_session_key(cursor: Cursor, key: str) -> None:
    """Store the key with which sessions were hashed.

    Raises
    ------
    RefusedError: meanwhile the project got another one.
    """
    held = get_setting(cursor, SETTING)
    if held is None:
        put_setting(cursor, SETTING, key)
    elif held != key:
        raise RefusedError(
            "Another log was imported meanwhile, and nothing was changed. Import this one again."
        )


def keyed(session: str, key: str) -> str:
    """What is stored of a session's id; 16 hex digits."""
    return hmac.digest(bytes.fromhex(key), session.encode("utf-8", "surrogatepass"), "sha256").hex()[:16]
