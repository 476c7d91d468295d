"""Stages of the workflow, each with the job that is at work or that failed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from curation.operations.jobs.stored import Job
from curation.operations.registry import OPERATIONS
from curation.operations.workflow.stage import Stage


def with_job_states(
    stages: Sequence[Stage], jobs: Sequence[Job], running: Collection[str] | None
) -> list[Stage]:
    """Add the jobs that are at work, and the job that was started last, to the stages.

    Parameters
    ----------
    jobs: the last job of each kind, in the order in which the jobs were started.
    running: ids of the jobs that are known to be at work; None if that is not known.
    """
    job_of = {
        OPERATIONS[job.kind].stage: job
        for job in jobs
        if job.kind in OPERATIONS and (job is jobs[-1] or job.job_id in (running or ()))
        if job.outcome not in ("done", "stopped")
    }
    return [
        _with_job(stage, job_of[stage.name], running) if stage.name in job_of else stage for stage in stages
    ]


def _with_job(stage: Stage, job: Job, running: Collection[str] | None) -> Stage:
    doing = OPERATIONS[job.kind].doing
    if job.outcome is not None:
        message = (job.message or "").splitlines()
        why = f"The last job failed: {message[0] if message else job.outcome}"
    elif running is None or job.job_id in running:
        started = f"started by {job.started_by} at {job.started_at:%H:%M} UTC"
        return replace(stage, state="at work", line=f"{doing[0].upper()}{doing[1:]}, {started}.")
    else:
        why = f"The server was stopped while {doing.replace(' is ', ' was ')}."
    return replace(stage, state="needs attention", line=f"{why} {stage.line}")
