"""Notices: what happened that a lead asked to hear of, and the webhook that each notice goes to once.

A notice has a key: the round, the day, the quarter or the job. The project stores the notice, and each
attempt before it is made, so that neither a restart nor a second process sends it again. Where a process
ended during its attempt, nobody knows whether the notice was sent, and it is not sent again. What had
happened before a kind was switched on, or before there was a webhook, is never sent. The environment names
the webhook.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from html import escape
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit

from curation.agreement.grades import set_fingerprint
from curation.core import log
from curation.core.errors import InputError
from curation.core.operation import option, read_request
from curation.core.text import pluralize
from curation.core.web import post
from curation.labeling.rounds.rounds import all_states
from curation.operations.jobs.stored import last_jobs
from curation.operations.workflow.judging import read_settled
from curation.operations.workflow.releasing import read_quarter
from curation.people.annotators import require_author
from curation.relabeling.calendar import OPEN, UNFINISHED, read_work
from curation.relabeling.staleness import staleness
from curation.releases.release_rows import list_releases
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Store,
    get_setting,
    open_store,
    put_setting,
    record_event,
    utc_now,
)

ATTEMPTS = 5
"""Most attempts at one notice; the wait between two doubles, from two minutes on."""
_SETTING = "notices"
SECONDS = 10.0
"""How long the webhook's server may take to answer."""
HERE = ("localhost", "127.0.0.1", "::1")
Webhook = tuple[str, str]
"""Where notices go, and the line that ends each of them."""


@dataclass(frozen=True)
class NoticeKinds:
    """What a lead wants to hear of."""

    round_done: bool = option(False, "A round is done", "All its items are answered.")
    disputes: bool = option(False, "Pairs wait for a decision", "Once a day, as long as pairs wait.")
    quarter_due: bool = option(
        False, "Re-labeling is due", "Once a quarter, and once where one was left half done."
    )
    job_failed: bool = option(False, "A job failed", "A job or a backup by schedule came to nothing.")


def read_kinds(cursor: Cursor) -> NoticeKinds:
    """What is switched on."""
    return read_request(NoticeKinds, json.loads(get_setting(cursor, _SETTING) or "{}"))


def set_kinds(store: Store, kinds: NoticeKinds, by: str) -> None:
    """Switch notices on and off.

    Raises
    ------
    RefusedError: `by` is no lead.
    """
    happened = dict(_happened(store, kinds, utc_now()))
    with store.transaction() as cursor:
        require_author(cursor, by, "lead")
        put_setting(cursor, _SETTING, json.dumps(asdict(kinds)))
        record_event(cursor, "set notices", asdict(kinds), by)
        _note(cursor, dict.fromkeys(happened, ""))


def send_due(store: Store, environment: Mapping[str, str] | None = None, now: datetime | None = None) -> int:
    """Send what has happened since, and what is to be tried again; returns how many attempts were made.

    Raises
    ------
    InputError: the environment cannot be used.
    """
    now = now or utc_now()
    with store.reading() as cursor:
        kinds = read_kinds(cursor)
    if kinds == NoticeKinds():
        return 0
    hook = webhook(environment)
    happened = dict(_happened(store, kinds, now))
    if happened:  # a transaction each minute would empty what the app keeps of the file
        with store.transaction() as cursor:
            _note(cursor, happened if hook else dict.fromkeys(happened, ""))
    return _send_waiting(store, hook, now) if hook else 0


def send_test(environment: Mapping[str, str] | None = None) -> str | None:
    """Send a notice now. Returns why it was not sent, '' where it was, None if there is no webhook."""
    if not (hook := webhook(environment)):
        return None
    try:
        send(hook, "this is a test of notices.")
    except UnsentError as error:
        return str(error)
    return ""


def _send_waiting(store: Store, hook: Webhook, now: datetime) -> int:
    """Make the attempts that are due."""
    with store.reading() as cursor:
        waiting = cursor.execute(
            "SELECT notice_id, text, attempts, tried_at FROM notices "
            "WHERE text <> '' AND again AND attempts < ? ORDER BY notice_id",
            [ATTEMPTS],
        ).fetchall()
    made = 0
    for notice_id, text, attempts, tried_at in waiting:
        if tried_at is not None and now < tried_at + timedelta(minutes=2**attempts):
            continue
        if _claim(store, notice_id, attempts, now):
            made += 1
            _attempt(store, hook, notice_id, text)
    return made


def _claim(store: Store, notice_id: str, attempts: int, now: datetime) -> bool:
    """Store an attempt before it is made; False where another process makes it."""
    with store.transaction() as cursor:
        [(claimed,)] = cursor.execute(
            "UPDATE notices SET attempts = attempts + 1, tried_at = ?, problem = NULL, again = FALSE "
            "WHERE notice_id = ? AND attempts = ? AND again",
            [now, notice_id, attempts],
        ).fetchall()
    return bool(claimed)


