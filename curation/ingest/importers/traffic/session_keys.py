"""Sessions and users of a log: kept apart from each other, and never known again outside the project.

A session's id is stored as the first 16 hex digits of its HMAC-SHA256. The key is a secret of the project,
made when a log first has sessions: the same session stays the same through all logs, nobody without the key
can find out whose it is by hashing guesses, and no release or export holds key or hash.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator

from curation.core.errors import RefusedError
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


def keyed(sessions: Iterable[str], key: str) -> Iterator[str]:
    """What is stored of each session's id; 16 hex digits.

    HMAC as RFC 2104 has it: the key's two hash states are made once and copied, at half the time of
    `hmac.digest`. A key has 32 bytes, fewer than a block.
    """
    block = bytes.fromhex(key).ljust(64, b"\0")
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))
    for session in sessions:
        inside, outside = inner.copy(), outer.copy()
        inside.update(session.encode("utf-8", "surrogatepass"))
        outside.update(inside.digest())
        yield outside.hexdigest()[:16]
