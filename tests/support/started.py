"""`goldgrade …` as a process that starts in milliseconds: a fork of one that has imported what pages need.

That one never opens a database: DuckDB's threads do not follow into a fork. What is about the start itself
runs the installed command.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from multiprocessing import get_context, util
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from tests.support import forked

_forks = get_context("forkserver")
_forks.set_forkserver_preload(["tests.support.forking"])
if "PYTEST_XDIST_WORKER" not in os.environ:  # whose end is sudden
    util.get_temp_dir()  # now: multiprocessing removes it later than pytest removes what is temporary


class Started:
    """A process of `goldgrade`, with what tests use of `subprocess.Popen`."""

    def __init__(self, arguments: Sequence[str], log: Path, jobs_inside: bool = False) -> None:
        given = [arguments, log, jobs_inside, Path.cwd(), dict(os.environ)]
        self._process = _forks.Process(target=forked.run, args=given, daemon=True)
        with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):  # AppTest leaves its script there
            self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

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
