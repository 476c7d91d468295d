"""A job's work on a thread of this process: to start one, and import what jobs import, takes a second.

The pages and `Jobs` cannot tell: it has the pipes, signals and exit status of the process that it replaces.
What a process alone can show (kills, limits, waiting processes) is tested in tests/app/test_jobs.py.
"""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from queue import SimpleQueue

import pytest

from curation.operations.jobs import worker
from curation.operations.jobs.running import Jobs


class _Ended(BaseException):
    """What a signal is to a process."""


class Inside:
    """`worker.main` on a thread, with what `Jobs` uses of `subprocess.Popen`."""

    def __init__(self, project: Path) -> None:
        asked, told = os.pipe()
        said, report = os.pipe()
        self.stdin, self.stdout = os.fdopen(told, "wb"), os.fdopen(said, "rb")
        self.returncode: int | None = None
        self._signal = 0
        self._thread = threading.Thread(target=self._work, args=[project, asked, report], daemon=True)
        self._thread.start()

    def _work(self, project: Path, asked: int, report: int) -> None:
        job: SimpleQueue[str] = SimpleQueue()
        with os.fdopen(asked) as requests, os.fdopen(report, "w", encoding="utf-8", buffering=1) as said:

            def tell(line: str) -> None:
                if self._signal:
                    raise _Ended
                said.write(f"{line}\n")

            ended = 1
            try:
                job.put(requests.readline().strip())
                worker.main(project, job, tell)
                ended = 0
            except _Ended:
                ended = -self._signal
            finally:
                self.returncode = ended

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    def terminate(self) -> None:
        self._signal = signal.SIGTERM

    def kill(self) -> None:
        self.terminate()

    def __enter__(self) -> Inside:
        return self

    def __exit__(self, *error: object) -> None:
        self.stdin.close()
        self.stdout.close()
        self.wait()


def work_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the jobs of a test in its own process."""
    monkeypatch.setattr(worker, "_limit_resources", lambda memory, processor: None)
    monkeypatch.setattr(Jobs, "_start_process", lambda jobs: Inside(jobs._store.path))
