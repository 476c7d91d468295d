"""Jobs on the path: the step that the job at work belongs to, and the step whose last job came to nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from curation.operations.jobs.stored import Job
from curation.operations.registry import OPERATIONS
from curation.operations.workflow.stage import Stage, at_work, needs_attention


def with_jobs(steps: Sequence[Stage], jobs: Sequence[Job], running: Collection[str] | None) -> list[Stage]:
    """The steps with the job that was started last, and those that are at work.

    Parameters
    ----------
    jobs: the last of each kind, in the order in which they were started.
    running: ids of the jobs that are known to be at work; None where that is not known.
    """
    of_step = {
        OPERATIONS[job.kind].on_path: job
        for job in jobs
        if job.kind in OPERATIONS and (job is jobs[-1] or job.job_id in (running or ()))
        if job.outcome not in ("done", "stopped")
    }
    return [_with(step, of_step[step.name], running) if step.name in of_step else step for step in steps]


def _with(step: Stage, job: Job, running: Collection[str] | None) -> Stage:
    doing = OPERATIONS[job.kind].doing if job.kind in OPERATIONS else f"{job.kind} is at work"
    by = f"started by {job.started_by} at {job.started_at:%H:%M} UTC"
    if job.outcome is not None:
        said = (job.message or "").splitlines()
        return needs_attention(step, f"The last job failed: {said[0] if said else job.outcome}")
    if running is None or job.job_id in running:
        return at_work(step, f"{doing[0].upper()}{doing[1:]}, {by}.")
    return needs_attention(step, f"The server was stopped while {doing.replace(' is ', ' was ')}.")
