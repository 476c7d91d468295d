"""One clock for all tests and the processes that they start: it begins at one moment in each run, and ticks.

A test that fails at another moment is found with it: `GOLDGRADE_TEST_CLOCK=2028-02-29T23:59 make test`, in
UTC. Chromium and other programs that are not Python keep the machine's clock.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import time_machine

BEGINS = "2026-11-23T09:30+00:00"
"""A Monday morning: none of a day's, a month's and a quarter's ends is near."""
PROCESSES = Path(__file__).with_name("processes")


def start() -> None:
    """Begin the run at `BEGINS` or at GOLDGRADE_TEST_CLOCK. A process of a begun run is there already."""
    if "GOLDGRADE_TEST_CLOCK_OFFSET" in os.environ:
        return
    begins = datetime.fromisoformat(os.environ.get("GOLDGRADE_TEST_CLOCK", BEGINS))
    seconds = (begins if begins.tzinfo else begins.replace(tzinfo=UTC)).timestamp()
    os.environ["GOLDGRADE_TEST_CLOCK_OFFSET"] = str(seconds - time.time())
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(PROCESSES), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    time_machine.travel(seconds, tick=True).start()


def change_now(path: Path) -> None:
    """Give a file the tests' time as when it last changed: the file system has the machine's clock."""
    os.utime(path, (time.time(), time.time()))
