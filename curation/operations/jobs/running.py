"""The running jobs: each has a process of its own, which reports its progress and can be stopped.

Each process that serves a project has one `Jobs` object for the project, which knows only the jobs that it
started.

A server keeps a process waiting for the next job (`Jobs.start_spare_process`), because the start of a
process and its imports take three seconds on a quiet machine, and ten seconds while many people grade.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from curation.core import log
from curation.core.errors import CurationError, RefusedError
from curation.core.progress import StepPace
from curation.operations.jobs import stored
from curation.operations.jobs.files import discard_upload
from curation.operations.jobs.stored import Job, can_stop, find_author, is_same_request
from curation.operations.registry import OPERATIONS, has_clash
from curation.people.annotators import require_annotators, require_role
from curation.store import Annotator, Store

WORKER = "curation.operations.jobs.worker"
"""The module that runs a job; its name and the project are arguments of the process."""

MAX_RUNNING = 2
"""The number of jobs that run at the same time: a long job and a short job."""

GRACE_SECONDS = 5.0
"""The seconds that a process has to end after a request to end."""

_jobs: dict[Path, Jobs] = {}
_jobs_lock = threading.Lock()


class JobProgress(NamedTuple):
    """The progress of a job; `total` is 0 while it is unknown, `step` is empty before the first step.

    words: the progress and the time that is left, as a text.
    """

    step: str = ""
    done: int = 0
    total: int = 0
    words: str = ""


class Jobs:
    """Starts and stops the jobs of one project, and knows their progress."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._running: list[_RunningJob] = []
        self._keeps_spare = False
        self._spare: subprocess.Popen[bytes] | None = None

    def keep_spare_process(self) -> None:
        """Keep a process waiting for the next job from now on, in programs that serve a project."""
        self._keeps_spare = True

    def start_spare_process(self) -> None:
        """Start the process that waits for the next job, if this program keeps such a process."""
        with self._lock:
            if self._keeps_spare and (self._spare is None or self._spare.poll() is not None):
                with suppress(OSError):  # the job itself reports the error
                    self._spare = self._start_process()

    def start(self, kind: str, parameters: Mapping[str, Any], author: str, seen_job_id: str | None) -> Job:
        """Start a job and return at once; a repeated request returns the job of the first request.

        Parameters
        ----------
        kind, parameters: name of an operation in `OPERATIONS`, and its parameters as JSON.
        author: name of the person who asks; the operation says which roles may ask.
        seen_job_id: the id of the last job that the author saw; None for the first job.

        Raises
        ------
        RefusedError, NotFoundError: a different job blocks this job (`find_blocker`) or was started
            meanwhile, or `author` may not ask.
        CurationError: the job would be refused, as far as this is known at once (`Operation.check`).
        """
        with self._lock:
            for running in self._list_running():
                if is_same_request(running.job, kind, parameters, author):
                    return running.job
            with self._store.reading() as cursor:
                hindrance = self._find_blocker(kind, find_author(cursor, author))
            if hindrance is not None:
                raise RefusedError(hindrance)
            check = partial(OPERATIONS[kind].refuse, parameters=parameters)
            job, is_new = stored.store_job(self._store, kind, parameters, author, seen_job_id, check)
            if is_new:
                self._launch(job)
        return job

    def stop(self, job_id: str, author: str) -> None:
        """End the process of a running job; data that the job has stored stays.

        Raises
        ------
        RefusedError, NotFoundError: `author` is neither a lead nor the person who started the job.
        """
        with self._lock:
            target = next((running for running in self._list_running() if running.job.job_id == job_id), None)
        with self._store.reading() as cursor:
            annotator = require_annotators(cursor, [author])[0]
        if target is None or not can_stop(target.job, annotator):
            require_role(annotator, "lead")
        if target is None:
            return
        target.stopped_by = author
        target.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            target.process.wait(GRACE_SECONDS)
        target.process.kill()
        target.watcher.join()

    def kill_all(self) -> None:
        """Kill the jobs at work because the program ends; no outcome is stored for these jobs."""
        with self._lock:
            running_jobs = self._list_running()
        for running in running_jobs:
            running.is_abandoned = True
            running.process.kill()
        for running in running_jobs:
            running.watcher.join()

    def running_jobs(self) -> dict[str, tuple[Job, JobProgress]]:
        """List the jobs at work by id with their progress, in the order of their start."""
        with self._lock:
            return {running.job.job_id: (running.job, running.progress) for running in self._list_running()}

    def find_blocker(self, kind: str, annotator: Annotator) -> str | None:
        """Return the reason why no job of this kind can start now; None if a job can start."""
        with self._lock:
            return self._find_blocker(kind, annotator)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until no job is at work and all jobs' outcomes are stored."""
        with self._lock:
            running_jobs = self._list_running()
        for running in running_jobs:
            running.watcher.join(timeout)

    def _list_running(self) -> list[_RunningJob]:
        self._running = [running for running in self._running if running.watcher.is_alive()]
        return self._running

    def _find_blocker(self, kind: str, annotator: Annotator) -> str | None:
        running_jobs = [running.job for running in self._list_running()]
        clashing_jobs = [job for job in running_jobs if has_clash(job.kind, kind)]
        if not clashing_jobs and len(running_jobs) < MAX_RUNNING:
            return None
        job = (clashing_jobs or running_jobs)[0]
        if not can_stop(job, annotator):
            return "Another job is running. Try again in a few minutes."
        limit = f"At most {MAX_RUNNING} jobs run at the same time"
        if clashing_jobs:
            limit = "Your job needs the same data"
        doing = OPERATIONS[job.kind].in_progress.capitalize()
        since = f"since {job.started_at:%H:%M} UTC, started by {job.started_by}"
        return f"{doing} {since}. {limit}: wait until the job ends, or stop the job."

    def _launch(self, job: Job) -> None:
        process, self._spare = self._spare, None
        try:
            if process is None or not _send_id(process, job.job_id):
                process = self._start_process()
                _send_id(process, job.job_id)
        except OSError as error:
            message = f"The job could not be started: {error}."
            stored.store_ending(self._store, job.job_id, "failed", message)
        else:
            self._running.append(_RunningJob(self._store, job, process))

    def _start_process(self) -> subprocess.Popen[bytes]:
        # A child of multiprocessing would import the script that Streamlit puts in the place of __main__.
        command = [sys.executable, "-P", "-m", WORKER, str(self._store.path)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)  # noqa: S603


