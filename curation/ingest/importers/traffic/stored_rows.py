"""Storage of a query log's rows, with a keyed hash instead of each session's id.

A session's id is stored as the first 16 hex digits of its HMAC-SHA256. The key of the hashes is a secret of
the project, made for the first log with sessions. A session therefore has the same hash in all logs, and
nobody without the key can identify a session by hashing guessed ids. Releases and exports contain neither the
key nor a hash of a session.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa

from curation.core.digests import canonical_json
from curation.core.errors import RefusedError
from curation.store import Cursor, append_batches, append_rows, get_setting, put_setting, utc_now
from curation.store.audit_trail import record_event

SETTING = "session_key"

MAX_TRAFFIC = 10**18

"""Greatest sum of all counts of the project's traffic, so that each sum fits into 64 bits."""


def read_key(cursor: Cursor) -> str:
    """Return the secret key for hashing session ids; a new key must be stored with `store_session_key`."""
    return get_setting(cursor, SETTING) or secrets.token_hex(32)


def store_session_key(cursor: Cursor, key: str) -> None:
    """Store the project's secret key for hashing session ids.

    Raises
    ------
    RefusedError: a different import stored a different key at the same time.
    """
    stored_key = get_setting(cursor, SETTING)
    if stored_key is None:
        put_setting(cursor, SETTING, key)
    elif stored_key != key:
        raise RefusedError(
            "Another log was imported at the same time. Nothing changed; import this log again."
        )


def hash_sessions(sessions: Iterable[str], key: str) -> Iterator[str]:
    """Yield the stored hash of each session id: 16 hex digits.

    The hash is HMAC (RFC 2104). The two hash states of the key are computed once and copied, which takes half
    the time of `hmac.digest`. A key has 32 bytes, fewer than a block of the hash.
    """
    block = bytes.fromhex(key).ljust(64, b"\0")
    inner_state, outer_state = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))
    for session in sessions:
        inner_hash, outer_hash = inner_state.copy(), outer_state.copy()
        inner_hash.update(session.encode("utf-8", "surrogatepass"))
        outer_hash.update(inner_hash.digest())
        yield outer_hash.hexdigest()[:16]


def append_traffic(cursor: Cursor, batches: Iterable[pa.RecordBatch], counts: LogCounts, key: str) -> int:
    """Append cleaned rows to the stored traffic, and return the number of rows.

    Raises
    ------
    RefusedError: the sum of the counts of all logs would exceed `MAX_TRAFFIC`, or a different import stored a
    different session key at the same time.
    """
    traffic = cursor.execute("SELECT coalesce(sum(count), 0) FROM traffic").fetchall()[0][0]
    total = int(traffic) + counts.traffic
    if total > MAX_TRAFFIC:
        raise RefusedError(
            f"With this log the counts would sum to {total:,}; at most {MAX_TRAFFIC:,} can be added up. "
            "Nothing was imported. Check whether --map count names the right field, or divide its counts."
        )
    if counts.sessions:
        store_session_key(cursor, key)
    return append_batches(cursor, "traffic", batches)


def store_log(cursor: Cursor, import_id: str, source: str, rows: int, counts: LogCounts, author: str) -> None:
    """Store the counts from a traffic import, and record it in the audit trail."""
    values = [import_id, source, rows, canonical_json(counts.left_out), utc_now()]
    cursor.execute("INSERT INTO traffic_imports VALUES (?, ?, ?, ?, ?)", values)
    kinds = sorted(counts.personal.items())
    append_rows(cursor, "traffic_personal_data", kinds, ("kind", "rows"), import_id=import_id)
    detail = {"rows": rows, "personal data": counts.personal, "left_out": counts.left_out}
    record_event(cursor, "import traffic", {"source": source, "import": import_id, **detail}, author)


class LogCounts(NamedTuple):
    """The counts of rows from reading and cleaning a query log.

    Attributes
    ----------
    traffic: sum of the counts of all rows.
    sessions: number of distinct sessions.
    personal: number of rows for each kind of personal data. `left_out` and `replaced` are as in
    `TrafficImport`.
    unreadable_time: first time that could not be read, if any.
    """

    traffic: int
    sessions: int
    personal: Counter[str]
    left_out: Counter[str]
    replaced: Counter[str]
    unreadable_time: str | None
