"""The whole path on the Icecat products without dense: seconds and peak memory of every command.

Runs the commands of tests/support/icecat.py one after another, each as a process of its own, and
writes the sum of their times and the largest peak memory, as shares of the limits (90 s and 2 GB on
two cores). Needs ../shared/data beside the checkout.

Usage: python -m benchmarks.bench_path
Smallest: python -m benchmarks.bench_path
Needs: minutes
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.steps import shared_data
from tests.support import GOLDGRADE, ROOT, icecat

SHARED = ROOT.parent / "shared" / "data"
SECONDS, MEGABYTES = 90.0, 2_000.0


def run(arguments: list[str], password: str = "a long password\n") -> tuple[float, float]:
    """Wall seconds and peak memory (MB) of one command.

    Raises
    ------
    SystemExit: the command failed.
    """
    reading, writing = os.pipe()
    os.write(writing, password.encode())
    os.close(writing)
    started = time.monotonic()
    files = [(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=files)
    os.close(reading)
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"failed: {shlex.join(arguments)}")
    return time.monotonic() - started, usage.ru_maxrss / 1024


def main() -> None:
    argparse.ArgumentParser().parse_args()
    shared_data()
    total, peak = 0.0, 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        icecat.write_traffic(SHARED, folder / "traffic.csv")
        for command in icecat.path(SHARED, folder):
            arguments = [GOLDGRADE, "--project", str(folder / "project.duckdb"), *shlex.split(command)]
            seconds, megabytes = run(arguments)
            total, peak = total + seconds, max(peak, megabytes)
            print(f"{seconds:6.1f} s {megabytes:6.0f} MB  {' '.join(shlex.split(command)[:2])}")
    print(
        f"together {total:.1f} s ({total / SECONDS:.2f} of the limit), peak {peak:.0f} MB "
        f"({peak / MEGABYTES:.2f} of the limit)"
    )


if __name__ == "__main__":
    main()
