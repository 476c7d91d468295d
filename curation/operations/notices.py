"""Notices: sentences about events, each sent once to the webhook if a lead has switched on its kind.

The key of a notice names the round, the day, the quarter or the job. The project stores each notice, and each
attempt to send the notice before the attempt is made, so that neither a restart nor a second process sends a
notice twice. If a process ends during an attempt, the notice is not sent again, because it may have been
sent. Events from before a kind of notice was switched on, or from before there was a webhook, are never sent.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta

from curation.core import log
from curation.core.request import read_request
from curation.operations.due_notices import NoticeKinds, find_notices
from curation.operations.webhook import UnsentError, Webhook, post_notice, read_webhook
from curation.people.annotators import require_author
from curation.store import Cursor, Store, record_event, utc_now
from curation.store.settings import get_setting, put_setting

MAX_ATTEMPTS = 5
"""The number of attempts to send a notice; the wait between two attempts begins with two minutes and
doubles."""
_SETTING = "notices"


def read_kinds(cursor: Cursor) -> NoticeKinds:
    """Read the kinds of notices that are switched on."""
    return read_request(NoticeKinds, json.loads(get_setting(cursor, _SETTING) or "{}"))


def set_kinds(store: Store, kinds: NoticeKinds, by: str) -> None:
    """Switch kinds of notices on and off.

    Raises
    ------
    RefusedError: `by` is not a lead.
    """
    notices = find_notices(store, kinds, utc_now())
    with store.transaction() as cursor:
        require_author(cursor, by, "lead")
        put_setting(cursor, _SETTING, json.dumps(asdict(kinds)))
        record_event(cursor, "set notices", asdict(kinds), by)
        _store_notices(cursor, dict.fromkeys(notices, ""))


def send_due(store: Store, environment: Mapping[str, str] | None = None, now: datetime | None = None) -> int:
    """Send new notices, and notices whose next attempt is due; return the number of attempts.

    Raises
    ------
    InputError: the environment names a webhook that cannot be used.
    """
    now = now or utc_now()
    kinds = store.read(read_kinds)
    if kinds == NoticeKinds():
        return 0
    webhook = read_webhook(environment)
    notices = find_notices(store, kinds, now)
    if notices:  # a transaction each minute would empty the app's cache of the file's data
        with store.transaction() as cursor:
            _store_notices(cursor, notices if webhook else dict.fromkeys(notices, ""))
    return _send_waiting(store, webhook, now) if webhook else 0


def _send_waiting(store: Store, webhook: Webhook, now: datetime) -> int:
    """Make the due attempts to send waiting notices, and return how many attempts were made."""
    with store.reading() as cursor:
        waiting = cursor.execute(
            "SELECT notice_id, text, attempts, tried_at FROM notices "
            "WHERE text <> '' AND again AND attempts < ? ORDER BY notice_id",
            [MAX_ATTEMPTS],
        ).fetchall()
    attempt_count = 0
    for notice_id, text, attempts, tried_at in waiting:
        if tried_at is not None and now < tried_at + timedelta(minutes=2**attempts):
            continue
        if _claim_attempt(store, notice_id, attempts, now):
            attempt_count += 1
            _attempt_notice(store, webhook, notice_id, text)
    return attempt_count


def _claim_attempt(store: Store, notice_id: str, attempts: int, now: datetime) -> bool:
    """Store an attempt to send a notice before making it; return False if another process is making this
    attempt."""
    with store.transaction() as cursor:
        [(claimed,)] = cursor.execute(
            "UPDATE notices SET attempts = attempts + 1, tried_at = ?, problem = NULL, again = FALSE "
            "WHERE notice_id = ? AND attempts = ? AND again",
            [now, notice_id, attempts],
        ).fetchall()
    return bool(claimed)


def _attempt_notice(store: Store, webhook: Webhook, notice_id: str, text: str) -> None:
    outcome: list[object] = ["", False]
    try:
        post_notice(webhook, text)
    except UnsentError as error:
        outcome = [str(error), error.can_retry]
        log.write(logging.WARNING, f"A notice was not sent: {error}")
    with store.transaction() as cursor:
        sql = "UPDATE notices SET problem = ?, again = ? WHERE notice_id = ?"
        cursor.execute(sql, [*outcome, notice_id])


def _store_notices(cursor: Cursor, notices: Mapping[str, str]) -> None:
    """Store notices under their keys; a notice with an empty text counts as sent."""
    sql = "INSERT INTO notices (notice_id, text) VALUES (?, ?) ON CONFLICT DO NOTHING"
    for key, sentence in notices.items():
        cursor.execute(sql, [key, sentence])
