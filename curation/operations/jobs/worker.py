"""The process that runs one job: `python -m curation.operations.jobs.worker PROJECT`.

The process reads the id of the job from its standard input. It may start before there is a job: a waiting
process imports the modules that most jobs need, which takes seconds, and reports this by a line without a
step. A waiting process does not open the database. The process reports the progress of the job on standard
output as JSON lines [step, done, total]; the output of libraries goes to standard error. The process ends
when its standard input ends, because then the process that serves the project has ended. Each write is one
transaction, so no work stays half done.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue

from curation import GC_THRESHOLDS
from curation.core import log
from curation.core.arrow import hide_pandas
from curation.core.errors import CurationError
from curation.core.progress import Progress
from curation.operations.jobs.stored import Job, find_job, store_ending
from curation.operations.registry import OPERATIONS
from curation.store import Store, open_store

MODULES = (
    "curation.releases.sampling_operations",
    "curation.pooling.operations",
    "curation.releases.operations",
    "curation.operations.import_jobs",
    "pandas",  # pyarrow imports pandas with the first array
)
"""Modules with slow imports (200 MB), which a process imports while it waits for a job."""
REPORT_INTERVAL = 0.1
"""The seconds between two lines about the same step."""
LIMITED_KINDS = frozenset({"check file", "import", "evaluate"})
MAX_MEMORY, MAX_CPU_SECONDS = 4 << 30, 1_800
"""The memory in bytes and the processor time in seconds of a job that reads files of people."""
NICENESS = 5
"""The niceness of the process (see nice(1)), so that the grading of people comes first."""


def main(project: Path, job_ids: SimpleQueue[str], report: Callable[[str], None]) -> None:
    """Wait for a job's id, run the job and store its outcome."""
    _import_modules(job_ids)
    if job_ids.empty():
        report(json.dumps(["", 0, 0]))
    job_id = job_ids.get()
    store = open_store(project)
    job = store.read(find_job, job_id)
    if job.kind in LIMITED_KINDS:
        _limit_resources(MAX_MEMORY, MAX_CPU_SECONDS)
    listen = _progress_listener(report)
    listen(OPERATIONS[job.kind].first_step, 0, 0)
    outcome, message = _run_job(store, job, listen)
    store_ending(store, job.job_id, outcome, message)
    store.close()


def _limit_resources(memory: int, cpu_seconds: int) -> None:
    """Limit the memory and the processor time of this process."""
    for limit, maximum in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, cpu_seconds)):
        _, hard_limit = resource.getrlimit(limit)
        soft_limit = maximum if hard_limit == resource.RLIM_INFINITY else min(maximum, hard_limit)
        resource.setrlimit(limit, (soft_limit, hard_limit))


def _import_modules(job_ids: SimpleQueue[str]) -> None:
    """Import the modules that most jobs need; stop as soon as a job arrives."""
    hide_pandas()
    for module in MODULES:
        if job_ids.empty():
            import_module(module)


def _run_job(store: Store, job: Job, progress: Progress) -> tuple[str, str]:
    try:
        return "done", OPERATIONS[job.kind].work(store, job.parameters, progress, job.started_by)
    except CurationError as error:
        return "refused", error.found
    except MemoryError:
        return (
            "refused",
            f"Reading the files needs more than {MAX_MEMORY >> 30} GB of memory. Split the files.",
        )
    except Exception as error:
        log.write(logging.ERROR, "A job failed", error=error, job=job.job_id[:8], kind=job.kind)
        return "failed", "This is a bug in goldgrade. The server's log has the details."


def _progress_listener(report: Callable[[str], None]) -> Progress:
    """Make a progress listener that reports the beginning and the end of each step of a job, and the progress
    in between."""
    last_report = ("", 0.0)

    def listen(step: str, done: int, total: int) -> None:
        nonlocal last_report
        now = time.monotonic()
        if step != last_report[0] or done == total or now - last_report[1] >= REPORT_INTERVAL:
            last_report = (step, now)
            report(json.dumps([step, done, total]))

    return listen


def _reserve_output() -> Callable[[str], None]:
    """Reserve standard output for the progress; redirect all other output to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def report(line: str) -> None:
        channel.write(f"{line}\n")
        channel.flush()

    return report


def _read_job_ids(job_ids: SimpleQueue[str]) -> None:
    unfinished_line = b""
    while chunk := os.read(0, 1024):  # sys.stdin would hold its lock when the interpreter ends
        *lines, unfinished_line = (unfinished_line + chunk).split(b"\n")
        for line in lines:
            job_ids.put(line.decode())
    os._exit(1)


if __name__ == "__main__":
    job_ids: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_read_job_ids, args=[job_ids], daemon=True).start()
    gc.set_threshold(*GC_THRESHOLDS)
    os.nice(NICENESS)
    log.configure()
    main(Path(sys.argv[1]), job_ids, _reserve_output())
    os._exit(0)  # everything is stored, and a normal end of the interpreter takes time
