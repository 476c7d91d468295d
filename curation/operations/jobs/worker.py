"""The process of one job: `python -m curation.operations.jobs.worker PROJECT`, with the job's id as a line
of its input.

It may be started before there is a job. Then it imports what most jobs need, which takes seconds, and says so
by a line without a step. It holds no database meanwhile.

It says how far the job is on standard output, one JSON line [step, done, total] at a time; whatever libraries
print goes to standard error. When its standard input ends, the process that serves the project is gone, and
so is this one. Nothing is left half done, as each write is one transaction.
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
"""What jobs import and takes long: a process that waits for a job imports it meanwhile (200 MB)."""
EVERY = 0.1
"""Seconds between two lines about the same step."""
SELDOM = (50_000, 5, 5)
"""When garbage is looked for; see gc.set_threshold. Every 700 objects take a sixth of the time of imports."""
OF_FILES = frozenset({"check file", "import", "evaluate"})
MEMORY, PROCESSOR = 4 << 30, 1_800
"""Bytes and seconds of the processor for a job that reads files of people."""
KINDNESS = 5
"""How much less of a processor this asks for than the people who grade (see nice(1))."""


def main(project: Path, asked: SimpleQueue[str], report: Callable[[str], None]) -> None:
    """Wait for the id of a job, do the job and store how it ended."""
    _prepare(asked)
    if asked.empty():
        report(json.dumps(["", 0, 0]))
    job_id = asked.get()
    store = open_store(project)
    with store.reading() as cursor:
        job = find_job(cursor, job_id)
    if job.kind in OF_FILES:
        _bound(MEMORY, PROCESSOR)
    listen = _listener(report)
    listen(OPERATIONS[job.kind].first, 0, 0)
    outcome, message = _done(store, job, listen)
    end(store, job.job_id, outcome, message)
    store.close()


def _bound(memory: int, processor: int) -> None:
    """Let this process have so many bytes of its own, and so many seconds of the processor."""
    for limit, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, processor)):
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _prepare(asked: SimpleQueue[str]) -> None:
    """Import what most jobs need, until there is one."""
    without_pandas()
    for module in MODULES:
        if asked.empty():
            import_module(module)


def _done(store: Store, job: Job, progress: Progress) -> tuple[str, str]:
    try:
        return "done", OPERATIONS[job.kind].work(store, job.parameters, progress, job.started_by)
    except CurationError as error:
        return "refused", error.found
    except MemoryError:
        return "refused", f"The files need more than {MEMORY >> 30} GB of memory to be read. Split them."
    except Exception as error:
        log.write(logging.ERROR, "A job failed", error=error, job=job.job_id[:8], kind=job.kind)
        return "failed", "This is a mistake in goldgrade. What happened is in the log of the server."


def _listener(report: Callable[[str], None]) -> Progress:
    """Report each step's beginning and end, and from time to time what is done."""
    last = ("", 0.0)

    def listen(step: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if step != last[0] or done == total or now - last[1] >= EVERY:
            last = (step, now)
            report(json.dumps([step, done, total]))

    return listen


def _own_output() -> Callable[[str], None]:
    """Keep standard output for progress alone; what others print there goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def report(line: str) -> None:
        channel.write(f"{line}\n")
        channel.flush()

    return report


def _listen_to_the_server(asked: SimpleQueue[str]) -> None:
    begun = b""
    while part := os.read(0, 1024):  # not sys.stdin, whose lock would be held when the interpreter ends
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
    os._exit(0)  # all is stored; taking the interpreter down only takes time
