"""Steps of a benchmark, each in a process of its own: its start and its peak memory are counted with it.

With `here` a step runs in this process instead. That is quick, and the memory is that of all steps. It is for
the smallest size, at which `make check` starts every benchmark.
"""

from __future__ import annotations

import io
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from tests.support import GOLDGRADE, ROOT


class Cost(NamedTuple):
    """Wall and processor seconds and peak memory (MB) of a step, and what it printed."""

    wall: float
    processor: float
    megabytes: float
    output: str


def goldgrade(project: Path, *arguments: object, given: str = "", here: bool = False) -> Cost:
    """What `goldgrade --project …` costs; `given` is its standard input.

    Raises
    ------
    SystemExit: it failed.
    """
    words = ["--project", str(project), *map(str, arguments)]
    if not here:
        return _process([GOLDGRADE, *words], given)
    from tests.support.command_line import invoke

    def work() -> str:
        done = invoke(words, given, catch_exceptions=False)
        if done.exit_code:
            sys.exit(f"failed: goldgrade {shlex.join(words)}\n{done.stderr}")
        return done.stdout

    return _in_this_process(work)


def python(program: str, *arguments: object, here: bool = False) -> Cost:
    """What a Python program costs, with its arguments in `sys.argv`.

    Raises
    ------
    SystemExit: it failed.
    """
    words = ["-c", *map(str, arguments)]
    if not here:
        return _process([sys.executable, "-c", program, *words[1:]], "")

    def work() -> str:
        with redirect_stdout(io.StringIO()) as printed, patch.object(sys, "argv", words):
            exec(compile(program, "a step", "exec"), {"__name__": "__main__"})
        return printed.getvalue()

    return _in_this_process(work)


def shared_data() -> Path:
    """The folder of public data beside the checkout.

    Raises
    ------
    SystemExit: it is not there.
    """
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        sys.exit(f"the shared data is not at {folder}")
    return folder


def chromium() -> str:
    """The path of a Chromium.

    Raises
    ------
    SystemExit: there is none.
    """
    from tests.support.chromium import find_chromium

    return find_chromium() or sys.exit("there is no Chromium here; install one, or set CHROMIUM=/path/to/it")


def _process(words: Sequence[str], given: str) -> Cost:
    with tempfile.TemporaryFile("w+") as reading, tempfile.TemporaryFile("w+") as printed:
        reading.write(given)
        reading.seek(0)
        started = time.monotonic()
        child = subprocess.Popen(words, stdin=reading, stdout=printed, cwd=ROOT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"failed: {shlex.join(words)}")
        wall = time.monotonic() - started
        printed.seek(0)
        return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed.read())


def _in_this_process(work: Callable[[], str]) -> Cost:
    started, worked = time.monotonic(), time.process_time()
    output = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(time.monotonic() - started, time.process_time() - worked, peak, output)
