"""What happened that a lead asked to hear of, and that each notice goes once.

A notice has a key: the round, the day, the quarter or the job. The project stores it, and each attempt before
it is made, so neither a restart nor a second process sends it again. An attempt without an outcome is one
whose process ended: whether it was sent is unknown, and it is not made again. What had happened before a kind
was switched on, or before there was a way to send it, is never sent.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from curation import log
from curation.jobs.running import last_jobs
from curation.labeling.rounds.lifecycle import all_states
from curation.notices.channels import Channel, UnsentError, channels
from curation.path.judging import read_settled
from curation.path.state import read_quarter
from curation.people.annotators import require_author
from curation.relabeling.staleness.calendar import OPEN, UNFINISHED, read_work
from curation.relabeling.staleness.fingerprint import set_fingerprint
from curation.relabeling.staleness.staleness import staleness
from curation.releases.stored import list_releases
from curation.step import option, read_request
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Store,
    fetch,
    get_setting,
    open_store,
    put_setting,
    record_event,
    utc_now,
)
from curation.text import amount

ATTEMPTS = 5
"""Of one notice by one way; the wait between two doubles, from two minutes on."""
_SETTING = "notices"


@dataclass(frozen=True)
class NoticeKinds:
    """What a lead wants to hear of."""

    round_done: bool = option(False, "A round is done", "All its items are answered.")
    disputes: bool = option(False, "Pairs wait for a decision", "Once a day, as long as pairs wait.")
    quarter_due: bool = option(
        False, "Re-labeling is due", "Once a quarter, and once where one was left half done."
    )
    job_failed: bool = option(False, "A job failed", "A job or a backup by schedule came to nothing.")


class SentNotice(NamedTuple):
    """An attempt at a notice. `problem` is '' where it was sent, None where its outcome is unknown."""

    text: str
    channel: str
    attempt: int
    began_at: datetime
    problem: str | None


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
    ways = channels(environment)
    happened = dict(_happened(store, kinds, now))
    if happened:  # a transaction each minute would empty what the app keeps of the file
        with store.transaction() as cursor:
            _note(cursor, happened if ways else dict.fromkeys(happened, ""))
    return sum(_send(store, way, now) for way in ways)


def send_test(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Send a notice by each way now: way → why it was not sent, '' where it was."""
    said = {}
    for way in channels(environment):
        try:
            way.send("goldset: this is a test of notices.")
            said[way.name] = ""
        except UnsentError as error:
            said[way.name] = str(error)
    return said


def last_attempts(cursor: Cursor) -> list[SentNotice]:
    """The five newest attempts, the last one first."""
    return fetch(cursor, SentNotice, f"{_ATTEMPTS} ORDER BY began_at DESC, notice_id LIMIT 5")


_ATTEMPTS = """
SELECT n.text, a.channel, a.attempt, a.began_at, o.problem
FROM notice_attempts a JOIN notices n USING (notice_id)
LEFT JOIN notice_outcomes o USING (notice_id, channel, attempt)
"""
_OPEN = """
SELECT n.notice_id, n.text, coalesce(max(a.attempt), 0), arg_max(a.began_at, a.attempt)
FROM notices n LEFT JOIN notice_attempts a ON a.notice_id = n.notice_id AND a.channel = $channel
LEFT JOIN notice_outcomes o ON (o.notice_id, o.channel, o.attempt) = (a.notice_id, a.channel, a.attempt)
WHERE n.text <> '' GROUP BY n.notice_id, n.text
HAVING count(a.attempt) = 0 OR (bool_and(coalesce(o.again, FALSE)) AND max(a.attempt) < $most)
ORDER BY n.notice_id
"""


def _send(store: Store, way: Channel, now: datetime) -> int:
    """Make the attempts of one way that are due."""
    with store.reading() as cursor:
        values = {"channel": way.name, "most": ATTEMPTS}
        rows = cursor.execute(_OPEN, values).fetchall()
    made = 0
    for notice_id, text, attempt, began_at in rows:
        if began_at is not None and now < began_at + timedelta(minutes=2**attempt):
            continue
        row = [notice_id, way.name, attempt + 1]
        with store.transaction() as cursor:
            claim = "INSERT INTO notice_attempts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
            [(claimed,)] = cursor.execute(claim, [*row, now]).fetchall()
        if claimed:
            made += 1
            problem, again = _attempt(way, text)
            with store.transaction() as cursor:
                cursor.execute("INSERT INTO notice_outcomes VALUES (?, ?, ?, ?, ?)", [*row, problem, again])
    return made


def _attempt(way: Channel, text: str) -> tuple[str, bool]:
    try:
        way.send(f"goldset: {text}")
    except UnsentError as error:
        log.write(logging.WARNING, f"A notice was not sent by {way.name}: {error}")
        return str(error), error.again
    return "", False


def _note(cursor: Cursor, happened: Mapping[str, str]) -> None:
    for key, text in happened.items():
        cursor.execute("INSERT INTO notices VALUES (?, ?) ON CONFLICT DO NOTHING", [key, text])


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
        asked = [one for one in states if one.kind not in ("imported", "practice") and not one.closed]
        done = {f"round {one.round_id}": one.round for one in asked if not one.open_items}
        yield from ((key, f"Round {name} is done.") for key, name in done.items() if key not in known)
    day = f"disputes {now:%Y-%m-%d}"
    if kinds.disputes and day not in known and (waiting := _disputes(store.path, str(version))):
        yield day, f"{amount(waiting, 'pair waits', 'pairs wait')} for a decision."
    due = f"quarter {quarter}"
    if kinds.quarter_due and due not in known and _is_due(store.path, now.date()):
        yield due, f"Re-labeling is due in {quarter}."
    for one in work[-1:] if kinds.quarter_due else ():
        left = one.state == UNFINISHED or (one.state == OPEN and one.quarter.name < quarter)
        if left and (key := f"half done {one.quarter.name}") not in known:
            said = f"{one.whole:,} of {amount(one.pairs, 'pair')} are judged"
            yield key, f"The re-labeling of {one.quarter.name} is left half done: {said}."
    for job in jobs if kinds.job_failed else ():
        failed = job.outcome == "failed" or (job.outcome == "refused" and job.started_by == COMMAND_LINE)
        if failed and (key := f"job {job.job_id}") not in known:
            yield key, f"The job “{job.kind}” came to nothing. Its page says why."


@lru_cache(maxsize=2)
def _disputes(project: Path, _version: str) -> int:
    """How many pairs wait, read once for each state of the judgments."""
    with open_store(project).reading() as cursor:
        found = read_settled(cursor)
    return found.disputed - found.awaited


@lru_cache(maxsize=2)
def _is_due(project: Path, day: date) -> bool:
    """Whether a quarter waits for a plan, computed once a day."""
    store = open_store(project)
    with store.reading() as cursor:
        is_asked = read_quarter(cursor, day)[1] is None and bool(list_releases(cursor))
    return is_asked and staleness(store, day).calendar.due.is_due
