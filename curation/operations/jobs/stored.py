"""A project's stored jobs, which form a chain; each job has a request, an author and an outcome."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import canonical_json, digest
from curation.core.errors import NotFoundError, RefusedError
from curation.operations.registry import OPERATIONS
from curation.people.annotators import require_annotators, require_role
from curation.store import COMMAND_LINE, Annotator, Cursor, Store, fetch, record_event, utc_now

_JOBS = """
SELECT j.job_id, j.kind, j.parameters, j.started_by, j.started_at, e.outcome, e.message, e.ended_at
FROM jobs j LEFT JOIN job_endings e USING (job_id)
"""


class Job(NamedTuple):
    """A stored job: its request, its author and its outcome.

    Attributes
    ----------
    outcome: 'done', 'refused', 'failed' or 'stopped'; None without a stored ending: then the job is at work,
        or the process that served the project has ended meanwhile.
    """

    job_id: str
    kind: str
    parameters: dict[str, Any]
    started_by: str
    started_at: datetime
    outcome: str | None = None
    message: str | None = None
    ended_at: datetime | None = None


def store_job(
    store: Store,
    kind: str,
    parameters: Mapping[str, Any],
    started_by: str,
    seen_job_id: str | None,
    check: Callable[[Cursor], None] = lambda _cursor: None,
) -> tuple[Job, bool]:
    """Store the beginning of a job; return the job, and False if an earlier request has already started it.

    Parameters
    ----------
    seen_job_id: the id of the last job that the person saw; None for the first job.
    check: raises the refusal of the job; called for a new job only.

    Raises
    ------
    NotFoundError, RefusedError: the person is unknown or may not ask, or another job was started meanwhile.
    """
    with store.transaction() as cursor:
        requester = find_author(cursor, started_by)
        require_role(requester, *OPERATIONS[kind].roles)
        last = read_last_job(cursor)
        if last is not None and last.job_id != seen_job_id:
            is_repeated = last.job_id == _next_job_id(seen_job_id)
            if is_repeated and is_same_request(last, kind, parameters, started_by):
                return last, False
            if not can_stop(last, requester):
                raise RefusedError("Another job was started in the meantime. Try again.")
            meanwhile = f"{last.started_by} started another job ({last.kind}) in the meantime."
            raise RefusedError(f"{meanwhile} First look at the result of that job, then start your job.")
        check(cursor)
        job = Job(_next_job_id(seen_job_id), kind, dict(parameters), started_by, utc_now())
        row = [job.job_id, kind, canonical_json(parameters), started_by, job.started_at]
        cursor.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?)", row)
        record_event(cursor, "start job", {"job": job.job_id, "kind": kind, **parameters}, started_by)
    return job, True


def can_stop(job: Job, annotator: Annotator) -> bool:
    """Return whether a person may see and stop a job: leads may do so with all jobs, others only with their
    own."""
    return annotator.role == "lead" or job.started_by == annotator.name


def find_author(cursor: Cursor, name: str) -> Annotator:
    """Find a request's author; the command line, which the schedule uses, has a lead's rights."""
    if name == COMMAND_LINE:
        return Annotator(name, "lead", imported=False)
    return require_annotators(cursor, [name])[0]


def is_same_request(job: Job, kind: str, parameters: Mapping[str, Any], started_by: str) -> bool:
    """Return whether a job has this kind, these parameters and this author."""
    is_same_start = (job.kind, job.started_by) == (kind, started_by)
    return is_same_start and canonical_json(job.parameters) == canonical_json(parameters)


def store_ending(store: Store, job_id: str, outcome: str, message: str) -> None:
    """Store a job's outcome, unless it is already stored."""
    with store.transaction() as cursor:
        sql = "INSERT INTO job_endings VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        cursor.execute(sql, [job_id, outcome, message, utc_now()])


def find_job(cursor: Cursor, job_id: str) -> Job:
    """Find a job by its id.

    Raises
    ------
    NotFoundError: there is no such job.
    """
    job = _read_jobs(cursor).get(job_id)
    if job is None:
        raise NotFoundError(f"There is no job {job_id!r}.")
    return job


def read_last_job(cursor: Cursor) -> Job | None:
    """Read the job that was started last; None if there are none."""
    return next(reversed(_list_in_order(cursor)), None)


def read_last_jobs(cursor: Cursor, by: str | None = None) -> dict[str, Job]:
    """Read the last job of each kind, in the order in which the jobs were started.

    Parameters
    ----------
    by: name of the person who started the jobs; None is any person.
    """
    jobs: dict[str, Job] = {}
    for job in _list_in_order(cursor):
        if by in (None, job.started_by):
            jobs.pop(job.kind, None)
            jobs[job.kind] = job
    return jobs


def find_last_job(cursor: Cursor, kind: str, by: str, **parameters: object) -> Job | None:
    """Find the last job of a kind with these parameters that a person started."""
    jobs = (job for job in reversed(_list_in_order(cursor)) if (job.kind, job.started_by) == (kind, by))
    return next((job for job in jobs if parameters.items() <= job.parameters.items()), None)


def _list_in_order(cursor: Cursor) -> list[Job]:
    """List all jobs in the order of their chain of ids, which depends on no clock."""
    jobs, ordered = _read_jobs(cursor), []
    job = jobs.get(_next_job_id(None))
    while job is not None:
        ordered.append(job)
        job = jobs.get(_next_job_id(job.job_id))
    return ordered


def _read_jobs(cursor: Cursor) -> dict[str, Job]:
    jobs = fetch(cursor, Job, _JOBS)
    return {job.job_id: job._replace(parameters=json.loads(str(job.parameters))) for job in jobs}


def _next_job_id(job_id: str | None) -> str:
    return digest("job", job_id)