def _attempt(store: Store, hook: Webhook, notice_id: str, text: str) -> None:
    problem, again = "", False
    try:
        send(hook, text)
    except UnsentError as error:
        problem, again = str(error), error.again
        log.write(logging.WARNING, f"A notice was not sent: {problem}")
    with store.transaction() as cursor:
        cursor.execute(
            "UPDATE notices SET problem = ?, again = ? WHERE notice_id = ?", [problem, again, notice_id]
        )


def _note(cursor: Cursor, happened: Mapping[str, str]) -> None:
    for key, text in happened.items():
        cursor.execute(
            "INSERT INTO notices (notice_id, text) VALUES (?, ?) ON CONFLICT DO NOTHING", [key, text]
        )


def _happened(store: Store, kinds: NoticeKinds, now: datetime) -> Iterator[tuple[str, str]]:
    """Key and sentence of what is new now: names of rounds and counts alone."""
    with store.reading() as cursor:
        states, jobs = all_states(cursor), last_jobs(cursor).values()
        version, quarter, work = (
            set_fingerprint(cursor),
            read_quarter(cursor, now.date())[0],
            read_work(cursor),
        )
        known = {key for (key,) in cursor.execute("SELECT notice_id FROM notices").fetchall()}
    if kinds.round_done:
        asked = [state for state in states if state.kind not in ("imported", "practice") and not state.closed]
        done = {f"round {state.round_id}": state.round for state in asked if not state.open_items}
        yield from ((key, f"Round {name} is done.") for key, name in done.items() if key not in known)
    day = f"disputes {now:%Y-%m-%d}"
    if kinds.disputes and day not in known and (waiting := _disputes(store.path, str(version))):
        yield day, f"{pluralize(waiting, 'pair waits', 'pairs wait')} for a decision."
    due = f"quarter {quarter}"
    if kinds.quarter_due and due not in known and _is_due(store.path, now.date()):
        yield due, f"Re-labeling is due in {quarter}."
    for last in work[-1:] if kinds.quarter_due else ():
        left = last.state == UNFINISHED or (last.state == OPEN and last.quarter < quarter)
        if left and (key := f"half done {last.quarter}") not in known:
            judged = f"{last.whole:,} of {pluralize(last.pairs, 'pair')} are judged"
            yield key, f"The re-labeling of {last.quarter} is left half done: {judged}."
    for job in jobs if kinds.job_failed else ():
        failed = job.outcome == "failed" or (job.outcome == "refused" and job.started_by == COMMAND_LINE)
        if failed and (key := f"job {job.job_id}") not in known:
            yield key, f"The job “{job.kind}” came to nothing. Its page says why."


@lru_cache(maxsize=2)
def _disputes(project: Path, _version: str) -> int:
    """How many pairs wait, read once for each state of the judgments."""
    with open_store(project).reading() as cursor:
        settled = read_settled(cursor)
    return settled.disputed - settled.awaited


@lru_cache(maxsize=2)
def _is_due(project: Path, day: date) -> bool:
    """Whether a quarter waits for a plan, computed once a day."""
    store = open_store(project)
    with store.reading() as cursor:
        is_asked = read_quarter(cursor, day)[1] is None and bool(list_releases(cursor))
    return is_asked and staleness(store, day).calendar.is_due


class UnsentError(Exception):
    """Why a notice was not sent, without addresses, and whether it may help to try again."""

    def __init__(self, problem: str, again: bool) -> None:
        super().__init__(problem)
        self.again = again


def webhook(environment: Mapping[str, str] | None = None) -> Webhook | None:
    """The webhook that the environment names, if it names one, and the line that ends each notice.

    Raises
    ------
    InputError: the address cannot be used, or a mail server is named; the sentence does not repeat the value.
    """
    given = os.environ if environment is None else environment
    if given.get("GOLDGRADE_SMTP", "").strip():
        raise InputError(
            "GOLDGRADE_SMTP names a mail server, but notices no longer go by e-mail.",
            way_out="Remove it, and name the address of a webhook in GOLDGRADE_WEBHOOK.",
        )
    address = given.get("GOLDGRADE_WEBHOOK", "").strip()
    if address and not _is_safe(address):
        raise InputError("GOLDGRADE_WEBHOOK is not an https address.")
    url = given.get("GOLDGRADE_URL", "")
    return (address, f"\n{url}" if url else "") if address else None


def send(hook: Webhook, text: str) -> None:
    """Post a notice.

    Raises
    ------
    UnsentError: the webhook's server did not take it.
    """
    address, ending = hook
    notice = escape(f"goldgrade: {text}{ending}", quote=False)  # or Slack would take <!channel> for a call
    headers = {"Content-Type": "application/json", "User-Agent": "goldgrade"}
    try:
        post(address, json.dumps({"text": notice}).encode(), headers, SECONDS, 10_000)
    except HTTPError as error:
        with error:
            again = error.code in (408, 429) or error.code >= 500
            raise UnsentError(f"it answered HTTP {error.code}", again) from None
    except (OSError, HTTPException):
        raise UnsentError("it was not reached, or gave no answer in time", again=True) from None


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    is_plain = url.isascii() and url.isprintable() and " " not in url and "@" not in parts.netloc
    return bool(host) and is_plain and (parts.scheme == "https" or (parts.scheme == "http" and host in HERE))
