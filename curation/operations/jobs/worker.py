"""The process of one job: `python -m curation.operations.jobs.worker PROJECT`, with the job's id on its
input.

The process may start before there is a job. A waiting process imports the modules that most jobs need, which
takes seconds, and reports this by a line without a step. A waiting process does not open the database. The
process reports the progress of the job on standard output as JSON lines [step, done, total]; the output of
libraries goes to standard error. The process ends when its standard input ends, because then the process that
serves the project has ended. Each write is one transaction, so no work stays half done.
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

from curation.core import log
from curation.core.arrow import without_pandas
from curation.core.errors import CurationError
from curation.core.progress import Progress
from curation.operations.jobs.stored import Job, end, find_job
from curation.operations.registry import OPERATIONS
from curation.store import Store, open_store

MODULES = (
    "curation.releases.sampling_operations",
    "curation.pooling.pool",
    "curation.releases.operations",
    "curation.operations.import_jobs",
    "pandas",  # which pyarrow imports when it first makes an array
)
"""Modules with slow imports (200 MB), which a process imports while it waits for a job."""
EVERY = 0.1
"""The seconds between two lines about the same step."""
SELDOM = (50_000, 5, 5)
"""Thresholds of the garbage collector, see gc.set_threshold; the default of 700 costs a sixth of the time
of imports."""
OF_FILES = frozenset({"check file", "import", "evaluate"})
MEMORY, PROCESSOR = 4 << 30, 1_800
"""The memory in bytes and the processor time in seconds of a job that reads files of people."""
KINDNESS = 5
"""The niceness of the process (see nice(1)), so that the grading of people comes first."""


def main(project: Path, asked: SimpleQueue[str], report: Callable[[str], None]) -> None:
    """Wait for the id of a job, run the job and store its ending."""
    _prepare(asked)
    if asked.empty():
        report(json.dumps(["", 0, 0]))
    job_id = asked.get()
    store = open_store(project)
    with store.reading() as cursor:
        job = find_job(cursor, job_id)
    if job.kind in OF_FILES:
        _limit_resources(MEMORY, PROCESSOR)
    listen = _progress_listener(report)
    listen(OPERATIONS[job.kind].first, 0, 0)
    outcome, message = _run_job(store, job, listen)
    end(store, job.job_id, outcome, message)
    store.close()


def _limit_resources(memory: int, processor: int) -> None:
    """Limit the memory and the processor time of this process."""
    for limit, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, processor)):
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _prepare(asked: SimpleQueue[str]) -> None:
    """Import the modules that most jobs need, until a job comes."""
    without_pandas()
    for module in MODULES:
        if asked.empty():
            import_module(module)


def _run_job(store: Store, job: Job, progress: Progress) -> tuple[str, str]:
    try:
        return "done", OPERATIONS[job.kind].work(store, job.parameters, progress, job.started_by)
    except CurationError as error:
        return "refused", error.found
    except MemoryError:
        return "refused", f"The files need more than {MEMORY >> 30} GB of memory to be read. Split them."
    except Exception as error:
        log.write(logging.ERROR, "A job failed", error=error, job=job.job_id[:8], kind=job.kind)
        return "failed", "This is a mistake in goldgrade. What happened is in the log of the server."


def _progress_listener(report: Callable[[str], None]) -> Progress:
    """Make a listener that reports the beginning and the end of each step, and the progress in between."""
    last = ("", 0.0)

    def listen(step: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if step != last[0] or done == total or now - last[1] >= EVERY:
            last = (step, now)
            report(json.dumps([step, done, total]))

    return listen


def _own_output() -> Callable[[str], None]:
    """Reserve standard output for the progress; redirect all other output to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def report(line: str) -> None:
        channel.write(f"{line}\n")
        channel.flush()

    return report


def _listen_to_the_server(asked: SimpleQueue[str]) -> None:
    begun = b""
    while part := os.read(0, 1024):  # sys.stdin would hold its lock when the interpreter ends
        *lines, begun = (begun + part).split(b"\n")
        for line in lines:
            asked.put(line.decode())
    os._exit(1)


if __name__ == "__main__":
    asked: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen_to_the_server, args=[asked], daemon=True).start()
    gc.set_threshold(*SELDOM)
    os.nice(KINDNESS)
    log.set_up()
    main(Path(sys.argv[1]), asked, _own_output())
    os._exit(0)  # all is stored; a normal end of the interpreter only takes time