def _send_id(process: subprocess.Popen[bytes], job_id: str) -> bool:
    """Send the id of a job to a waiting process; return False if the process has ended."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        os.write(process.stdin.fileno(), f"{job_id}\n".encode())
        if process.poll() is None:
            return True
    with process:  # closes the pipes
        process.kill()
    return False


class _RunningJob:
    """The process of a job at work, and the thread that reads its progress until it ends."""

    def __init__(self, store: Store, job: Job, process: subprocess.Popen[bytes]) -> None:
        self.job = job
        self.process = process
        self.progress = JobProgress()
        self.stopped_by: str | None = None
        self.is_abandoned = False
        self._store = store
        self.watcher = threading.Thread(target=self._read_progress, daemon=True, name="goldgrade-job")
        self.watcher.start()

    def _read_progress(self) -> None:
        with self.process:  # closes the pipes
            assert self.process.stdout is not None
            pace = StepPace()
            for line in self.process.stdout:
                step, done, total = json.loads(line)
                words = pace.describe(step, done, total, time.monotonic())
                self.progress = JobProgress(step, done, total, words)
        # a killed process could not remove its upload
        discard_upload(self._store.path, self.job.parameters.get("folder"))
        if self.is_abandoned:
            return
        outcome, message = self._describe_ending()
        with suppress(CurationError):  # a job whose ending cannot be stored counts as stopped
            stored.store_ending(self._store, self.job.job_id, outcome, message)
            self._log_failure()

    def _log_failure(self) -> None:
        job = self._store.read(stored.find_job, self.job.job_id)
        if job.outcome not in (None, "done"):
            level = logging.ERROR if job.outcome == "failed" else logging.WARNING
            # The text of a refusal may quote a file of people, so the log does not repeat it.
            why = "the page of the job shows the reason" if job.outcome == "refused" else job.message
            message = f"A job was not completed: {why}"
            author, job_id = job.started_by, job.job_id[:8]
            log.write(level, message, annotator=author, job=job_id, kind=job.kind, outcome=job.outcome)

    def _describe_ending(self) -> tuple[str, str]:
        """Return the outcome to store unless the process has stored its own."""
        kept = OPERATIONS[self.job.kind].on_interrupt
        if self.stopped_by is not None:
            return "stopped", f"Stopped by {self.stopped_by}. {kept}"
        code = self.process.returncode
        cause = f"by {signal.Signals(-code).name}" if code < 0 else f"with the exit status {code}"
        message = f"The job's process ended early {cause}; perhaps memory ran out."
        return "failed", f"{message} {kept}"


def jobs_of(store: Store) -> Jobs:
    """Return the `Jobs` object of a project; a process has one object for each project file."""
    with _jobs_lock:
        return _jobs.setdefault(store.path, Jobs(store))


def kill_all_jobs() -> None:
    """Kill the jobs of this process before it ends, because their threads hold the database."""
    for jobs in list(_jobs.values()):
        jobs.kill_all()


def find_problem(store: Store, kind: str, parameters: Mapping[str, Any] | None = None) -> str | None:
    """Return the known reason why a job of this kind would fail; None without a known reason.

    A job that fails costs a process and seconds of waiting, so a page asks before it offers a button.

    Parameters
    ----------
    parameters: the parameters of `Jobs.start`; None stands for any parameters.
    """
    try:
        store.read(OPERATIONS[kind].refuse, parameters)
    except CurationError as error:
        return error.found
    return None
