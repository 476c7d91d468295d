"""The process of one job: `python -m curation.jobs.worker PROJECT JOB`.

It says how far it is on standard output, one JSON line [step, done, total] at a time; whatever libraries
print goes to standard error. Its standard input is a pipe that nobody writes to: when it ends, the process
that serves the project is gone, and so is this one. Nothing is left half done, as each write is one
transaction.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from curation.errors import CurationError
from curation.jobs.kinds import KINDS
from curation.jobs.stored import Job, end, find_job
from curation.progress import Progress
from curation.store import Store, open_store

EVERY = 0.1
"""Seconds between two lines about the same step."""
KINDNESS = 5
"""How much less of a processor this asks for than the people who grade (see nice(1))."""


def main(project: Path, job_id: str, report: Callable[[str], None]) -> None:
    """Do the job and store how it ended."""
    store = open_store(project)
    with store.reading() as cursor:
        job = find_job(cursor, job_id)
    outcome, message = _done(store, job, _listener(report))
    end(store, job.job_id, outcome, message)
    store.close()


def _done(store: Store, job: Job, progress: Progress) -> tuple[str, str]:
    try:
        return "done", KINDS[job.kind].work(store, job.parameters, progress, job.started_by)
    except CurationError as error:
        return "refused", error.found
    except Exception:
        logging.getLogger("goldset").exception("The job %s (%s) failed", job.job_id, job.kind)
        return "failed", "This is a mistake in goldset. What happened is in the log of the server."


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


def _end_with_the_server() -> None:
    os.read(0, 1)  # not sys.stdin, whose lock would then be held when the interpreter ends
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    os.nice(KINDNESS)
    main(Path(sys.argv[1]), sys.argv[2], _own_output())
