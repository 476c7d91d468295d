"""The notices that are due: a sentence for each event of the kinds that a lead has switched on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path

from curation.agreement.fingerprint import read_set_fingerprint
from curation.core.request import option
from curation.core.text import pluralize
from curation.labeling.rounds.round_states import RoundState, read_round_states
from curation.operations.jobs.stored import Job, read_last_jobs
from curation.operations.workflow.adjudicating import read_grade_counts
from curation.operations.workflow.releasing import read_quarter
from curation.relabeling.calendar import OPEN, UNFINISHED, QuarterWork, read_work
from curation.relabeling.due_list import read_due
from curation.releases.release_rows import list_releases
from curation.store import COMMAND_LINE, Store, open_store


@dataclass(frozen=True)
class NoticeKinds:
    """The kinds of notices, and which of them a lead has switched on."""

    round_done: bool = option(False, "A round is done", "Every item of the round has an answer.")
    disputes: bool = option(False, "Pairs wait for a decision", "Once a day while pairs wait for a decision.")
    quarter_due: bool = option(
        False, "Re-labeling is due", "Once a quarter, and for each quarter that was left unfinished."
    )
    job_failed: bool = option(False, "A job failed", "A job or a scheduled backup failed.")


def find_notices(store: Store, kinds: NoticeKinds, now: datetime) -> dict[str, str]:
    """Return the due notices that are not stored yet, as a map from each notice's key to its sentence.

    The sentences contain only names of rounds and counts.
    """
    with store.reading() as cursor:
        stored_keys = {key for (key,) in cursor.execute("SELECT notice_id FROM notices").fetchall()}
        states, jobs = read_round_states(cursor), read_last_jobs(cursor).values()
        version = str(read_set_fingerprint(cursor))
        quarter, quarter_work = read_quarter(cursor, now.date())[0], read_work(cursor)
    notices: dict[str, str] = {}
    if kinds.round_done:
        notices |= _make_round_notices(states)
    disputes_key, due_key = f"disputes {now:%Y-%m-%d}", f"quarter {quarter}"
    if kinds.disputes and disputes_key not in stored_keys:  # the count takes seconds in a large project
        waiting = _count_waiting_disputes(store.path, version)
        if waiting:
            notices[disputes_key] = f"{pluralize(waiting, 'pair waits', 'pairs wait')} for a decision."
    if kinds.quarter_due:
        if due_key not in stored_keys and (due := _find_due(store.path, now.date())):
            notices[due_key] = due
        notices |= _make_unfinished_quarter_notice(quarter_work, quarter)
    if kinds.job_failed:
        notices |= _make_job_notices(jobs)
    return {key: sentence for key, sentence in notices.items() if key not in stored_keys}


def _make_round_notices(states: Sequence[RoundState]) -> dict[str, str]:
    """Make a notice for each open round whose items are all answered."""
    labeling = [state for state in states if state.kind not in ("imported", "practice")]
    done = [state for state in labeling if not (state.closed or state.open_items)]
    return {f"round {state.round_id}": f"Round {state.round} is done." for state in done}


def _make_unfinished_quarter_notice(quarter_work: Sequence[QuarterWork], quarter: str) -> dict[str, str]:
    """Make a notice if the last re-labeling before the current quarter was left half done."""
    if not quarter_work:
        return {}
    last = quarter_work[-1]
    is_abandoned = last.state == OPEN and last.quarter < quarter
    if last.state != UNFINISHED and not is_abandoned:
        return {}
    judged = f"{last.whole:,} of {pluralize(last.pairs, 'pair')} are judged"
    return {f"half done {last.quarter}": f"The re-labeling of {last.quarter} is unfinished: {judged}."}


def _make_job_notices(jobs: Iterable[Job]) -> dict[str, str]:
    """Make a notice for each kind of job whose last job failed; a refused job counts only for the
    schedule."""
    return {
        f"job {job.job_id}": f"The job “{job.kind}” failed. The page of the job shows the reason."
        for job in jobs
        if job.outcome == "failed" or (job.outcome == "refused" and job.started_by == COMMAND_LINE)
    }


@lru_cache(maxsize=2)
def _count_waiting_disputes(project: Path, _version: str) -> int:
    """Count the pairs that wait for a decision; the count is cached until the judgments change."""
    grades = open_store(project).read(read_grade_counts)
    return grades.disputed - grades.awaiting_opinion


@lru_cache(maxsize=2)
def _find_due(project: Path, day: date) -> str:
    """Return the sentence on the due pairs if the quarter needs a plan, else ''; computed once a day."""
    store = open_store(project)
    with store.reading() as cursor:
        is_unplanned = read_quarter(cursor, day)[1] is None and bool(list_releases(cursor))
    due = read_due(store, day) if is_unplanned else None
    return due.sentence if due and due.is_due else ""
