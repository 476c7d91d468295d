"""Notices: sentences on events, each sent once to the webhook, if a lead has switched on its kind.

The key of a notice names the round, the day, the quarter or the job. The project stores each notice, and each
attempt to send the notice before the attempt is made, so that neither a restart nor a second process sends a
notice twice. If a process ends during an attempt, the notice is not sent again, because it may have been
sent. Events from before a kind of notice was switched on, or from before there was a webhook, are never sent.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from html import escape
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request

from curation.agreement.fingerprint import read_set_fingerprint
from curation.core import log, web
from curation.core.errors import InputError
from curation.core.request import option, read_request
from curation.core.text import pluralize
from curation.labeling.rounds.round_states import RoundState, read_round_states
from curation.operations.jobs.stored import Job, last_jobs
from curation.operations.workflow.judging import read_settled
from curation.operations.workflow.releasing import read_quarter
from curation.people.annotators import require_author
from curation.relabeling.calendar import OPEN, UNFINISHED, QuarterWork, read_work
from curation.relabeling.staleness import compute_staleness
from curation.releases.release_rows import list_releases
from curation.store import COMMAND_LINE, Cursor, Store, open_store, record_event, utc_now
from curation.store.settings import get_setting, put_setting

MAX_ATTEMPTS = 5
"""The number of attempts to send a notice; the wait between two attempts begins with two minutes and
doubles."""
TIMEOUT_SECONDS = 10.0
"""Seconds that the server of the webhook has to answer."""
_SETTING = "notices"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
Webhook = tuple[str, str]
"""The address to which notices go, and the line that ends each notice."""


@dataclass(frozen=True)
class NoticeKinds:
    """The kinds of notices, and which of them a lead has switched on."""

    round_done: bool = option(False, "A round is done", "All items of the round are answered.")
    disputes: bool = option(False, "Pairs wait for a decision", "Once a day, as long as pairs wait.")
    quarter_due: bool = option(False, "Re-labeling is due", "Once a quarter, and for one left half done.")
    job_failed: bool = option(False, "A job failed", "A job or a scheduled backup failed.")


class UnsentError(Exception):
    """A notice was not sent; the message gives the reason without addresses.

    can_retry: whether a later attempt may succeed.
    """

    def __init__(self, problem: str, can_retry: bool) -> None:
        super().__init__(problem)
        self.can_retry = can_retry


def read_kinds(cursor: Cursor) -> NoticeKinds:
    """Read the kinds of notices that are switched on."""
    return read_request(NoticeKinds, json.loads(get_setting(cursor, _SETTING) or "{}"))


def set_kinds(store: Store, kinds: NoticeKinds, by: str) -> None:
    """Switch kinds of notices on and off.

    Raises
    ------
    RefusedError: `by` is no lead.
    """
    notices = _find_notices(store, kinds, utc_now())
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
    with store.reading() as cursor:
        kinds = read_kinds(cursor)
    if kinds == NoticeKinds():
        return 0
    webhook = read_webhook(environment)
    notices = _find_notices(store, kinds, now)
    if notices:  # a transaction each minute would empty the app's cache of the file
        with store.transaction() as cursor:
            _store_notices(cursor, notices if webhook else dict.fromkeys(notices, ""))
    return _send_waiting(store, webhook, now) if webhook else 0


def send_test(environment: Mapping[str, str] | None = None) -> str | None:
    """Send a test notice; return '' if it was sent, the problem if it was not, and None without a webhook."""
    if not (webhook := read_webhook(environment)):
        return None
    try:
        post_notice(webhook, "this is a test of notices.")
    except UnsentError as error:
        return str(error)
    return ""


def read_webhook(environment: Mapping[str, str] | None = None) -> Webhook | None:
    """Read the webhook from the environment; None if the environment names no webhook.

    Raises
    ------
    InputError: the address cannot be used, or a mail server is named. The error does not repeat the value.
    """
    values = os.environ if environment is None else environment
    if values.get("GOLDGRADE_SMTP", "").strip():
        raise InputError(
            "GOLDGRADE_SMTP names a mail server, but notices no longer go by e-mail.",
            way_out="Remove it, and name the address of a webhook in GOLDGRADE_WEBHOOK.",
        )
    address = values.get("GOLDGRADE_WEBHOOK", "").strip()
    if address and not _is_safe(address):
        raise InputError("GOLDGRADE_WEBHOOK is not an https address.")
    url = values.get("GOLDGRADE_URL", "")
    return (address, f"\n{url}" if url else "") if address else None


def post_notice(webhook: Webhook, text: str) -> None:
    """Post a notice.

    Raises
    ------
    UnsentError: the server of the webhook did not take the notice.
    """
    address, ending = webhook
    notice = escape(f"goldgrade: {text}{ending}", quote=False)  # Slack would call everybody for <!channel>
    headers = {"Content-Type": "application/json", "User-Agent": "goldgrade"}
    request = Request(address, json.dumps({"text": notice}).encode(), headers, method="POST")  # noqa: S310  checked
    answer = web.send(request, TIMEOUT_SECONDS, 10_000)
    if isinstance(answer, web.RequestFailure):
        raise UnsentError("it was not reached, or gave no answer in time", can_retry=True)
    if answer.status != 200:
        raise UnsentError(f"it answered HTTP {answer.status}", answer.is_busy)


def _send_waiting(store: Store, webhook: Webhook, now: datetime) -> int:
    """Make the attempts that are due, and return their number."""
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
    """Store an attempt before it is made; return False if a different process makes the attempt."""
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
    """Store notices by their keys; a notice with an empty text counts as sent."""
    sql = "INSERT INTO notices (notice_id, text) VALUES (?, ?) ON CONFLICT DO NOTHING"
    for key, sentence in notices.items():
        cursor.execute(sql, [key, sentence])


def _find_notices(store: Store, kinds: NoticeKinds, now: datetime) -> dict[str, str]:
    """Find the notices that are not stored yet: a sentence for each key.

    The sentences contain only names of rounds and counts.
    """
    with store.reading() as cursor:
        stored_keys = {key for (key,) in cursor.execute("SELECT notice_id FROM notices").fetchall()}
        states, jobs = read_round_states(cursor), last_jobs(cursor).values()
        version = str(read_set_fingerprint(cursor))
        quarter, quarter_work = read_quarter(cursor, now.date())[0], read_work(cursor)
    notices: dict[str, str] = {}
    if kinds.round_done:
        notices |= _round_notices(states)
    disputes_key, due_key = f"disputes {now:%Y-%m-%d}", f"quarter {quarter}"
    if kinds.disputes and disputes_key not in stored_keys:  # the count takes seconds in a large project
        waiting = _count_waiting_disputes(store.path, version)
        if waiting:
            notices[disputes_key] = f"{pluralize(waiting, 'pair waits', 'pairs wait')} for a decision."
    if kinds.quarter_due:
        if due_key not in stored_keys and _is_due(store.path, now.date()):
            notices[due_key] = f"Re-labeling is due in {quarter}."
        notices |= _unfinished_quarter_notice(quarter_work, quarter)
    if kinds.job_failed:
        notices |= _job_notices(jobs)
    return {key: sentence for key, sentence in notices.items() if key not in stored_keys}


def _round_notices(states: Sequence[RoundState]) -> dict[str, str]:
    """Make a notice for each open round whose items are all answered."""
    labeling = [state for state in states if state.kind not in ("imported", "practice")]
    done = [state for state in labeling if not (state.closed or state.open_items)]
    return {f"round {state.round_id}": f"Round {state.round} is done." for state in done}


def _unfinished_quarter_notice(quarter_work: Sequence[QuarterWork], quarter: str) -> dict[str, str]:
    """Make a notice if the last re-labeling was left half done before the present quarter."""
    for last in quarter_work[-1:]:
        if last.state == UNFINISHED or (last.state == OPEN and last.quarter < quarter):
            judged = f"{last.whole:,} of {pluralize(last.pairs, 'pair')} are judged"
            sentence = f"The re-labeling of {last.quarter} is left half done: {judged}."
            return {f"half done {last.quarter}": sentence}
    return {}


def _job_notices(jobs: Iterable[Job]) -> dict[str, str]:
    """Make a notice for each last job of a kind that failed; a refused job counts only for the schedule."""
    return {
        f"job {job.job_id}": f"The job “{job.kind}” was not done. The job's page says why."
        for job in jobs
        if job.outcome == "failed" or (job.outcome == "refused" and job.started_by == COMMAND_LINE)
    }


@lru_cache(maxsize=2)
def _count_waiting_disputes(project: Path, _version: str) -> int:
    """Count the pairs that wait for a decision, once for each state of the judgments."""
    with open_store(project).reading() as cursor:
        grades = read_settled(cursor)
    return grades.disputed - grades.awaiting_opinion


@lru_cache(maxsize=2)
def _is_due(project: Path, day: date) -> bool:
    """Tell whether a quarter waits for a plan; computed once a day."""
    store = open_store(project)
    with store.reading() as cursor:
        is_unplanned = read_quarter(cursor, day)[1] is None and bool(list_releases(cursor))
    return is_unplanned and compute_staleness(store, day).calendar.is_due


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    is_unambiguous = url.isascii() and url.isprintable() and " " not in url and "@" not in parts.netloc
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and host in LOCAL_HOSTS)
    return bool(host) and is_unambiguous and is_encrypted
