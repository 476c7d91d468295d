"""`goldgrade …` and jobs as processes that start in milliseconds: forks of one with everything imported.

That one never opens a database: DuckDB's threads do not follow into a fork. What is about the start itself
runs the installed command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from multiprocessing import get_context, util
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from tests.support import forked

_forks = get_context("forkserver")
_forks.set_forkserver_preload(["tests.support.forking"])
if "PYTEST_XDIST_WORKER" not in os.environ:  # whose end is sudden
    util.get_temp_dir()  # now: multiprocessing removes it later than pytest removes what is temporary


def _fork(target: Callable[..., None], *given: object) -> ForkServerProcess:
    process = _forks.Process(target=target, args=given, daemon=True)
    with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):  # AppTest leaves its script there
        process.start()
    return process


def _pid(process: ForkServerProcess) -> int:
    assert process.pid is not None
    return process.pid


class Started:
    """A process of `goldgrade`, with what tests use of `subprocess.Popen`."""

    def __init__(self, arguments: Sequence[str], log: Path, jobs_inside: bool = False) -> None:
        self._process = _fork(forked.run, arguments, log, jobs_inside, Path.cwd(), dict(os.environ))

    @property
    def pid(self) -> int:
        return _pid(self._process)

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        ended = self.poll()
        assert ended is not None, f"still there after {timeout} s"
        return ended

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def run_code(code: str, log: Path, **environment: str) -> str:
    """What Python code prints that a fork runs as `python -c` does, in about 10 ms."""
    process = _fork(forked.run_code, code, log, Path.cwd(), {**os.environ, **environment})
    process.join(60)
    assert process.exitcode == 0, log.read_text()
    return log.read_text()


class StartedWorker:
    """The process of a job or of one to come, with what `Jobs` uses of `subprocess.Popen`."""

    def __init__(self, project: Path) -> None:
        asked, requests = os.pipe()
        reports, told = os.pipe()
        ends = Connection(asked, writable=False), Connection(told, readable=False)
        self._process = _fork(forked.work, project, *ends)
        for end in ends:
            end.close()
        self.stdin, self.stdout = os.fdopen(requests, "wb"), os.fdopen(reports, "rb")
        self.pid = _pid(self._process)
        self.kill, self.terminate = self._process.kill, self._process.terminate

    def poll(self) -> int | None:
        return self._process.exitcode

    returncode = property(poll)

    def wait(self, timeout: float | None = None) -> None:
        self._process.join(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired("worker", timeout or 0)

    def __enter__(self) -> StartedWorker:
        return self

    def __exit__(self, *error: object) -> None:
        self.stdin.close()
        self.stdout.close()
        self.wait()
